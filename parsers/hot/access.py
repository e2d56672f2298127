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
_DASH = b'- "'
_U = np.uint64
_BYTE, _POINT, _COLON, _BLANK = _U(0xFF), _U(ord(".")), _U(ord(":")), _U(ord(" "))
_TAIL_WORDS = 16
_MOST_TAILS = 256
_MOST_TRIALS = 64
"""Tails of one block that the careful parser is asked for; lines with other new ones go to it anyway."""


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
        unknown = np.flatnonzero((sizes > 0) & (sizes <= self.tails.longest) & (codes < 0))
        if unknown.size and not self.tails.is_full:
            learned = self._learn(text, places, sizes, unknown, read)
            codes[unknown] = self.tails.codes(text, places[unknown], sizes[unknown])
            codes[learned] = -1
        return codes

    def _learn(
        self,
        text: Text,
        places: Places,
        sizes: Places,
        unknown: Places,
        read: Callable[[int], AccessLine | None],
    ) -> list[int]:
        """Learn the tails that stand there more than once; gives the lines that taught."""
        keys = self.tails.keys(text, places[unknown], sizes[unknown])
        _, firsts, counts = np.unique(keys, return_index=True, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:_MOST_TRIALS]
        learned = []
        for index in unknown[firsts[order[counts[order] > 1]]].tolist():
            tail = text.rows(places[index : index + 1], _TAIL_WORDS).tobytes()[: int(sizes[index])]
            line = read(index)
            if line is not None and self.tails.add(tail) is not None:
                self.lines.append(line)
                learned.append(index)
        return learned


def _after_address(text: Text, starts: Places) -> tuple[Places, Mask]:
    """Where the request's quote begins behind ``INFO:     10.0.0.5:40000 - "``."""
    fits = matches(text, starts, _LEVEL)
    cursor = starts + len(_LEVEL)
    for stop, longest in ((_POINT, 3), (_POINT, 3), (_POINT, 3), (_COLON, 3), (_BLANK, 5)):
        loaded = text.at(cursor)
        _, reach = digit_run(loaded)
        fits &= (reach - 16) < 8 * longest  # one digit at least: 0 - 8 is large in a byte
        fits &= ((loaded >> (reach - 8)) & _BYTE) == stop
        cursor += reach >> 3
    fits &= matches(text, cursor, _DASH)
    cursor += len(_DASH)
    return cursor, fits
