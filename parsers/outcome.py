"""How a launch ended: read from its log, and refined with what a log cannot hold.

The words are those of the public contract. Where the text cannot tell, the answer is `unknown`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from parsers.candidates import Candidate
from parsers.records import Conclusion, Event, EventRole, Outcome, Progress, RootError, Stage
from parsers.root import LAST_PEER_TIER, Choice, choose_root, find_marks, weight_after_ready
from parsers.rules.chains import CUT_TRACEBACK
from parsers.rules.message_rule import Weight
from parsers.survival import REQUEST_WEIGHTS, Marks

SILENT_AFTER = timedelta(seconds=60)
"""Silence before ready, while something else still printed, that counts as hanging."""
HUNG_AFTER = timedelta(seconds=30)
"""Silence before ready up to the moment the process was killed that counts as hanging."""
LAST_WORDS = 30
"""Lines at the end of a launch in which a library's own error line counts as what ended it."""
MIN_SERVED_BATCHES = 10
"""More batch lines than a warm-up prints."""

_CLOCK_SLACK = timedelta(seconds=5)
_ZONE_STEP = timedelta(minutes=15)
_WHOLE_KILLED = frozenset({"shell-killed", "container-killed", "unit-killed"})
"""Rules of a whole server that was ended with SIGKILL: it ends itself so when a part failed."""
MAX_SHOWN = 160
"""Characters of a message in a reason."""
_STOP_RULES = frozenset({"sigterm", "job-cancelled", "stop-exception"})


def conclude(
    candidates: Sequence[Candidate], progress: Progress, last_work_at: datetime | None
) -> Conclusion:
    """Outcome, stage, reason, root error and events of a run."""
    marks = find_marks(candidates, progress)
    choice = choose_root(candidates, progress, marks)
    outcome, reason = _outcome(candidates, progress, marks, choice, last_work_at)
    root = _root_error(choice) if _has_root(outcome, choice) else None
    if root is None and choice.root is not None:
        choice.roles[id(choice.root)] = _role_without_root(choice, outcome)
    if outcome is Outcome.KILLED:
        killed = _kill_evidence(candidates, progress, marks, choice)
        if killed is not None:
            choice.roles[id(killed)] = (EventRole.ECHO, "shows that the launch was killed from outside")
    events = tuple(_event(one, choice, marks) for one in candidates)
    stage = _stage(progress, marks, is_cut=outcome in (Outcome.FAILED, Outcome.KILLED) and marks.stop is None)
    return Conclusion(outcome, marks.own_ready is not None, stage, reason, root, events)


def in_time_order(progress: Progress, sign: int) -> Progress:
    """Progress with positions that rise with time: negative line numbers where the latest stand first."""
    if sign > 0:
        return progress

    def turned(line: int | None) -> int | None:
        return None if line is None else -line

    return replace(
        progress,
        first_line=-progress.last_line,
        last_line=-progress.first_line,
        milestones=tuple(
            sorted((replace(one, line=-one.line) for one in progress.milestones), key=lambda one: one.line)
        ),
        server_args_line=turned(progress.server_args_line),
        ready_line=turned(progress.ready_line),
        first_batch_line=turned(progress.first_batch_line),
        last_batch_line=turned(progress.last_batch_line),
        last_good_request_line=turned(progress.last_good_request_line),
    )


def _outcome(
    candidates: Sequence[Candidate],
    progress: Progress,
    marks: Marks,
    choice: Choice,
    last_work_at: datetime | None,
) -> tuple[Outcome, str]:
    ready = marks.own_ready is not None
    where = _place(progress, ready)
    root = choice.root
    killed = _kill_evidence(candidates, progress, marks, choice)
    if killed is not None:
        said = f"{_shown(killed.message)} (line {abs(killed.first_line)})"
        return Outcome.KILLED, f"{said}, and no earlier error"
    if root is not None and root.weight in REQUEST_WEIGHTS and choice.tier > 0 and marks.sigquit is None:
        root = None
    if root is not None and _is_worth_failing(root, choice, progress, marks):
        occurrence = choice.occurrence
        assert occurrence is not None
        return Outcome.FAILED, f"{_title(root)} (line {abs(occurrence.line)}) {where}"
    if marks.stop is not None:
        if ready:
            return Outcome.READY, f"ready, then told to end (line {abs(marks.stop)})"
        if marks.sigquit is None or marks.stop < marks.sigquit:
            if _has_served(progress):
                return Outcome.READY, f"was serving, then told to end (line {abs(marks.stop)})"
            return Outcome.KILLED, f"told to end (line {abs(marks.stop)}) {where}"
    if marks.sigquit is not None:
        return (
            Outcome.FAILED,
            f"a child process failed (line {abs(marks.sigquit)}) {where}, and its error is not in the log",
        )
    return _without_end(candidates, progress, marks, last_work_at)


