"""The other runs of the same kind: what their figures say about one good and one bad run."""

from __future__ import annotations

from collections.abc import Sequence

from logscope.figures import median
from logscope.store.interface import RunHistory
from logscope.store.records import RunFacts, StoredRun
from parsers.lazy_dataclass import dataclass
from parsers.records import Outcome

_LOAD_APART = 0.25
"""Numbers of requests at once that differ by more than this part make two loads."""
_STRAY = 0.08
"""A run this far from the median of at least two close others is a stray."""


@dataclass(frozen=True, slots=True)
class Peers:
    """Decode medians (tokens/s) of runs like the good one and like the bad one, these two included."""

    good: tuple[float, ...] = ()
    bad: tuple[float, ...] = ()
    stray: tuple[float, ...] = ()
    """Figures of good runs that the others do not reproduce; they are not in `good`."""
    ready_seconds: tuple[float, ...] = ()

    def story(self, bad: float) -> str:
        """How the good runs spread, which do not reproduce, and what the bad ones lose, in words."""
        if len(self.good) < 2:
            return ""
        parts = [f"{len(self.good)} good runs at {min(self.good):.4g} to {max(self.good):.4g} tokens/s"]
        parts += [f"{value:.4g} does not reproduce" for value in self.stray]
        others = self.bad or (bad,)
        if len(others) > 1:
            parts.append(f"{len(others)} runs like this one at {min(others):.4g} to {max(others):.4g}")
        parts.append(f"now {bad:.4g}, {median(others) / median(self.good) - 1:+.0%}")
        return "; ".join(parts)


def peers_of(history: RunHistory, bad: StoredRun, good: StoredRun | None) -> Peers:
    """Looks at the run list, and only when `bad` got ready: a failed launch has no figures to judge."""
    if good is None or not bad.run.ready:
        return Peers()
    rows = [row for row in history.facts() if row.mark not in ("bad", "skip")]
    here = {row.run_id: row for row in rows}
    if good.run_id not in here:
        return Peers()
    likes_good = [row for row in rows if _is_alike(row, here[good.run_id]) and row.run_id != bad.run_id]
    mine = here.get(bad.run_id)
    likes_bad = [row for row in rows if mine is not None and (row is mine or _is_alike(row, mine))]
    # Also a run that died while it served is of the good run's kind.
    is_same_kind = mine is not None and _kind(mine) == _kind(here[good.run_id])
    seconds = tuple(row.ready_seconds for row in likes_good if row.ready_seconds is not None)
    likes_good = [row for row in likes_good if _has_load_of(row, here[good.run_id])]
    likes_bad = [row for row in likes_bad if mine is not None and _has_load_of(row, mine)]
    kept, stray = _without_strays(_medians(likes_good))
    # Where both runs are of one kind the list cannot tell good from bad: the bad run stands alone.
    bad_medians = () if is_same_kind else tuple(_medians(likes_bad))
    return Peers(kept, bad_medians, stray, seconds)


def _is_alike(row: RunFacts, other: RunFacts) -> bool:
    """Ready runs of one model on one shape, with the same kind of decoding and the same release."""
    return row.outcome in (Outcome.READY, Outcome.RUNNING) and _kind(row) == _kind(other)


def _has_load_of(row: RunFacts, other: RunFacts) -> bool:
    """About as many requests at once: eight requests give more tokens a second than two."""
    one, two = row.running_max, other.running_max
    return not one or not two or abs(one - two) <= _LOAD_APART * max(one, two)


def _kind(row: RunFacts) -> tuple[object, ...]:
    return (
        row.model_path,
        row.tp_size,
        row.dp_size,
        row.pp_size,
        row.quantization,
        row.speculative_algorithm or "",
        row.device,
        row.sglang_version,
    )


def _medians(rows: Sequence[RunFacts]) -> list[float]:
    return [row.gen_median for row in rows if row.gen_median is not None and row.gen_median > 0]


def _without_strays(values: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Takes out what lies far from the median, when at least two others lie close together."""
    if len(values) < 3:
        return tuple(values), ()
    middle = median(values)
    stray = tuple(value for value in values if abs(value / middle - 1) > _STRAY)
    kept = tuple(value for value in values if abs(value / middle - 1) <= _STRAY)
    return (kept, stray) if len(kept) >= 2 and len(stray) < len(kept) else (tuple(values), ())
