"""Lines of a fixed width for the text reports: wrapping, indents and the one place that knows colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from logscope.report.harmless import cells
from logscope.report.outline import Row
from parsers.lazy_dataclass import dataclass
from parsers.lazy_pattern import lazy_re

_FIRST_COLUMN = lazy_re(r" *\S+(?: \S+)* {2,}")
WIDTH = 80
"""Columns of a text report where nobody asks for others."""
_page = ContextVar("columns of the page", default=WIDTH)

_COLORS = {"!": "31", "+": "32", "-": "31", "~": "33", "=": "2", "?": "35", "title": "1"}


@contextmanager
def page(columns: int) -> Iterator[None]:
    """Within it, text reports are `columns` wide."""
    before = _page.set(columns)
    try:
        yield
    finally:
        _page.reset(before)


def page_width() -> int:
    """Columns of the report that is being written."""
    return _page.get()


@dataclass(frozen=True, slots=True)
class Ink:
    """Paints a line, or leaves it as it is. Colour only repeats what a sign says."""

    is_on: bool = False

    def paint(self, text: str, what: str) -> str:
        """`text` in the colour of the sign (or ``title``) `what`."""
        return f"\x1b[{_COLORS[what]}m{text}\x1b[0m" if self.is_on and what in _COLORS else text


def wrapped(text: str, first: str = "", rest: str | None = None, width: int | None = None) -> list[str]:
    """`text` broken at spaces into lines of `width` columns (the page's); longer words are cut."""
    width = page_width() if width is None else width
    follow = " " * cells(first) if rest is None else rest
    lines, line, is_empty = [], first, True
    for word in text.split():
        for piece in _pieces(word, width - max(cells(first), cells(follow))):
            gap = "" if is_empty else " "
            if not is_empty and cells(line) + cells(piece) + 1 > width:
                lines.append(line)
                line, gap = follow, ""
            line += gap + piece
            is_empty = False
    lines.append(line)
    return lines


def broken(lines: Iterable[str]) -> list[str]:
    """`lines` with those that are wider than the page broken, what follows under their second column."""
    done: list[str] = []
    for line in lines:
        if cells(line) <= page_width():
            done.append(line)
            continue
        head = _FIRST_COLUMN.match(line)
        first = head.group(0) if head is not None and cells(head.group(0)) <= page_width() // 2 else ""
        indent = first or line[: len(line) - len(line.lstrip())]
        follow = " " * cells(indent) if first else f"{indent}  "
        done += wrapped(line[len(indent) :], indent, follow)
    return done


def title(text: str, ink: Ink) -> list[str]:
    """The title of a block."""
    return [ink.paint(line, "title") for line in wrapped(text, "", "  ")]


def limited(lines: Sequence[str], most: int, indent: str) -> list[str]:
    """At most `most` lines; the last one says how many are left out."""
    if len(lines) <= most:
        return list(lines)
    left = len(lines) - most + 1
    return [*lines[: most - 1], f"{indent}… {left} more lines"]


def row_lines(row: Row, ink: Ink, names: int) -> list[str]:
    """A row as ``  ~ name  good -> bad  (note)``; `names` is the width of the name column."""
    head = f"  {row.sign} "
    place = f"line {row.line}: " if row.line is not None else ""
    if not row.has_sides:
        lines = _sentence_lines(f"{place}{row.name}", row.note, head)
    else:
        lines = _pair_lines(row, head, names)
    return [ink.paint(line, row.sign) for line in lines]


def name_width(rows: Iterable[Row]) -> int:
    """Width of the name column that fits the usual names of `rows`."""
    widest = max((cells(row.name) for row in rows if row.has_sides), default=0)
    return min(widest, 32, page_width() * 2 // 5)


def _sentence_lines(text: str, note: str, head: str) -> list[str]:
    whole = f"{text} ({note})" if note else text
    lines = wrapped(whole, head)
    if len(lines) <= 2 or not note:
        return limited(lines, 3, "    ")
    return [*limited(wrapped(text, head), 3, "    "), *limited(wrapped(f"({note})", "      "), 4, "      ")]


def _pair_lines(row: Row, head: str, names: int) -> list[str]:
    name = row.name + " " * max(0, names - cells(row.name))
    pair = f"{row.good} -> {row.bad}" if row.good != row.bad else row.good
    note = f"  ({row.note})" if row.note else ""
    whole = f"{head}{name}  {pair}"
    if cells(whole + note) <= page_width():
        return [whole + note]
    lines = [whole] if cells(whole) <= page_width() else [*wrapped(row.name, head), *_long_pair(row)]
    if note:
        lines += wrapped(note.strip(), "      ")
    return lines


def _long_pair(row: Row) -> list[str]:
    if row.good == row.bad:
        return limited(wrapped(row.good, "      = "), 4, "        ")
    return [
        *limited(wrapped(row.good, "      from "), 4, "        "),
        *limited(wrapped(row.bad, "      to   "), 4, "        "),
    ]


def _pieces(word: str, width: int) -> list[str]:
    """`word` cut into pieces that fit in `width` columns."""
    if cells(word) <= width:
        return [word]
    pieces, piece = [], ""
    for char in word:
        if cells(piece + char) > width:
            pieces.append(piece)
            piece = ""
        piece += char
    return [*pieces, piece]
