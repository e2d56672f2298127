"""No line makes a pattern slower than linear: each rule is tried on 100,000 hostile characters.

Patterns run with a time limit far above what linear work needs, so that only runaway matching fails.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest
import regex

import parsers
from parsers import order, versions
from parsers.carrier_table import CARRIERS
from parsers.heads import HEADS
from parsers.lazy_pattern import LazyPattern
from parsers.rules import milestones
from parsers.rules.classify import ALL_RULES
from parsers.rules.milestone_table import MILESTONES
from tests.parsers.reading import read

LIMIT_S = 2.0
LONG = 100_000


def _repeat(text: str) -> str:
    return (text * (LONG // len(text) + 1))[:LONG]


HOSTILE = {
    "blanks": " " * LONG,
    "letters": "a" * LONG,
    "capitals": "A" * LONG,
    "digits": "1" * LONG,
    "brackets": "[" * LONG,
    "parentheses": "(" * LONG,
    "quotes": "'" * LONG,
    "backslashes": "\\" * LONG,
    "commas": _repeat("a=1, "),
    "times": _repeat("[2026-02-03 04:05:06] "),
    "open times": _repeat("[2026-02-03 04:05:0"),
    "bars": _repeat("a: 10%|## | 1/2 [00:01<00:01, 1.0it/s"),
    "half bars": _repeat("10% |"),
    "pairs": _repeat("#running-req: 1, "),
    "escapes": "\x1b[" * (LONG // 2),
    "bare colours": _repeat("[0m[1;2m"),
    "words": _repeat("api_key "),
    "addresses": _repeat("://a:b"),
    "assignments": _repeat("A_B=C "),
    "dashes": _repeat("a-b-c_d-"),
    "separators": _repeat("x - y - "),
    "sglang": _repeat("sglang-0.5."),
    "paths": _repeat("/sglang-"),
    "gpu": _repeat("[gpu=1] A"),
    "prompt": _repeat("$ # % > "),
    "letters and words": _repeat("Capture the the the "),
}


def _patterns() -> dict[str, regex.Pattern[Any]]:
    found: dict[str, regex.Pattern[Any]] = {}
    found.update({f"carrier {one.id}": regex.compile(one.pattern) for one in CARRIERS})
    found.update({f"head {one.id}": regex.compile(one.pattern) for one in HEADS})
    found.update({f"milestone {one.name}": regex.compile(one.pattern) for one in MILESTONES if one.pattern})
    found.update({f"figure {name}": regex.compile(pattern) for name, _, pattern in milestones.FIGURES})
    found.update({f"version {one.id}": regex.compile(one.pattern) for one in versions.SHAPES})
    found.update({f"rule {one.id}": one.pattern for one in ALL_RULES})
    for place in pkgutil.walk_packages(parsers.__path__, "parsers."):
        module = importlib.import_module(place.name)
        for name, value in vars(module).items():
            if isinstance(value, LazyPattern | regex.Pattern):
                found[f"{module.__name__}.{name}"] = regex.compile(value.pattern, value.flags)
            elif isinstance(value, dict) and name != "PATTERNS":
                found.update(_of_table(f"{module.__name__}.{name}", value))
            elif hasattr(value, "cache_clear") and getattr(value, "__module__", "") == module.__name__:
                made = _pattern_of(value)
                if made is not None:
                    found[f"{module.__name__}.{name}"] = made
    return found


def _of_table(name: str, table: dict[object, object]) -> dict[str, regex.Pattern[Any]]:
    patterns = {key: one for key, one in table.items() if isinstance(one, LazyPattern | regex.Pattern)}
    return {f"{name} {key}": regex.compile(one.pattern, one.flags) for key, one in patterns.items()}


def _pattern_of(function: Callable[[], object]) -> regex.Pattern[Any] | None:
    try:
        made = function()
    except TypeError:  # it takes an argument: its patterns come from a table that is walked above
        return None
    return made if isinstance(made, regex.Pattern) else None


PATTERNS = _patterns()
MATCHED = (
    "carrier ",
    "head ",
    "milestone ",
    "parsers.carriers._record",
    "parsers.rules.banner._FIRST",
    "parsers.rules.batches._N",
    "parsers.rules.starts._",
)
"""Patterns that are tried at the begin of a line only; the others are looked for anywhere in it."""

REPEATED = (
    "parsers.secrets.",
    "parsers.pieces.",
    "parsers.heads._bar",
    "parsers.heads._gl",
    "parsers.rules.env.",
)
"""Patterns of which each place in a line is taken."""


def test_all_patterns_of_the_reader_are_looked_at() -> None:
    assert len(PATTERNS) > 250
    assert {
        "parsers.secrets._SECRET",
        "parsers.heads._bar",
        "parsers.lookahead._GOES_ON",
        "parsers.failures._NEXT_LINE rust-panic",
        "parsers.fingerprint._MASKS",
        "parsers.tracebacks._HEADER_END",
        *(f"rule {one.id}" for one in ALL_RULES),
    } <= PATTERNS.keys()


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_a_pattern_ends_on_hostile_lines(name: str) -> None:
    pattern = PATTERNS[name]
    is_text = isinstance(pattern.pattern, str)

    for text in HOSTILE.values():
        for line in {text, _begin_of(pattern) + text}:
            subject = line if is_text else line.encode()
            if name.startswith(MATCHED):
                pattern.match(subject, timeout=LIMIT_S)
            elif name.startswith(REPEATED):
                sum(1 for _ in pattern.finditer(subject, timeout=LIMIT_S))
            else:
                pattern.search(subject, timeout=LIMIT_S)


def _begin_of(pattern: regex.Pattern[Any]) -> str:
    """Literal characters that the pattern asks for first, so that it gets past its begin."""
    shown = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    literal = regex.match(r"[A-Za-z :]+", shown)
    return literal[0] if literal is not None else "["


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_log_of_hostile_lines_is_read(kind: str) -> None:
    text = HOSTILE[kind]
    begins = (
        "",
        "[2026-02-03 04:05:06 TP0] ",
        "server_args=ServerArgs(a=1, ",
        "Decode batch, ",
        "(A pid=1) ",
    )

    log = read("\n".join(begin + text for begin in begins) + "\n").log

    assert log.lines == len(begins)


def test_the_order_of_hostile_lines_is_found() -> None:
    assert not order.is_newest_first([text.encode() for text in HOSTILE.values()])
