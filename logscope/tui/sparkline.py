"""Figures as one line of blocks."""

from __future__ import annotations

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | None], width: int) -> str:
    """The last `width` values from nought to the highest; a space where one is not known."""
    shown = list(values)[-width:] if width > 0 else []
    top = max((value for value in shown if value is not None), default=0.0)
    return "".join(_bar(value, top) for value in shown)


def _bar(value: float | None, top: float) -> str:
    if value is None:
        return " "
    share = value / top if top > 0 else 0.0
    return BARS[min(len(BARS) - 1, max(0, round(share * (len(BARS) - 1))))]
