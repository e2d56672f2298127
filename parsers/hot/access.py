"""Access lines of the HTTP server: the address by its slots, the rest of the line by a bounded dictionary."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from parsers.hot.tables import TextTable
from parsers.hot.words import Mask, Places, Text, digit_run, matches
from parsers.rules.access import AccessLine

KEY = b"INFO:   "
"""First eight bytes of a message that may be an access line."""
_LEVEL = b"INFO:     "
_DASH = b' - "'
_U = np.uint64
_BYTE, _POINT, _COLON = _U(0xFF), _U(ord(".")), _U(ord(":"))
_TAIL_WORDS = 16
_MOST_TAILS = 2048
_MOST_TRIALS = 64
"""Tails read one at a time in one block; the other unknown ones go to the careful lane."""


class AccessTaker:
    """Remembers the tails (verb, path, status) of a file."""

    def __init__(self) -> None:
        self.tails = TextTable(_TAIL_WORDS, _MOST_TAILS)
        self.lines: list[AccessLine] = []
        """What the careful parser read from each tail, by its code."""

    def take(
        self, text: Text, starts: Places, ends: Places, read: Callable[[int], AccessLine | None]
    ) -> NDArray[np.int32]:
        """The tail's code of each line; -1 for lines of another shape and for the first of each tail.

        `read` asks the careful parser what the line at an index is.
        """
        places, fits = _after_address(text, starts)
        sizes = np.where(fits, ends - places, -1)
        codes = self.tails.codes(text, places, sizes)
        trials = 0
        while trials < _MOST_TRIALS and not self.tails.is_full:
            unknown = np.flatnonzero(fits & (codes < 0) & (sizes > 0) & (sizes <= self.tails.longest))
            if not unknown.size:
                break
            first = int(unknown[0])
            tail = text.at(places[first] + 8 * np.arange(_TAIL_WORDS)).tobytes()[: int(sizes[first])]
            fits[first] = False
            trials += 1
            line = read(first)
            if line is not None and self.tails.add(tail) is not None:
                self.lines.append(line)
                codes[unknown] = self.tails.codes(text, places[unknown], sizes[unknown])
                codes[first] = -1
        return codes


def _after_address(text: Text, starts: Places) -> tuple[Places, Mask]:
    """Where the request's quote begins behind ``INFO:     10.0.0.5:40000 - "``."""
    fits = matches(text, starts, _LEVEL)
    cursor = starts + len(_LEVEL)
    for stop, longest in ((_POINT, 3), (_POINT, 3), (_POINT, 3), (_COLON, 3)):
        loaded = text.at(cursor)
        _, bits = digit_run(loaded)
        fits &= (bits - _U(1)) < _U(8 * longest)
        fits &= ((loaded >> bits) & _BYTE) == stop
        cursor += (bits >> _U(3)).view(np.int64)
        cursor += 1
    _, bits = digit_run(text.at(cursor))
    fits &= (bits - _U(1)) < _U(40)
    cursor += (bits >> _U(3)).view(np.int64)
    fits &= matches(text, cursor, _DASH)
    cursor += len(_DASH)
    return cursor, fits
