"""The pane beside a list: what a row means, and the lines of both logs that it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import Reactive, reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from logscope.tui.excerpt import Excerpt
from logscope.tui.harmless import fit, harmless, wrapped
from logscope.tui.widgets.colours import style

BESIDE = 110
"""Columns of the pane from which two excerpts stand side by side."""
PATIENCE = 0.15
"""Seconds that a new row's text waits for the excerpts below it."""
_LONGEST = 600
"""Characters of a line that are quoted."""
_NUMBER = 8
"""Columns before a quoted line: its sign and its number."""
_BOLD, _DIM, _PLAIN = Style(bold=True), "muted", ""

Look = Style | str
"""A style, or the name of one of the theme's."""
Part = tuple[str, Look]


class EvidencePane(ScrollView, can_focus=True):
    """Detail first, then the excerpts."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll_down", "Down", show=False, id="evidence.down"),
        Binding("k,up", "scroll_up", "Up", show=False, id="evidence.up"),
        Binding("g,home", "scroll_home", "Top", show=False, id="evidence.top"),
        Binding("G,end", "scroll_end", "Bottom", show=False, id="evidence.bottom"),
        Binding("ctrl+d,pagedown", "page_down", "Page down", show=False, id="evidence.page_down"),
        Binding("ctrl+u,pageup", "page_up", "Page up", show=False, id="evidence.page_up"),
        Binding("ctrl+w", "wrap", "Wrap", show=False, id="evidence.wrap"),
    ]
    wraps: reactive[bool] = reactive(True)
    virtual_size = Reactive(Size(0, 0), layout=True, repaint=False)
    """Other lines need other scrollbars, but only the lines that differ are sent to the terminal."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="side")
        self._detail: tuple[str, ...] = ()
        self._excerpts: tuple[Excerpt, ...] = ()
        self._more: tuple[str, ...] = ()
        self._lines: list[list[Part]] = []
        self._laid_out_for = (-1, True)
        self._waiting: Timer | None = None

    def clear(self) -> None:
        """Shows nothing."""
        self.detail(())

    def detail(self, lines: Sequence[str], more: Sequence[str] = (), *, waits: bool = False) -> None:
        """What the row means, `more` of it below the excerpts; takes the old excerpts away.

        With `waits` the excerpts are on their way: one picture of both, unless they take too long.
        """
        self._detail, self._excerpts, self._more = tuple(lines), (), tuple(more)
        self._stop_waiting()
        if waits:
            self._waiting = self.set_timer(PATIENCE, self._from_the_top, name="pause for the excerpts")
        else:
            self._from_the_top()

    def excerpts(self, excerpts: Sequence[Excerpt]) -> None:
        """The lines that the row stands on."""
        self._excerpts = tuple(excerpts)
        if self._stop_waiting():
            self._from_the_top()
        else:
            self._refill()

    def _stop_waiting(self) -> bool:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.stop()
        return waiting is not None

    def _from_the_top(self) -> None:
        self._waiting = None
        self.scroll_home(animate=False)
        self._refill()

    def action_wrap(self) -> None:
        self.wraps = not self.wraps

    def watch_wraps(self) -> None:
        self._refill()

    def on_resize(self, event: events.Resize) -> None:
        if self._laid_out_for != (self._room, self.wraps):
            self._refill()

    @property
    def shown_text(self) -> str:
        """All that is shown, with whole lines."""
        lines = self._laid_out(0, wraps=False)
        return "\n".join("".join(text for text, _ in line) for line in lines) + "\n"

    @property
    def _room(self) -> int:
        return self.scrollable_content_region.width

    def _refill(self) -> None:
        width = self._room
        if width <= 0:  # a pane that is not shown costs nothing: on_resize fills it
            self._laid_out_for = (-1, True)
            return
        before, self._lines = self._lines, self._laid_out(width, self.wraps)
        self._laid_out_for = (width, self.wraps)
        longest = width if self.wraps else max((len(t) for line in self._lines for t, _ in line), default=0)
        # what fits has the height of the pane: then nothing is laid out anew
        self.virtual_size = Size(longest, max(len(self._lines), self.size.height))
        for y in range(self.scroll_offset.y, self.scroll_offset.y + self.size.height):
            if before[y : y + 1] != self._lines[y : y + 1]:
                self.refresh_line(y)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        offset_x, offset_y = self.scroll_offset
        width, base = self.scrollable_content_region.width, self.visual_style.rich_style
        index = offset_y + y
        if index >= len(self._lines):
            return Strip.blank(width, base)
        parts = self._lines[index]
        strip = Strip([Segment(text, base + self._look(look)) for text, look in parts])
        return strip.crop_extend(offset_x, offset_x + width, base)

    def _look(self, look: Look) -> Style:
        return style(self.app, look) if isinstance(look, str) else look

    # -- laying out -------------------------------------------------------------------------------

    def _laid_out(self, width: int, wraps: bool) -> list[list[Part]]:
        def broken(text: str, look: Look = _PLAIN) -> list[list[Part]]:
            return [[(part, look)] for part in (wrapped(text, width) if wraps else [text])]

        lines = [part for line in self._detail for part in broken(harmless(line))]
        if len(self._excerpts) == 2 and width >= BESIDE and wraps:
            lines += _beside(self._excerpts[0], self._excerpts[1], width)
        else:
            for excerpt in self._excerpts:
                lines.append([])
                lines += [part for text, look in _quoted(excerpt) for part in broken(text, look)]
        return lines + [part for line in self._more for part in broken(harmless(line))]


def _quoted(excerpt: Excerpt) -> list[Part]:
    """The title of an excerpt, what is to say of it, and its lines with their numbers."""
    rows: list[Part] = [(harmless(excerpt.title), _BOLD)]
    if excerpt.note:
        rows.append((harmless(excerpt.note), _DIM))
    for number, line in enumerate(excerpt.lines, excerpt.first):
        is_marked = number == excerpt.marked
        cut = line if len(line) <= _LONGEST else line[:_LONGEST] + f"… ({len(line):,} characters)"
        rows.append((f"{'!' if is_marked else ' '}{number:>6} {harmless(cut)}", _BOLD if is_marked else _DIM))
    return rows


def _beside(left: Excerpt, right: Excerpt, width: int) -> list[list[Part]]:
    """Two excerpts in two columns; long lines go on below themselves."""
    half = (width - 3) // 2
    columns = [_column(excerpt, half) for excerpt in (left, right)]
    rows: list[list[Part]] = [[]]
    for index in range(max(len(column) for column in columns)):
        first, second = (column[index] if index < len(column) else ("", _PLAIN) for column in columns)
        rows.append([(fit(first[0], half), first[1]), (" │ ", _DIM), second])
    return rows


def _column(excerpt: Excerpt, width: int) -> list[Part]:
    rows: list[Part] = []
    room = max(width - _NUMBER, 20)
    for text, look in _quoted(excerpt):
        head, rest = text[:width], text[width:]
        rows.append((head, look))
        rows += [(" " * _NUMBER + rest[at : at + room], look) for at in range(0, len(rest), room)]
    return rows
