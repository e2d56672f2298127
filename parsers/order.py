"""Is a log written newest first? Decided from the times in front of its lines."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import regex

_LOOK = 120
"""Bytes of a line in which its time must begin."""


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
    if b":" not in raw[:_LOOK]:
        return b""
    match = _time().search(raw[:_LOOK])
    return match[1] + b" " + match[2].replace(b",", b".") if match is not None else b""


@functools.cache
def _time() -> regex.Pattern[bytes]:
    return regex.compile(rb"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)")
