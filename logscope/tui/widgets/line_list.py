"""A list that renders only the lines on screen, so that 10,000 rows cost what 20 cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from logscope.tui.harmless import harmless, wrapped
from logscope.tui.rows import Row, find_row
from logscope.tui.widgets.colours import style

_MEASURED = 200
"""Rows whose width says how far the list scrolls sideways."""


class _OnRow(Message):
    """Something was done on a row."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self.row = row


class LineList(ScrollView, can_focus=True):
    """Rows with a cursor, a filter and a search; the first column is the sign."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Down", show=False, id="list.down"),
        Binding("k,up", "move(-1)", "Up", show=False, id="list.up"),
        Binding("g,home", "top", "Top", show=False, id="list.top"),
        Binding("G,end", "bottom", "Bottom", show=False, id="list.bottom"),
        Binding("ctrl+d,pagedown", "half(1)", "Half page down", show=False, id="list.half_down"),
        Binding("ctrl+u,pageup", "half(-1)", "Half page up", show=False, id="list.half_up"),
        Binding("h,left", "sideways(-8)", "Left", show=False, id="list.left"),
        Binding("l,right", "sideways(8)", "Right", show=False, id="list.right"),
        Binding("enter", "open", "Open", show=False, id="list.open"),
        Binding("space", "mark_row", "Mark", show=False, id="list.mark"),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)
    placeholder: reactive[str] = reactive("")

    class Highlighted(Message):
        """The cursor is on another row, or there is none any more: `row` tells."""

    class Opened(_OnRow):
        """Enter or a double click on a row."""

    class Toggled(_OnRow):
        """Space on a row."""

    def __init__(self, *, id: str | None = None, placeholder: str = "") -> None:
        super().__init__(id=id)
        self._all: Sequence[Row] = ()
        self._rows: Sequence[Row] = ()
        self._filter = ""
        self._search = ""
        self.set_reactive(LineList.placeholder, placeholder)

    # -- what it shows ----------------------------------------------------------------------------

    @property
    def rows(self) -> Sequence[Row]:
        """The rows that pass the filter."""
        return self._rows

    @property
    def total(self) -> int:
        """Rows before the filter."""
        return len(self._all)

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    def show(self, rows: Sequence[Row]) -> None:
        """Replaces the rows; the selected row stays selected when its key is still there."""
        key = self.row.key if self.row else ""
        self._all = rows
        self._apply(key)

    def filter(self, text: str) -> None:
        """Only rows that hold `text`; '' shows all."""
        key = self.row.key if self.row else ""
        self._filter = text
        self._apply(key)

    def search(self, text: str) -> bool:
        """Marks rows that hold `text` and goes to the first at or after the cursor; False without any."""
        self._search = text
        self.refresh()
        if self.row is not None and self.row.holds(text):
            return True
        return self.next_hit(1)

    def next_hit(self, step: int) -> bool:
        """Moves to the next (1) or previous (-1) row with the searched text; False when there is none."""
        return bool(self._search) and self.go_to(lambda row: row.holds(self._search), step)

    def go_to(self, wanted: object, step: int) -> bool:
        """Moves to the next row for which `wanted(row)` holds, round the end; False when there is none."""
        count = len(self._rows)
        for distance in range(1, count + 1):
            index = (self.cursor + step * distance) % count
            if wanted(self._rows[index]):  # type: ignore[operator]
                self.cursor = index
                return True
        return False

    def select(self, key: str) -> bool:
        """Puts the cursor on the row with `key`; False when no row has it."""
        index = find_row(self._rows, key)
        if index is not None:
            self.cursor = index
        return index is not None

    def _apply(self, key: str) -> None:
        wanted = self._filter
        self._rows = [row for row in self._all if row.holds(wanted)] if wanted else self._all
        index = find_row(self._rows, key) if key else None
        if index is None:
            index = min(max(self.cursor, 0), max(len(self._rows) - 1, 0))
        widest = max((len(row.text) for row in self._rows[:_MEASURED]), default=0) + 3
        self.virtual_size = Size(widest, len(self._rows))
        self.set_reactive(LineList.cursor, index)
        self._cursor_into_view()
        self.refresh()
        self.post_message(self.Highlighted())

    # -- rendering --------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        offset_x, offset_y = self.scroll_offset
        index = offset_y + y
        width = self.scrollable_content_region.width
        base = self.visual_style.rich_style
        if not self._rows and self.placeholder:
            lines = wrapped(harmless(self.placeholder), max(width - 2, 10))
            text = f"  {lines[y]}" if y < len(lines) else ""
            return Strip([Segment(text, base + style(self.app, "muted"))]).crop_extend(0, width, base)
        if index >= len(self._rows):
            return Strip.blank(width, base)
        row = self._rows[index]
        look = base + style(self.app, row.tone)
        if self._search and row.holds(self._search):
            look += style(self.app, "hit")
        if index == self.cursor:
            look += style(self.app, "cursor" if self.has_focus else "blurred-cursor")
        strip = Strip([Segment(f"{row.sign.value} ", look), Segment(harmless(row.text), look)])
        if strip.cell_length - offset_x > width:  # what is cut says so
            return Strip([*strip.crop(offset_x, offset_x + width - 1), Segment("…", look)])
        return strip.crop_extend(offset_x, offset_x + width, look)

    # -- moving -----------------------------------------------------------------------------------

    def validate_cursor(self, cursor: int) -> int:
        return min(max(cursor, 0), max(len(self._rows) - 1, 0))

    def watch_cursor(self, old: int, new: int) -> None:
        if old != new:
            self.refresh_line(old)  # only these two lines go over the wire when nothing scrolls
            self.refresh_line(new)
            self._cursor_into_view()
            self.post_message(self.Highlighted())

    def _cursor_into_view(self) -> None:
        if self.is_attached and self.size.height:
            region = Region(self.scroll_offset.x, self.cursor, 1, 1)
            self.scroll_to_region(region, animate=False, force=True)

    def on_resize(self) -> None:
        self._cursor_into_view()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def watch_placeholder(self) -> None:
        self.refresh()

    def action_move(self, step: int) -> None:
        self.cursor += step

    def action_half(self, step: int) -> None:
        self.cursor += step * max(1, self.size.height // 2)

    def action_top(self) -> None:
        self.cursor = 0

    def action_bottom(self) -> None:
        self.cursor = len(self._rows) - 1

    def action_sideways(self, columns: int) -> None:
        self.scroll_to(x=max(0, self.scroll_offset.x + columns), animate=False)

    def action_open(self) -> None:
        if self.row is not None:
            self.post_message(self.Opened(self.row))

    def action_mark_row(self) -> None:
        if self.row is not None:
            self.post_message(self.Toggled(self.row))

    def on_click(self, event: events.Click) -> None:
        index = self.scroll_offset.y + event.y
        if 0 <= index < len(self._rows):
            self.cursor = index
            if event.chain == 2:
                self.action_open()
