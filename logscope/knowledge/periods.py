"""Changes of a value over the releases as spans with both ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from logscope.knowledge.records import Period


def periods(changes: Sequence[Sequence[Any]], releases: Sequence[str]) -> tuple[Period, ...]:
    """Spans of [release index, value] changes; a value of None ends a span and is none itself.

    A span that reaches the newest release has no end.
    """
    spans: list[Period] = []
    for at, (since, value) in enumerate(changes):
        if value is None:
            continue
        until = changes[at + 1][0] - 1 if at + 1 < len(changes) else None
        spans.append(Period(releases[since], None if until is None else releases[until], str(value)))
    return tuple(_joined(spans))


def _joined(spans: Sequence[Period]) -> list[Period]:
    """Neighbouring spans of one value become one (the thing may be away for a release between them)."""
    joined: list[Period] = []
    for span in spans:
        if joined and joined[-1].value == span.value:
            joined[-1] = Period(joined[-1].first, span.last, span.value)
        else:
            joined.append(span)
    return joined


def in_words(spans: Sequence[Period], newest: str) -> str:
    """``true in 0.4.4 to 0.5.0rc2, false since 0.5.1``."""
    told: list[str] = []
    for span in spans:
        if span.last is None or span.last == newest:
            told.append(f"{span.value} since {span.first}")
        elif span.last == span.first:
            told.append(f"{span.value} in {span.first}")
        else:
            told.append(f"{span.value} in {span.first} to {span.last}")
    return ", ".join(told)
