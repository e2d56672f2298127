"""Chooses the root error among everything that was reported, with a reason for each.

The order: what can be a cause before what can only be an echo, what stands before the end mark
before what stands after it, earlier before later. What the launch outlived, what ended one request
only and what belongs to a harness around the server is no candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from parsers.candidates import Candidate, Occurrence
from parsers.records import EventRole, Milestone, Progress, Stage
from parsers.rules.chains import has_server_frame
from parsers.rules.message_rule import Weight

SURVIVED_AFTER = timedelta(seconds=3)
"""Progress that comes sooner after an error may be what was already under way."""
FORERUNNER_WITHIN = timedelta(seconds=30)
"""A library's warning and the exception that follows from it stand at most so far apart."""
FORERUNNER_LINES = 400

_TIERS: dict[Weight, int] = {
    Weight.NATIVE: 0,
    Weight.ERROR: 0,
    Weight.EXCEPTION: 0,
    Weight.PEER: 2,
    Weight.WARMUP: 3,
    Weight.DUMP: 3,
    Weight.WRAPPER: 3,
    Weight.CHILD_DEATH: 4,
    Weight.FORERUNNER: 4,
    Weight.REQUEST: 5,
    Weight.HEADLINE: 6,
    Weight.CONSEQUENCE: 7,
}
"""What is taken before what; weights that are not named are never the root error."""

LAST_PEER_TIER = 2
REQUEST_WEIGHTS = frozenset({Weight.REQUEST, Weight.HEADLINE})

_NEVER: dict[Weight, tuple[EventRole, str]] = {
    Weight.WARNING: (EventRole.NONE, "a warning"),
    Weight.NOTICE: (EventRole.NONE, "stands in good launches too"),
    Weight.LOGGED: (EventRole.NONE, "a logged error that ends nothing by itself"),
    Weight.OUTSIDE: (EventRole.OUTSIDE, "no code of the server is in it"),
    Weight.SIGQUIT: (EventRole.ECHO, "a parent says that a child failed"),
    Weight.STOP: (EventRole.ECHO, "the server was told to end"),
    Weight.KILL: (EventRole.ECHO, "says that a process was killed, not why"),
}

_FATAL_WEIGHTS = frozenset({Weight.NATIVE, Weight.ERROR, Weight.DUMP, Weight.CHILD_DEATH})


@dataclass(slots=True)
class Choice:
    """The root error and the part that every other message played."""

    root: Candidate | None = None
    occurrence: Occurrence | None = None
    reason: str = ""
    tier: int = 9
    roles: dict[int, tuple[EventRole, str]] = field(default_factory=dict)
    """By ``id`` of the candidate."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Lines that end a launch; None where there is none."""

    sigquit: int | None
    stop: int | None
    kill: int | None
    own_ready: int | None
    """The ready line, unless the port was another server's."""
    sigquit_at: datetime | None = None


def find_marks(candidates: Sequence[Candidate], progress: Progress) -> Marks:
    """The end marks and the server's own ready line."""
    bind = _first(candidates, lambda one: one.rule == "bind-error")
    ready = progress.ready_line
    if ready is not None and bind is not None and bind.line < ready:
        ready = None
    sigquit = _first(candidates, lambda one: one.weight is Weight.SIGQUIT)
    stop = _first(candidates, lambda one: one.weight is Weight.STOP)
    kill = _first(candidates, lambda one: weight_after_ready(one, ready) is Weight.KILL)
    return Marks(
        sigquit.line if sigquit else None,
        stop.line if stop else None,
        kill.line if kill else None,
        ready,
        sigquit.at if sigquit else None,
    )


def weight_after_ready(candidate: Candidate, ready: int | None) -> Weight:
    """A child's exit status 9 kills a launch; of a server that is ready it can be an orderly stop."""
    if candidate.rule == "child-killed" and ready is not None and candidate.first_line > ready:
        return Weight.CONSEQUENCE
    return candidate.weight


