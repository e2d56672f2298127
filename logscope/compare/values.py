"""When two values are the same, and what differs inside lists and objects."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

from parsers.records import Json


def is_same(left: Json, right: Json, strict: bool = False) -> bool:
    """True for equal values: 0.90 is 0.9 and 8 is 8.0, True is not 1, None is not 'None'.

    Unless `strict`, text that spells a number equals that number (command lines hold only text).
    """
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(is_same(left[k], right[k], strict) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(
            is_same(a, b, strict) for a, b in zip(left, right, strict=True)
        )
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    one, other = _number(left, strict), _number(right, strict)
    return one is not None and other is not None and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _number(value: Json, strict: bool) -> float | None:
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and not strict:
        try:
            return float(value)
        except ValueError:
            return None
    return None


def flatten(value: Json, prefix: str = "") -> Iterator[tuple[str, Json]]:
    """Dotted key and leaf of a JSON object; lists are leaves, an empty object is a leaf."""
    if isinstance(value, dict) and (value or not prefix):
        for key, inner in value.items():
            yield from flatten(inner, f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix, value


def element_note(good: Json, bad: Json) -> str:
    """Which elements of two lists or objects differ, in words; '' for anything else."""
    if isinstance(good, list) and isinstance(bad, list):
        gone = [item for item in good if not any(is_same(item, other) for other in bad)]
        new = [item for item in bad if not any(is_same(item, other) for other in good)]
        if not gone and not new:
            return "same elements in another order"
        return "; ".join(_few(word, items) for word, items in (("added", new), ("removed", gone)) if items)
    if isinstance(good, dict) and isinstance(bad, dict):
        return _object_note(dict(flatten(good)), dict(flatten(bad)))
    return ""


def _object_note(good: Mapping[str, Json], bad: Mapping[str, Json]) -> str:
    parts = [
        f"{key}: {show(good.get(key, None)) if key in good else 'absent'} -> "
        f"{show(bad.get(key, None)) if key in bad else 'absent'}"
        for key in sorted({*good, *bad})
        if key not in good or key not in bad or not is_same(good[key], bad[key])
    ]
    return _few_text(parts)


def _few(word: str, items: list[Json]) -> str:
    return f"{word} " + _few_text([show(item) for item in items])


def _few_text(parts: list[str], most: int = 6) -> str:
    more = f" and {len(parts) - most} more" if len(parts) > most else ""
    return ", ".join(parts[:most]) + more


def show(value: Json, most: int = 80) -> str:
    """A value as a person types it: text bare, floats short, everything else as JSON, cut at `most`."""
    if isinstance(value, str):
        text = value if value else "''"
    elif isinstance(value, bool) or value is None:
        text = str(value)
    elif isinstance(value, float):
        text = f"{value:.6g}"
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else text[: most - 1] + "…"
