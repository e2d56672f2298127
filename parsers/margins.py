"""Finds a carrier that no rule knows: the same text, digits aside, in front of nearly every line.

Logs are pasted indented, or pass through a collector that nobody has described yet. Where SGLang's records
and the frames of tracebacks all stand behind one and the same shape of text, and the lines between them too,
that text is a margin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import regex

from parsers.lazy_pattern import lazy_pattern

LONGEST = 80
"""Characters of a margin."""
MIN_RECORDS = 3
SHARE = 0.8
"""Of the records, and of all lines, that must stand behind the margin."""

_LEVELS = r"(?i:trace|debug|info|notice|default|warning|warn|error|critical|fatal|stdout|stderr)"
_VARYING = lazy_pattern(rf"\d+|\b{_LEVELS}\b")
_RECORD = lazy_pattern(
    rf"\A([^\n]{{0,{LONGEST}}}?)"
    r"(?:\[(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?:\.\d{3})?(?: [A-Z][A-Z0-9_ ]{0,60})?\] "
    r"|\[(?:DP|PP|TP|EP)\d{1,4}(?: [A-Z_]{2,8}\d{1,4}){0,5}\] "
    r"|\[gpu(?:_id)?=\d|INFO:     |Traceback \(most recent call last\):$)"
)
"""A record of SGLang and the text in front of it."""
_FRAME = lazy_pattern(rf"([^\n]{{0,{LONGEST}}}?)  File \"[^\"\n]{{1,400}}\", line \d")


def find_margin(lines: Sequence[str]) -> regex.Pattern[str] | None:
    """The margin of these lines as a pattern, or None where they have none."""
    filled = [line for line in lines if line.strip()]
    indent = _common_indent(filled)
    if indent:
        return regex.compile(f"{indent}|\\s*+\\Z")
    fronts = [match[1] for match in map(_front, filled) if match is not None]
    shapes = Counter(map(_shape, filter(None, fronts)))
    if not shapes:
        return None
    shape, count = shapes.most_common(1)[0]
    if count < MIN_RECORDS or count < SHARE * len(fronts):
        return None
    pattern = regex.compile(shape)
    behind = sum(pattern.match(line) is not None for line in filled)
    return pattern if behind >= SHARE * len(filled) else None


def _common_indent(lines: Sequence[str]) -> str:
    """The white space that every line begins with; lines of few words tell none."""
    if len(lines) < MIN_RECORDS:
        return ""
    first = lines[0]
    indent = first[: len(first) - len(first.lstrip())]
    while indent and not all(line.startswith(indent) for line in lines):
        indent = indent[:-1]
    return indent


def _shape(front: str) -> str:
    """A pattern for all texts that differ from this one in their digits and level word only."""
    core = front.rstrip(" ")
    if not core:
        return front
    parts = (_LEVELS if part[:1].isalpha() else r"\d++" for part in _VARYING.findall(core))
    between = [regex.escape(part) for part in _VARYING.split(core)]
    pattern = between[0] + "".join(part + rest for part, rest in zip(parts, between[1:], strict=True))
    return pattern + (r"(?: {1,4}|\Z)" if core != front else "")


def _front(line: str) -> regex.Match[str] | None:
    """What stands in front of a frame of a traceback or of a record."""
    return (_FRAME.match(line) if '  File "' in line[: LONGEST + 10] else None) or _RECORD.search(line)