def choose_root(candidates: Sequence[Candidate], progress: Progress, marks: Marks) -> Choice:
    """The root error among `candidates`, and a role with a reason for each of them."""
    choice = Choice()
    eligible: list[tuple[tuple[int, int, int, int], Candidate, Occurrence]] = []
    warmup_failed = _first(candidates, lambda one: one.weight is Weight.WARMUP)
    for candidate in candidates:
        never = _NEVER.get(candidate.weight)
        if never is not None:
            choice.roles[id(candidate)] = never
            continue
        found = _eligible_occurrence(candidate, progress, marks)
        if isinstance(found, str):
            choice.roles[id(candidate)] = _role_of(found)
            continue
        tier = _tier(candidate, found, candidates, marks, warmup_failed, progress)
        is_after = int(marks.sigquit is not None and found.line > marks.sigquit)
        eligible.append(((tier, is_after, found.line, candidate.first_line), candidate, found))
    eligible.sort(key=lambda entry: entry[0])
    if eligible:
        (tier, *_), root, occurrence = eligible[0]
        choice.root, choice.occurrence, choice.tier = root, occurrence, tier
        choice.reason = _why_root(root, occurrence, eligible, marks)
        choice.roles[id(root)] = (EventRole.ROOT, choice.reason)
        for key, candidate, other in eligible[1:]:
            choice.roles[id(candidate)] = _why_not(candidate, other, key, root, occurrence)
    return choice


def _tier(
    candidate: Candidate,
    occurrence: Occurrence,
    candidates: Sequence[Candidate],
    marks: Marks,
    warmup: Occurrence | None,
    progress: Progress,
) -> int:
    tier = (
        _TIERS[weight_after_ready(candidate, marks.own_ready)] if candidate.weight is not Weight.KILL else 9
    )
    if (
        candidate.weight in REQUEST_WEIGHTS
        and warmup is not None
        and occurrence.line < warmup.line
        and marks.own_ready is None
    ):
        return 0 if candidate.frames else 1
    if candidate.weight is Weight.FORERUNNER and _is_followed_by_exception(candidate, occurrence, candidates):
        return 0
    if not candidate.is_certain:
        return tier + 1
    return tier


def _is_followed_by_exception(
    candidate: Candidate, occurrence: Occurrence, candidates: Sequence[Candidate]
) -> bool:
    """True when an exception follows a library's own error line so closely that it can be its effect."""
    words = _LIBRARY_WORDS.get(candidate.rule)
    for other in candidates:
        if other.weight not in (Weight.EXCEPTION, Weight.NATIVE, Weight.PEER, Weight.WRAPPER):
            continue
        for later in other.occurrences():
            if not occurrence.line < later.line <= occurrence.line + FORERUNNER_LINES:
                continue
            if occurrence.at and later.at and abs(later.at - occurrence.at) > FORERUNNER_WITHIN:
                continue
            said = f"{other.type}: {other.message}"
            if words is None or any(word in said for word in words):
                return True
    return False


_LIBRARY_WORDS: dict[str, tuple[str, ...]] = {
    "nccl-warn": ("NCCL", "RCCL", "DistBackendError", "nccl"),
    "c10d-error": ("NCCL", "RCCL", "DistBackendError", "ProcessGroup", "watchdog", "CUDA error", "HIP error"),
    "glog-error": (
        "ransfer",
        "ooncake",
        "rdma",
        "RDMA",
        "nixl",
        "NIXL",
        "store",
        "engine",
        "session",
        "register",
        "memory",
        "KVTransferError",
    ),
}


def _eligible_occurrence(candidate: Candidate, progress: Progress, marks: Marks) -> Occurrence | str:
    """The first occurrence that can have ended the launch, or why there is none."""
    reason = ""
    for occurrence in candidate.occurrences():
        if marks.stop is not None and occurrence.line > marks.stop:
            reason = reason or "stop"
            continue
        survived = _survived_by(candidate, occurrence, progress, marks)
        if survived:
            reason = survived
            continue
        if _is_client_text(candidate, occurrence, progress, marks):
            reason = "outside"
            continue
        return occurrence
    return reason or "stop"


