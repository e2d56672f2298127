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


class Buffer:
    """Room for one block, used again for the next: fresh megabytes cost more in page faults than the copy."""

    def __init__(self) -> None:
        self._text: Bytes = np.empty(0, dtype=np.uint8)
        self._is_end: Mask = np.empty(0, dtype=np.bool_)

    def padded(self, block: bytes) -> Bytes:
        """The block's bytes with PAD zeros after them."""
        size = len(block)
        if self._text.size < size + PAD or self._text.size > 4 * (size + PAD):
            self._text = np.empty(size + size // 8 + PAD, dtype=np.uint8)
            self._is_end = np.empty(self._text.size, dtype=np.bool_)
        self._text[:size] = np.frombuffer(block, dtype=np.uint8)
        self._text[size : size + PAD] = 0
        return self._text[: size + PAD]

    def line_ends(self, size: int) -> Places:
        """Where each of the first `size` bytes is a line's end."""
        is_end = np.equal(self._text[:size], 10, out=self._is_end[:size])
        return np.flatnonzero(is_end)


def words_of(text: Bytes) -> Words:
    """A view in which index i is the word that begins at byte i (it overlaps its neighbours)."""
    view: Words = np.ndarray((text.size - 7,), dtype="<u8", buffer=text.data, strides=(1,))
    return view


def word(label: bytes) -> np.uint64:
    """The first eight bytes of a label as a word; shorter labels end in zeros."""
    return _U(int.from_bytes(label[:8], "little"))


def low_mask(count: int) -> np.uint64:
    """A mask over the first `count` bytes of a word."""
    return _U((1 << (8 * min(count, 8))) - 1)


def matches(words: Words, places: Places, label: bytes) -> Mask:
    """Where `label` stands, byte for byte, at each place."""
    size = len(label)
    if size < 8:
        short: Mask = (words[places] & low_mask(size)) == word(label)
        return short
    same: Mask = words[places] == word(label)
    for offset in [*range(8, size - 7, 8), *([size - 8] if size % 8 else [])]:
        same &= words[places + offset] == word(label[offset:])
    return same


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
