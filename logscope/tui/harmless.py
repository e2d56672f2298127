"""Foreign text for widgets: never markup, never an escape, exactly as wide as asked."""

from __future__ import annotations

from rich.text import Text

from logscope.report.harmless import cells, clip, clip_middle, harmless

__all__ = ["clip_middle", "fit", "fit_middle", "harmless", "plain"]


def plain(value: str, style: str = "") -> Text:
    """A Rich text of the harmless `value` on one line; brackets in it are never markup."""
    return Text(harmless(value), style=style, no_wrap=True, end="")


def fit(value: str, width: int) -> str:
    """`value` (harmless already) cut or padded to exactly `width` columns."""
    cut = clip(value, width) if width > 0 else ""
    return cut + " " * (width - cells(cut))


def fit_middle(value: str, width: int) -> str:
    """Like `fit`, cut in the middle: the two ends of a path tell most."""
    cut = clip_middle(value, width) if width > 0 else ""
    return cut + " " * (width - cells(cut))
