"""Times as they are printed, with or without a date.

A time without a full date gets the year ``UNDATED`` (a leap year that no log has), so that differences
can be taken; such a time must never leave the package.
"""

from __future__ import annotations

import functools
from datetime import datetime, timedelta

import regex

UNDATED = 4
"""Year of a time that was printed without one."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@functools.lru_cache(maxsize=512)
def read_time(text: str) -> datetime | None:
    """A printed time as a naive datetime, as printed (zones are not applied); None if it is none."""
    match = _shapes().match(text)
    if match is None:
        return None
    year, month, day = match["year"], match["month"], match["day"]
    if match["name"]:
        month, day = str(_MONTHS.index(match["name"]) + 1), match["nameday"].strip()
    fraction = (match["fraction"] or "")[:6].ljust(6, "0")
    try:
        return datetime(
            int(year) if year else UNDATED,
            int(month) if month else 1,
            int(day) if day else 1,
            int(match["hour"]),
            int(match["minute"]),
            int(match["second"]),
            int(fraction),
        )
    except ValueError:
        return None


def is_dated(at: datetime | None) -> bool:
    """True when the date was printed too."""
    return at is not None and at.year > UNDATED


def given_out(at: datetime | None) -> datetime | None:
    """The time as it may leave the package: None when no full date was printed."""
    return at if is_dated(at) else None


def settle(at: datetime | None, hint: datetime | None, last: datetime | None) -> datetime | None:
    """Complete an undated time: by the carrier's date, else so that it does not run backwards at midnight."""
    if at is None or is_dated(at):
        return at
    if is_dated(hint) and hint is not None:
        dated = at.replace(year=hint.year, month=hint.month, day=hint.day)
        if dated - hint > timedelta(hours=14):
            return dated - timedelta(days=1)
        return dated + timedelta(days=1) if hint - dated > timedelta(hours=14) else dated
    if last is not None and last.year == UNDATED and at.month == 1 and at.day == 1:
        moved = at.replace(month=last.month, day=last.day)
        return moved + timedelta(days=1) if last - moved > timedelta(hours=12) else moved
    return at


@functools.cache
def _shapes() -> regex.Pattern[str]:
    return regex.compile(
        r"(?:(?:(?P<year>\d{4})-)?(?P<month>\d\d)-(?P<day>\d\d)[T ]"
        r"|(?P<name>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (?P<nameday>[ \d]\d) )?"
        r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
    )
