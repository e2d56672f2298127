"""Chooses the root error among everything that was reported, with a reason for each.

The order: what can be a cause before what can only be an echo, what stands before the end mark
before what stands after it, earlier before later. What the launch outlived, what ended one request
only and what belongs to a harness around the server is no candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from parsers.candidates import Candidate, Occurrence
from parsers.lazy_dataclass import dataclass, field
from parsers.records import EventRole, Progress
from parsers.rules.message_rule import Weight
from parsers.survival import REQUEST_WEIGHTS, Fate, Marks, Verdict, is_client_like, judge

FORERUNNER_WITHIN = timedelta(seconds=30)
"""A library's warning and the exception that follows from it stand at most so far apart."""
FORERUNNER_LINES = 400
SAME_MOMENT = timedelta(seconds=1)

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

SAME_WORDS = 40
"""Characters of a message that show that another one says the same."""
LAST_PEER_TIER = 2

_NEVER: dict[Weight, tuple[EventRole, str]] = {
    Weight.WARNING: (EventRole.NONE, "a warning"),
    Weight.NOTICE: (EventRole.NONE, "stands in good launches too"),
    Weight.LOGGED: (EventRole.NONE, "a logged error that ends nothing by itself"),
    Weight.OUTSIDE: (EventRole.OUTSIDE, "no code of the server is in it"),
    Weight.SIGQUIT: (EventRole.ECHO, "a parent says that a child failed"),
    Weight.STOP: (EventRole.ECHO, "the server was told to end"),
    Weight.KILL: (EventRole.ECHO, "says that a process was killed, not why"),
}

_LIBRARY_WORDS: dict[str, tuple[str, ...]] = {
    "nccl-warn": ("NCCL", "RCCL", "DistBackendError", "nccl"),
    "c10d-error": ("NCCL", "RCCL", "DistBackendError", "ProcessGroup", "watchdog", "CUDA error", "HIP error"),
    "glog-error": (
        "ransfer", "ooncake", "rdma", "RDMA", "nixl", "NIXL", "store", "engine", "session", "register",
        "memory",
    ),
}  # fmt: skip
"""Words of which an exception must hold one to be the effect of a library's own error line."""


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
class _Entry:
    """A candidate that can be the root."""

    tier: int
    is_after_end: bool
    candidate: Candidate
    occurrence: Occurrence

    @property
    def key(self) -> tuple[int, bool, int]:
        return self.tier, self.is_after_end, self.occurrence.line


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
    )


def weight_after_ready(candidate: Candidate, ready: int | None) -> Weight:
    """A child's exit status 9 kills a launch; of a server that is ready it can be an orderly stop."""
    if candidate.rule == "child-killed" and ready is not None and candidate.first_line > ready:
        return Weight.CONSEQUENCE
    return candidate.weight


def choose_root(candidates: Sequence[Candidate], progress: Progress, marks: Marks) -> Choice:
    """The root error among `candidates`, and a role with a reason for each of them."""
    choice = Choice()
    entries: list[_Entry] = []
    passed: list[_Entry] = []
    for candidate in candidates:
        never = _NEVER.get(candidate.weight)
        if never is not None:
            choice.roles[id(candidate)] = never
            continue
        verdict = judge(candidate, progress, marks)
        entry = _entry(candidate, verdict, candidates, marks)
        if verdict.fate is Fate.OPEN:
            entries.append(entry)
            continue
        choice.roles[id(candidate)] = (_ROLES[verdict.fate], verdict.reason)
        if verdict.fate is Fate.PASSED:
            passed.append(entry)
    if marks.sigquit is not None and not any(entry.tier <= LAST_PEER_TIER for entry in entries):
        entries += [entry for entry in passed if entry.tier <= LAST_PEER_TIER]
    in_order = sorted(entries, key=lambda entry: entry.key)
    _settle(choice, _raised_first(_concrete_first(in_order)), marks)
    return choice


def _raised_first(entries: list[_Entry]) -> list[_Entry]:
    """A library's line about a lost peer yields to the exception that was raised with the same words."""
    if len(entries) < 2 or entries[0].candidate.weight is not Weight.PEER or entries[0].candidate.frames:
        return entries
    words = entries[0].candidate.message.rpartition("] ")[2][:SAME_WORDS]
    for entry in entries[1:]:
        is_alike = entry.tier == entries[0].tier and entry.candidate.frames and len(words) == SAME_WORDS
        if is_alike and words in entry.candidate.message:
            return [entry, *(one for one in entries if one is not entry)]
    return entries


def _concrete_first(entries: list[_Entry]) -> list[_Entry]:
    """An error without words yields to one with words that was printed in the same moment."""
    if len(entries) < 2 or entries[0].candidate.message:
        return entries
    first = entries[0]
    for entry in entries[1:]:
        is_alike = (entry.tier, entry.is_after_end) == (first.tier, first.is_after_end)
        if is_alike and entry.candidate.message and _is_same_moment(first.occurrence, entry.occurrence):
            return [entry, *(one for one in entries if one is not entry)]
    return entries


