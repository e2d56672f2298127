"""Foreign text for widgets: never markup, never an escape, exactly as wide as asked."""

from __future__ import annotations

from rich.text import Text

from logscope.report.harmless import cells, clip, clip_middle, harmless

__all__ = ["clip_middle", "counted", "fit", "fit_middle", "harmless", "plain", "wrapped"]


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


def wrapped(value: str, width: int) -> list[str]:
    """`value` (harmless already) in lines of at most `width` columns, broken at blanks if any."""
    lines: list[str] = []
    width, start = max(width, 2), 0
    while True:
        end = _fits(value, start, width)
        if end == len(value):
            return [*lines, value[start:]]
        blank = value.rfind(" ", start, end + 1)
        is_word_before = blank > start and not value[start:blank].isspace()
        lines.append(value[start : blank if is_word_before else end])
        start = blank + 1 if is_word_before else end


def _fits(value: str, start: int, width: int) -> int:
    """The end of what fits from `start` into `width` columns."""
    end = min(start + width, len(value))
    while end > start + 1 and cells(value[start:end]) > width:
        end -= 1
    return end


def counted(number: int, word: str) -> str:
    """``1 run``, ``2,000 runs``."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")
