"""A bisection in words and as JSON: the plan before it, each try, the answer."""

from __future__ import annotations

import json

from logscope.record.bisection import SCHEMA, Answer, Try
from logscope.record.changes import ChangeSet, LaunchChange
from logscope.record.search import Suspect, expected_tries, suspicion_order
from parsers.records import Json

_FIXED_TRIES = 3
"""The bad launch, the good launch, and the bad one without what was found."""


def planned_tries(changes: ChangeSet) -> int:
    """Tries for one cause where every combination can be launched."""
    if not changes.changes:
        return 0
    return _FIXED_TRIES + expected_tries(_suspects(changes))


def plan_text(changes: ChangeSet, seconds: float | None) -> str:
    """What would be tried, most suspicious first, and what it may cost; `seconds` a usual launch takes."""
    count = len(changes.changes)
    if not count:
        rows = ["no argument and no variable differs from the good to the bad launch: nothing to launch"]
        rows.append("('logscope diff GOOD BAD' compares model files, versions and hosts too)")
    else:
        rows = [f"{count} change{'s' * (count != 1)} from the good to the bad launch, most suspicious first:"]
    for index in suspicion_order(_suspects(changes)):
        change = changes.changes[index]
        suspicion = f"  (suspicion {change.weight:.2f})" if change.weight else ""
        rows.append(f"  {change.kind:<7} {change.text()}{suspicion}")
    rows += [f"  not tried: {note}" for note in changes.notes]
    if count:
        rows.append(f"about {planned_tries(changes)} launches for one cause{_duration(changes, seconds)}")
    return "\n".join(rows) + "\n"


def try_text(changes: ChangeSet, done: Try) -> str:
    """One line about a try."""
    made = ", ".join(changes.changes[i].name for i in done.chosen) or "no change"
    if len(done.chosen) == len(changes.changes):
        made = "all changes"
    reason = f": {done.reason}" if done.word != "ready" else ""
    return f"try {done.number}: {made}: {done.word} after {done.seconds:.1f} s{reason[:160]}"


def answer_text(changes: ChangeSet, answer: Answer) -> str:
    """The answer for people."""
    rows = [("cause: " if answer.culprits else "not found: ") + answer.reason]
    rows += [f"  still possible: {changes.changes[index].text()}" for index in sorted(answer.remaining)]
    if answer.failure:
        rows.append(f"failure: {answer.failure}")
    if answer.is_flaky:
        rows.append("the failure comes and goes: the same launch got ready and failed")
    spent = sum(done.seconds for done in answer.tries)
    rows.append(f"{len(answer.tries)} launches, {spent:.0f} s")
    return "\n".join(rows) + "\n"


def answer_json(changes: ChangeSet, answer: Answer) -> str:
    """The answer for programs."""
    held: dict[str, Json] = {
        "schema": SCHEMA,
        "found": bool(answer.culprits),
        "reason": answer.reason,
        "failure": answer.failure or None,
        "culprits": [
            [_change_json(changes.changes[index]) for index in sorted(one)] for one in answer.culprits
        ],
        "rest_is_good": answer.rest_is_good,
        "flaky": answer.is_flaky,
        "remaining": [_change_json(changes.changes[index]) for index in sorted(answer.remaining)],
        "changes": [_change_json(change) for change in changes.changes],
        "notes": list(changes.notes),
        "tries": [_try_json(changes, done) for done in answer.tries],
    }
    return json.dumps(held, indent=2) + "\n"


def plan_json(changes: ChangeSet, seconds: float | None) -> str:
    """The plan for programs; changes in the order of suspicion."""
    tries = planned_tries(changes)
    order = suspicion_order(_suspects(changes))
    held: dict[str, Json] = {
        "schema": SCHEMA,
        "planned_tries": tries,
        "planned_seconds": None if seconds is None else round(tries * seconds, 1),
        "changes": [_change_json(changes.changes[index]) for index in order],
        "notes": list(changes.notes),
    }
    return json.dumps(held, indent=2) + "\n"


def _change_json(change: LaunchChange) -> Json:
    return {
        "kind": change.kind,
        "name": change.name,
        "good": None if change.good is None else list(change.good),
        "bad": None if change.bad is None else list(change.bad),
        "text": change.text(),
        "suspicion": round(change.weight, 4),
    }


def _try_json(changes: ChangeSet, done: Try) -> Json:
    return {
        "number": done.number,
        "changes": [changes.changes[index].name for index in done.chosen],
        "outcome": done.word,
        "reason": done.reason,
        "seconds": done.seconds,
        "log": done.log,
    }


def _duration(changes: ChangeSet, seconds: float | None) -> str:
    if seconds is None:
        return ""
    whole = planned_tries(changes) * seconds
    return f", about {whole / 60:.0f} min" if whole >= 120 else f", about {whole:.0f} s"


def _suspects(changes: ChangeSet) -> list[Suspect]:
    return [Suspect(change.weight, change.group) for change in changes.changes]
