"""Median and quantiles of plain numbers: the standard library's `statistics` takes 4 to 12 ms to import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def median(values: Iterable[float]) -> float:
    """The middle value, or the mean of the two middle ones. Raises ValueError without any."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no median of no values")
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def quantile(ordered: Sequence[float], part: float) -> float:
    """The value below which `part` (0 to 1) of the sorted values lies; linear between neighbours."""
    place = part * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
