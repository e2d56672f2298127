"""All rules for single lines in their order, and what one line says by them.

Launches repeat their lines with other figures, so the answers are remembered by the shape of a line
(its text without digits), in bounded memory and for all runs together.
"""

from __future__ import annotations

from typing import TypeVar

from parsers.digits import AS_ZEROS
from parsers.dumps import prints_requests
from parsers.exception_lines import read_exception
from parsers.lazy_pattern import lazy_pattern
from parsers.records import Line
from parsers.rules.benign import BENIGN_RULES
from parsers.rules.chains import judge_exception, whereabouts
from parsers.rules.echoes import ECHO_RULES
from parsers.rules.errors import ERROR_RULES, WORDED_RULES
from parsers.rules.message_rule import MessageRule, Taken, Weight, apply, take
from parsers.rules.native import NATIVE_RULES
from parsers.rules.suspicion import is_suspicious

SPECIFIC_RULES: tuple[MessageRule, ...] = (*NATIVE_RULES, *ECHO_RULES, *ERROR_RULES, *BENIGN_RULES)

STRONG_RULE_IDS = frozenset(
    one.id for one in (*NATIVE_RULES, *ECHO_RULES, *ERROR_RULES) if one.weight is not Weight.LOGGED
)
"""Rules that end the message of an exception when they take a line."""

ALL_RULES: tuple[MessageRule, ...] = (*SPECIFIC_RULES, *WORDED_RULES)
"""In the order in which a line is offered to them."""

_OF_OTHERS = frozenset({Weight.PEER, Weight.CHILD_DEATH})
"""What tells of another process's end can be an exception too, and then has a class."""

_T = TypeVar("_T")
_Key = tuple[tuple[str, bool, bool], str]
"""Level, head and rank of a line, and its shape or its text."""

MAX_CACHE = 4096
MAX_CACHED_LENGTH = 600

_BARE = "bare-exception"
_NOTHING = lazy_pattern("")
_NEVER = lazy_pattern(r"(?!)")
"""For rules that are built for one line: no other line is taken by its shape alone."""
_PLAIN_WARNING = lazy_pattern(
    r"^\W{0,4}(?:[\w.]+: )?(?:[Ww]arning|WARN(?:ING)?|Fail(?:ed)?|Cannot|Could not|Unable|Invalid|Ignoring"
    r"|Unexpected)\b|[Ff]all(?:ing)? ?back|not supported|not fully"
)
"""How a warning that no logger wrote begins or speaks; other text without a head is prose."""
_LEVEL_RULES = {
    "ERROR": MessageRule("level-word", Weight.LOGGED, (), _NOTHING),
    "CRITICAL": MessageRule("level-word", Weight.LOGGED, (), _NOTHING),
    "FATAL": MessageRule("level-word", Weight.LOGGED, (), _NOTHING),
    "WARNING": MessageRule("level-word-warning", Weight.WARNING, (), _NOTHING),
    "WARN": MessageRule("level-word-warning", Weight.WARNING, (), _NOTHING),
}
_NO_DIGITS = str.maketrans("", "", "0123456789")
_LETTERS = frozenset("EFW[")
"""First letters of lines whose level is a letter before digits (glog, c10d): digits count there."""


def understand(line: Line) -> Taken | None:
    """What one line says by itself, or None."""
    body = line.body
    level = _LEVEL_RULES.get(line.level or "")
    if (level is None and not is_suspicious(body)) or prints_requests(body):
        return None
    taken = take(SPECIFIC_RULES, body)
    if taken is None or taken.rule.weight in _OF_OTHERS:
        taken = _bare_exception(line) or taken
    if taken is not None:
        return taken
    if level is not None:
        return Taken(level, None, body.strip()[:2000])
    worded = take(WORDED_RULES, body)
    is_prose = not line.has_head and _PLAIN_WARNING.search(body, 0, 400) is None
    return None if worded is not None and worded.rule.weight is Weight.WARNING and is_prose else worded


def _bare_exception(line: Line) -> Taken | None:
    """An exception line that stands outside any traceback."""
    if (line.has_head and not line.rank) or ":" not in line.body:
        return None
    body = line.body[:2000].strip()
    if body.startswith("..."):
        body = body.lstrip(". ")
    found = read_exception(body, is_strict=True, is_bare=True)
    if found is None:
        return None
    verdict = judge_exception(*found, "", whereabouts(()), is_server=False)
    rule_id = _BARE if verdict.weight is Weight.EXCEPTION else verdict.rule
    return Taken(MessageRule(rule_id, verdict.weight, (), _NEVER), found[0], found[1])


class LineClassifier:
    """`understand` with a memory for the shapes of lines."""

    def __init__(self) -> None:
        self._quiet: set[str] = set()
        """Shapes that hold no word of an error."""
        self._plain: set[_Key] = set()
        """Lines that looked like errors and were none."""
        self._known: dict[_Key, MessageRule] = {}
        """Shape -> the rule that took the latest line of it."""

    def say(self, line: Line) -> Taken | None:
        """What the line says, or None."""
        body = line.body
        if len(body) > MAX_CACHED_LENGTH:
            return understand(line)
        has_letter = body[:1] in _LETTERS and (body[0] == "[" or body[1:2].isdigit())
        shape = body.translate(AS_ZEROS if has_letter else _NO_DIGITS)
        has_level = line.level in _LEVEL_RULES
        if not has_level and shape in self._quiet:
            return None
        written_by = (line.level or "", line.has_head, bool(line.rank))
        key = (written_by, shape)
        if (written_by, body) in self._plain:
            return None
        before = self._known.get(key)
        taken = apply(before, body) if before is not None else None
        if taken is not None:
            return taken
        if not has_level and not is_suspicious(body):
            _add(self._quiet, shape)
            return None
        return self._learn(line, key)

    def _learn(self, line: Line, key: _Key) -> Taken | None:
        taken = understand(line)
        if taken is None:
            _add(self._plain, (key[0], line.body))
        elif taken.rule.id != _BARE:
            if len(self._known) >= MAX_CACHE:
                self._known.clear()
            self._known[key] = taken.rule
        return taken


def _add(known: set[_T], text: _T) -> None:
    if len(known) >= MAX_CACHE:
        known.clear()
    known.add(text)