def _survived_by(candidate: Candidate, occurrence: Occurrence, progress: Progress, marks: Marks) -> str:
    """What shows that the launch outlived this occurrence; '' when nothing does."""
    line = occurrence.line
    if candidate.rule == "bind-error":
        return ""
    if marks.own_ready is not None and marks.own_ready > line:
        return "the ready line came later"
    if candidate.weight in _FATAL_WEIGHTS or candidate.is_fatal:
        return ""
    for milestone in reversed(progress.milestones):
        if milestone.line <= line:
            break
        if _is_progress(milestone, occurrence):
            return f"the launch went on: {milestone.name}"
    if candidate.weight in (
        Weight.REQUEST,
        Weight.HEADLINE,
        Weight.EXCEPTION,
        Weight.FORERUNNER,
        Weight.WRAPPER,
        Weight.CONSEQUENCE,
    ):
        if (
            progress.last_batch_line is not None
            and progress.last_batch_line > line
            and _is_later(progress.last_batch_at, occurrence.at)
        ):
            return "batches went on"
        if (
            candidate.weight in REQUEST_WEIGHTS
            and progress.last_good_request_line is not None
            and progress.last_good_request_line > line
        ):
            return "later requests were answered"
    return ""


_ENDINGS = frozenset({"sigterm", "sigquit", "drained", "shutdown", "watchdog"})


def _is_progress(milestone: Milestone, occurrence: Occurrence) -> bool:
    if milestone.name in _ENDINGS or milestone.stage is Stage.SHUTDOWN:
        return False
    if milestone.rank and occurrence.rank and milestone.rank != occurrence.rank:
        return False
    return _is_later(milestone.at, occurrence.at)


def _is_later(moment: datetime | None, error_at: datetime | None) -> bool:
    """True when `moment` is late enough after an error to show that the error was outlived."""
    if moment is None or error_at is None:
        return True
    try:
        return moment - error_at >= SURVIVED_AFTER
    except TypeError:
        return True


def _is_client_text(candidate: Candidate, occurrence: Occurrence, progress: Progress, marks: Marks) -> bool:
    """A traceback without server code, printed by nobody in particular, around a server that is known."""
    if candidate.weight is not Weight.EXCEPTION or not candidate.frames or candidate.is_fatal:
        return False
    if (
        has_server_frame(candidate.frames)
        or candidate.context.startswith(("Exception in thread", "Process "))
        or occurrence.rank
    ):
        return False
    return marks.own_ready is not None and occurrence.line > marks.own_ready


def _role_of(reason: str) -> tuple[EventRole, str]:
    if reason == "stop":
        return EventRole.ECHO, "came after the server was told to end"
    if reason == "outside":
        return EventRole.OUTSIDE, "printed around a ready server, without server code in it"
    return EventRole.SURVIVED, reason


def _why_root(
    root: Candidate,
    occurrence: Occurrence,
    eligible: Sequence[tuple[tuple[int, int, int, int], Candidate, Occurrence]],
    marks: Marks,
) -> str:
    parts = []
    if len(eligible) == 1:
        parts.append("the only error that can have ended the launch")
    else:
        parts.append(
            "the first error that is no echo of another"
            if _TIERS.get(root.weight, 9) == 0
            else "nothing nearer to a cause is in the log"
        )
    if root.note:
        parts.append(root.note)
    if root.weight is Weight.PEER:
        parts.append("another process went away first and its log is not here")
    if len(root.ranks) > 1:
        parts.append(f"printed by {len(root.ranks)} ranks")
    if marks.sigquit is not None and occurrence.line > marks.sigquit:
        parts.append("printed just after the parent's report")
    return "; ".join(parts)


def _why_not(
    candidate: Candidate,
    occurrence: Occurrence,
    key: tuple[int, int, int, int],
    root: Candidate,
    chosen: Occurrence,
) -> tuple[EventRole, str]:
    where = f"line {abs(chosen.line)}"
    if candidate.weight is Weight.PEER:
        return EventRole.ECHO, f"says that a peer went away, after {where}"
    if candidate.weight in (Weight.WRAPPER, Weight.WARMUP, Weight.DUMP):
        return EventRole.ECHO, f"repeats what stands at {where}"
    if candidate.weight in (Weight.CONSEQUENCE, Weight.CHILD_DEATH):
        return EventRole.ECHO, f"follows from {where}"
    if candidate.weight in REQUEST_WEIGHTS:
        return EventRole.REQUEST, "ended one request, not the server"
    if key[1]:
        return EventRole.ECHO, f"came after the parent's report; {where} is before it"
    return EventRole.CANDIDATE, f"came later than {where}"


def _first(candidates: Sequence[Candidate], wanted: object) -> Occurrence | None:
    assert callable(wanted)
    found = [one.first[0] for one in candidates if wanted(one)]
    return min(found, key=lambda occurrence: occurrence.line) if found else None
