"""Lines that the fast lane only counts: no rule takes one of them, and blocks with them read as their lines do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from parsers import secrets, versions
from parsers.carrier_table import CARRIERS
from parsers.carriers import CarrierReader
from parsers.heads import HEADS
from parsers.hot.eye import ReaderEye
from parsers.hot.feeder import HotFeeder
from parsers.hot.quiet import quiet_lines
from parsers.rules import access, banner, env, starts
from parsers.rules.classify import ALL_RULES
from parsers.rules.milestone_table import MILESTONES
from parsers.rules.suspicion import TRIGGERS

_HEAD = "[2026-02-03 04:05:06 TP0] "
_QUIET = (
    "ordinary words with 12 numbers and (brackets) [1, 2] of no kind",
    "a=1, b='two', c=/some/path.txt",
    "x",
)


def _lines_of_rules() -> Iterator[str]:
    for one in ALL_RULES:
        yield from one.samples
    for milestone in MILESTONES:
        yield from (line for line, *_ in milestone.samples)
    for shape in versions.SHAPES:
        yield from (line for line, _ in shape.samples)
    yield from (span.text for span in versions.WORDINGS)
    yield from (line for line, *_ in access.SAMPLES)
    yield from (form.sample for form in banner.FORMS)
    yield from (line for line, _ in env.SAMPLES)
    yield from (line for line, start in starts.SAMPLES if start is not starts.Start.NONE)
    yield from starts.USAGE_ERRORS
    yield from (line for line, _ in secrets.SAMPLES)
    yield from (f"ordinary words, {word} and more" for word in TRIGGERS)
    yield from ("Traceback (most recent call last):", '  File "/a/b.py", line 1, in f')
    yield from ("Process SpawnProcess-1:", "--- Logging error ---", "E0203 04:05:06 x.cc:1] hi")
    yield from (
        "a 10%|## | 1/9 [00:01<00:02,  8.9it/s]",
        "caf\u00e9",
        "\x1b[31mred\x1b[0m",
        "a\rb",
        "[0mbare",
    )


def _lines_with_other_begins() -> Iterator[str]:
    """Lines whose begin is read: by carriers, or as a head that tells more than a time and a rank."""
    for carrier in CARRIERS:
        yield from (line for line, _, _ in carrier.samples)
    for head in HEADS:
        yield from (line for line, _, level, _ in head.samples if head.id != "bracket" or level is not None)
    yield "    f(x)"


def _quiet_rows(lines: list[str]) -> list[bool]:
    """Which of these lines, behind a line with a head that teaches what a head is, are quiet."""
    begin = f"{_HEAD}a line with a head that is long enough to teach\n" * 3
    block = (begin + "".join(f"{line}\n" for line in lines)).encode()
    feeder = HotFeeder()
    carriers = CarrierReader()
    found = feeder.lane.take(block, ReaderEye(carriers))
    quiet = quiet_lines(True).find(block, found, feeder.own_heads(found), True)
    return [bool(one) for one in quiet[3:]]


def test_ordinary_lines_are_quiet_with_and_without_a_head() -> None:
    lines = [*_QUIET, *(_HEAD + line for line in _QUIET), ""]

    assert _quiet_rows(lines) == [True] * len(lines)


@pytest.mark.parametrize("begin", ["", _HEAD])
def test_no_line_that_a_rule_takes_is_quiet(begin: str) -> None:
    lines = [begin + line for line in _lines_of_rules() if line and "\n" not in line]

    quiet = [line for line, is_quiet in zip(lines, _quiet_rows(lines), strict=True) if is_quiet]

    assert len(lines) > 400
    assert quiet == []


def test_no_line_whose_begin_is_read_is_quiet() -> None:
    lines = list(_lines_with_other_begins())

    assert not any(_quiet_rows(lines))


def test_a_word_is_found_wherever_it_begins() -> None:
    lines = [
        f"{'x' * before}{word}{'y' * after}"
        for word in TRIGGERS
        for before in range(1, 9)
        for after in (0, 3)
    ]

    assert not any(_quiet_rows(lines))
