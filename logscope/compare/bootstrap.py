"""Bootstrap interval of a ratio of two medians; seeded, so that the same input gives the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from logscope.figures import median

if TYPE_CHECKING:
    import random

_DRAWS = 400
_SEED = 20240229
_LEAST_NOISE = 0.01
"""Relative spread added to each value: with two or three runs the sample itself shows too little."""


def ratio_interval(good: Sequence[float], bad: Sequence[float]) -> tuple[float, float]:
    """95 % interval of median(bad) / median(good); both hold at least one positive value."""
    import random  # 3 ms, and only runs with throughput ask

    source = random.Random(_SEED)
    noise = max(_LEAST_NOISE, _relative_spread(good), _relative_spread(bad))
    ratios = sorted(_draw(source, bad, noise) / _draw(source, good, noise) for _ in range(_DRAWS))
    return ratios[int(_DRAWS * 0.025)], ratios[int(_DRAWS * 0.975) - 1]


def _draw(source: random.Random, values: Sequence[float], noise: float) -> float:
    drawn = [value * (1 + source.gauss(0, noise)) for value in source.choices(values, k=len(values))]
    return max(median(drawn), 1e-9)


def _relative_spread(values: Sequence[float]) -> float:
    """Median distance from the median, relative: one stray run does not widen it."""
    middle = median(values)
    return median(abs(value - middle) for value in values) / middle if middle > 0 else 0.0
