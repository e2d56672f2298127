"""A bounded dictionary from short texts to small codes, looked up for many lines at once."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from parsers.hot.words import Mask, Places, Text, Words

_U = np.uint64
_ALL = (1 << 64) - 1
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F)
_MOST_BITS = 20


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
    def _longest_known(self) -> int:
        return max(map(len, self.texts), default=0)

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
        count, mix_before = len(self.texts), self._mix
        for bits in range(max(4, (4 * count).bit_length()), _MOST_BITS):
            for mix in range(len(_MIX)):
                self._mix = mix
                places = self._hash(self._words[:count], bits)
                if np.unique(places).size == count:
                    self._places = np.full(1 << bits, -1, dtype=np.int32)
                    self._places[places] = np.arange(count, dtype=np.int32)
                    return True
        self._mix = mix_before
        return False

    def _mixed(self, rows: Words) -> Words:
        """One number a row; words of zeros add nothing, so empty ones may be left out."""
        factors = self._factors()
        mixed = rows[:, 0] * factors[0]
        for index in range(1, rows.shape[1]):
            mixed += rows[:, index] * factors[index]
        mixed ^= mixed >> _U(32)
        mixed *= factors[0]
        return mixed

    def _hash(self, rows: Words, bits: int) -> Places:
        mixed = self._mixed(rows)
        mixed >>= _U(64 - bits)
        return mixed.view(np.int64)

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
        fits: Mask = sizes.view(np.uint64) <= _U(self._longest_known)  # a size below 0 is a large number
        is_whole = bool(fits.all())
        if not is_whole:
            starts, sizes = np.where(fits, starts, 0), np.where(fits, sizes, 0)
        rows = self._load(text, starts, sizes, self._longest_known)
        codes = self._places.take(self._hash(rows, self._places.size.bit_length() - 1))
        found = np.maximum(codes, 0)
        same = self._sizes.take(found) == sizes
        same &= codes >= 0
        rows ^= self._words[:, : rows.shape[1]].take(found, axis=0)
        for index in range(rows.shape[1]):
            same &= rows[:, index] == 0
        if not is_whole:
            same &= fits
        return np.where(same, codes, np.int32(-1))

    def _load(self, text: Text, starts: Places, sizes: Places, longest: int) -> Words:
        """The texts as rows, with zeros behind each."""
        count = max(1, (longest + 7) // 8)
        rows = text.rows(starts, count)
        rows &= _masks(count).take(sizes, axis=0)
        return rows


@functools.cache
def _masks(count: int) -> Words:
    """For each size, the bytes that a text of this size has in a row of `count` words."""
    sizes = np.arange(8 * count + 1)[:, None]
    masks: Words = (np.arange(8 * count) < sizes).astype(np.uint8).view("<u8") * _U(0xFF)
    return masks
