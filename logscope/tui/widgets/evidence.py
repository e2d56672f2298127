"""The pane beside a list: what a row means, and the lines of both logs that it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.reactive import reactive
from textual.widgets import Static

from logscope.tui.excerpt import Excerpt
from logscope.tui.harmless import fit, harmless

BESIDE = 110
"""Columns of the pane from which two excerpts stand side by side."""
_LONGEST = 600
"""Characters of a line that are quoted."""


class EvidencePane(VerticalScroll, can_focus=True):
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

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="side")
        self._detail: tuple[str, ...] = ()
        self._excerpts: tuple[Excerpt, ...] = ()
        self._more: tuple[str, ...] = ()
        self._is_stale = True

    def compose(self) -> ComposeResult:
        yield Static(id="evidence-text", markup=False)

    def clear(self) -> None:
        """Shows nothing."""
        self._detail, self._excerpts, self._more = (), (), ()
        self._refill()

    def detail(self, lines: Sequence[str], more: Sequence[str] = ()) -> None:
        """What the row means, `more` of it below the excerpts; takes the old excerpts away."""
        self._detail, self._excerpts, self._more = tuple(lines), (), tuple(more)
        self._refill()

    def excerpts(self, excerpts: Sequence[Excerpt]) -> None:
        """The lines that the row stands on."""
        self._excerpts = tuple(excerpts)
        self._refill(keeps_place=True)

    def action_wrap(self) -> None:
        self.wraps = not self.wraps

    def watch_wraps(self) -> None:
        self._refill()

    def on_resize(self, event: events.Resize) -> None:
        if self._is_stale or len(self._excerpts) > 1:
            self._refill(keeps_place=True)

    def on_show(self) -> None:
        if self._is_stale:
            self._refill()

    @property
    def shown_text(self) -> str:
        """All that is shown, for copying."""
        return self._text().plain

    def _refill(self, keeps_place: bool = False) -> None:
        self._is_stale = not self.region
        if self.is_mounted and not self._is_stale:  # a pane that is not shown costs nothing: on_show fills it
            self.query_one("#evidence-text", Static).update(self._text())
            if not keeps_place:
                self.scroll_home(animate=False)

    def _text(self) -> Text:
        text = Text(no_wrap=not self.wraps)
        for line in self._detail:
            text.append(harmless(line) + "\n")
        width = self.size.width - 2
        if len(self._excerpts) == 2 and width >= BESIDE and self.wraps:
            _beside(text, self._excerpts[0], self._excerpts[1], width)
        else:
            for excerpt in self._excerpts:
                _below(text, excerpt)
        for line in self._more:
            text.append(harmless(line) + "\n")
        return text


def _below(text: Text, excerpt: Excerpt) -> None:
    text.append(f"\n{harmless(excerpt.title)}\n", style="bold")
    if excerpt.note:
        text.append(harmless(excerpt.note) + "\n", style="dim")
    for number, sign, line in _numbered(excerpt):
        text.append(f"{sign}{number:>6} {line}\n", style="bold" if sign == "!" else "dim")


def _numbered(excerpt: Excerpt) -> list[tuple[int, str, str]]:
    rows = []
    for number, line in enumerate(excerpt.lines, excerpt.first):
        cut = line if len(line) <= _LONGEST else line[:_LONGEST] + f"… ({len(line):,} characters)"
        rows.append((number, "!" if number == excerpt.marked else " ", harmless(cut)))
    return rows


def _beside(text: Text, left: Excerpt, right: Excerpt, width: int) -> None:
    """Two excerpts in two columns; long lines go on below themselves."""
    half = (width - 3) // 2
    columns = [_column(excerpt, half) for excerpt in (left, right)]
    rows = max(len(column) for column in columns)
    text.append("\n")
    for index in range(rows):
        for number, column in enumerate(columns):
            line, style = column[index] if index < len(column) else ("", "")
            text.append(fit(line, half), style=style)
            text.append(" │ " if number == 0 else "\n", style="dim" if number == 0 else "")


def _column(excerpt: Excerpt, width: int) -> list[tuple[str, str]]:
    rows = [(harmless(excerpt.title), "bold")]
    if excerpt.note:
        rows.append((harmless(excerpt.note), "dim"))
    room = max(width - 8, 20)
    for number, sign, line in _numbered(excerpt):
        style = "bold" if sign == "!" else "dim"
        parts = [line[start : start + room] for start in range(0, len(line), room)] or [""]
        rows.append((f"{sign}{number:>6} {parts[0]}", style))
        rows += [(f"{'':8}{part}", style) for part in parts[1:]]
    return rows
