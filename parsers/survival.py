"""Which occurrence of an error can have ended the launch, and what shows that it was outlived."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from parsers.candidates import Candidate, Occurrence
from parsers.lazy_dataclass import dataclass
from parsers.records import Milestone, Progress, Stage
from parsers.rules.chains import is_of_request
from parsers.rules.message_rule import Weight

SURVIVED_AFTER = timedelta(seconds=3)
"""Progress that comes sooner after an error may be what was already under way."""

SERVED_ON_AFTER = timedelta(minutes=2)
"""A dying scheduler takes its server along within seconds; the others' last batches come sooner than this."""

REQUEST_WEIGHTS = frozenset({Weight.REQUEST, Weight.HEADLINE})
FATAL_WEIGHTS = frozenset({Weight.NATIVE, Weight.ERROR, Weight.DUMP, Weight.CHILD_DEATH})
_OUTLIVED_BY_BATCHES = REQUEST_WEIGHTS | {
    Weight.EXCEPTION,
    Weight.FORERUNNER,
    Weight.WRAPPER,
    Weight.CONSEQUENCE,
}
_BEFORE_ARGUMENTS = frozenset({"usage-error", "python-cannot-start", "shell-cannot-start"})
"""Rules of what happens before a server prints its arguments, or never."""
_BARE_RULES = frozenset({"bare-exception", "consequence-class"})
"""Rules of exception lines that stand outside a traceback."""
_ENDINGS = frozenset({"sigterm", "sigquit", "drained", "shutdown", "watchdog", "subprocess-death"})


class Fate(StrEnum):
    """What became of a launch after an error was printed."""

    OPEN = "open"
    """It can have ended the launch."""
    STOPPED = "stopped"
    """The server had been told to end before."""
    OUTLIVED = "outlived"
    """The server went on for certain: it got ready or served."""
    PASSED = "passed"
    """The launch went through later stages, which other processes can have done."""
    ONE_REQUEST = "one-request"
    """It carries the error of one request of a ready server."""
    OUTSIDE = "outside"
    """Not of the server at all."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Lines that end a launch; None where there is none."""

    sigquit: int | None
    stop: int | None
    kill: int | None
    own_ready: int | None
    """The ready line, unless the port was another server's."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The occurrence that counts, and its fate with the reason for it."""

    occurrence: Occurrence
    fate: Fate
    reason: str


def judge(candidate: Candidate, progress: Progress, marks: Marks) -> Verdict:
    """The first occurrence that can have ended the launch, else what the first one came to."""
    first: Verdict | None = None
    for occurrence in candidate.occurrences():
        verdict = _judge(candidate, occurrence, progress, marks)
        if verdict.fate is Fate.OPEN:
            return verdict
        first = first or verdict
    assert first is not None
    return first


def is_client_like(candidate: Candidate, occurrence: Occurrence) -> bool:
    """A traceback without server code that nothing introduces as the server's."""
    if (
        candidate.weight is not Weight.EXCEPTION
        or not candidate.frames
        or occurrence.is_fatal
        or occurrence.rank
    ):
        return False
    if candidate.context.startswith(("Exception in thread", "Process ")):
        return False
    return not candidate.is_server


def _judge(candidate: Candidate, occurrence: Occurrence, progress: Progress, marks: Marks) -> Verdict:
    line = occurrence.line
    if marks.stop is not None and line > marks.stop:
        return Verdict(occurrence, Fate.STOPPED, "came after the server was told to end")
    if candidate.rule == "bind-error":
        return Verdict(occurrence, Fate.OPEN, "")
    if candidate.rule in _BEFORE_ARGUMENTS and _is_after_arguments(occurrence, progress):
        return Verdict(occurrence, Fate.OUTSIDE, "of another program: the server had read its arguments")
    if marks.own_ready is not None and marks.own_ready > line:
        return Verdict(occurrence, Fate.OUTLIVED, "the ready line came later")
    if marks.own_ready is not None and is_client_like(candidate, occurrence):
        return Verdict(occurrence, Fate.OUTSIDE, "printed around a ready server, without server code in it")
    if _is_printed_text(candidate, occurrence, marks):
        return Verdict(
            occurrence, Fate.OUTSIDE, "printed around a ready server that went on, without a traceback"
        )
    is_carrier = candidate.weight is Weight.WRAPPER and is_of_request(candidate.context)
    if is_carrier and marks.own_ready is not None:
        return Verdict(occurrence, Fate.ONE_REQUEST, "carries the error of one request")
    if occurrence.is_fatal and _served_long_after(occurrence, progress):
        return Verdict(occurrence, Fate.OUTLIVED, "the server served for minutes after it")
    if candidate.weight in FATAL_WEIGHTS or occurrence.is_fatal:
        return Verdict(occurrence, Fate.OPEN, "")
    return _went_on(candidate, occurrence, progress)


def _served_long_after(occurrence: Occurrence, progress: Progress) -> bool:
    """Batches long after the words of a dying process: whatever died, the server did not end with it."""
    if occurrence.at is None or progress.last_batch_at is None or progress.last_batch_line is None:
        return False
    try:
        return progress.last_batch_at - occurrence.at >= SERVED_ON_AFTER
    except TypeError:  # one time with a date, one without
        return False


def _is_after_arguments(occurrence: Occurrence, progress: Progress) -> bool:
    return progress.server_args_line is not None and occurrence.line > progress.server_args_line


def _is_printed_text(candidate: Candidate, occurrence: Occurrence, marks: Marks) -> bool:
    """A bare line after ready, by no logger and with no end after it: generated text, a client."""
    if (
        candidate.rule not in _BARE_RULES
        or candidate.frames
        or candidate.is_headed
        or occurrence.rank
        or marks.own_ready is None
    ):
        return False
    ends = [line for line in (marks.sigquit, marks.kill) if line is not None and line > occurrence.line]
    return occurrence.line > marks.own_ready and not ends


def _went_on(candidate: Candidate, occurrence: Occurrence, progress: Progress) -> Verdict:
    line = occurrence.line
    batches, answered = progress.last_batch_line, progress.last_good_request_line
    has_later_batch = (
        batches is not None and batches > line and _is_later(progress.last_batch_at, occurrence.at)
    )
    if candidate.weight in _OUTLIVED_BY_BATCHES and has_later_batch:
        return Verdict(occurrence, Fate.OUTLIVED, "batches went on")
    if candidate.weight in REQUEST_WEIGHTS and answered is not None and answered > line:
        return Verdict(occurrence, Fate.OUTLIVED, "later requests were answered")
    for milestone in reversed(progress.milestones):
        if milestone.line <= line:
            break
        if _is_progress(milestone, occurrence):
            return Verdict(occurrence, Fate.PASSED, f"the launch went on: {milestone.name}")
    return Verdict(occurrence, Fate.OPEN, "")


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
