"""Lines of text that stand above and below the lists: they draw themselves, for they are painted first."""

from __future__ import annotations

from rich.segment import Segment
from textual import events
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from logscope.report.harmless import cells, clip
from logscope.tui.harmless import fit, harmless, wrapped
from logscope.tui.widgets.colours import style

QUIT = "Quit"
"""What the key that leads back does on the lowest screen."""
MOST_KEYS = 7
"""Keys that the bar of keys shows."""


class Line(Widget):
    """Text that is harmless and as wide as the screen; one line, or as many as it needs up to `most`."""

    def __init__(self, text: str = "", *, id: str | None = None, tone: str = "normal", most: int = 1) -> None:
        super().__init__(id=id)
        self._text, self._tone, self._most = text, tone, most
        self._lines: tuple[int, list[str]] = (-1, [])

    @property
    def text(self) -> str:
        """What it says, uncut."""
        return self._text

    def say(self, text: str, tone: str | None = None, most: int | None = None) -> None:
        """Shows another text; only a change of its height lays the screen out anew."""
        tone, most = tone or self._tone, most or self._most
        if (text, tone, most) == (self._text, self._tone, self._most):
            return
        height = self._height()
        self._text, self._tone, self._most = text, tone, most
        self._lines = (-1, [])
        self.refresh(layout=self._height() != height)

    def _height(self) -> int:
        return len(self._laid_out(self.size.width)) if self.size.width else 1

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._laid_out(width))

    def _laid_out(self, width: int) -> list[str]:
        """The text cut or broken to the width, a blank at both ends."""
        if self._lines[0] != width:
            text, room = harmless(self._text), max(width - 2, 1)
            lines = [text] if self._most == 1 else wrapped(text, room)
            if len(lines) > self._most:  # what is cut says so
                last = self._most - 1
                lines[last:] = [clip(f"{lines[last]} {lines[last + 1]}", room)]
            self._lines = (width, [f" {fit(line, room)} " for line in lines])
        return self._lines[1]

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width, lines = self.size.width, self._laid_out(self.size.width)
        look = self.visual_style.rich_style + style(self.app, self._tone)
        return Strip([Segment(lines[y] if y < len(lines) else " " * width, look)]).crop_extend(0, width, look)


class KeyBar(Widget):
    """The keys that act now, at most seven; a click acts too."""

    def __init__(self) -> None:
        super().__init__(id="keys")
        self._parts: list[tuple[str, str, str]] = []

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, screen: Screen[object]) -> None:
        self.call_after_refresh(self._read)

    def _read(self) -> None:
        if not self.is_attached or not self.app.app_focus:
            return
        parts: dict[str, tuple[str, str, str]] = {}
        is_lowest = len(self.app.screen_stack) == 2 and getattr(self.screen, "NAME", "") == "Runs"
        for key, active in self.screen.active_bindings.items():
            binding = active.binding
            if binding.show and active.enabled and binding.action not in parts:
                said = QUIT if is_lowest and binding.action == "leave" else binding.description
                parts[binding.action] = (self.app.get_key_display(binding), said, key)
        if list(parts.values()) != self._parts:
            self._parts = list(parts.values())
            self.refresh()

    @property
    def shown(self) -> list[tuple[str, str, str]]:
        """How the key is written, what it does, and the key: as many as there is room for."""
        room, shown = self.size.width - 1, []
        for part in self._parts[:MOST_KEYS]:
            room -= _width(part) + 1
            if room < -1:
                break
            shown.append(part)
        return shown

    def _gap(self) -> int:
        """Blanks between two keys: two where they fit."""
        needed = sum(_width(part) + 2 for part in self.shown)
        return 2 if needed <= self.size.width else 1

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        look, gap = self.visual_style.rich_style, " " * self._gap()
        key = look + style(self.app, "key")
        segments = [Segment(" ", look)]
        for shown, words, _ in self.shown:
            segments += [Segment(shown, key), Segment(f" {words}{gap}", look)]
        return Strip(segments).crop_extend(0, self.size.width, look)

    def on_click(self, event: events.Click) -> None:
        at, gap = 1, self._gap()
        for part in self.shown:
            at += _width(part) + gap
            if event.x < at:
                self.app.simulate_key(part[2])
                return


def _width(part: tuple[str, str, str]) -> int:
    return cells(part[0]) + cells(part[1]) + 1