def _without_end(
    candidates: Sequence[Candidate], progress: Progress, marks: Marks, last_work_at: datetime | None
) -> tuple[Outcome, str]:
    """The text simply stops."""
    leaked = _leftovers_at_the_end(candidates, progress)
    if marks.own_ready is not None:
        if leaked is not None and not _has_shut_down(progress):
            where = f"leftovers cleaned up (line {abs(leaked.last_line)})"
            return Outcome.KILLED, f"ready, then gone without a word; {where}"
        return Outcome.READY, f"ready (line {abs(marks.own_ready)}), and no fatal error after it"
    if leaked is not None and not _has_started_engine(progress):
        where = f"its leftovers were cleaned up (line {abs(leaked.last_line)})"
        return Outcome.KILLED, f"gone without a word in {_stage_word(progress)}; {where}"
    routed = _router_line(progress)
    if routed is not None:
        return (
            Outcome.UNKNOWN,
            f"a router serves (line {abs(routed)}); how its servers ended is not in its log",
        )
    if _has_served(progress):
        return Outcome.RUNNING, "serving, and the text just stops"
    return _before_ready(progress, last_work_at)


def _before_ready(progress: Progress, last_work_at: datetime | None) -> tuple[Outcome, str]:
    """Not ready, and no end: only silence while something else still printed tells a hang."""
    if not progress.milestones and progress.server_args_line is None:
        return Outcome.UNKNOWN, "neither the start of the launch nor an end of it is in the text"
    silence = None
    if progress.last_at is not None and last_work_at is not None and progress.batch_lines == 0:
        silence = _span(last_work_at, progress.last_at)
    if silence is not None and silence >= SILENT_AFTER and progress.milestones:
        lasted = f"{silence.total_seconds():.0f} s"
        return Outcome.HUNG, f"silent for {lasted} in {_stage_word(progress)} while probes went on"
    return Outcome.UNKNOWN, f"the text stops in {_stage_word(progress)}: hung or still starting"


def _leftovers_at_the_end(candidates: Sequence[Candidate], progress: Progress) -> Candidate | None:
    """The notice of Python's resource tracker as the last word of a launch: it outlived the server."""
    if not progress.milestones and progress.server_args_line is None:
        return None
    leaked = next((one for one in candidates if one.rule == "leaked-resources"), None)
    return leaked if leaked is not None and leaked.last_line >= progress.last_line - 4 else None


def _has_shut_down(progress: Progress) -> bool:
    return any(milestone.stage is Stage.SHUTDOWN for milestone in progress.milestones)


def _has_started_engine(progress: Progress) -> bool:
    """True for an engine that started without an HTTP server: it may just have ended."""
    names = {milestone.name for milestone in progress.milestones}
    return "limits" in names and not any(name.startswith("http-") for name in names)


def _kill_evidence(
    candidates: Sequence[Candidate], progress: Progress, marks: Marks, choice: Choice
) -> Candidate | None:
    """The sign of a killing from outside that no error came before."""
    for one in candidates:
        if weight_after_ready(one, marks.own_ready) is not Weight.KILL:
            continue
        if marks.stop is not None and one.first_line > marks.stop:
            continue
        if one.rule in _WHOLE_KILLED and _ended_itself(one.first_line, marks, choice):
            continue
        if progress.last_batch_line is not None and progress.last_batch_line > one.last_line:
            continue
        if choice.root is None or choice.occurrence is None or choice.tier > LAST_PEER_TIER:
            return one
        if one.rule == "kernel-oom" and (
            choice.tier == LAST_PEER_TIER or one.first_line < choice.occurrence.line
        ):
            return one
        if choice.tier == LAST_PEER_TIER and one.first_line < choice.occurrence.line:
            return one
    return None


