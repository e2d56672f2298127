"""Reading many places of a byte buffer at once: eight bytes at a time, as 64-bit words.

All arithmetic is exact on integers; a place that does not hold what was asked for is reported, never
guessed. Bytes are compared in little-endian order, so the first character is the lowest byte.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

PAD = 2048
"""Bytes of zeros after the text: no template reaches further, so no load needs a bounds check."""

Bytes: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint64]
Places: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

_U = np.uint64
_ZEROS = _U(0x3030303030303030)
_SEVEN = _U(0x7676767676767676)
_HIGH = _U(0x8080808080808080)
_ONES = _U(0x0101010101010101)
_ONE, _SIXTY_FOUR, _SEVENTY_ONE = _U(1), _U(64), _U(71)
_PAIR, _PAIR_MASK = _U(1 + (10 << 8)), _U(0x00FF00FF00FF00FF)
_FOUR, _FOUR_MASK = _U(1 + (100 << 16)), _U(0x0000FFFF0000FFFF)
_EIGHT = _U(1 + (10000 << 32))
_S8, _S16, _S32 = _U(8), _U(16), _U(32)


class Text:
    """A block's bytes, read as words that may begin at any byte."""

    __slots__ = ("_aligned", "_words", "raw")

    def __init__(self, raw: Bytes) -> None:
        """`raw` ends in PAD zeros and begins where the machine aligns words."""
        self.raw = raw
        self._words: Words = np.ndarray((raw.size - 7,), dtype="<u8", buffer=raw.data, strides=(1,))
        self._aligned: Words = raw[: raw.size // 8 * 8].view("<u8")

    def at(self, places: Places) -> Words:
        """The word that begins at each place."""
        loaded: Words = self._words[places]
        return loaded

    def ahead(self, places: Places, count: int) -> list[Words]:
        """The `count` words that follow one another from each place on.

        Numpy gathers aligned words five times faster than others, so neighbours are put together from them.
        """
        if count == 1:
            return [self._words[places]]
        index = places >> 3
        right = places.view(np.uint64) & _U(7)
        right <<= _U(3)
        left = _SIXTY_FOUR - right  # a shift by 64 gives 0, as it must for an aligned place
        low = self._aligned.take(index)
        loaded = []
        for _ in range(count):
            index += 1
            high = self._aligned.take(index)
            low >>= right
            low |= high << left
            loaded.append(low)
            low = high
        return loaded


class Buffer:
    """Room for one block, used again for the next: fresh megabytes cost more in page faults than the copy."""

    def __init__(self) -> None:
        self._raw: Bytes = np.empty(0, dtype=np.uint8)
        self._is_end: Mask = np.empty(0, dtype=np.bool_)

    def text(self, block: bytes) -> Text:
        """The block's bytes with PAD zeros after them."""
        size = len(block)
        if self._raw.size < size + PAD or self._raw.size > 4 * (size + PAD):
            self._raw = np.empty((size + size // 8 + PAD) // 8 + 1, dtype=np.uint64).view(np.uint8)
            self._is_end = np.empty(self._raw.size, dtype=np.bool_)
        self._raw[:size] = np.frombuffer(block, dtype=np.uint8)
        self._raw[size : size + PAD] = 0
        return Text(self._raw[: size + PAD])

    def line_ends(self, size: int) -> Places:
        """Where each of the first `size` bytes is a line's end."""
        room = -(-size // 8) * 8
        is_end = np.equal(self._raw[:room], 10, out=self._is_end[:room])
        is_end[size:] = False
        flags: Words = is_end.view(np.uint64)  # eight at a time: most have no line's end
        places = np.flatnonzero(flags != 0)
        left = flags[places]
        ends = _lowest(places, left)
        while True:
            left &= left - _ONE
            more = np.flatnonzero(left)
            if not more.size:
                return ends
            places, left = places[more], left[more]
            others = _lowest(places, left)
            ends = np.insert(ends, np.searchsorted(ends, others), others)


def _lowest(places: Places, flags: Words) -> Places:
    """The byte of the lowest bit that is set in each word, given the words' places."""
    lowest = flags & (~flags + _ONE)
    lowest -= _ONE
    ends: Places = (places << 3) + (np.bitwise_count(lowest) >> 3)
    return ends


def word(label: bytes) -> np.uint64:
    """The first eight bytes of a label as a word; shorter labels end in zeros."""
    return _U(int.from_bytes(label[:8], "little"))


def low_mask(count: int) -> np.uint64:
    """A mask over the first `count` bytes of a word."""
    return _U((1 << (8 * min(count, 8))) - 1)


def matches(text: Text, places: Places, label: bytes) -> Mask:
    """Where `label` stands, byte for byte, at each place."""
    return agree(text.ahead(places, (len(label) + 7) // 8), label)


def agree(loaded: list[Words], label: bytes) -> Mask:
    """Where the loaded words begin with `label`, which is not empty."""
    same: Mask | None = None
    for index in range((len(label) + 7) // 8):
        part = label[8 * index : 8 * index + 8]
        words = loaded[index] if len(part) == 8 else loaded[index] & low_mask(len(part))
        equal = words == word(part)
        same = equal if same is None else np.logical_and(same, equal, out=same)
    assert same is not None
    return same


def behind(loaded: list[Words], offset: int) -> Words:
    """The word that begins `offset` bytes after the first loaded one."""
    index, bits = offset // 8, 8 * (offset % 8)
    if not bits:
        return loaded[index]
    return (loaded[index] >> _U(bits)) | (loaded[index + 1] << _U(64 - bits))


def digit_run(loaded: Words) -> tuple[Words, Words]:
    """Text minus '0' of each word, and eight times the number of digits it begins with.

    Eight digits give 57 or more, which is no multiple of eight: callers refuse them.
    """
    digits = loaded ^ _ZEROS
    other = digits + _SEVEN  # a byte of 10 or more gets its high bit; a carry only spoils later bytes
    other |= digits
    other &= _HIGH
    lowest = other & (~other + _ONE)
    lowest -= _ONE
    bits = np.bitwise_count(lowest).astype(np.uint64)  # 8k + 7, or 64 for eight digits
    bits -= _U(7)
    return digits, bits


def value_of(digits: Words, bits: Words) -> Words:
    """The number that the first ``bits / 8`` digits spell (0 to 7 of them); `digits` is overwritten."""
    digits <<= _SIXTY_FOUR - bits  # a shift by 64 gives 0, which is right for no digit
    digits *= _PAIR
    digits >>= _S8
    digits &= _PAIR_MASK
    digits *= _FOUR
    digits >>= _S16
    digits &= _FOUR_MASK
    digits *= _EIGHT
    digits >>= _S32
    return digits


def is_number(bits: Words) -> Mask:
    """True where 1 to 7 digits were found."""
    return (bits - _ONE) < _U(56)
