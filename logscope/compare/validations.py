"""Errors and warnings of the failing run against the good one, by fingerprint."""

from __future__ import annotations

from collections.abc import Mapping

from logscope.compare.origins import validation_finding
from logscope.compare.records import ValidationChange
from logscope.knowledge.records import ValidationFinding
from logscope.store.interface import RunHistory
from logscope.store.records import StoredRun
from parsers.lazy_pattern import lazy_re
from parsers.records import Event, EventRole

_ECHOES = (EventRole.ECHO, EventRole.OUTSIDE, EventRole.REQUEST)


_NUMBER = lazy_re(r"\d{3,}")
_WORD = lazy_re(r"[a-z_]{3,}")


def validation_changes(
    history: RunHistory, bad: StoredRun, good: StoredRun | None
) -> tuple[ValidationChange, ...]:
    """New, promoted, gone and known validations; the root error's own row also has the catalogue's word."""
    before = _by_fingerprint(good)
    now = _by_fingerprint(bad)
    root = bad.run.root_error.fingerprint if bad.run.root_error is not None else ""
    rows = [_row(event, before.get(event.fingerprint), history, bad, good) for event in now.values()]
    finding = root_finding(bad, good)
    rows = [_with_finding(row, finding) if row.fingerprint == root and finding else row for row in rows]
    gone = [_gone(event) for event in before.values() if event.fingerprint not in now and not event.benign]
    return tuple(
        sorted(rows, key=lambda row: (row.fingerprint != root, _ORDER[row.status], row.benign, row.line or 0))
    ) + tuple(gone)


_ORDER = {"promoted": 0, "new": 1, "known": 2, "gone": 3}


def _by_fingerprint(run: StoredRun | None) -> Mapping[str, Event]:
    """One event a fingerprint, an error before a warning."""
    found: dict[str, Event] = {}
    for event in run.run.events if run is not None else ():
        held = found.get(event.fingerprint)
        if held is None or (held.level != "error" and event.level == "error"):
            found[event.fingerprint] = event
    return found


def _row(
    event: Event, before: Event | None, history: RunHistory, bad: StoredRun, good: StoredRun | None
) -> ValidationChange:
    twin = before or _twin(event, good)
    if twin is None:
        status = "new"
    elif twin.level == "warning" and event.level == "error":
        status = "promoted"
    else:
        status = "known"
    asks = event.level == "error" and event.role not in _ECHOES and not event.benign
    seen = history.seen_before(event.fingerprint, bad.run_id).runs if asks else 0
    return ValidationChange(
        fingerprint=event.fingerprint,
        level=event.level,
        type=event.type,
        message=event.message,
        line=event.line,
        status=status,
        benign=event.benign,
        good_line=twin.line if twin is not None else None,
        seen_before=seen,
    )


def _twin(event: Event, good: StoredRun | None) -> Event | None:
    """A warning of the good run that says the same at its beginning: an error often adds advice to it."""
    if good is None or event.level != "error" or len(event.message) < 24:
        return None
    start = _shape(event.message)[:60]
    for other in good.run.events:
        if other.level == "warning" and (_shape(other.message).startswith(start) or _is_alike(event, other)):
            return other
    return None


def _is_alike(event: Event, other: Event) -> bool:
    """The same two values or more, in mostly the same words: releases reword their checks."""
    numbers = set(_NUMBER.findall(event.message))
    if len(numbers) < 2 or not numbers <= set(_NUMBER.findall(other.message)):
        return False
    words, others = (set(_WORD.findall(text.lower())) for text in (event.message, other.message))
    return len(words & others) >= 0.6 * min(len(words), len(others))


def _shape(message: str) -> str:
    text = message.removeprefix("Warning: ").removeprefix("WARNING: ")
    return "".join("#" if char.isdigit() else char for char in text)


def _gone(event: Event) -> ValidationChange:
    return ValidationChange(
        fingerprint=event.fingerprint,
        level=event.level,
        type=event.type,
        message=event.message,
        line=None,
        status="gone",
        benign=event.benign,
        good_line=event.line,
    )


def root_finding(bad: StoredRun, good: StoredRun | None) -> ValidationFinding | None:
    """What the catalogue of checks says of the root error between the two releases; None when not known."""
    root = bad.run.root_error
    if root is None or good is None:
        return None
    return validation_finding(
        good.sglang_version, bad.sglang_version, root.message, root.traceback, root.type
    )


def _with_finding(row: ValidationChange, finding: ValidationFinding) -> ValidationChange:
    return ValidationChange(
        fingerprint=row.fingerprint,
        level=row.level,
        type=row.type,
        message=row.message,
        line=row.line,
        status=row.status,
        benign=row.benign,
        good_line=row.good_line,
        seen_before=row.seen_before,
        introduced_in=finding.introduced_in,
        finding=finding.finding,
        explanation=finding.explanation,
    )
