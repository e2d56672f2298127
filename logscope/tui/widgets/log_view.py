"""The log itself, at any size: lines are read when they come on screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from logscope.tui.harmless import harmless
from logscope.tui.log_file import LogFile
from logscope.tui.needle import Needle
from logscope.tui.widgets.colours import style

RANK_TONES = ("changed", "second", "good", "warning", "heading", "bad")
MARK_TONES = {"error": "bad", "warning": "warning"}
RANK_SIGNS = "●■▲◆▼○"
HEAD = 12
"""Columns before the text: the number, the sign of the mark, the sign of the rank."""
COUNTING = "… not counted yet"


class LogView(ScrollView, can_focus=True):
    """Numbered lines with marks for errors and warnings; a cursor line; optional filter by line numbers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Down", show=False, id="log.down"),
        Binding("k,up", "move(-1)", "Up", show=False, id="log.up"),
        Binding("g,home", "top", "Top", show=False, id="log.top"),
        Binding("G,end", "bottom", "End", show=False, id="log.bottom"),
        Binding("ctrl+d,pagedown", "half(1)", "Half page down", show=False, id="log.half_down"),
        Binding("ctrl+u,pageup", "half(-1)", "Half page up", show=False, id="log.half_up"),
        Binding("h,left", "sideways(-16)", "Left", show=False, id="log.left"),
        Binding("l,right", "sideways(16)", "Right", show=False, id="log.right"),
        Binding("ctrl+w", "wrap", "Wrap", show=False, id="log.wrap", tooltip="wrap long lines"),
    ]

    cursor: reactive[int] = reactive(1, repaint=False)
    """Number of the line under the cursor."""
    wraps: reactive[bool] = reactive(False)

    class Moved(Message):
        """The cursor is on another line."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._log: LogFile | None = None
        self._marks: Mapping[int, str] = {}
        self._rank_codes: dict[str, int] = {}
        self._only: Sequence[int] | None = None
        self._known = 0
        self.needle = Needle("")
        self._layout: tuple[tuple[int, int, int, int], list[tuple[int, int]]] | None = None

    def open(self, log: LogFile, marks: Mapping[int, str]) -> None:
        """Shows `log`; `marks` says ``error`` or ``warning`` for line numbers."""
        self._log, self._marks, self._only = log, marks, None
        self.counted()

    def counted(self) -> None:
        """Tells the view that more lines were counted."""
        count, known = self.count, self._known
        if known != count or self.virtual_size.height == 0:
            follows = self.is_at_end and known > 0
            self._known = count
            self._resize()
            self.refresh()
            if follows:
                self._to_index(count - 1)

    @property
    def is_at_end(self) -> bool:
        """True when the cursor is on the last line: then it goes along with a growing log."""
        return self._only is None and self.cursor >= self._known

    def _resize(self) -> None:
        # wrapped lines need room below the last one, so that it can be scrolled to
        more = max(0, self.size.height - 1) if self.wraps else 0
        width = self.size.width if self.wraps else max(self.virtual_size.width, 200)
        self.virtual_size = Size(width, self.count + more)
        self._layout = None

    def only(self, numbers: Sequence[int] | None) -> None:
        """Shows only these lines; None shows all."""
        self._only = numbers
        self._resize()
        self.cursor = self.cursor if numbers is None else self._nearest(self.cursor)
        self.refresh()
        self._cursor_into_view()

    @property
    def count(self) -> int:
        """Lines that can be shown now."""
        if self._log is None:
            return 0
        return self._log.lines if self._only is None else len(self._only)

    @property
    def marked(self) -> Mapping[int, str]:
        """Line number -> ``error`` or ``warning``."""
        return self._marks

    @property
    def path(self) -> str:
        """Path of the log; '' before one is open."""
        return str(self._log.path) if self._log is not None else ""

    def line_text(self, number: int) -> str:
        """The text of a line."""
        return self._log.line(number) if self._log is not None else ""

    # -- rendering --------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        offset_x, offset_y = self.scroll_offset
        width, base = self.size.width, self.visual_style.rich_style
        part = 0
        if self.wraps:
            number, part = self._wrapped(y)
        else:
            number = self._number(offset_y + y)
        if self._log is None or number is None:
            return Strip.blank(width, base)
        text = self._log.line(number) or (COUNTING if self._log.is_unknown(number) else "")
        mark = self._marks.get(number, "")
        look = base + style(self.app, MARK_TONES[mark]) if mark else base
        if number == self.cursor:
            look += style(self.app, "cursor")
        elif self.needle and self.needle.is_in(text):
            look += style(self.app, "hit")
        sign = {"error": "!", "warning": "~"}.get(mark, " ")
        rank_sign, rank_look = self._rank(text, look)
        head = [
            Segment(f"{number:>8} ", look if number == self.cursor else look + style(self.app, "muted")),
            Segment(f"{sign}{rank_sign} ", rank_look),
        ]
        if self.wraps:
            room = max(width - HEAD, 1)
            seen = harmless(text[part * room : (part + 1) * room])
            lead = head if part == 0 else [Segment(" " * HEAD, look)]
            return Strip([*lead, Segment(seen, look)]).crop_extend(0, width, look)
        # only the part that can be seen is made harmless: a line may be megabytes long
        seen = harmless(text[offset_x : offset_x + 2 * width])
        return Strip([*head, Segment(seen, look)]).crop_extend(0, width, look)

    def _wrapped(self, y: int) -> tuple[int | None, int]:
        """Line and part of it on row `y` of the screen, where long lines are wrapped."""
        key = (self.scroll_offset.y, self.size.width, self.size.height, self.count)
        if self._layout is None or self._layout[0] != key:
            rows: list[tuple[int, int]] = []
            index = key[0]
            while len(rows) < key[2] and (number := self._number(index)) is not None:
                rows += [(number, part) for part in range(self._height(number))]
                index += 1
            self._layout = (key, rows)
        rows = self._layout[1]
        return rows[y] if y < len(rows) else (None, 0)

    def _height(self, number: int) -> int:
        room = max(self.size.width - HEAD, 1)
        return max(1, -(-len(self.line_text(number)) // room)) if self.wraps else 1

    def _rank(self, text: str, look: Style) -> tuple[str, Style]:
        """A sign and a colour for the rank in the line's bracket, so that ranks can be told apart."""
        head = text[:80]
        starts = [at for at in (head.find(f" {kind}") for kind in ("DP", "PP", "TP", "EP")) if at >= 0]
        end = head.find("]", min(starts)) if starts else -1
        if end < 0:
            return " ", look
        start = min(starts)
        code = self._rank_codes.setdefault(head[start + 1 : end], len(self._rank_codes)) % len(RANK_TONES)
        return RANK_SIGNS[code], look + style(self.app, RANK_TONES[code])

    # -- moving -----------------------------------------------------------------------------------

    def go_to(self, number: int) -> None:
        """Puts the cursor on a line, a third from the top."""
        self.cursor = number
        index = self._index(self.cursor)
        self._layout = None
        self.scroll_to(y=max(0, index - self.size.height // 3), animate=False, force=True)
        self.refresh()

    def validate_cursor(self, cursor: int) -> int:
        if self._log is None:
            return max(1, cursor)
        return min(max(cursor, 1), max(self._log.lines, 1))

    def watch_cursor(self, old: int, new: int) -> None:
        if old != new:
            if self.wraps:
                self.refresh()
            else:  # only these two lines go over the wire when nothing scrolls
                self.refresh_line(self._index(old))
                self.refresh_line(self._index(new))
            self._cursor_into_view()
            self.post_message(self.Moved())

    def _number(self, index: int) -> int | None:
        if index >= self.count:
            return None
        return index + 1 if self._only is None else self._only[index]

    def _index(self, number: int) -> int:
        if self._only is None:
            return number - 1
        from bisect import bisect_left

        return min(bisect_left(self._only, number), max(len(self._only) - 1, 0))

    def _nearest(self, number: int) -> int:
        return self._number(self._index(number)) or number

    def _cursor_into_view(self) -> None:
        if not self.is_attached or not self.size.height:
            return
        if self.wraps:
            index, top = self._index(self.cursor), self.scroll_offset.y
            room = self.size.height - self._height(self.cursor)
            first = index
            while first > 0 and (number := self._number(first - 1)) and room >= self._height(number):
                room -= self._height(number)
                first -= 1
            if not first <= top <= index:
                self.scroll_to(y=index if top > index else first, animate=False, force=True)
        else:
            region = Region(self.scroll_offset.x, self._index(self.cursor), 1, 1)
            self.scroll_to_region(region, animate=False, force=True)

    def watch_wraps(self) -> None:
        self._resize()
        self.scroll_to(x=0, animate=False, force=True)
        self._cursor_into_view()
        self.refresh()

    def on_resize(self) -> None:
        self._resize()
        self._cursor_into_view()

    def on_click(self, event: events.Click) -> None:
        number = self._wrapped(event.y)[0] if self.wraps else self._number(self.scroll_offset.y + event.y)
        if number is not None:
            self.cursor = number
            if event.chain == 2:
                self.wraps = not self.wraps

    def action_wrap(self) -> None:
        self.wraps = not self.wraps

    def action_move(self, step: int) -> None:
        self._to_index(self._index(self.cursor) + step)

    def action_half(self, step: int) -> None:
        self._to_index(self._index(self.cursor) + step * max(1, self.size.height // 2))

    def action_top(self) -> None:
        self._to_index(0)

    def action_bottom(self) -> None:
        self._to_index(self.count - 1)

    def _to_index(self, index: int) -> None:
        number = self._number(min(max(index, 0), max(self.count - 1, 0)))
        if number is not None:
            self.cursor = number

    def action_sideways(self, columns: int) -> None:
        if self.wraps:
            return
        self.virtual_size = Size(
            max(self.virtual_size.width, self.scroll_offset.x + columns + 400), self.count
        )
        self.scroll_to(x=max(0, self.scroll_offset.x + columns), animate=False, force=True)
