"""A bounded dictionary from short texts to small codes, looked up for many lines at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from parsers.hot.words import Mask, Places, Text, Words

_U = np.uint64
_ALL = (1 << 64) - 1
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F)
_MOST_BITS = 20
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(9)], dtype=np.uint64)


class TextTable:
    """Texts of at most ``8 * width`` bytes with a code each; a code is given only after all words agree."""

    def __init__(self, width: int, limit: int) -> None:
        self.width = width
        self.limit = limit
        self.texts: list[bytes] = []
        self._words = np.zeros((0, width), dtype=np.uint64)
        self._sizes = np.zeros(0, dtype=np.int64)
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
        if code == len(self._sizes):
            self._words = np.concatenate([self._words, np.zeros((code + 16, self.width), dtype=np.uint64)])
            self._sizes = np.concatenate([self._sizes, np.full(code + 16, -1)])
        self._words[code] = np.frombuffer(text.ljust(self.longest, b"\0"), dtype="<u8")
        self._sizes[code] = len(text)
        if not self._place_all():
            self.texts.pop()
            self._sizes[code] = -1
            return None
        return code

    def _place_all(self) -> bool:
        """Find a table size and mixer for which no two texts share a place; False when there is none."""
        count = len(self.texts)
        for bits in range(max(4, (4 * count).bit_length()), _MOST_BITS):
            for mix in range(len(_MIX)):
                self._mix = mix
                places = self._hash(list(self._words[:count].T), bits)
                if np.unique(places).size == count:
                    self._places = np.full(1 << bits, -1, dtype=np.int32)
                    self._places[places] = np.arange(count, dtype=np.int32)
                    return True
        return False

    def _mixed(self, columns: Sequence[Words]) -> Words:
        """One number of the words; words of zeros add nothing, so empty ones may be left out."""
        factors = self._factors()
        mixed = columns[0] * factors[0]
        for column, factor in zip(columns[1:], factors[1:], strict=False):
            mixed += column * factor
        mixed ^= mixed >> _U(32)
        mixed *= factors[0]
        return mixed

    def _hash(self, columns: Sequence[Words], bits: int) -> NDArray[np.int64]:
        return (self._mixed(columns) >> _U(64 - bits)).astype(np.int64)

    def _factors(self) -> list[np.uint64]:
        """One odd factor a word, other ones for each mixer."""
        return [_U((_MIX[self._mix] * (2 * index + 1)) & _ALL) for index in range(self.width)]

    def keys(self, text: Text, starts: Places, sizes: Places) -> Words:
        """A number for the text at each place; equal texts have equal numbers."""
        return self._mixed(self._load(text, starts, sizes, int(sizes.max(initial=1))))

    def codes(self, text: Text, starts: Places, sizes: Places) -> NDArray[np.int32]:
        """The code of the text at each place; -1 for texts that are not in the table."""
        if not self.texts:
            return np.full(starts.size, -1, dtype=np.int32)
        fits: Mask = (sizes >= 0) & (sizes <= self.longest)
        longest = int(np.max(sizes, where=fits, initial=1))
        columns = self._load(text, np.where(fits, starts, 0), np.where(fits, sizes, 0), longest)
        codes = self._places[self._hash(columns, self._places.size.bit_length() - 1)]
        found = np.maximum(codes, 0)
        same = fits & (self._sizes[found] == sizes) & (codes >= 0)
        for index, column in enumerate(columns):
            same &= self._words[found, index] == column
        return np.where(same, codes, np.int32(-1))

    def _load(self, text: Text, starts: Places, sizes: Places, longest: int) -> list[Words]:
        columns = text.ahead(starts, (longest + 7) // 8)
        left = sizes.copy()
        for column in columns:
            column &= _MASKS[np.clip(left, 0, 8)]
            left -= 8
        return columns
