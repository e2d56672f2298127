"""What stands before a message: the carrier's prefix, the bracketed time and the rank tags.

A prefix is accepted by its shape, digits of its times aside, only after the careful parser accepted that
shape in this file; so a message that quotes a log line is never taken for one. Times are read only where
they differ from the line before.
"""

from __future__ import annotations

import datetime
import functools

import numpy as np
import regex
from numpy.typing import NDArray

from parsers.hot.tables import TextTable
from parsers.hot.words import Mask, Places, Text, Words, low_mask, word
from parsers.lazy_dataclass import dataclass

_U = np.uint64
_TIME = regex.compile(r"(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?")
_LONGEST_PREFIX = 256
_MOST_PREFIXES = 64
TIME_SIZE = 20
"""Bytes of ``[2026-02-03 04:05:06``."""
_TIME_LEAD = 5
"""Bytes before a time that are loaded too, so that the byte behind it begins a word."""
_TAG_WORDS = 6
_END = _U(0x5D5D5D5D5D5D5D5D)
_LOW, _HIGH = _U(0x0101010101010101), _U(0x8080808080808080)
_BYTE, _POINT, _SPACE = _U(0xFF), _U(ord(".")), _U(ord(" "))
_DAY_US = 86_400_000_000
_DATE = regex.compile(rb"([1-9]\d{3})-(\d\d)-(\d\d) ")
_FIRST_DAY = datetime.date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Eight bytes of a shape: literal bytes are compared whole, digits by their range."""

    mask: np.uint64
    value: np.uint64
    add: np.uint64
    """6 under each digit: a byte of '0'..'9' keeps its upper half."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """A carrier's prefix, with the opening bracket of the head behind it."""

    shape: bytes
    """The bytes, digits of times as ``\\0``."""
    size: int
    label: str
    carriers: tuple[str, ...]
    pieces: tuple[_Piece, ...]

    def stands_at(self, text: Text, starts: Places) -> Mask:
        """True where a line begins with this prefix."""
        if self.size == 1:
            is_same: Mask = text.raw.take(starts) == self.shape[0]
            return is_same
        same: Mask = np.ones(starts.size, dtype=np.bool_)
        rows = text.rows(starts, len(self.pieces))
        for index, piece in enumerate(self.pieces):
            loaded = rows[:, index]
            same &= (loaded & piece.mask) == piece.value
            if piece.add:
                same &= ((loaded + piece.add) & piece.mask & ~piece.add) == (piece.value & ~piece.add)
        return same


def make_prefix(carried: bytes, label: str, carriers: tuple[str, ...]) -> Prefix | None:
    """The shape of a prefix that the careful parser took off; None when it is too long."""
    text = carried + b"["
    if len(text) > _LONGEST_PREFIX or not text.isascii() or _TIME.search(label):
        return None
    shape = bytearray(text)
    for found in _TIME.finditer(carried.decode()):
        for index in range(found.start(), found.end()):
            if chr(shape[index]).isdigit():
                shape[index] = 0
    return Prefix(bytes(shape), len(text), label, carriers, _pieces(bytes(shape)))


def _pieces(shape: bytes) -> tuple[_Piece, ...]:
    pieces = []
    for offset in range(0, len(shape), 8):
        part = shape[offset : offset + 8]
        mask = bytes(0xF0 if byte == 0 else 0xFF for byte in part)
        value = bytes(0x30 if byte == 0 else byte for byte in part)
        add = bytes(0x06 if byte == 0 else 0 for byte in part)
        pieces.append(_Piece(*(_U(int.from_bytes(each, "little")) for each in (mask, value, add))))
    return tuple(pieces)


@dataclass(slots=True)
class HeadLines:
    """What stands before the message of each line of a block."""

    has_head: Mask
    """True for lines with an accepted prefix and a full date; nothing is told of other lines."""
    bodies: Places
    """Where the message begins."""
    first: Words
    """Its first eight bytes."""
    at: NDArray[np.int64]
    """Microseconds since 1970 of the printed time."""
    tags: NDArray[np.int32]
    """Code of the rank text; -1 where it is not known yet."""
    tag_starts: Places
    tag_sizes: Places
    prefixes: NDArray[np.int32]
    """Index into ``HeadTaker.prefixes``."""


