"""Help: the keys that act now, first those of the focused pane, then the screen's, then everybody's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from logscope.tui.keymap import bindings_of

_NAMES = {
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "right_curly_bracket": "}",
    "left_curly_bracket": "{",
}


class HelpPage(ModalScreen[None]):
    """All keys of the screen below, per pane."""

    CSS = """
    HelpPage { align: center middle; }
    HelpPage #keys-of-all { width: 90; max-width: 95%; height: 90%; border: round $accent; padding: 0 1; }
    HelpPage #keys-of-all { background: $surface; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "close", "Close", id="help.close"),
        Binding("j,down", "scroll(1)", "Down", show=False, id="help.down"),
        Binding("k,up", "scroll(-1)", "Up", show=False, id="help.up"),
        Binding("g,home", "end(-1)", "Top", show=False, id="help.top"),
        Binding("G,end", "end(1)", "Bottom", show=False, id="help.bottom"),
        Binding("ctrl+d,pagedown", "half(1)", "Half page down", show=False, id="help.half_down"),
        Binding("ctrl+u,pageup", "half(-1)", "Half page up", show=False, id="help.half_up"),
    ]

    def __init__(self, below: Screen[object], keymap: Mapping[str, str]) -> None:
        super().__init__()
        self._below, self._keymap = below, keymap

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="keys-of-all", can_focus=False):  # the keys are this screen's own
            yield Static(self._text(), markup=False)

    def _text(self) -> Text:
        text = Text()
        text.append("Keys\n", style="bold")
        focused = self._below.focused
        for node in [*([] if focused is None else focused.ancestors_with_self), self._below.app]:
            rows = [binding for binding in bindings_of(type(node)) if binding.description]
            if rows:
                text.append(f"\n{where(node)}\n", style="bold")
                for binding in rows:
                    keys = keys_text(self._keymap.get(binding.id or "", binding.key).split(","))
                    text.append(f"  {keys:<22} {binding.tooltip or binding.description}\n")
        text.append("\n+ added  - gone  ~ changed  = same  ! error  ? not known\n")
        return text

    def action_close(self) -> None:
        self.dismiss(None)

    def action_scroll(self, step: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=step * 3, animate=False)

    def action_half(self, step: int) -> None:
        box = self.query_one(VerticalScroll)
        box.scroll_relative(y=step * max(1, box.size.height // 2), animate=False)

    def action_end(self, step: int) -> None:
        box = self.query_one(VerticalScroll)
        box.scroll_to(y=box.max_scroll_y if step > 0 else 0, animate=False)


def where(node: object) -> str:
    """What a binding belongs to, in words."""
    name = getattr(node, "NAME", "") or type(node).__name__
    return {
        "LogScopeApp": "everywhere",
        "LineList": "this list",
        "EvidencePane": "this pane",
        "LogView": "this log",
    }.get(name, name)


def keys_text(keys: Sequence[str]) -> str:
    """Keys as a person would name them."""
    return " ".join(_NAMES.get(key, key) for key in keys)
