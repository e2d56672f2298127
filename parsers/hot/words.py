"""Reading many places of a byte buffer at once: eight bytes at a time, as 64-bit words.

All arithmetic is exact on integers; a place that does not hold what was asked for is reported, never
guessed. Bytes are compared in little-endian order, so the first character is the lowest byte.
"""

from __future__ import annotations

import functools
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

PAD = 2048
"""Bytes of zeros after the text: no template reaches further, so no load needs a bounds check."""
_FRONT = 8
"""Bytes before the text, so that a row may begin before a line."""

Bytes: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint64]
Places: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Reach: TypeAlias = NDArray[np.uint8]
"""Bits from a word's begin up to and with the first byte that is no digit: 8 for none, 64 for seven."""

_U = np.uint64
_ZEROS = _U(0x3030303030303030)
_SEVEN = _U(0x7676767676767676)
_SIX, _UPPER = _U(0x0606060606060606), _U(0xF0F0F0F0F0F0F0F0)
_HIGH = _U(0x8080808080808080)
_ONE = _U(1)
_PAIR, _PAIR_MASK = _U(1 + (10 << 8)), _U(0x00FF00FF00FF00FF)
_FOUR, _FOUR_MASK = _U(1 + (100 << 16)), _U(0x0000FFFF0000FFFF)
_EIGHT = _U(1 + (10000 << 32))
_S8, _S16, _S32 = _U(8), _U(16), _U(32)


class Text:
    """A block's bytes, read as words that may begin at any byte."""

    __slots__ = ("_room", "raw")

    def __init__(self, room: Bytes) -> None:
        """`room` holds `_FRONT` bytes, the text, and PAD zeros."""
        self._room = room
        self.raw = room[_FRONT:]

    def at(self, places: Places) -> Words:
        """The word that begins at each place."""
        return self.rows(places, 1)[:, 0]

    def rows(self, places: Places, count: int, offset: int = 0) -> Words:
        """A row for each place: the `count` words from `offset` bytes behind it on (-8 at the least).

        Numpy copies a row of up to eight words in the time that it takes to find one.
        """
        size = 8 * count
        begin = _FRONT + offset
        pieces: NDArray[np.void] = np.ndarray(
            (self._room.size - size - begin + 1,), _row_of(size), self._room.data, begin, (1,)
        )
        rows: Words = pieces[places].view("<u8").reshape(places.size, count)
        return rows


@functools.cache
def _row_of(size: int) -> np.dtype[np.void]:
    return np.dtype((np.void, size))


class Buffer:
    """Room for one block, used again for the next: fresh megabytes cost more in page faults than the copy."""

    def __init__(self) -> None:
        self._room: Bytes = np.empty(0, dtype=np.uint8)
        self._is_end: Mask = np.empty(0, dtype=np.bool_)
        self._size = 0

    def text(self, block: bytes, stop: int | None = None) -> Text:
        """The block's bytes up to `stop`, with PAD zeros after them."""
        self._size = len(block) if stop is None else stop
        size = _FRONT + self._size
        if self._room.size < size + PAD or self._room.size > 4 * (size + PAD):
            self._room = np.empty((size + size // 8 + PAD) // 8 + 1, dtype=np.uint64).view(np.uint8)
            self._is_end = np.empty(self._room.size, dtype=np.bool_)
        self._room[_FRONT:size] = np.frombuffer(block, dtype=np.uint8, count=self._size)
        self._room[size : size + PAD] = 0
        return Text(self._room[: size + PAD])

    def line_ends(self, most: int) -> Places:
        """Where the lines of the text end; beyond the first `most` some may be missing."""
        room = -(-self._size // 8) * 8
        is_end = np.equal(self._room[_FRONT : _FRONT + room], 10, out=self._is_end[:room])
        flags: Words = is_end.view(np.uint64)  # eight at a time: most have no line's end
        places = np.flatnonzero(flags != 0)[:most]
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
    same: Mask = np.ones(places.size, dtype=np.bool_)
    narrow(same, text.rows(places, (len(label) + 7) // 8), label)
    return same


def narrow(same: Mask, rows: Words, label: bytes, lead: int = 0) -> None:
    """Make `same` false for the rows in which `label` does not stand behind `lead` other bytes."""
    for index, (mask, value) in enumerate(_label_words(label, lead)):
        loaded = rows[:, index]
        same &= (loaded if mask is None else loaded & mask) == value


@functools.lru_cache(maxsize=4096)
def _label_words(label: bytes, lead: int) -> tuple[tuple[np.uint64 | None, np.uint64], ...]:
    """(mask, or None for a whole word; value) of each word of a label behind `lead` other bytes."""
    mask, value = b"\0" * lead + b"\xff" * len(label), b"\0" * lead + label
    return tuple(
        (None if mask[begin : begin + 8] == b"\xff" * 8 else word(mask[begin:]), word(value[begin:]))
        for begin in range(0, len(value), 8)
    )


def digit_run(loaded: Words) -> tuple[Words, Reach]:
    """Text minus '0' of each word, and how far its first digits reach.

    Eight digits are told as seven: whoever follows must see that another digit stands behind them.
    """
    digits = loaded ^ _ZEROS
    other = digits + _SEVEN  # a byte of 10 or more gets its high bit; a carry only spoils later bytes
    other |= digits
    other &= _HIGH
    other ^= other - _ONE
    return digits, np.bitwise_count(other)


def are_digits(digits: Words) -> Mask:
    """Where every byte is 0 to 9."""
    upper = digits + _SIX
    upper |= digits
    upper &= _UPPER
    same: Mask = upper == 0
    return same


def make_values(digits: Words) -> None:
    """Turn eight digits a word, the last in its highest byte, into the numbers that they spell."""
    digits *= _PAIR
    digits >>= _S8
    digits &= _PAIR_MASK
    digits *= _FOUR
    digits >>= _S16
    digits &= _FOUR_MASK
    digits *= _EIGHT
    digits >>= _S32
