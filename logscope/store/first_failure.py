"""Which part of a launch failed first, and which parts only report that another one went away."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from logscope.store.records import RunId, StoredRun
from parsers.lazy_dataclass import dataclass
from parsers.records import Event, EventRole, Outcome
from parsers.rules.hearsay import ECHO_RULE_IDS, STOP_RULE_IDS


@dataclass(frozen=True, slots=True)
class Part:
    """One run of a group."""

    stored: StoredRun
    name: str
    shift: timedelta
    """How far its clock is ahead."""


@dataclass(frozen=True, slots=True)
class GroupFailure:
    """How one part of a launch ended."""

    run_id: RunId
    part: str
    """``node 1``, ``TP2``."""
    rank: str
    line: int | None
    """None where no line names it."""
    at: datetime | None
    """By the clock of the group's first part."""
    type: str
    message: str
    is_echo: bool
    """True for what only reports that another part went away or was told to end."""


@dataclass(frozen=True, slots=True)
class Story:
    """What happened to the launch as a whole."""

    is_ready: bool
    verdict: str
    first_failure: GroupFailure | None
    echoes: tuple[GroupFailure, ...]


def tell_story(parts: Sequence[Part], missing: Sequence[int]) -> Story:
    """First failure, echoes and one sentence about them; `missing`: nodes without a log."""
    ended = [failure for part in parts if (failure := _failure(part)) is not None]
    ended.sort(key=lambda one: (one.is_echo, one.at is None, one.at or datetime.min, one.line or 0))
    named = [failure for failure in ended if not failure.is_echo]
    if not ended:
        is_ready = any(part.stored.run.ready for part in parts)
        verdict = "the launch got ready and no part failed" if is_ready else _open(parts)
        return Story(is_ready, verdict, None, ())
    if not named:
        return Story(False, _elsewhere(parts, ended, missing), None, tuple(ended))
    first = named[0]
    rest = tuple(failure for failure in ended if failure is not first)
    return Story(False, _first_words(first, rest), first, rest)


def _failure(part: Part) -> GroupFailure | None:
    run = part.stored.run
    if run.outcome is Outcome.FAILED and run.root_error is not None:
        root = run.root_error
        event = next((one for one in run.events if one.role is EventRole.ROOT), None)
        is_echo = event is not None and event.rule in ECHO_RULE_IDS
        at = _moment(part, event)
        return GroupFailure(
            part.stored.run_id, part.name, root.rank, root.line, at, root.type, root.message, is_echo
        )
    if run.outcome in (Outcome.FAILED, Outcome.KILLED):
        event = _last_word(run.events, run.outcome)
        is_echo = run.outcome is Outcome.FAILED or (event is not None and event.rule in STOP_RULE_IDS)
        return GroupFailure(
            part.stored.run_id,
            part.name,
            event.ranks[0] if event is not None and event.ranks else "",
            event.line if event is not None else None,
            _moment(part, event),
            (event.type if event is not None else None) or run.outcome.value,
            event.message if event is not None else run.reason,
            is_echo,
        )
    if run.outcome is Outcome.HUNG:
        at = run.ended_at - part.shift if run.ended_at is not None else None
        return GroupFailure(part.stored.run_id, part.name, "", None, at, "hung", run.reason, True)
    return None


def _last_word(events: Sequence[Event], outcome: Outcome) -> Event | None:
    """The line that tells how a part without a root error ended: of a killed one, the sign of it."""
    echoes = [one for one in events if one.role is EventRole.ECHO]
    if outcome is Outcome.KILLED:
        killing = [one for one in echoes if one.rule not in ECHO_RULE_IDS]
        stops = [one for one in echoes if one.rule in STOP_RULE_IDS]
        echoes = killing or stops or echoes
    return min(echoes, key=lambda one: one.line, default=None)


def _moment(part: Part, event: Event | None) -> datetime | None:
    at = event.at if event is not None else None
    at = at or part.stored.run.ended_at
    return None if at is None else at.replace(tzinfo=None) - part.shift


def _open(parts: Sequence[Part]) -> str:
    reached = [(part.name, part.stored.run.stage) for part in parts]
    stages = ", ".join(f"{name}: {stage.value if stage else 'no stage'}" for name, stage in reached)
    return f"no part names an error and none got ready ({stages})"


def _first_words(first: GroupFailure, rest: Sequence[GroupFailure]) -> str:
    rank = f" on {first.rank}" if first.rank else ""
    when = f" at {first.at.isoformat(sep=' ', timespec='seconds')}" if first.at is not None else ""
    sentence = f"{first.part} failed first{rank}{when}: {_title(first)}"
    echoes = [one.part for one in rest if one.is_echo]
    later = [one.part for one in rest if not one.is_echo]
    if echoes:
        sentence += f"; {_listed(echoes)} only {'echoes' if len(echoes) == 1 else 'echo'} it"
    if later:
        sentence += f"; {_listed(later)} failed later"
    return sentence


def _elsewhere(parts: Sequence[Part], ended: Sequence[GroupFailure], missing: Sequence[int]) -> str:
    failed = {one.run_id for one in ended}
    silent = [part.name for part in parts if part.stored.run_id not in failed]
    sentence = f"{_listed([one.part for one in ended])} only report that another process went away: "
    if len(ended) == 1:
        sentence = sentence.replace(" only report ", " only reports ")
    if missing:
        nodes = _listed([f"node {number}" for number in missing])
        return f"{sentence}the cause lies in a log that was not given ({nodes})"
    if silent:
        verb = "does" if len(silent) == 1 else "do"
        return (
            f"{sentence}{_listed(silent)} {verb} not complain and may be the culprit, "
            "else the cause lies in a log that was not given"
        )
    return f"{sentence}the cause lies in a log that was not given"


def _title(failure: GroupFailure) -> str:
    first = failure.message.split("\n", 1)[0][:160]
    if not failure.type or first.startswith(failure.type):
        return first or "an error"
    return f"{failure.type}: {first}" if first else failure.type


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
