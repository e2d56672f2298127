"""How far the clocks of two parts of one launch are apart, and when the parts ran.

Every rank waits for the others at the end of the rendezvous and of a few later steps, so these moments
are one moment on all nodes. Where they differ by one and the same amount, the clocks differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from statistics import median

from logscope.store.records import StoredRun
from parsers.lazy_dataclass import dataclass

MEETINGS = ("distributed-end", "memory-baseline", "memory-pool-end", "graph-begin", "graph-end", "limits")
"""Milestones that all ranks reach together, the rendezvous first."""
EVIDENT = timedelta(seconds=10)
"""Less than this is the usual unevenness of ranks."""
LARGEST_DRIFT = timedelta(minutes=10)
"""Clocks of one cluster are rarely farther apart, time zones aside."""
SLACK = timedelta(seconds=60)
"""A part may begin so long after another one ended."""

_ZONE_STEP = timedelta(minutes=30)
_AGREE = timedelta(seconds=5)
_ZERO = timedelta()


@dataclass(frozen=True, slots=True)
class Span:
    """When a part ran, by its own clock."""

    first: datetime
    last: datetime

    def moved(self, shift: timedelta) -> Span:
        """The same span on a clock that is `shift` behind."""
        return Span(self.first - shift, self.last - shift)

    def overlap(self, other: Span) -> timedelta:
        """Time that both ran; negative: the gap between them."""
        return min(self.last, other.last) - max(self.first, other.first)


def span_of(stored: StoredRun) -> Span | None:
    """None where the log prints no times."""
    first, last = stored.started_at, stored.run.ended_at
    if first is None or first.tzinfo is not None:
        return None
    return Span(first, last if last is not None and last.tzinfo is None and last >= first else first)


def clock_shift(reference: StoredRun, other: StoredRun) -> timedelta:
    """How far the clock of `other` is ahead of that of `reference`; zero where nothing shows that it is."""
    before, after = _meetings(reference), _meetings(other)
    shifts = [after[name] - before[name] for name in MEETINGS if name in before and name in after]
    if not shifts:
        return _ZERO
    shift = timedelta(seconds=median(one.total_seconds() for one in shifts))
    is_one_amount = all(abs(one - shift) <= _AGREE for one in shifts)
    if abs(shift) < EVIDENT or not is_one_amount:
        return _ZERO
    if abs(shift) <= LARGEST_DRIFT:
        return shift
    beside = abs(shift - round(shift / _ZONE_STEP) * _ZONE_STEP)
    is_zone = beside <= (_AGREE if len(shifts) == 1 else SLACK) and abs(shift) <= timedelta(hours=26)
    return shift if is_zone else _ZERO


def ran_together(
    one: StoredRun, other: StoredRun, shifts: Mapping[str, timedelta] | None = None
) -> timedelta | None:
    """How long both ran at once (negative: the gap); None where a time is missing."""
    mine, theirs = span_of(one), span_of(other)
    if mine is None or theirs is None:
        return None
    known = shifts or {}
    return mine.moved(known.get(one.run_id, _ZERO)).overlap(theirs.moved(known.get(other.run_id, _ZERO)))


def earliest(moments: Iterable[datetime | None]) -> datetime | None:
    """The first of the moments that are known."""
    return min((moment for moment in moments if moment is not None), default=None)


def _meetings(stored: StoredRun) -> dict[str, datetime]:
    found: dict[str, datetime] = {}
    for milestone in stored.run.milestones:
        at = milestone.at
        if milestone.name in MEETINGS and at is not None and at.tzinfo is None and not milestone.role:
            found.setdefault(milestone.name, at)
    return found
