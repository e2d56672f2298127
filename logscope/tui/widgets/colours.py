"""The theme's colours as styles for widgets that draw their own lines.

Component classes would do the same by rules, but each costs a style match in every widget at every change:
a fifth of the first paint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.color import Color, ColorParseError

if TYPE_CHECKING:
    from textual.app import App

_FOREGROUNDS = {
    "heading": "text-accent",
    "good": "text-success",
    "bad": "text-error",
    "warning": "text-warning",
    "changed": "text-primary",
    "second": "text-secondary",
    "key": "footer-key-foreground",
}
_BOLD = frozenset(["heading", "key"])
_MUTED = 0.6
"""Share of the foreground in muted text."""
_CURSOR_CONTRAST = 0.87


def style(app: App[object], name: str) -> Style:
    """What a tone looks like in the theme of now; ``normal`` adds nothing."""
    known: dict[tuple[str, str], Style] = app.__dict__.setdefault("_tones", {})
    key = (app.theme, name)
    if key not in known:
        known[key] = _style(app.theme_variables, name)
    return known[key]


def _style(variables: dict[str, str], name: str) -> Style:
    if name in _FOREGROUNDS:
        colour = _colour(variables, _FOREGROUNDS[name])
        return Style(color=colour.rich_color if colour else None, bold=True if name in _BOLD else None)
    if name == "muted":
        return _muted(variables)
    if name == "hit":
        return Style(underline=True)
    if name == "cursor":
        return _cursor(variables)
    if name == "blurred-cursor":
        return _blurred(variables)
    return Style()


def _colour(variables: dict[str, str], name: str) -> Color | None:
    try:
        return Color.parse(variables[name].split()[0])
    except (ColorParseError, KeyError):
        return None


def _muted(variables: dict[str, str]) -> Style:
    front, back = _colour(variables, "foreground"), _colour(variables, "background")
    if front is None or back is None or front.ansi is not None or back.ansi is not None:
        return Style(dim=True)  # the terminal's own colours cannot be mixed
    return Style(color=back.blend(front, _MUTED).rich_color)


def _cursor(variables: dict[str, str]) -> Style:
    back = _colour(variables, "block-cursor-background")
    if back is None:
        return Style(reverse=True)
    front = _colour(variables, "block-cursor-foreground")
    if front is None:  # "auto": what can be read on it
        front = back + back.get_contrast_text(_CURSOR_CONTRAST)
    bold = "bold" in variables.get("block-cursor-text-style", "")
    return Style(color=front.rich_color, bgcolor=back.rich_color, bold=bold or None)


def _blurred(variables: dict[str, str]) -> Style:
    back = _colour(variables, "block-cursor-blurred-background")
    under = _colour(variables, "background")
    if back is None or back.ansi is not None or under is None:
        return Style(underline=True)
    return Style(bgcolor=(under + back).rich_color)
