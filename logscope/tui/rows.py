"""Rows of the lists: what a screen shows, with the evidence that a row leads to. Built by pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Generic, TypeVar, overload

from logscope.tui.needle import is_in
from parsers.lazy_dataclass import dataclass, field

T = TypeVar("T")


class Sign(StrEnum):
    """The first column of every list; colour only repeats what the sign says."""

    ADDED = "+"
    GONE = "-"
    CHANGED = "~"
    SAME = "="
    ERROR = "!"
    UNKNOWN = "?"
    NONE = " "


class Tone(StrEnum):
    """What a row's colour repeats; the names are component classes of the list."""

    NORMAL = "normal"
    HEADING = "heading"
    GOOD = "good"
    BAD = "bad"
    WARNING = "warning"
    CHANGED = "changed"
    MUTED = "muted"


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a log that a row's evidence stands on."""

    run: str
    """``good`` or ``bad``, or a run id."""
    path: str
    line: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list."""

    text: str
    """What is shown after the sign, already laid out for the width."""
    sign: Sign = Sign.NONE
    tone: Tone = Tone.NORMAL
    key: str = ""
    """Identity over reloads: the selected row stays selected."""
    places: tuple[Place, ...] = ()
    detail: tuple[str, ...] = ()
    """Lines for the side pane."""
    more: tuple[str, ...] = ()
    """Lines for the side pane after the quoted log lines."""
    copy: str = ""
    """The full value that ``y`` copies; the text when empty."""
    search: str = field(default="", repr=False)
    """What a filter looks at; the text when empty."""
    is_difference: bool = False
    """A stop for ``]`` and ``[``."""

    @property
    def place(self) -> Place | None:
        """The line to go to: the failing run's before the good one's."""
        if not self.places:
            return None
        return next((place for place in self.places if place.run == "bad"), self.places[0])

    def holds(self, wanted: str) -> bool:
        """True when filters and searches find `wanted` here: in lower case any case, with a capital exact."""
        return is_in(wanted, self.search or self.text)


class LazyRows(Sequence[Row], Generic[T]):
    """Rows that are made when they are looked at: of 10,000 runs a screen shows 20."""

    def __init__(self, items: Sequence[T], make: Callable[[T], Row], key: Callable[[T], str]) -> None:
        self._items, self._make, self._key = items, make, key
        self._made: dict[int, Row] = {}

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = range(len(self._items))[index]
        if at not in self._made:
            self._made[at] = self._make(self._items[at])
        return self._made[at]

    def find(self, key: str) -> int | None:
        """The place of the row with this key."""
        return next((at for at, item in enumerate(self._items) if self._key(item) == key), None)


def find_row(rows: Sequence[Row], key: str) -> int | None:
    """The place of the row with this key; None when no row has it."""
    if isinstance(rows, LazyRows):
        return rows.find(key)
    return next((at for at, row in enumerate(rows) if row.key == key), None)
