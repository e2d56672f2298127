"""Events of a watched launch as lines of text or JSON."""

from __future__ import annotations

import json

from logscope.record.watching import WatchEvent
from logscope.report.harmless import folded
from logscope.report.layout import wrapped
from parsers.lazy_pattern import lazy_pattern
from parsers.records import Json

SCHEMA = "logscope.watch/1"
_ENDS_WITH_LINE = lazy_pattern(r"\(line \d+\)\s*\Z")


def event_text(event: WatchEvent, clock: str) -> str:
    """Time of day, what happened, where in the log; the text is the log's, so it is made harmless."""
    is_told = f"(line {event.line})" in event.text or _ENDS_WITH_LINE.search(event.text)
    place = "" if event.line is None or is_told else f"  (line {event.line})"
    return "\n".join(wrapped(folded(f"{event.text}{place}"), f"{clock}  "))


def event_json(event: WatchEvent, at: str) -> str:
    """One JSON object on one line; `at` is ISO 8601."""
    held: dict[str, Json] = {
        "schema": SCHEMA,
        "at": at,
        "event": event.kind,
        "text": event.text,
        "line": event.line,
        "stage": None if event.stage is None else str(event.stage),
        "seconds": event.seconds,
        "usual": None
        if event.usual is None
        else {"low": event.usual.low, "median": event.usual.median, "high": event.usual.high},
        "outside": event.is_outside,
    }
    return json.dumps(held)
