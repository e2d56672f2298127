"""Launches over several logs: which part failed first, as text, Markdown and JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from logscope.report.cause_text import rule
from logscope.report.harmless import folded, harmless
from logscope.report.layout import Ink, wrapped
from logscope.report.names import clock, run_path
from logscope.store.records import short_id
from parsers.records import Json

if TYPE_CHECKING:
    from logscope.store.first_failure import GroupFailure
    from logscope.store.groups import LaunchGroup
    from logscope.store.records import RunId, StoredRun


def groups_value(groups: Sequence[LaunchGroup]) -> list[Json]:
    """The key ``groups`` of ``logscope show --format json``."""
    return [_value(group) for group in groups]


def groups_text(groups: Sequence[LaunchGroup], runs: Sequence[StoredRun], color: bool = False) -> str:
    """What follows the parts' own reports; empty without groups."""
    ink, known = Ink(color), {stored.run_id: stored for stored in runs}
    lines = [line for group in groups for line in ["", *_lines(group, known, ink)]]
    return "\n".join(line.rstrip() for line in lines) + "\n" if lines else ""


def groups_markdown(groups: Sequence[LaunchGroup]) -> str:
    """A section for a ticket; empty without groups."""
    from logscope.report.markdown import escaped

    parts = [f"## One launch over several logs\n\n{escaped(group.verdict)}" for group in groups]
    return "\n" + "\n\n".join(parts) + "\n" if parts else ""


def _value(group: LaunchGroup) -> Json:
    return {
        "runs": list(group.runs),
        "parts": list(group.names),
        "joined_by": group.joined_by,
        "ready": group.is_ready,
        "verdict": group.verdict,
        "first_failure": None if group.first_failure is None else _failure(group.first_failure),
        "echoes": [_failure(each) for each in group.echoes if each.is_echo],
        "later_failures": [_failure(each) for each in group.echoes if not each.is_echo],
        "missing_nodes": list(group.missing_nodes),
        "clock_shifts": dict(group.clock_shifts),
    }


def _failure(failure: GroupFailure) -> Json:
    return {
        "run_id": failure.run_id,
        "part": failure.part,
        "rank": failure.rank,
        "line": failure.line,
        "at": _time(failure.at),
        "type": failure.type,
        "message": failure.message,
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _lines(group: LaunchGroup, known: Mapping[RunId, StoredRun], ink: Ink) -> list[str]:
    sign = "=" if group.is_ready else "!" if group.first_failure is not None else "?"
    lines = [rule("one launch over several logs")]
    lines += [ink.paint(line, "title") for line in wrapped(folded(group.verdict), f"{sign} ")]
    lines += wrapped(folded(group.joined_by), "joined by ")
    failures = {each.run_id: each for each in (group.first_failure, *group.echoes) if each is not None}
    shifts = dict(group.clock_shifts)
    for run_id, name in zip(group.runs, group.names, strict=True):
        stored = known.get(run_id)
        path = run_path(stored) if stored is not None else short_id(run_id)
        lines += wrapped(path, f"  {harmless(name)}  ")
        if run_id in shifts:
            lines += wrapped(f"its clock is {shifts[run_id]:+.0f} s off, which is taken off here", "     ")
        lines += wrapped(_end_of_part(failures.get(run_id), stored, group), "     ")
    if group.missing_nodes:
        lines += wrapped(", ".join(map(str, group.missing_nodes)), "no log of node ")
    return lines


def _end_of_part(failure: GroupFailure | None, stored: StoredRun | None, group: LaunchGroup) -> str:
    if failure is None:
        return "" if stored is None else f"{stored.run.outcome.value}: {folded(stored.run.reason)}"
    kind = "first failure" if failure == group.first_failure else "echo" if failure.is_echo else "later"
    place = f", line {failure.line}" if failure.line is not None else ""
    rank = f", {failure.rank}" if failure.rank else ""
    message = folded(f"{failure.type}: {failure.message}")[:300]
    return f"{kind} at {clock(failure.at)}{harmless(rank)}{place}: {message}"
