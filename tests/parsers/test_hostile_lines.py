"""No line makes a pattern slower than linear: each rule is tried on 100,000 hostile characters.

Patterns run with a time limit far above what linear work needs, so that only runaway matching fails.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import regex

from parsers import carriers, heads, order, pieces, secrets, times, versions
from parsers.carrier_table import CARRIERS
from parsers.heads import HEADS
from parsers.lazy_pattern import LazyPattern
from parsers.rules import access, args, banner, batches, env, milestones, starts
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


def _patterns() -> dict[str, regex.Pattern[str]]:
    found: dict[str, regex.Pattern[str]] = {}
    found.update({f"carrier {one.id}": regex.compile(one.pattern) for one in CARRIERS})
    found.update({f"head {one.id}": regex.compile(one.pattern) for one in HEADS})
    found.update({f"milestone {one.name}": regex.compile(one.pattern) for one in MILESTONES if one.pattern})
    found.update({f"figure {name}": regex.compile(pattern) for name, _, pattern in milestones.FIGURES})
    found.update({f"version {one.id}": regex.compile(one.pattern) for one in versions.SHAPES})
    for module in (
        carriers,
        heads,
        pieces,
        secrets,
        times,
        access,
        args,
        banner,
        batches,
        env,
        milestones,
        starts,
    ):
        for name, value in vars(module).items():
            if isinstance(value, LazyPattern):
                found[f"{module.__name__}.{name}"] = regex.compile(value.pattern, value.flags)
            elif isinstance(value, regex.Pattern):
                found[f"{module.__name__}.{name}"] = value
            elif hasattr(value, "cache_clear") and getattr(value, "__module__", "") == module.__name__:
                made = _pattern_of(value)
                if made is not None:
                    found[f"{module.__name__}.{name}"] = made
    return found


def _pattern_of(function: Callable[[], object]) -> regex.Pattern[str] | None:
    try:
        made = function()
    except TypeError:  # it takes an argument: its patterns come from a table that is walked above
        return None
    return made if isinstance(made, regex.Pattern) and isinstance(made.pattern, str) else None


PATTERNS = _patterns()
SEARCHED = (
    "figure ",
    "version ",
    "parsers.secrets.",
    "parsers.pieces.",
    "parsers.heads._bar",
    "parsers.heads._glued",
    "parsers.rules.env._assign",
    "parsers.rules.args._SPECIAL",
    "parsers.rules.banner._CONT",
    "parsers.carriers._REP",
    "parsers.rules.milestones._elapsed",
)
"""Patterns that are looked for anywhere in a line; the others only at its begin."""


def test_all_patterns_of_the_reader_are_looked_at() -> None:
    assert len(PATTERNS) > 80
    assert {"parsers.secrets._pattern", "parsers.heads._bar", "parsers.pieces._ansi"} <= PATTERNS.keys()


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_a_pattern_ends_on_hostile_lines(name: str) -> None:
    pattern = PATTERNS[name]

    for text in HOSTILE.values():
        for begin in ("", _begin_of(pattern)):
            pattern.match(begin + text, timeout=LIMIT_S)
            if name.startswith(SEARCHED):
                sum(1 for _ in pattern.finditer(begin + text, timeout=LIMIT_S))


def _begin_of(pattern: regex.Pattern[str]) -> str:
    """Literal characters that the pattern asks for first, so that it gets past its begin."""
    literal = regex.match(r"[A-Za-z :]+", pattern.pattern)
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
