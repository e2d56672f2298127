"""Templates of batch lines, learned from lines that the careful parser took whole.

A template is the line's own text with its numbers and flags as slots. All lines of a kind are run against
it at once, cursor by cursor; a line passes only when every label stands byte for byte where the careful
parser saw it and the line ends where the template ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import regex
from numpy.typing import NDArray

from parsers.hot.words import (
    PAD,
    Mask,
    Places,
    Text,
    Words,
    agree,
    behind,
    digit_run,
    is_number,
    low_mask,
    matches,
    value_of,
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
_POINT, _BYTE, _S8 = _U(ord(".")), _U(0xFF), _U(8)
_MOST_WHOLE = _U(8 * 5)
"""Bits of the digits before a point behind which two decimals and the byte after them fit one word."""


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
    cursor = starts.copy()
    passed: Mask = np.ones(starts.size, dtype=np.bool_)
    values: dict[str, Column] = {}
    others: list[tuple[str, Column]] = []
    for label, slot in zip(template.labels, template.slots, strict=False):
        size = len(label)
        loaded = text.ahead(cursor, (size + 15) // 8)
        if label:
            passed &= agree(loaded, label)
            cursor += size
        column = _READERS[slot.kind](text, cursor, behind(loaded, size), slot, passed)
        if slot.column is not None:
            values[slot.column] = column
        else:
            others.append((slot.name, column))
    last = template.labels[-1]
    if last:
        passed &= matches(text, cursor, last)
        cursor += len(last)
    passed &= cursor == ends
    if others:
        values["other"] = _other(others)
    return passed, values


def _read_count(text: Text, cursor: Places, loaded: Words, slot: Slot, passed: Mask) -> Column:
    digits, bits = digit_run(loaded)
    passed &= is_number(bits)
    cursor += (bits >> _U(3)).view(np.int64)
    return value_of(digits, bits).view(np.int64)


def _read_decimal(text: Text, cursor: Places, loaded: Words, slot: Slot, passed: Mask) -> Column:
    """Value by one exact division of integers, which rounds as reading the text does."""
    digits, bits = digit_run(loaded)
    passed &= is_number(bits)
    passed &= ((loaded >> bits) & _BYTE) == _POINT
    size = (bits >> _U(3)).view(np.int64)
    whole = value_of(digits, bits)
    cursor += size
    cursor += 1
    rest = loaded >> (bits + _S8)  # the fraction, as far as it stood in the same word
    if slot.decimals > 2 or bits.max(initial=0) > _MOST_WHOLE:
        rest = text.at(cursor)
    after, after_bits = digit_run(rest)
    passed &= after_bits == _U(8 * slot.decimals)
    whole *= _U(10**slot.decimals)
    whole += value_of(after, after_bits)
    cursor += slot.decimals
    values: NDArray[np.float64] = whole.astype(np.float64) / float(10**slot.decimals)
    return values


def _read_flag(text: Text, cursor: Places, loaded: Words, slot: Slot, passed: Mask) -> Column:
    is_true = (loaded & low_mask(4)) == word(b"True")
    is_false = (loaded & low_mask(5)) == word(b"False")
    passed &= is_true | is_false
    cursor += 5
    cursor -= is_true
    flags: NDArray[np.int8] = is_true.astype(np.int8)
    return flags


_READERS: dict[str, Callable[[Text, Places, Words, Slot, Mask], Column]] = {
    COUNT: _read_count,
    DECIMAL: _read_decimal,
    FLAG: _read_flag,
}


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
