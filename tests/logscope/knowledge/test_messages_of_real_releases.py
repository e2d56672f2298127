"""Messages of real releases, each judged by reading the source of both: at least nine in ten right, none boldly wrong.

The table holds message, releases, the finding (``|`` where two are defensible) and the gate that has to be named.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from logscope import knowledge
from logscope.knowledge import library
from logscope.knowledge.records import ValidationFinding
from parsers.records import Frame

CASES = Path(__file__).parent / "data" / "validation_cases.jsonl"


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table."""

    good: str | None
    bad: str
    message: str
    findings: tuple[str, ...]
    gate: str
    frames: tuple[Frame, ...]
    type: str | None


def _cases() -> list[Case]:
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    return [
        Case(
            row["good"],
            row["bad"],
            row["message"],
            tuple(row["finding"].split("|")),
            row.get("gate", ""),
            tuple(Frame(*frame) for frame in row.get("frames", ())),
            row.get("type"),
        )
        for row in rows
    ]


def _told(case: Case) -> ValidationFinding:
    return knowledge.validation(case.good, case.bad, case.message, case.frames, case.type)


def _is_right(case: Case, told: ValidationFinding) -> bool:
    return told.finding in case.findings and (
        not case.gate or case.gate in [gate.name for gate in told.gates]
    )


def _is_boldly_wrong(case: Case, told: ValidationFinding) -> bool:
    """Wrong, and said as if it were certain; ``unknown`` and a shared wording leave it open."""
    if told.finding in case.findings or told.finding == "unknown":
        return False
    return told.finding == "foreign" or told.confidence in ("frame", "unique template")


def test_the_table_is_large_enough_and_has_every_finding() -> None:
    cases = _cases()

    assert len(cases) >= 60
    expected = {
        "new",
        "promoted",
        "demoted",
        "default-flipped",
        "guard-changed",
        "reworded",
        "unchanged",
        "foreign",
    }
    assert expected <= {finding for case in cases for finding in case.findings}


def test_nine_in_ten_are_right_and_none_boldly_wrong() -> None:
    told = [(case, _told(case)) for case in _cases()]

    wrong = [
        (case.message[:60], case.findings, one.finding) for case, one in told if not _is_right(case, one)
    ]
    bold = [
        (case.message[:60], case.findings, one.finding) for case, one in told if _is_boldly_wrong(case, one)
    ]
    assert bold == []
    assert len(wrong) <= len(told) // 10, wrong


@pytest.mark.parametrize(
    ("good", "bad", "finding"),
    [("0.5.0rc2", "0.5.9", "default-flipped"), ("0.5.6", "0.5.9", "unchanged"), ("0.3.0", "0.5.9", "new")],
)
def test_the_same_message_has_another_answer_for_another_good_release(
    good: str, bad: str, finding: str
) -> None:
    message = (
        "ValueError: Warning: Target model's context_length (262144) is greater than "
        "the derived context_length (131072). ..."
    )

    told = knowledge.validation(good, bad, message)

    assert told.finding == finding
    assert told.site is not None
    assert (told.site.file, told.site.line) == ("srt/configs/model_config.py", 382)
    if finding == "default-flipped":
        gate = told.gates[0]
        assert gate.name == "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"
        assert (gate.good_default, gate.bad_default, gate.avoid) == ("true", "false", "true")


def test_a_message_pasted_without_its_class_may_be_an_error() -> None:
    message = (
        "Warning: Target model's context_length (262144) is greater than the derived context_length (131072). "
        "This may lead to incorrect model outputs or CUDA errors."
    )

    told = knowledge.validation("0.5.0rc2", "0.5.9", message)

    assert told.finding == "default-flipped"


def test_every_release_of_note_is_known() -> None:
    known = knowledge.releases()

    assert len(known) > 100
    assert {"0.3.0", "0.4.3.post4", "0.5.0rc2", "0.5.9", "0.5.23"} <= set(known)
    assert library.PACKAGED.stat().st_size < 3_500_000