def _ended_itself(killed_line: int, marks: Marks, choice: Choice) -> bool:
    """True when the server reported the failure of a part before it was killed: so it ends itself."""
    if marks.sigquit is not None and marks.sigquit < killed_line:
        return True
    if choice.root is None or choice.occurrence is None:
        return False
    return choice.root.weight is Weight.WARMUP and choice.occurrence.line < killed_line


def _is_worth_failing(root: Candidate, choice: Choice, progress: Progress, marks: Marks) -> bool:
    """True when this root shows that the launch failed, rather than that something was said."""
    if root.weight is Weight.CONSEQUENCE:
        if root.rule == "harness-server-exited":
            return marks.own_ready is None and marks.stop is None and bool(progress.milestones)
        return marks.sigquit is not None or root.rule in ("consequence-class", "exit-code", "child-failed")
    if root.weight is Weight.FORERUNNER and choice.tier > 0:
        is_last_word = root.last_line >= progress.last_line - LAST_WORDS
        return marks.own_ready is None and (progress.server_args_line is None or is_last_word)
    return True


def _has_root(outcome: Outcome, choice: Choice) -> bool:
    if choice.root is None:
        return False
    if choice.root.rule == CUT_TRACEBACK:
        return False
    if outcome is Outcome.FAILED:
        return choice.root.weight is not Weight.CONSEQUENCE or choice.root.rule == "consequence-class"
    return outcome is Outcome.RUNNING and choice.root.weight in REQUEST_WEIGHTS


def _role_without_root(choice: Choice, outcome: Outcome) -> tuple[EventRole, str]:
    assert choice.root is not None
    if choice.root.weight in REQUEST_WEIGHTS:
        return EventRole.REQUEST, "ended one request, not the server"
    return EventRole.ECHO, f"the launch counts as {outcome.value}"


def _root_error(choice: Choice) -> RootError:
    root, occurrence = choice.root, choice.occurrence
    assert root is not None and occurrence is not None
    return RootError(
        root.type or "",
        root.message,
        abs(occurrence.line),
        occurrence.rank,
        root.fingerprint,
        root.frames,
        choice.reason,
        tuple(root.ranks),
        root.excerpt,
    )


def _event(one: Candidate, choice: Choice, marks: Marks) -> Event:
    role, reason = choice.roles.get(id(one), (EventRole.NONE, ""))
    first, last = one.first[0], (one.latest or one.first)[-1]
    is_root = role is EventRole.ROOT
    is_of_stop = marks.stop is not None and first.line >= marks.stop and not is_root
    level = "error" if is_root else "warning" if is_of_stop else one.level
    return Event(
        fingerprint=one.fingerprint,
        level=level,
        type=one.type,
        message=one.message,
        line=abs(first.line),
        last_line=abs(last.line),
        count=one.count,
        ranks=tuple(one.ranks),
        benign=one.weight is Weight.NOTICE or role is EventRole.OUTSIDE or is_of_stop,
        at=first.at,
        last_at=last.at,
        stage=first.stage,
        role=role,
        role_reason=reason,
        rule=one.rule,
        excerpt=one.excerpt,
        traceback=one.frames,
        traceback_text=one.text,
    )


def _has_served(progress: Progress) -> bool:
    """True when requests were served without the ready line being in the text.

    A launch that is in the text from its arguments on shows a few batches of its own warm-up before that.
    """
    if progress.server_args_line is None:
        return progress.batch_lines > 0
    return progress.batch_lines >= MIN_SERVED_BATCHES


def _stage(progress: Progress, marks: Marks, *, is_cut: bool = False) -> Stage | None:
    """The furthest stage; a launch that was cut off did not reach its shutdown, whatever its echoes say."""
    order = list(Stage)
    reached = [m.stage for m in progress.milestones if not (is_cut and m.stage is Stage.SHUTDOWN)]
    if marks.own_ready is None:
        reached = [stage for stage in reached if stage not in (Stage.SERVING, Stage.SHUTDOWN)]
        if _has_served(progress) or _router_line(progress) is not None:
            reached.append(Stage.SERVING)
    if not reached:
        return Stage.ARGS if progress.server_args_line is not None else None
    return max(reached, key=order.index)


