"""Launches in short, of many releases, machines and ways to end, each with what is to be found in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.parsers.reading import read

FILE = Path(__file__).parent / "data" / "launches.txt"


@dataclass(frozen=True)
class Case:
    """One launch of the file."""

    name: str
    outcome: str
    is_ready: bool
    root_type: str
    root_words: str
    text: str


def cases() -> list[Case]:
    """All launches of the file."""
    found = []
    for part in FILE.read_text(encoding="utf-8").split("#### ")[2:]:
        head, text = part.split("\n", 1)
        name, outcome, ready, root_type, root_words = (word.strip() for word in head.split(" | ", 4))
        found.append(Case(name, outcome, ready == "ready", root_type, root_words, text))
    return found


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_short_launch_is_read_as_a_careful_person_would(case: Case) -> None:
    run = read(case.text).run

    assert (run.outcome.value, run.ready) == (case.outcome, case.is_ready)
    if case.root_type == "-":
        assert run.root_error is None
    else:
        assert run.root_error is not None
        assert run.root_error.type.rsplit(".", 1)[-1] == case.root_type
        assert case.root_words in case.text.split("\n")[run.root_error.line - 1].replace("|", "")


@pytest.mark.parametrize("margin", ["sglang-1  | ", "    ", "2026-02-03T04:00:00.123456789Z stderr F "])
@pytest.mark.parametrize("case", cases()[::4], ids=lambda case: case.name)
def test_what_stands_before_its_lines_changes_nothing_in_it(case: Case, margin: str) -> None:
    plain = read(case.text).run

    (carried,) = read("".join(f"{margin}{line}\n" for line in case.text.splitlines())).log.runs

    assert (carried.outcome, carried.ready, carried.ranks) == (plain.outcome, plain.ready, plain.ranks)
    before, after = plain.root_error, carried.root_error
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert (after.type, after.line) == (before.type, before.line)