def _is_same_moment(one: Occurrence, other: Occurrence) -> bool:
    if one.at is None or other.at is None:
        return False
    try:
        return abs(one.at - other.at) <= SAME_MOMENT
    except TypeError:
        return False


_ROLES = {
    Fate.STOPPED: EventRole.ECHO,
    Fate.OUTLIVED: EventRole.SURVIVED,
    Fate.PASSED: EventRole.SURVIVED,
    Fate.ONE_REQUEST: EventRole.REQUEST,
    Fate.OUTSIDE: EventRole.OUTSIDE,
}


def _settle(choice: Choice, entries: Sequence[_Entry], marks: Marks) -> None:
    if not entries:
        return
    first = entries[0]
    choice.root, choice.occurrence, choice.tier = first.candidate, first.occurrence, first.tier
    choice.reason = _why_root(first, entries, marks)
    choice.roles[id(first.candidate)] = (EventRole.ROOT, choice.reason)
    for entry in entries[1:]:
        choice.roles[id(entry.candidate)] = _why_not(entry, first)


def _entry(candidate: Candidate, verdict: Verdict, candidates: Sequence[Candidate], marks: Marks) -> _Entry:
    occurrence = verdict.occurrence
    is_after = marks.sigquit is not None and occurrence.line > marks.sigquit
    return _Entry(_tier(candidate, occurrence, candidates, marks), is_after, candidate, occurrence)


def _tier(candidate: Candidate, occurrence: Occurrence, candidates: Sequence[Candidate], marks: Marks) -> int:
    tier = _TIERS.get(weight_after_ready(candidate, marks.own_ready), 9)
    if candidate.weight in REQUEST_WEIGHTS and marks.own_ready is None:
        warmup = _first(candidates, lambda one: one.weight is Weight.WARMUP)
        if warmup is not None and occurrence.line < warmup.line:
            return 0 if candidate.frames else 1
    if candidate.weight is Weight.FORERUNNER and _is_followed_by_exception(candidate, occurrence, candidates):
        return 0
    if not candidate.is_certain or is_client_like(candidate, occurrence):
        return tier + 1
    return tier


def _is_followed_by_exception(
    candidate: Candidate, occurrence: Occurrence, candidates: Sequence[Candidate]
) -> bool:
    """True when an exception follows a library's own error line so closely that it can be its effect."""
    words = _LIBRARY_WORDS.get(candidate.rule, ())
    for other in candidates:
        if other.weight not in _EFFECTS or not any(
            word in f"{other.type}: {other.message}" for word in words
        ):
            continue
        if any(_is_soon_after(occurrence, later) for later in other.occurrences()):
            return True
    return False


_EFFECTS = frozenset({Weight.EXCEPTION, Weight.NATIVE, Weight.PEER, Weight.WRAPPER})


def _is_soon_after(earlier: Occurrence, later: Occurrence) -> bool:
    if not earlier.line < later.line <= earlier.line + FORERUNNER_LINES:
        return False
    if earlier.at is None or later.at is None:
        return True
    try:
        return abs(later.at - earlier.at) <= FORERUNNER_WITHIN
    except TypeError:
        return True


def _why_root(first: _Entry, entries: Sequence[_Entry], marks: Marks) -> str:
    root = first.candidate
    if len(entries) == 1:
        parts = ["the only error that can have ended the launch"]
    elif first.tier == 0:
        parts = ["the first error that is no echo of another"]
    else:
        parts = ["nothing nearer to a cause is in the log"]
    if root.note:
        parts.append(root.note)
    if root.weight is Weight.PEER:
        parts.append("another process went away first and its log is not here")
    if root.weight is Weight.FORERUNNER:
        parts.append("the library's own words, before the exception that follows from it")
    if not root.is_certain:
        parts.append("the traceback is cut: its class is read from its last line")
    if len(root.ranks) > 1:
        parts.append(f"printed by {len(root.ranks)} ranks")
    if first.is_after_end:
        parts.append("printed just after the parent's report")
    return "; ".join(parts)


def _why_not(entry: _Entry, root: _Entry) -> tuple[EventRole, str]:
    where = f"line {abs(root.occurrence.line)}"
    weight = entry.candidate.weight
    if weight is Weight.PEER:
        return EventRole.ECHO, f"says that a peer went away, after {where}"
    if weight in (Weight.WRAPPER, Weight.WARMUP, Weight.DUMP):
        return EventRole.ECHO, f"repeats what stands at {where}"
    if weight in (Weight.CONSEQUENCE, Weight.CHILD_DEATH):
        return EventRole.ECHO, f"follows from {where}"
    if weight in REQUEST_WEIGHTS:
        return EventRole.REQUEST, "ended one request, not the server"
    if entry.is_after_end and not root.is_after_end:
        return EventRole.ECHO, f"came after the parent's report; {where} is before it"
    if entry.occurrence.line > root.occurrence.line:
        return EventRole.CANDIDATE, f"came later than {where}"
    return EventRole.CANDIDATE, f"says less of a cause than {where}"


def _first(candidates: Sequence[Candidate], wanted: Callable[[Candidate], bool]) -> Occurrence | None:
    found = [one.first[0] for one in candidates if wanted(one)]
    return min(found, key=lambda occurrence: occurrence.line) if found else None
