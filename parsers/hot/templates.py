"""Templates of batch lines, learned from lines that the careful parser took whole.

A template is the line's own text with its numbers and flags as slots. All lines of a kind are run against
it at once, cursor by cursor; a line passes only when every label stands byte for byte where the careful
parser saw it and the line ends where the template ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import regex
from numpy.typing import NDArray

from parsers.hot.words import (
    PAD,
    Mask,
    Places,
    Reach,
    Text,
    Words,
    are_digits,
    digit_run,
    low_mask,
    make_values,
    matches,
    narrow,
    word,
)
from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from parsers.rules.batches import BatchLine

Column: TypeAlias = "NDArray[np.int64] | NDArray[np.float64] | NDArray[np.int8] | NDArray[np.object_]"

COUNT, DECIMAL, FLAG = "count", "decimal", "flag"
_NUMBER = regex.compile(r"(\d{1,7})(?:\.(\d{1,7}))?")
_ITERATION = regex.compile(r"[A-Za-z ]+ batch ?\[(\d{1,7})\]")
_LONGEST = PAD - 256
_U = np.uint64
_ZEROS = word(b"0" * 8)
_POINT, _BYTE, _S8 = _U(ord(".")), _U(0xFF), _U(8)
_NO_DIGIT = 8
_NUMBERS_OF = {COUNT: 1, DECIMAL: 2, FLAG: 0}


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a template that differs from line to line."""

    kind: str
    """COUNT, DECIMAL or FLAG."""
    decimals: int
    """Digits after the point of a DECIMAL."""
    column: str | None
    """None for a pair without a column: it goes, by its name, into ``other``."""
    name: str


@dataclass(frozen=True, slots=True)
class Template:
    """Labels and slots in turn; there is one more label than slots, and the last may be empty."""

    kind: int
    labels: tuple[bytes, ...]
    slots: tuple[Slot, ...]

    @property
    def has_other(self) -> bool:
        """True when some pairs have no column."""
        return any(slot.column is None for slot in self.slots)


def learn(body: str, line: BatchLine) -> Template | None:
    """The template of a line that the careful parser took; None when it cannot be repeated exactly."""
    if not line.complete or not body.isascii() or len(body) > _LONGEST:
        return None
    places = [(pair.start, pair.end, pair.column, pair.name) for pair in line.pairs]
    if line.iteration is not None:
        found = _ITERATION.match(body)
        if found is None:
            return None
        places.insert(0, (found.start(1), found.end(1), "iteration", ""))
    places.sort()
    labels, slots, after = [], [], 0
    for start, end, column, name in places:
        slot = _slot(body[start:end].removesuffix("%"), column, name)
        if slot is None or start < after:
            return None
        labels.append(body[after:start].encode())
        slots.append(slot)
        after = start + len(body[start:end].removesuffix("%"))
    labels.append(body[after:].encode())
    if any(label[:1].isdigit() or label[:1] == b"." for label in labels[1:]):
        return None
    names = [slot.name for slot in slots if slot.column is None]
    if len(set(names)) < len(names) or sum(map(len, labels)) + 17 * len(slots) > _LONGEST:
        return None
    return Template(line.kind, tuple(labels), tuple(slots))


def _slot(text: str, column: str | None, name: str) -> Slot | None:
    if text in ("True", "False"):
        return Slot(FLAG, 0, column, name)
    number = _NUMBER.fullmatch(text)
    if number is None:
        return None
    return Slot(DECIMAL if number[2] else COUNT, len(number[2] or ""), column, name)


def run(template: Template, text: Text, starts: Places, ends: Places) -> tuple[Mask, dict[str, Column]]:
    """Which of the lines pass, and their values by column (one value a line, also where it failed)."""
    walk = _Walk(text, starts, template)
    for label, slot in zip(template.labels, template.slots, strict=False):
        walk.read(label, slot)
    walk.end(template.labels[-1], ends)
    values: dict[str, Column] = {}
    others: list[tuple[str, Column]] = []
    for slot, column in zip(template.slots, walk.columns(), strict=True):
        if slot.column is not None:
            values[slot.column] = column
        else:
            others.append((slot.name, column))
    if others:
        values["other"] = _other(others)
    return walk.passed, values