class HeadTaker:
    """Remembers the prefixes and rank texts of a file."""

    def __init__(self) -> None:
        self.prefixes: list[Prefix] = []
        self.tags = TextTable(_TAG_WORDS, 256)
        self.ranks: list[str | None] = []
        """Rank of each tag as the careful parser gave it; None for a tag that it read otherwise."""

    def add_prefix(self, carried: bytes, label: str, carriers: tuple[str, ...]) -> bool:
        """Accept a prefix; True when it is new."""
        prefix = make_prefix(carried, label, carriers)
        if prefix is None or len(self.prefixes) >= _MOST_PREFIXES:
            return False
        if any(known.shape == prefix.shape for known in self.prefixes):
            return False
        self.prefixes.append(prefix)
        return True

    def add_tag(self, tag: bytes, rank: str | None) -> bool:
        """Remember how the careful parser read a rank text (with its closing bracket)."""
        code = self.tags.add(tag)
        if code is None:
            return False
        if code == len(self.ranks):
            self.ranks.append(rank)
        return True

    def find_prefixes(self, text: Text, starts: Places) -> NDArray[np.int32]:
        """Which known prefix each line begins with; -1 for none.

        A prefix that itself begins with a bracket is tried before the empty one, the longest first.
        """
        order = sorted(range(len(self.prefixes)), key=lambda index: -self.prefixes[index].size)
        found = np.full(starts.size, -1, dtype=np.int32)
        if len(order) == 1:
            return found + self.prefixes[0].stands_at(text, starts)
        left = np.arange(starts.size)
        for index in order:
            same = self.prefixes[index].stands_at(text, starts[left])
            found[left[same]] = index
            left = left[~same]
            if not left.size:
                break
        return found

    def take(self, text: Text, starts: Places, prefixes: NDArray[np.int32]) -> HeadLines:
        """Read time and rank text behind the given prefixes."""
        sizes = np.array([*(prefix.size for prefix in self.prefixes), 0], dtype=np.int64)
        times = starts + (sizes[0] if len(self.prefixes) == 1 else sizes[prefixes])
        rows = text.rows(times, 5, -_TIME_LEAD)
        at, has_head = _times(rows)
        has_head &= prefixes >= 0
        after = times + (TIME_SIZE - 1)
        first = (rows[:, 3] >> _U(16)) | (rows[:, 4] << _U(48))  # behind a bracket and a blank
        next_word, is_moved = _take_milliseconds(text, after, at, rows[:, 3])
        tag_sizes, tags = self._take_tags(text, after, next_word)
        has_head &= tag_sizes > 0
        bodies = after + tag_sizes
        bodies += 1
        elsewhere = np.flatnonzero((tag_sizes != 1) | is_moved)
        first[elsewhere] = text.at(bodies[elsewhere])
        return HeadLines(has_head, bodies, first, at, tags, after, tag_sizes, prefixes)

    def _take_tags(self, text: Text, after: Places, next_word: Words) -> tuple[Places, NDArray[np.int32]]:
        """Sizes and codes of the rank texts; a size of 0 where none ends in a bracket and a blank."""
        plain = self.tags.texts.index(b"]") if b"]" in self.tags.texts else -1
        is_plain = (next_word & low_mask(2)) == word(b"] ")
        sizes = is_plain.astype(np.int64)
        tags = np.where(is_plain, np.int32(plain), np.int32(-1))
        others = np.flatnonzero(~is_plain)
        if others.size:
            places = after[others]
            found = _tag_sizes(text, places)
            found[(text.at(places + found) & _BYTE) != _SPACE] = 0
            sizes[others] = found
            tags[others] = self.tags.codes(text, places, found)
        return sizes, tags


def _times(rows: Words) -> tuple[NDArray[np.int64], Mask]:
    """Microseconds of the time in each row, and where there is one.

    A row is the bytes ``\\?\\?\\?\\?[202`` ``6-02-03 `` ``04:05:06`` and eight more.
    """
    if not rows.size:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_)
    changed: Mask = np.ones(len(rows), dtype=np.bool_)
    changed[1:] = rows[1:, 2] != rows[:-1, 2]
    changed[1:] |= rows[1:, 1] != rows[:-1, 1]
    year = rows[:, 0] >> _U(8 * _TIME_LEAD)
    changed[1:] |= year[1:] != year[:-1]
    first = np.flatnonzero(changed)
    days, valid = _read_days(year[first], rows[first, 1])
    clocks, is_clock = _read_clocks(rows[first, 2])
    valid &= is_clock
    counts = np.diff(first, append=len(rows))
    return np.repeat(days + clocks, counts), np.repeat(valid, counts)