def _router_line(progress: Progress) -> int | None:
    """Where a router without a server in its log says that it serves."""
    if progress.server_args_line is not None or progress.batch_lines:
        return None
    return next((one.line for one in progress.milestones if one.name == "router-ready"), None)


def _stage_word(progress: Progress) -> str:
    stage = _stage(progress, Marks(None, None, None, None))
    return f"stage {stage.value}" if stage is not None else "an early stage"


def _place(progress: Progress, ready: bool) -> str:
    return "after ready" if ready else f"in {_stage_word(progress)}"


def _title(root: Candidate) -> str:
    first = _shown(root.message.split("\n", 1)[0])
    if not root.type or first.startswith(root.type):
        return first or "an error"
    return f"{root.type}: {first}" if first else root.type


def _shown(message: str) -> str:
    """The begin of a long message, cut between words where it has any."""
    if len(message) <= MAX_SHOWN:
        return message
    words, _, _ = message[: MAX_SHOWN + 1].rpartition(" ")
    return f"{words if len(words) > MAX_SHOWN // 2 else message[:MAX_SHOWN]} ..."


def _span(earlier: datetime, later: datetime) -> timedelta | None:
    try:
        return later - earlier
    except TypeError:
        return None


KILLED_SILENT = "silent for"
"""Begin of the reason of a launch that somebody killed because it had hung."""


def refine(
    conclusion: Conclusion,
    exit_code: int | None,
    exit_signal: str | None,
    start_time: datetime | None,
    end_time: datetime | None,
    last_log_time: datetime | None,
) -> tuple[Outcome, str]:
    """Outcome and reason with what only the surroundings of a launch can tell; all may be None."""
    outcome, reason = conclusion.outcome, conclusion.reason
    signal = (exit_signal or "").upper().removeprefix("SIG")
    if outcome in (Outcome.FAILED, Outcome.HUNG):
        return outcome, reason
    if conclusion.ready:
        return _refine_ready(conclusion, exit_code, signal)
    if outcome is Outcome.KILLED and signal not in ("KILL", "9"):
        return outcome, reason
    if signal:
        silence = _silence(start_time, end_time, last_log_time)
        if signal in ("KILL", "9") and silence is not None and silence >= HUNG_AFTER:
            lasted = f"{silence.total_seconds():.0f} s"
            return Outcome.HUNG, f"{KILLED_SILENT} {lasted} before it was killed; {reason}"
        return Outcome.KILLED, f"ended by SIG{signal}; {reason}"
    if exit_code:
        return Outcome.FAILED, f"exit status {exit_code}; {reason}"
    if outcome is Outcome.UNKNOWN and start_time is not None and end_time is None:
        return Outcome.RUNNING, f"its recording has begun and no end is written yet; {reason}"
    return outcome, reason


def _silence(start: datetime | None, end: datetime | None, last_log: datetime | None) -> timedelta | None:
    """Time from the last line to the end; a log has local times, a context UTC: whole quarters apart."""
    if end is None or last_log is None:
        return None
    silence = _span(last_log, end)
    lasted = _span(start, end) if start is not None else None
    if silence is None:
        return None
    if silence >= -_CLOCK_SLACK and (lasted is None or silence <= lasted + _CLOCK_SLACK):
        return silence
    silence = (silence + _CLOCK_SLACK) % _ZONE_STEP - _CLOCK_SLACK
    return silence if lasted is None or silence <= lasted + _CLOCK_SLACK else None


def _refine_ready(conclusion: Conclusion, exit_code: int | None, signal: str) -> tuple[Outcome, str]:
    """A ready launch: SIGKILL after an orderly stop is how several releases end themselves."""
    outcome, reason = conclusion.outcome, conclusion.reason
    if exit_code and exit_code not in (130, 143):
        return Outcome.FAILED, f"exit status {exit_code} after ready; {reason}"
    stopped = conclusion.outcome is Outcome.READY and any(
        event.rule in _STOP_RULES for event in conclusion.events
    )
    if signal in ("KILL", "9", "SEGV", "11", "ABRT", "6", "BUS", "7") and not stopped:
        return Outcome.FAILED if signal not in (
            "KILL",
            "9",
        ) else Outcome.KILLED, f"ended by SIG{signal} after ready; {reason}"
    return outcome, reason