class _Walk:
    """One template over many lines: the place reached in each, and the digits found so far."""

    def __init__(self, text: Text, starts: Places, template: Template) -> None:
        self.passed: Mask = np.ones(starts.size, dtype=np.bool_)
        self._text = text
        self._cursor = starts.copy()
        self._found: list[tuple[Slot, int, NDArray[np.int8] | None]] = []
        numbers = sum(_NUMBERS_OF[slot.kind] for slot in template.slots)
        self._digits: Words = np.empty((numbers, starts.size), dtype=np.uint64)
        """Digits of all numbers, a decimal's fraction behind its whole: turned into values in one go."""
        self._numbers = 0

    def read(self, label: bytes, slot: Slot) -> None:
        """Check a label and read the slot behind it."""
        lead = -len(label) % 8  # so that the slot begins with a word of the row
        before = (lead + len(label)) // 8
        rows = self._text.rows(self._cursor, before + 1 + (slot.kind == DECIMAL), -lead)
        narrow(self.passed, rows, label, lead)
        self._found.append((slot, self._numbers, None))
        if slot.kind == FLAG:
            self._read_flag(slot, rows[:, before], len(label))
            return
        digits, reach = digit_run(rows[:, before])
        self.passed &= reach > _NO_DIGIT
        np.left_shift(digits, 72 - reach, out=self._digits[self._numbers])
        self._numbers += 1
        self._cursor += len(label) - 1
        self._cursor += reach >> 3
        if slot.kind == DECIMAL:
            self._read_fraction(slot, rows[:, before], rows[:, before + 1], reach)

    def _read_fraction(self, slot: Slot, loaded: Words, following: Words, reach: Reach) -> None:
        rest = loaded >> (reach - 8)
        if reach.max(initial=0) > 64 - 8 * slot.decimals:  # the fraction ends in the word behind
            rest |= following << (72 - reach)
        self.passed &= (rest & _BYTE) == _POINT
        fraction = self._digits[self._numbers]
        np.right_shift(rest, _S8, out=fraction)
        fraction ^= _ZEROS
        fraction <<= _U(64 - 8 * slot.decimals)
        self.passed &= are_digits(fraction)
        self._numbers += 1
        self._cursor += 1 + slot.decimals

    def _read_flag(self, slot: Slot, loaded: Words, label_size: int) -> None:
        is_true = (loaded & low_mask(4)) == word(b"True")
        self.passed &= is_true | ((loaded & low_mask(5)) == word(b"False"))
        self._cursor += label_size + 5
        self._cursor -= is_true
        self._found[-1] = (slot, self._numbers, is_true.astype(np.int8))

    def end(self, label: bytes, ends: Places) -> None:
        """Check the last label, and that the line ends behind it."""
        if label:
            self.passed &= matches(self._text, self._cursor, label)
            self._cursor += len(label)
        self.passed &= self._cursor == ends

    def columns(self) -> Iterator[Column]:
        """The values of each slot, in their order."""
        make_values(self._digits)
        for slot, number, flags in self._found:
            if flags is not None:
                yield flags
            elif slot.kind == COUNT:
                yield self._digits[number].view(np.int64)
            else:  # one exact division of integers rounds as reading the text does
                whole = self._digits[number]
                whole *= _U(10**slot.decimals)
                whole += self._digits[number + 1]
                yield whole.astype(np.float64) / float(10**slot.decimals)


def _other(pairs: list[tuple[str, Column]]) -> NDArray[np.object_]:
    """The JSON object of the pairs without a column, as the careful parser writes it."""
    names = [json.dumps(name, ensure_ascii=False) for name, _ in pairs]
    columns = [_texts(column) for _, column in pairs]
    form = "{" + ", ".join(name.replace("%", "%%") + ": %s" for name in names) + "}"
    texts: NDArray[np.object_] = np.empty(len(columns[0]), dtype=np.object_)
    texts[:] = [form % row for row in zip(*columns, strict=True)]
    return texts


def _texts(column: Column) -> list[str]:
    if column.dtype == np.int8:
        return ["true" if value else "false" for value in column.tolist()]
    return [repr(value) for value in column.tolist()]
