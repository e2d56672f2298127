"""How long each stage of a launch took, from its milestones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from parsers.lazy_dataclass import dataclass
from parsers.records import Milestone, Stage, StageSpan
from parsers.times import given_out, is_dated


@dataclass(frozen=True, slots=True)
class _Bounds:
    stage: Stage
    begins: tuple[str, ...]
    ends: tuple[str, ...]
    printed: str
    """Milestone whose printed seconds are the stage's own."""


_BOUNDS: tuple[_Bounds, ...] = (
    _Bounds(Stage.ENV, ("args",), ("distributed-begin", "load-begin"), ""),
    _Bounds(
        Stage.DISTRIBUTED,
        ("distributed-begin",),
        ("memory-baseline", "distributed-end", "load-begin"),
        "distributed-end",
    ),
    _Bounds(Stage.LOAD, ("load-begin", "load-progress"), ("load-end",), "load-end"),
    _Bounds(Stage.KV_CACHE, ("load-end",), ("memory-pool-end", "kv-cache"), ""),
    _Bounds(Stage.GRAPH_CAPTURE, ("graph-begin", "graph-progress"), ("graph-end",), "graph-end"),
    _Bounds(Stage.WARMUP, ("http-started", "http-running"), ("ready",), ""),
    _Bounds(Stage.SHUTDOWN, ("sigterm", "sigquit", "http-shutdown"), ("drained", "http-shutdown"), ""),
)


def stage_spans(
    milestones: Sequence[Milestone], last_at: datetime | None, last_line: int
) -> tuple[StageSpan, ...]:
    """The spans of the whole launch (rank '') and of each rank, in the order of the stages."""
    spans: list[StageSpan] = []
    ranks = sorted({milestone.rank for milestone in milestones if milestone.rank})
    for bounds in _BOUNDS:
        whole = _span(bounds, milestones, "")
        if whole is not None:
            spans.append(whole)
        for rank in ranks:
            span = _span(bounds, [one for one in milestones if one.rank == rank], rank)
            if span is not None:
                spans.append(span)
    ready = next((one for one in milestones if one.name == "ready"), None)
    if ready is not None:
        end = next((one for one in milestones if one.stage is Stage.SHUTDOWN and one.line > ready.line), None)
        ended_at = end.at if end is not None else last_at
        spans.append(
            StageSpan(
                Stage.SERVING,
                "",
                given_out(ready.at),
                given_out(ended_at),
                ready.line,
                end.line if end is not None else last_line,
                _between(ready.at, ended_at),
                end is not None,
            )
        )
    return tuple(spans)


def _span(bounds: _Bounds, milestones: Sequence[Milestone], rank: str) -> StageSpan | None:
    begins = [one for one in milestones if one.name in bounds.begins]
    if not begins:
        return None
    first = begins[0]
    for wanted in bounds.ends:
        ends = [one for one in milestones if one.name == wanted and one.line >= first.line]
        if ends:
            break
    else:
        return StageSpan(
            bounds.stage, rank, given_out(first.at), None, first.line, begins[-1].line, None, False
        )
    last = ends[-1]
    printed = [one for one in milestones if one.name == bounds.printed and one.seconds is not None]
    seconds = sum(one.seconds or 0.0 for one in printed) if rank and printed else None
    if seconds is None:
        seconds = _between(first.at, last.at)
        if seconds is None and printed:
            seconds = max(one.seconds or 0.0 for one in printed)
    return StageSpan(
        bounds.stage,
        rank,
        given_out(first.at),
        given_out(last.at),
        first.line,
        last.line,
        seconds,
        True,
        _figure(ends, "mem_usage_gb"),
        _figure([last], "avail_mem_gb"),
    )


def _between(first: datetime | None, last: datetime | None) -> float | None:
    if first is None or last is None or is_dated(first) != is_dated(last):
        return None
    seconds = (last - first).total_seconds()
    return seconds if seconds >= 0 else None


def _figure(milestones: Sequence[Milestone], name: str) -> float | None:
    for milestone in reversed(milestones):
        for figure, value in milestone.values:
            if figure == name and isinstance(value, float):
                return value
    return None
