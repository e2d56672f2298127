"""A bounded dictionary from short texts to small codes, looked up for many lines at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from parsers.hot.words import Mask, Places, Text, Words

_U = np.uint64
_ALL = (1 << 64) - 1
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F)
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(9)], dtype=np.uint64)


class TextTable:
    """Texts of at most ``8 * width`` bytes with a code each; a code is given only after all words agree."""

    def __init__(self, width: int, limit: int) -> None:
        self.width = width
        self.limit = limit
        self.texts: list[bytes] = []
        self._words = np.zeros((limit, width), dtype=np.uint64)
        self._sizes = np.full(limit, -1, dtype=np.int64)
        self._places: NDArray[np.int32] = np.full(16, -1, dtype=np.int32)
        self._mix = 0

    @property
    def longest(self) -> int:
        """Longest text in bytes."""
        return 8 * self.width

    @property
    def is_full(self) -> bool:
        """True when no more texts are taken."""
        return len(self.texts) >= self.limit

    def add(self, text: bytes) -> int | None:
        """The code of a text, new or known; None when the table is full or the text too long."""
        if text in self.texts:
            return self.texts.index(text)
        if self.is_full or len(text) > self.longest:
            return None
        code = len(self.texts)
        self.texts.append(text)
        self._words[code] = np.frombuffer(text.ljust(self.longest, b"\0"), dtype="<u8")
        self._sizes[code] = len(text)
        self._place_all()
        return code

    def _place_all(self) -> None:
        """Find a table size and mixer for which no two texts share a place."""
        count = len(self.texts)
        bits = max(4, (4 * count).bit_length())
        while True:
            for mix in range(len(_MIX)):
                self._mix = mix
                places = self._hash(list(self._words[:count].T), bits)
                if np.unique(places).size == count:
                    self._places = np.full(1 << bits, -1, dtype=np.int32)
                    self._places[places] = np.arange(count, dtype=np.int32)
                    return
            bits += 1

    def _hash(self, columns: Sequence[Words], bits: int) -> NDArray[np.int64]:
        """Words of zeros add nothing, so a text may be hashed without its empty words."""
        factors = self._factors()
        mixed = columns[0] * factors[0]
        for column, factor in zip(columns[1:], factors[1:], strict=False):
            mixed += column * factor
        mixed ^= mixed >> _U(32)
        mixed *= factors[0]
        return (mixed >> _U(64 - bits)).astype(np.int64)

    def _factors(self) -> list[np.uint64]:
        """One odd factor a word, other ones for each mixer."""
        return [_U((_MIX[self._mix] * (2 * index + 1)) & _ALL) for index in range(self.width)]

    def codes(self, text: Text, starts: Places, sizes: Places) -> NDArray[np.int32]:
        """The code of the text at each place; -1 for texts that are not in the table."""
        fits: Mask = (sizes >= 0) & (sizes <= self.longest)
        longest = int(np.max(sizes, where=fits, initial=0))
        count = (max(longest, 1) + 7) // 8
        columns = text.ahead(np.where(fits, starts, 0), count)
        left = np.where(fits, sizes, 0)
        for column in columns:
            column &= _MASKS[np.clip(left, 0, 8)]
            left -= 8
        codes = self._places[self._hash(columns, self._places.size.bit_length() - 1)]
        found = np.maximum(codes, 0)
        same = fits & (self._sizes[found] == sizes) & (codes >= 0)
        for index, column in enumerate(columns):
            same &= self._words[found, index] == column
        return np.where(same, codes, np.int32(-1))
