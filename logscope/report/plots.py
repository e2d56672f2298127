"""Plots as inline SVG: throughput over time of both runs, and the seconds of each stage.

Colours are CSS variables of the page, so that the plots follow light and dark; every curve also has a dash
pattern and a label, and every bar its figure, so that nothing hangs on colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from logscope.compare.records import StageChange
from logscope.report.names import duration, figure
from logscope.store.records import SeriesPoint

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 760, 240, 62, 34, 14
_DASHES = {"good": "", "bad": "6 3"}


def throughput_plot(series: Sequence[tuple[str, Sequence[SeriesPoint]]]) -> str:
    """Decode throughput over the seconds since each run's first decode line; '' when no run has two points.

    `series` gives ``good`` or ``bad`` with its points, in that order."""
    drawn = [(side, points) for side, points in series if len(points) > 1]
    if not drawn:
        return ""
    end = max(points[-1].seconds for _, points in drawn) or 1.0
    top = _nice(max(point.high for _, points in drawn for point in points))
    parts = [_frame("Decode throughput over time, tokens/s"), *_y_axis(top), *_x_axis(end)]
    for side, points in drawn:
        parts += _curve(side, points, end, top)
    for index, (side, _) in enumerate(drawn):
        x = _LEFT + 12 + index * 90
        dash = _dash(side)
        parts.append(f'<path class="{side}" d="M{x} {_TOP + 6}h24"{dash}/>')
        parts.append(f'<text x="{x + 30}" y="{_TOP + 10}">{side}</text>')
    return "\n".join([*parts, "</svg>"])


def stage_plot(stages: Sequence[StageChange]) -> str:
    """Two bars a stage, good above bad; '' when no stage has a time."""
    timed = [change for change in stages if change.good_seconds is not None or change.bad_seconds is not None]
    if not timed:
        return ""
    longest = max(max(change.good_seconds or 0.0, change.bad_seconds or 0.0) for change in timed) or 1.0
    height = 36 * len(timed) + 8
    label = "Seconds of each stage, good above bad"
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{label}">',
        f"<title>{label}</title>",
    ]
    for row, change in enumerate(timed):
        y = 8 + 36 * row
        parts.append(f'<text class="end" x="112" y="{y + 16}">{escape(change.stage.value)}</text>')
        parts += _bar("good", change.good_seconds, change.good_reached, longest, y)
        parts += _bar("bad", change.bad_seconds, change.bad_reached, longest, y + 13)
    return "\n".join([*parts, "</svg>"])


def _bar(side: str, seconds: float | None, reached: bool, longest: float, y: int) -> list[str]:
    width = (seconds or 0.0) / longest * (_WIDTH - 260)
    words = duration(seconds) if seconds is not None else "no time printed" if reached else "never reached"
    return [
        f'<rect class="{side}" x="120" y="{y}" width="{max(width, 1):.1f}" height="11"/>',
        f'<text class="small" x="{126 + width:.1f}" y="{y + 10}">{side} {words}</text>',
    ]


def _frame(label: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(label)}">'
        f"<title>{escape(label)}</title>"
    )


def _y_axis(top: float) -> list[str]:
    parts = []
    for step in range(5):
        value = top * step / 4
        y = _y(value, top)
        parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - 8}"/>')
        parts.append(f'<text class="end" x="{_LEFT - 6}" y="{y + 4:.1f}">{figure(value)}</text>')
    return parts


def _x_axis(end: float) -> list[str]:
    y = _HEIGHT - 10
    parts = []
    for step in range(5):
        seconds = end * step / 4
        anchor = "end" if step == 4 else "mid"
        parts.append(
            f'<text class="{anchor}" x="{_x(seconds, end):.1f}" y="{y}">{figure(seconds, "s")}</text>'
        )
    return parts


def _curve(side: str, points: Sequence[SeriesPoint], end: float, top: float) -> list[str]:
    upper = [f"{_x(point.seconds, end):.1f} {_y(point.high, top):.1f}" for point in points]
    lower = [f"{_x(point.seconds, end):.1f} {_y(point.low, top):.1f}" for point in reversed(points)]
    middle = [f"{_x(point.seconds, end):.1f} {_y(point.median, top):.1f}" for point in points]
    return [
        f'<path class="band {side}" d="M{"L".join([*upper, *lower])}Z"/>',
        f'<path class="{side}" d="M{"L".join(middle)}"{_dash(side)}/>',
    ]


def _dash(side: str) -> str:
    pattern = _DASHES.get(side, "")
    return f' stroke-dasharray="{pattern}"' if pattern else ""


def _x(seconds: float, end: float) -> float:
    return _LEFT + seconds / end * (_WIDTH - _LEFT - 12)


def _y(value: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - value / top * (_HEIGHT - _BOTTOM - _TOP)


def _nice(value: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten: a top of an axis that reads well."""
    if value <= 0:
        return 1.0
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value:
        power /= 10
    return next(power * step for step in (1, 2, 2.5, 5, 10) if power * step >= value)
