"""The pane beside a list: what a row means, and the lines of both logs that it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.reactive import reactive
from textual.widgets import Static

from logscope.tui.harmless import harmless


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a log around one of them."""

    title: str
    """``bad  s03.log:118``."""
    first: int
    lines: tuple[str, ...]
    marked: int
    """Number of the evidence line."""
    note: str = ""


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
        self._refill()

    def action_wrap(self) -> None:
        self.wraps = not self.wraps

    def watch_wraps(self) -> None:
        self._refill()

    @property
    def shown_text(self) -> str:
        """All that is shown, for copying."""
        return self._text().plain

    def _refill(self) -> None:
        if self.is_mounted:
            self.query_one("#evidence-text", Static).update(self._text())
            self.scroll_home(animate=False)

    def _text(self) -> Text:
        text = Text(no_wrap=not self.wraps)
        for line in self._detail:
            text.append(harmless(line) + "\n")
        for excerpt in self._excerpts:
            text.append(f"\n{harmless(excerpt.title)}\n", style="bold")
            if excerpt.note:
                text.append(harmless(excerpt.note) + "\n", style="dim")
            for offset, line in enumerate(excerpt.lines):
                number = excerpt.first + offset
                sign = "!" if number == excerpt.marked else " "
                cut = line if len(line) <= 600 else line[:600] + f"… ({len(line):,} characters)"
                text.append(f"{sign}{number:>6} {harmless(cut)}\n", style="bold" if sign == "!" else "dim")
        for line in self._more:
            text.append(harmless(line) + "\n")
        return text