def _read_days(year: Words, date: Words) -> tuple[NDArray[np.int64], Mask]:
    """``202`` ``6-02-03 `` to microseconds since 1970."""
    changed: Mask = np.ones(year.size, dtype=np.bool_)
    changed[1:] = (year[1:] != year[:-1]) | (date[1:] != date[:-1])
    first = np.flatnonzero(changed)
    counts = np.diff(first, append=year.size)
    valid = _shape_holds(date[first], b"\0-\0\0-\0\0 ")
    dated = np.flatnonzero(valid)
    words = (column[first[dated]].tolist() for column in (year, date))
    days = [_day(*pair) for pair in zip(*words, strict=True)]
    at = np.zeros(first.size, dtype=np.int64)
    at[dated] = [0 if day is None else day * _DAY_US for day in days]
    valid[dated] = [day is not None for day in days]
    return np.repeat(at, counts), np.repeat(valid, counts)


@functools.lru_cache(maxsize=1024)
def _day(year: int, date: int) -> int | None:
    """Days since 1970; None where no such day is."""
    found = _DATE.fullmatch(year.to_bytes(3, "little") + date.to_bytes(8, "little"))
    try:
        return (datetime.date(*map(int, found.groups())) - _FIRST_DAY).days if found else None
    except ValueError:
        return None


def _read_clocks(clock: Words) -> tuple[NDArray[np.int64], Mask]:
    """``04:05:06`` to microseconds of the day."""
    valid = _shape_holds(clock, b"\0\0:\0\0:\0\0")
    pairs = clock ^ word(b"0" * 8)
    pairs *= _U(1 + (10 << 8))  # behind each byte: ten times it and the next
    hour, minute, second = ((pairs >> _U(shift)) & _BYTE for shift in (8, 32, 56))
    valid &= (hour < 24) & (minute < 60) & (second < 60)
    seconds = (hour * _U(3600) + minute * _U(60) + second).view(np.int64)
    return seconds * 1_000_000, valid


def _shape_holds(loaded: Words, shape: bytes) -> Mask:
    (piece,) = _pieces(shape)
    same: Mask = (loaded & piece.mask) == piece.value
    same &= ((loaded + piece.add) & piece.mask & ~piece.add) == (piece.value & ~piece.add)
    return same


def _take_milliseconds(
    text: Text, after: Places, at: NDArray[np.int64], next_word: Words
) -> tuple[Words, Mask]:
    """Move past ``.123`` where it stands, and add it; other fractions are left to the careful lane.

    Gives the words at the new places, and where they have moved.
    """
    has_point = (next_word & _BYTE) == _POINT
    if not has_point.any():
        return next_word, has_point
    has_point &= _shape_holds(next_word & low_mask(4), b".\0\0\0")
    rows = np.flatnonzero(has_point)
    loaded = next_word[rows]
    value = ((loaded >> _U(8)) & _U(0xF)) * _U(100)
    value += ((loaded >> _U(16)) & _U(0xF)) * _U(10) + ((loaded >> _U(24)) & _U(0xF))
    at[rows] += value.astype(np.int64) * 1000
    after[rows] += 4
    return text.at(after), has_point


def _tag_sizes(text: Text, after: Places) -> Places:
    """Bytes up to and with the closing bracket; 0 where there is none near, or no rank text may begin."""
    sizes = np.zeros(after.size, dtype=np.int64)
    left = np.arange(after.size)
    for index in range(_TAG_WORDS):
        loaded = text.at(after[left] + 8 * index)
        if index == 0:
            first = loaded & _BYTE
            may = (first == _SPACE) | (first == _U(ord("]")))
            left, loaded = left[may], loaded[may]
        other = loaded ^ _END
        hit = (other - _LOW) & ~other & _HIGH
        found = hit != 0
        lowest = hit[found]
        lowest &= ~lowest + _U(1)
        place = (np.bitwise_count(lowest - _U(1)) >> 3).astype(np.int64)
        sizes[left[found]] = 8 * index + place + 1
        left = left[~found]
        if not left.size:
            break
    return sizes
