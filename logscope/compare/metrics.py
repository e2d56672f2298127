"""Figures of two runs side by side, each with a word on whether the difference is more than noise."""

from __future__ import annotations

from collections.abc import Sequence

from logscope.compare.bootstrap import ratio_interval
from logscope.compare.peers import Peers
from logscope.compare.records import MetricChange
from logscope.store.records import Bucket, StoredRun, Throughput
from parsers.lazy_dataclass import dataclass
from parsers.lazy_pattern import lazy_re
from parsers.records import Milestone

_SHARDS = lazy_re(r"\| ?\d+/(\d+) \[")
MIN_LINES = 3
"""A median over fewer lines than this says nothing."""


@dataclass(frozen=True, slots=True)
class _Figure:
    metric: str
    unit: str
    threshold: float
    """A relative difference up to this is rounding or the usual jitter of the figure."""


_MEMORY = (
    ("weights memory", "GB", "load-end", "mem_usage_gb", "target", 0.05),
    ("draft weights memory", "GB", "load-end", "mem_usage_gb", "draft", 0.05),
    ("memory at load begin", "GB", "load-begin", "avail_mem_gb", "target", 0.25),
    ("KV pool tokens", "tokens", "kv-cache", "tokens", "target", 0.02),
    ("memory after the KV pool", "GB", "memory-pool-end", "avail_mem_gb", "target", 0.25),
    ("max_total_num_tokens", "tokens", "limits", "max_total_num_tokens", "", 0.02),
    ("max_running_requests", "requests", "limits", "max_running_requests", "", 0.0001),
    ("context length", "tokens", "limits", "context_len", "", 0.0001),
)
"""Metric, unit, milestone, value, role, and the relative difference that is more than usual: what is free
at begin varies with the neighbours, what the model takes does not."""
_LEAST_GB = 0.3
"""Memory differences below this are rounding."""


def metric_changes(bad: StoredRun, good: StoredRun | None, peers: Peers) -> tuple[MetricChange, ...]:
    """Throughput, acceptance, memory and time to ready; rows without a figure on either side are left out."""
    before, now = good.throughput if good is not None else Throughput(), bad.throughput
    rows = [
        _decode(before, now, peers),
        *_buckets(before, now),
        _accept_length(before, now, peers),
        _graph_share(before, now),
        _plain(
            "prefill throughput",
            "tokens/s",
            before.input_median,
            now.input_median,
            0.0,
            "depends on the prompts: not judged",
        ),
        _plain(
            "running requests, most", "requests", before.running_max, now.running_max, 0.0, "a load figure"
        ),
        _plain("queued requests, most", "requests", before.queue_max, now.queue_max, 0.0, "a load figure"),
        *(_memory(good, bad, *names) for names in _MEMORY),
        _plain(
            "weight shards",
            "files",
            weight_shards(good),
            weight_shards(bad),
            0.001,
            "counted by the loader's progress bar",
        ),
        _ready_seconds(good, bad, peers),
    ]
    return tuple(row for row in rows if row is not None)


def _decode(before: Throughput, now: Throughput, peers: Peers) -> MetricChange | None:
    good, bad = before.gen_median, now.gen_median
    if good is None and bad is None:
        return None
    if good is None or bad is None or good <= 0:
        return MetricChange(
            "decode throughput", "tokens/s", good, bad, None, False, "one run has no decode lines"
        )
    is_significant, noise, interval = _judge_decode(before, now, peers)
    return MetricChange(
        "decode throughput", "tokens/s", good, bad, bad / good, is_significant, noise, interval
    )


def _judge_decode(
    before: Throughput, now: Throughput, peers: Peers
) -> tuple[bool, str, tuple[float, float] | None]:
    good, bad = before.gen_median or 0.0, now.gen_median or 0.0
    is_large = abs(bad / good - 1) > 0.1
    if min(before.decode_lines, now.decode_lines) < MIN_LINES:
        return False, "too few decode lines to judge", None
    if (now.running_max or 0) < (before.running_max or 0) and (now.queue_max or 0) > (before.queue_max or 0):
        held = f"at most {now.running_max} requests at once while {now.queue_max} waited"
        return is_large, f"the server held requests back: {held}", None
    if len(peers.good) >= 2 and not _load_differs(before, now):
        interval = ratio_interval(peers.good, peers.bad or (bad,))
        is_apart = not interval[0] <= 1.0 <= interval[1]
        return is_apart and abs(bad / good - 1) > 0.03, peers.story(bad), interval
    share, shown = _share_apart(before, now, bad < good)
    if shown:
        words = "apart" if share > 0.5 else "within noise"
        return share > 0.5 and is_large, f"{words} at equal load ({shown})", None
    if _load_differs(before, now):
        return False, "the runs had another load: no number of running requests is in both", None
    low, high = before.gen_p10 or good, before.gen_p90 or good
    is_outside = bad < low or bad > high
    noise = f"{'outside' if is_outside else 'inside'} the good run's own p10 to p90 ({low:.4g} to {high:.4g})"
    return is_outside and is_large, noise, None


def _share_apart(before: Throughput, now: Throughput, is_slower: bool) -> tuple[float, str]:
    """Share of the lines at equal load in buckets that are apart in this direction, and those in words."""
    left, right = _by_running(before.buckets), _by_running(now.buckets)
    lines: dict[int, int] = {}
    apart: list[int] = []
    for row in _buckets(before, now):
        running = int(row.metric.split()[3])
        lines[running] = min(left[running].lines, right[running].lines)
        if row.is_significant and ((row.ratio or 1.0) < 1.0) is is_slower:
            apart.append(running)
    if not lines:
        return 0.0, ""
    shown = ", ".join(
        f"{running} running" for running in sorted(apart or lines, key=lambda one: -lines[one])[:3]
    )
    return sum(lines[running] for running in apart) / sum(lines.values()), shown


