"""The stages of a launch in two runs, and which one the failing run never reached."""

from __future__ import annotations

from collections.abc import Mapping

from logscope.compare.records import StageChange
from logscope.store.records import SetupSpread, Spread, StoredRun
from parsers.lazy_dataclass import replace
from parsers.records import Stage, StageSpan

_LAUNCH = tuple(stage for stage in Stage if stage is not Stage.SHUTDOWN)


def stage_changes(bad: StoredRun, good: StoredRun | None, usual: SetupSpread) -> tuple[StageChange, ...]:
    """One row a stage that either run reached, in the order of a launch."""
    before, now = _spans(good), _spans(bad)
    rows: list[StageChange] = []
    has_missing = False
    for stage in _LAUNCH:
        one, other = before.get(stage), now.get(stage)
        if one is None and other is None:
            continue
        is_first_missing = one is not None and other is None and not has_missing and not _is_later(stage, now)
        has_missing |= is_first_missing
        rows.append(_row(stage, one, other, usual.stage_seconds.get(str(stage)), is_first_missing))
    return tuple(rows)


def _is_later(stage: Stage, reached: Mapping[Stage, StageSpan]) -> bool:
    """True when the failing run got past the stage without printing it."""
    return any(_comes_after(other, stage) for other in reached if other is not Stage.SHUTDOWN)


def _spans(run: StoredRun | None) -> Mapping[Stage, StageSpan]:
    """One span a stage: the whole launch's where there is one, else the slowest rank's.

    A stage counts as begun when the one before it has ended. Where the launch ended in the stage before all
    the same (the load of a draft behind the target's), it never got there and did not end the one it is in.
    """
    found: dict[Stage, StageSpan] = {}
    ended_in = _ended_in(run)
    for span in run.run.stages if run is not None else ():
        if ended_in is not None and not span.complete and _comes_after(span.stage, ended_in):
            continue
        if span.stage is ended_in:
            span = replace(span, complete=False)
        held = found.get(span.stage)
        if held is None or (held.rank and (not span.rank or (span.seconds or 0) > (held.seconds or 0))):
            found[span.stage] = span
    return found


def _ended_in(run: StoredRun | None) -> Stage | None:
    """The stage in which the launch ended before it was ready; None for any other run."""
    return None if run is None or run.run.ready or run.run.root_error is None else run.run.stage


def _comes_after(stage: Stage, other: Stage) -> bool:
    order = list(Stage)
    return order.index(stage) > order.index(other)


def _row(
    stage: Stage, good: StageSpan | None, bad: StageSpan | None, usual: Spread | None, is_first_missing: bool
) -> StageChange:
    seconds = bad.seconds if bad is not None else None
    return StageChange(
        stage=stage,
        good_seconds=good.seconds if good is not None else None,
        bad_seconds=seconds,
        good_reached=good is not None,
        bad_reached=bad is not None,
        bad_complete=bad is not None and bad.complete,
        good_mem_gb=good.mem_gb if good is not None else None,
        bad_mem_gb=bad.mem_gb if bad is not None else None,
        usual_seconds=usual,
        is_outside=_is_outside(seconds, usual),
        first_missing=is_first_missing,
    )


def _is_outside(seconds: float | None, usual: Spread | None) -> bool:
    """Outside what the good runs took, with as much room again as they spread (at least a second)."""
    if seconds is None or usual is None or usual.runs < 3:
        return False
    room = max(usual.high - usual.low, 1.0)
    return seconds > usual.high + room or seconds < usual.low - room
