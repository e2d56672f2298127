"""Slower or smaller without an error: what changed and feeds the figures that moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from logscope.compare.records import Evidence, MetricChange, ValueChange
from logscope.compare.values import show
from logscope.explain.candidate import Candidate
from logscope.explain.evidence import argument_quotes, milestone_named, milestone_quote, noted
from logscope.explain.fitting import offered
from logscope.explain.from_arguments import argument_title
from logscope.explain.records import Remedy
from logscope.explain.remedies import back_to_good, config_back, env_back, version_back
from logscope.explain.scene import Scene, could_matter, family, is_switch, was_typed
from logscope.knowledge.atlas import atlas
from logscope.knowledge.mechanisms import figure_feeds

_RATE = ("decode throughput", "prefill throughput")
_FEEDS_ALIKE = {"KV pool tokens": "max_total_num_tokens"}
_ORDER = (
    "decode throughput",
    "accept length",
    "cuda graph share",
    "max_running_requests",
    "running requests",
    "prefill throughput",
    "max_total_num_tokens",
    "time to ready",
)
_RULES = {
    "accept length": "perf-accept-length-low",
    "cuda graph share": "perf-cuda-graph-not-used",
    "max_running_requests": "perf-concurrency-capped",
    "max_total_num_tokens": "perf-concurrency-capped",
    "decode throughput": "perf-version-default-changed",
}
"""Figure that moved -> rule with its ways out, the most telling first."""


def moved_figures(scene: Scene) -> tuple[MetricChange, ...]:
    """The figures that got worse by more than noise, and limits that a change made lower."""
    moved = [
        row for row in scene.diff.metrics if row.is_significant and row.ratio is not None and _is_worse(row)
    ]
    capped = _concurrency_capped(scene)
    return tuple(moved + ([capped] if capped is not None and capped not in moved else []))


def suspect_figures(scene: Scene) -> tuple[MetricChange, ...]:
    """Rates that are clearly lower, though load or length of the runs do not allow to be sure."""
    return tuple(
        row for row in scene.diff.metrics if row.metric in _RATE and row.ratio is not None and row.ratio < 0.9
    )


def main_figure(moved: Sequence[MetricChange]) -> MetricChange:
    """The figure to speak of first: what clients feel, before what the launch prints."""
    return min(
        moved, key=lambda row: next((i for i, name in enumerate(_ORDER) if row.metric.startswith(name)), 99)
    )


def _is_worse(row: MetricChange) -> bool:
    if row.metric.startswith(("memory ", "weight shards", "decode throughput at ")):
        return False  # how full the machine was, and how the files are cut: no figure of the service
    ratio = row.ratio or 0.0
    return (
        ratio > 1 if row.metric in ("time to ready", "weights memory", "draft weights memory") else ratio < 1
    )


def _concurrency_capped(scene: Scene) -> MetricChange | None:
    """Fewer requests ran at once although more waited: the server held them back."""
    before = scene.diff.good.throughput if scene.diff.good is not None else None
    now = scene.bad.throughput
    if (
        before is None
        or not before.running_max
        or not now.running_max
        or now.running_max >= before.running_max
    ):
        return None
    if (now.queue_max or 0) <= (before.queue_max or 0):
        return None
    return next((row for row in scene.diff.metrics if row.metric == "running requests, most"), None)


def figure_candidates(scene: Scene) -> Iterator[Candidate]:
    """Changes that feed a figure that moved; nothing when none moved.

    Where no figure moved for sure, a clearly lower rate counts half.
    """
    sure = moved_figures(scene)
    moved, weight = (sure, 1.0) if sure else (suspect_figures(scene), 0.5)
    if not moved:
        return
    switched = {row.name for row in scene.diff.args if is_switch(row)}
    for row in scene.diff.args:
        if not could_matter(row) or (family(row.name) in switched and row.name not in switched):
            continue
        candidate = Candidate("arg", row.name, argument_title(row), asks=("arg", row.name, row.bad))
        _score_figures(row.name, moved, candidate, weight)
        if not candidate.parts:
            continue
        if was_typed(row):
            candidate.add("changed by a person", 0.1, "it was typed on a command line", links=False)
        elif row.relevance < 0.3:
            candidate.add("not typed", -0.15, "SGLang or its release set it", links=False)
        if family(row.name) == row.name and row.name == "speculative_algorithm":
            candidate.add(
                "switches the feature", 0.1, "the other speculative arguments only tune it", links=False
            )
        if scene.is_alone():
            candidate.add("the only change", 0.2, "nothing else that could matter differs")
        candidate.mechanism = _told(moved)
        candidate.quote(*argument_quotes(scene, row.name), *_figure_quotes(scene, moved))
        candidate.remedies = back_to_good(row) + _rule_remedies(candidate, scene)
        yield candidate
    if sure:
        yield from _other_candidates(scene, moved)


def _score_figures(name: str, moved: Sequence[MetricChange], candidate: Candidate, weight: float) -> None:
    for row in moved:
        metric = "decode throughput" if row.metric.startswith("decode throughput") else row.metric
        table = figure_feeds().get(_FEEDS_ALIKE.get(metric, metric), {})
        points = max((value for pattern, value in table.items() if fnmatchcase(name, pattern)), default=0.0)
        if table.get(name):
            points = table[name]
        if points:
            candidate.add(f"moves {metric}", points * weight, figure_text(row))


def figure_text(row: MetricChange) -> str:
    """A figure with both values and the change in percent."""
    change = "" if row.ratio is None else f" ({row.ratio - 1:+.0%})"
    return f"{row.metric} {_short(row.good)} -> {_short(row.bad)} {row.unit}{change}"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _told(moved: Sequence[MetricChange]) -> str:
    shown = [row for row in moved if row.metric in _RATE or row.metric in figure_feeds()] or list(moved)
    return "; ".join(figure_text(row) for row in shown[:3]) + "."


def _figure_quotes(scene: Scene, moved: Sequence[MetricChange]) -> list[Evidence | None]:
    quotes: list[Evidence | None] = [noted(f"{figure_text(row)}; {row.noise}") for row in moved[:3]]
    if any(
        row.metric in ("max_total_num_tokens", "max_running_requests", "running requests, most")
        for row in moved
    ):
        quotes += [
            milestone_quote(milestone_named(scene.diff.good, "limits"), "good"),
            milestone_quote(milestone_named(scene.bad, "limits"), "bad"),
        ]
    return quotes


def _rule_remedies(candidate: Candidate, scene: Scene) -> list[Remedy]:
    """The ways out that the most telling figure has; old defaults only where the release changed."""
    moved = {part.name.removeprefix("moves ") for part in candidate.parts}
    is_release = any(row.name == "sglang" for row in scene.diff.versions)
    for figure, rule_id in _RULES.items():
        if figure in moved and (figure != "decode throughput" or is_release):
            rule = next((rule for rule in atlas() if rule.id == rule_id), None)
            return offered(rule.remedies, scene, most=3) if rule is not None else []
    return []


def _other_candidates(scene: Scene, moved: Sequence[MetricChange]) -> Iterator[Candidate]:
    """Release, packages, variables, configs and host, less direct than arguments."""
    groups: tuple[tuple[str, float, Sequence[ValueChange]], ...] = (
        ("version", 0.3, scene.diff.versions),
        ("env", 0.25, scene.diff.env),
        ("config", 0.3, scene.diff.configs),
        ("host", 0.25, scene.diff.host),
    )
    found = False
    for kind, points, rows in groups:
        for row in rows:
            if row.is_noise:
                continue
            found = True
            subject = f"{row.role}.{row.name}" if row.role else row.name
            title = f"{subject} changed from {show(row.good)} to {show(row.bad)}"
            candidate = Candidate(kind, subject, title, mechanism=_told(moved), asks=(kind, subject, row.bad))
            weight = 1.0 if row.name in ("sglang", "gpus", "driver") or kind == "config" else 0.5
            candidate.add("may move the figures", points * weight, f"{subject} is another one")
            if scene.is_alone():
                candidate.add("the only change", 0.2, "nothing else that could matter differs")
            candidate.quote(*_figure_quotes(scene, moved))
            back = {"version": version_back, "env": env_back, "config": config_back}.get(kind)
            candidate.remedies = back(row) if back is not None else []
            yield candidate
    if not found and not scene.changed_arguments:
        yield _straggler(scene, moved)


def _straggler(scene: Scene, moved: Sequence[MetricChange]) -> Candidate:
    """Nothing differs and yet it is slower: the machine or the load."""
    candidate = Candidate(
        "host", "clocks or load", "nothing that is known differs: the machine, its neighbours or the load"
    )
    candidate.add(
        "nothing differs", 0.4, "arguments, environment and versions are the same as far as they are known"
    )
    candidate.mechanism = _told(moved)
    candidate.quote(*_figure_quotes(scene, moved))
    rule = next((rule for rule in atlas() if rule.id == "perf-clock-or-straggler"), None)
    candidate.remedies = offered(rule.remedies, scene) if rule is not None else []
    return candidate
