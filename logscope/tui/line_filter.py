"""The last look at every line of every widget, Textual's own ones too: nothing in it steers the terminal."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_STEERING = dict.fromkeys(
    [*range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)
"""Control characters and marks that turn the direction of text -> nothing; none of them has a width."""


class Unsteered(LineFilter):
    """Takes such characters off: the app's own widgets have written them out before, text fields do not."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [Segment(text.translate(_STEERING), look, control) for text, look, control in segments]
