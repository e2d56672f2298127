"""Is a log written newest first? Decided from the times in front of its lines."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from parsers.lazy_pattern import lazy_pattern

_LOOK = 120
"""Bytes of a line in which its time must begin."""
_TIME = lazy_pattern(rb"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)")
_MONTHS = b"JanFebMarAprMayJunJulAugSepOctNovDec"
_TABLE_TIME = lazy_pattern(
    rb"(?P<month>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)) (?P<day>\d{1,2}), (?P<year>\d{4}) @ "
    rb"(?P<clock>\d\d:\d\d:\d\d\.\d{1,9})"
)
"""The first column of a table of log entries, as Kibana shows and copies it."""


def is_newest_first(lines: Sequence[bytes]) -> bool:
    """True when the times in front of the lines run backwards."""
    times = [time for time in map(_front_time, lines) if time]
    falling = rising = 0
    for before, after in itertools.pairwise(times):
        falling += after < before
        rising += after > before
    return falling >= 2 and falling > 4 * rising and times[-1] < times[0]


def oldest_first(numbered: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """The entries turned round; lines without a time stay behind the entry that they belong to."""
    entries: list[list[tuple[int, bytes]]] = []
    for number, raw in numbered:
        if entries and not _front_time(raw):
            entries[-1].append((number, raw))
        else:
            entries.append([(number, raw)])
    return [line for entry in reversed(entries) for line in entry]


def _front_time(raw: bytes) -> bytes:
    """The time as text that sorts as the times do; empty where there is none."""
    if b":" not in raw[:_LOOK]:
        return b""
    table = _TABLE_TIME.match(raw)
    if table is not None:
        month = _MONTHS.find(table["month"]) // 3
        return b"%b-%02d-%02d %b" % (table["year"], month + 1, int(table["day"]), table["clock"])
    match = _TIME.search(raw[:_LOOK])
    return match[1] + b" " + match[2].replace(b",", b".") if match is not None else b""