def _load_differs(before: Throughput, now: Throughput) -> bool:
    """Another number of requests at once, without a queue that would say that the server held them back."""
    if before.running_max is None or now.running_max is None or before.running_max == now.running_max:
        return False
    fewer = min((before, now), key=lambda side: side.running_max or 0)
    return not (fewer.queue_max or 0)


def _buckets(before: Throughput, now: Throughput) -> list[MetricChange]:
    """Decode throughput at equal numbers of running requests: the fair comparison of two loads."""
    rows = []
    left, right = _by_running(before.buckets), _by_running(now.buckets)
    for running in sorted(left.keys() & right.keys()):
        good, bad = left[running], right[running]
        if min(good.lines, bad.lines) < MIN_LINES or good.median <= 0:
            continue
        is_apart = bad.p90 < good.p10 or bad.p10 > good.p90
        noise = "the spans p10 to p90 are apart" if is_apart else "the spans p10 to p90 overlap"
        rows.append(
            MetricChange(
                f"decode throughput at {running} running",
                "tokens/s",
                good.median,
                bad.median,
                bad.median / good.median,
                is_apart and abs(bad.median / good.median - 1) > 0.1,
                noise,
            )
        )
    return rows


def _by_running(buckets: Sequence[Bucket]) -> dict[int, Bucket]:
    """The bucket with most lines for each number of running requests."""
    found: dict[int, Bucket] = {}
    for bucket in buckets:
        if bucket.running not in found or bucket.lines > found[bucket.running].lines:
            found[bucket.running] = bucket
    return found


def _accept_length(before: Throughput, now: Throughput, peers: Peers) -> MetricChange | None:
    good, bad = before.accept_length, now.accept_length
    if good is None and bad is None:
        return None
    if good is None or bad is None:
        return MetricChange("accept length", "tokens/step", good, bad, None, True, "only one run speculates")
    is_significant = abs(bad / good - 1) > 0.15 and min(before.decode_lines, now.decode_lines) >= MIN_LINES
    noise = "more than the 15 % that texts alone make" if is_significant else "within what texts alone make"
    return MetricChange("accept length", "tokens/step", good, bad, bad / good, is_significant, noise)


def _graph_share(before: Throughput, now: Throughput) -> MetricChange | None:
    good, bad = before.cuda_graph_share, now.cuda_graph_share
    if good is None and bad is None:
        return None
    known = good is not None and bad is not None
    is_significant = known and abs((bad or 0.0) - (good or 0.0)) > 0.2
    ratio = bad / good if known and good else None  # type: ignore[operator]  # known says so
    return MetricChange(
        "cuda graph share", "of decode lines", good, bad, ratio, is_significant, "share of lines, 0 to 1"
    )


def _plain(
    metric: str, unit: str, good: float | None, bad: float | None, threshold: float, noise: str
) -> MetricChange | None:
    if good is None and bad is None:
        return None
    ratio = bad / good if good and bad is not None else None
    is_significant = threshold > 0 and ratio is not None and abs(ratio - 1) > threshold
    return MetricChange(metric, unit, good, bad, ratio, is_significant, noise)


def _memory(
    good: StoredRun | None,
    bad: StoredRun,
    metric: str,
    unit: str,
    milestone: str,
    value: str,
    role: str,
    threshold: float,
) -> MetricChange | None:
    left = milestone_value(good, milestone, value, role) if good is not None else None
    right = milestone_value(bad, milestone, value, role)
    if unit == "GB" and left is not None and right is not None and abs(right - left) < _LEAST_GB:
        threshold = 0.0
    return _plain(metric, unit, left, right, threshold, "printed once a launch")


def milestone_value(run: StoredRun, name: str, value: str, role: str = "") -> float | None:
    """A printed figure of the first matching milestone (of the lowest rank that printed it)."""
    matching = [found for found in run.run.milestones if found.name == name and _has_role(found, role)]
    for found in matching:
        held = dict(found.values).get(value)
        if isinstance(held, int | float):
            return float(held)
    return None


def weight_shards(run: StoredRun | None) -> float | None:
    """Files that the loader's progress bar counts for the target; None where no bar is in the log."""
    for found in run.run.milestones if run is not None else ():
        counted = _SHARDS.search(found.excerpt) if found.name == "load-progress" else None
        if counted is not None:
            return float(counted.group(1))
    return None


def _has_role(milestone: Milestone, role: str) -> bool:
    return not role or milestone.role == role or (role == "target" and not milestone.role)


def ready_seconds(run: StoredRun) -> float | None:
    """Seconds from the first time to the ready line."""
    if run.run.ready_at is None or run.run.started_at is None:
        return None
    return (run.run.ready_at - run.run.started_at).total_seconds()


def _ready_seconds(good: StoredRun | None, bad: StoredRun, peers: Peers) -> MetricChange | None:
    left, right = ready_seconds(good) if good is not None else None, ready_seconds(bad)
    if left is None and right is None:
        return None
    if left is None or right is None or left <= 0:
        return MetricChange("time to ready", "s", left, right, None, False, "one run gives no time")
    usual = peers.ready_seconds
    if len(usual) >= 3:
        room = max(usual) - min(usual)
        is_outside = not min(usual) - room <= right <= max(usual) + room and abs(right - left) > 5
        noise = f"{len(usual)} good runs took {min(usual):.0f} to {max(usual):.0f} s"
        return MetricChange("time to ready", "s", left, right, right / left, is_outside, noise)
    return MetricChange(
        "time to ready", "s", left, right, right / left, False, "no spread of good runs known"
    )
