"""How near each row is to the root error: from the base weight of a change to 1 where the error names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from logscope.compare.clues import Clues, clues_of, has_word
from logscope.compare.noise import INERT_ARGUMENTS
from logscope.compare.packages import modules_of
from logscope.compare.records import ArgumentChange, Mismatch, RunDiff, ValueChange
from logscope.knowledge.mechanisms import mechanisms_of
from parsers.lazy_dataclass import replace

Row = TypeVar("Row", ArgumentChange, ValueChange)


def with_relevance(diff: RunDiff) -> RunDiff:
    """The same diff with each row's relevance judged against the root error, most relevant first."""
    clues = clues_of(diff.bad)
    if not clues.has_error:
        return diff
    return replace(
        diff,
        args=_ranked(diff.args, lambda row: _argument(row, clues)),
        env=_ranked(diff.env, lambda row: _named(row, clues, row.name)),
        versions=_ranked(diff.versions, lambda row: _package(row, clues)),
        configs=_ranked(diff.configs, lambda row: _config(row, clues)),
        files=_ranked(diff.files, lambda row: _named(row, clues, row.name)),
        mismatches=tuple(
            sorted((_mismatch(found, clues) for found in diff.mismatches), key=lambda found: -found.relevance)
        ),
    )


def _ranked(rows: tuple[Row, ...], judge: Callable[[Row], Row]) -> tuple[Row, ...]:
    judged = [judge(row) for row in rows]
    return tuple(sorted(judged, key=lambda row: (row.is_noise, -row.relevance)))


def _argument(row: ArgumentChange, clues: Clues) -> ArgumentChange:
    if clues.names_argument(row.name):
        return replace(row, relevance=1.0, is_noise=False)
    if row.is_noise or row.relevance < 0.1 or row.name in INERT_ARGUMENTS:
        return row
    if clues.names_value(row.bad) or clues.names_number(row.bad):
        return replace(row, relevance=0.9)
    for fact in mechanisms_of(row.name):
        _, distance = clues.frame_with(fact.frames)
        if clues.words_in_message(fact.message) or 0 <= distance < 4:
            return replace(row, relevance=max(row.relevance, 0.7))
    return replace(row, relevance=row.relevance * 0.6)


def _named(row: ValueChange, clues: Clues, name: str) -> ValueChange:
    if has_word(clues.message, name):
        return replace(row, relevance=1.0, is_noise=False)
    return row if row.is_noise else replace(row, relevance=row.relevance * 0.6)


def _package(row: ValueChange, clues: Clues) -> ValueChange:
    low, modules = clues.message.lower(), modules_of(row.name)
    if row.name != "sglang" and (row.name in low or any(has_word(low, module.lower()) for module in modules)):
        return replace(row, relevance=1.0)
    _, distance = clues.frame_with([f"/{module.lower()}/" for module in modules])
    return replace(row, relevance=max(row.relevance, 0.7)) if 0 <= distance < 3 else row


def _config(row: ValueChange, clues: Clues) -> ValueChange:
    key = row.name.rpartition(".")[2]
    if has_word(clues.message, key):
        return replace(row, relevance=1.0, is_noise=False)
    if clues.names_number(row.bad) or clues.names_number(row.good):
        return replace(row, relevance=0.9)
    return row


def _mismatch(found: Mismatch, clues: Clues) -> Mismatch:
    numbers = [value for _, value in found.values if clues.names_number(value)]
    key = found.subject.rpartition(".")[2]
    if len(numbers) == len(found.values) or (numbers and has_word(clues.message, key)):
        return replace(found, relevance=1.0)
    if clues.names_argument(key) or numbers:
        return replace(found, relevance=max(found.relevance, 0.7))
    return found
