"""Access lines of the HTTP server: the address by its slots, the rest of the line by a bounded dictionary."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from parsers.hot.tables import TextTable
from parsers.hot.words import Mask, Places, Text, Words, digit_run, low_mask, word
from parsers.rules.access import AccessLine

KEY = b"INFO:   "
"""First eight bytes of a message that may be an access line."""
_LEVEL = b"INFO:     "
_LEVEL_REST = len(_LEVEL) - 8
_DASH = b'- "'
_U = np.uint64
_BYTE, _S8, _SIXTY_FOUR = _U(0xFF), _U(8), _U(64)
_POINT, _COLON, _BLANK = _U(ord(".")), _U(ord(":")), _U(ord(" "))
_ADDRESS = ((_POINT, 3), (_POINT, 3), (_POINT, 3), (_COLON, 3), (_BLANK, 5))
"""What ends each number, and its most digits."""
_WORDS_BEHIND = (3, 3, 3, 3, 1)
"""Words that hold what may be left behind each number, with the dash."""
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
    """Where the request's quote begins behind ``INFO:     10.0.0.5:40000 - "`` (which begins with KEY)."""
    rows = text.rows(starts, 5, _LEVEL_REST)
    fits: Mask = rows[:, 0] == word(_LEVEL[_LEVEL_REST:])
    left = [rows[:, place] for place in range(1, 5)]
    size = np.zeros(starts.size, dtype=np.uint8)
    for (stop, longest), words in zip(_ADDRESS, _WORDS_BEHIND, strict=True):
        _, reach = digit_run(left[0])
        fits &= (reach - 16) < 8 * longest  # one digit at least: 0 - 8 is large in a byte
        bits = reach.astype(np.uint64)
        fits &= ((left[0] >> (bits - _S8)) & _BYTE) == stop
        size += reach >> 3
        left = _moved(left, bits, words)
    fits &= (left[0] & low_mask(len(_DASH))) == word(_DASH)
    cursor = starts + size
    cursor += len(_LEVEL) + len(_DASH)
    return cursor, fits


def _moved(loaded: list[Words], bits: Words, count: int) -> list[Words]:
    """The first `count` words that begin `bits` behind the loaded ones."""
    up = _SIXTY_FOUR - bits
    moved = [words >> bits for words in loaded[:count]]
    for words, following in zip(moved, loaded[1:], strict=False):
        words |= following << up
    return moved
