"""What a screen showed last, so that it stands there at once while the store is asked again.

The first answer of DuckDB costs more than everything else of a start. What is kept is shown only for the
same store file, program, size of the terminal and choices; the answer replaces it as soon as it is there.
A broken file is forgotten.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from logscope import __version__
from logscope.tui.memory import state_file
from logscope.tui.rows import Place, Row, Sign, Tone
from parsers.lazy_dataclass import dataclass

MOST_ROWS = 150
"""Rows that are kept of a list: more than a screen has."""


@dataclass(frozen=True, slots=True)
class View:
    """A screen as it was."""

    lines: dict[str, str]
    """Id of a line above the list -> its text."""
    rows: tuple[Row, ...]
    cursor: str
    """Key of the row under the cursor."""


def store_stamp(store: Path) -> list[str]:
    """What must be the same for something kept of a store to be shown: the program and the store's file."""
    facts: list[object] = [__version__]
    for path in (store, store.with_name(store.name + ".wal")):
        try:
            found = path.stat()
        except OSError:
            continue
        facts += [found.st_ino, found.st_size, found.st_mtime_ns]
    return [str(fact) for fact in facts]


class LastViews:
    """The last view of each screen of one store."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._path = state_file(store, "views")
        self._held: dict[str, Any] | None = None

    def stamp(self, *choices: object) -> str:
        """What must be the same for a view to be shown again: taken before the store is asked."""
        return json.dumps([*store_stamp(self._store), *(str(choice) for choice in choices)])

    def get(self, name: str, stamp: str) -> View | None:
        """The view kept under this stamp; None when there is none."""
        held = self._read().get(name)
        try:
            if not isinstance(held, dict) or held["stamp"] != stamp:
                return None
            return View(held["lines"], tuple(_row(row) for row in held["rows"]), held["cursor"])
        except (KeyError, TypeError, ValueError):
            return None

    def put(self, name: str, stamp: str, view: View) -> None:
        """Keeps a view; a folder that cannot be written is no reason to disturb."""
        views = self._read()
        rows = [_told(row) for row in view.rows[:MOST_ROWS]]
        views[name] = {"stamp": stamp, "lines": view.lines, "rows": rows, "cursor": view.cursor}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(views), encoding="utf-8")
        except OSError:
            return

    def _read(self) -> dict[str, Any]:
        if self._held is None:
            try:
                held = json.loads(self._path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                held = {}
            self._held = held if isinstance(held, dict) else {}
        return self._held


def _told(row: Row) -> list[object]:
    places = [[place.run, place.path, place.line, place.text] for place in row.places]
    return [row.text, row.sign, row.tone, row.key, places, row.detail, row.more, row.copy, row.is_difference]


def _row(told: list[Any]) -> Row:
    text, sign, tone, key, places, detail, more, copied, is_difference = told
    return Row(
        text,
        Sign(sign),
        Tone(tone),
        key,
        tuple(Place(*place) for place in places),
        tuple(detail),
        tuple(more),
        copied,
        is_difference=is_difference,
    )
