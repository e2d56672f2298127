"""Reads the errors, warnings and tracebacks out of the lines of one run, and concludes how it ended.

`FailureReader` takes lines in order and understands those that belong to an error; ordinary lines
cost a few substring searches. It decides nothing while reading: what was the root error and how the
launch ended is judged in `conclude` from everything that was seen (`parsers.root`, `parsers.outcome`).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from datetime import datetime

import regex

from parsers.candidates import MAX_MESSAGE, Candidate, CandidateTable, Occurrence
from parsers.fingerprint import message_fingerprint
from parsers.outcome import conclude, in_time_order
from parsers.records import Conclusion, Frame, Line, Progress, Stage
from parsers.rules.benign import BENIGN_RULES
from parsers.rules.chains import ExceptionView, judge_exception, pick_link
from parsers.rules.echoes import ECHO_RULES
from parsers.rules.errors import ERROR_RULES, WORDED_RULES
from parsers.rules.message_rule import MessageRule, Taken, Weight, apply, take
from parsers.rules.native import NATIVE_RULES, signal_name
from parsers.rules.suspicion import is_suspicious
from parsers.tracebacks import HEADER, Traceback, TracebackReader, read_exception

STRONG_RULES: tuple[MessageRule, ...] = (*NATIVE_RULES, *ECHO_RULES, *ERROR_RULES)
"""Rules that end the message of an exception when they take a line."""

_SPECIFIC_RULES: tuple[MessageRule, ...] = (*STRONG_RULES, *BENIGN_RULES)

ALL_RULES: tuple[MessageRule, ...] = (*STRONG_RULES, *BENIGN_RULES, *WORDED_RULES)
"""In the order in which a line is offered to them."""

_INTRODUCTION = regex.compile(
    r"^(?:Process \S+:|Exception (?:in|ignored|on|while)|Error in |Error processing|Task exception"
    r"|--- Logging error)|ASGI application"
    r"|[Ww]arm-?up|hit an exception|^(?:ERROR|FAIL): "
)
"""Sentences that stand above a traceback and say which part of a server, or what else, it belongs to."""
_DUMP_STARTS = frozenset({"Rece", "Fini", "self", "obj=", "Dump"})
_DUMPED = regex.compile(
    r"^(?:self\.cur_batch|Receive: obj=|Finish: obj=|Receive OpenAI|obj=GenerateReq|Dumping \d+ requests"
    r"|server_args=)"
)
"""Lines that print requests or arguments: what stands in them is quoted."""

_RANK_PREFIX = regex.compile(r"\[(?P<rank>rank\d{1,6})\]:(?: |$)")
_DUMP_LINE = regex.compile(
    r"^(?:(?:Current )?[Tt]hread 0x|Current thread|\s*File \"|Extension modules:|frame #\d+:"
    r"|Exception raised from|\s+<no Python frame>|Process \d+: |Python v\d"
    r"|Thread \d+ \(|Thread \d+$|\s{4}\S.* \([^()]*:\d+\)|\s*\d+ +(?:0x|/)|={4,}|CUDA kernel errors"
    r"|For debugging consider|Compile with `TORCH|\s*\.\.\.)"
)
_CURRENT_THREAD = regex.compile(r"^Current thread 0x")
_FAULT_FRAME = regex.compile(r'^\s*File "(?P<file>[^"]{1,1000})", line (?P<line>\d+) in (?P<function>\S+)')
_NO_DIGITS = str.maketrans("", "", "0123456789")
_LETTERS = frozenset("EFW[")
"""First letters of lines whose level is a letter before digits (glog, c10d)."""
MAX_QUOTED_LINES = 500
MAX_DUMP_LINES = 600
MAX_CACHE = 4096
MAX_CACHED_LENGTH = 600


@dataclass(slots=True)
class _Dump:
    """Stack dumps that follow a native error."""

    candidate: Candidate
    left: int = MAX_DUMP_LINES
    is_current: bool = False
    frames: list[Frame] = field(default_factory=list)


@dataclass(slots=True)
class _Pending:
    """A native line whose message stands on the next line (C++ ``what():``, Rust panics)."""

    line: Line
    taken: Taken
    stage: Stage | None


class FailureReader:
    """Collects what went wrong in one run. Feed it every line that is no batch and no access line."""

    def __init__(self) -> None:
        self._table = CandidateTable()
        self._tracebacks = TracebackReader()
        self._known: dict[tuple[str, str | None], MessageRule] = {}
        self._quiet: set[str] = set()
        """Shapes (lines without their digits) of lines that no rule can take."""
        self._plain: set[str] = set()
        """Lines that looked like errors and were none."""
        self._quoting: dict[str, tuple[int, int]] = {}
        """Dumps of requests that go on: lines that they may still have, and their open brackets."""
        self._warned: dict[str, int] = {}
        """Line of the latest Python warning of a source: its source line follows."""
        self._dumps: dict[str, _Dump] = {}
        self._pending: dict[str, _Pending] = {}
        self._last_at: datetime | None = None
        self._last_line = 0
        self._rises = 0
        """Lines that came after a line with a smaller number, less those that came after a greater one."""

    def feed(self, line: Line, stage: Stage | None) -> bool:
        """True when the line is understood as part of an error, a warning or a traceback."""
        if line.body[:5] == "[rank":
            line = _without_rank_prefix(line)
        body = line.body
        tracebacks = self._tracebacks
        is_after_gap = abs(line.number - self._last_line) > 1
        if line.number != self._last_line:
            if self._last_line:
                self._rises += 1 if line.number > self._last_line else -1
            self._last_line = line.number
        if line.at is not None:
            self._last_at = line.at
        if self._pending and self._finish_pending(line, stage):
            return True
        if (self._quoting or body[:4] in _DUMP_STARTS) and self._is_quoted(line):
            return True
        if tracebacks.open or HEADER in body:
            taken = self._feed_traceback(line, stage, is_after_gap)
            if tracebacks.done:
                self._fetch_tracebacks()
            if taken:
                return True
        if self._warned and self._is_warning_source(line):
            return True
        understood = self._take_line(line, stage)
        if (understood or body[-1:] == ":" or body[:3] == "---") and _INTRODUCTION.search(
            body, 0, 300
        ) is not None:
            tracebacks.note(line.label, body, line.number)
        return understood

    def conclude(self, progress: Progress) -> Conclusion:
        """How the launch ended, as far as the lines so far tell; more lines may be fed afterwards."""
        ended = copy.deepcopy(self)
        for pending in list(ended._pending.values()):
            ended._record_taken(pending.taken, pending.line, pending.stage)
        ended._tracebacks.finish()
        ended._fetch_tracebacks()
        sign = -1 if self._rises < 0 else 1
        return conclude(ended._table.in_order(sign), in_time_order(progress, sign), ended._last_at)

    def _feed_traceback(self, line: Line, stage: Stage | None, is_after_gap: bool) -> bool:
        label = line.label
        if not line.has_head and self._tracebacks.is_in_message(label) and HEADER not in line.body:
            taken = take(STRONG_RULES, line.body) if is_suspicious(line.body) else None
            if taken is not None and taken.rule.weight is not Weight.LOGGED:
                self._tracebacks.finish(label)
                return False
        return self._tracebacks.feed(line, stage, is_after_gap=is_after_gap)

    def _take_line(self, line: Line, stage: Stage | None) -> bool:
        taken = None if self._is_quiet(line) else self._look_up(line)
        if taken is None:
            return bool(self._dumps) and self._continue_dump(line)
        if taken.rule.id in _NEXT_LINE:
            self._pending[line.label] = _Pending(line, taken, stage)
            return True
        self._record_taken(taken, line, stage)
        if taken.rule.id == "python-warning" or taken.rule.id == "leaked-resources":
            self._warned[line.label] = line.number
        return True

    def _is_quoted(self, line: Line) -> bool:
        """True for the lines of a dump of requests that goes on below its first line."""
        label, body = line.label, line.body
        left, depth = self._quoting.pop(label, (0, 0))
        if line.has_head or not left:
            left, depth = (MAX_QUOTED_LINES, 0) if _DUMPED.match(body) else (0, 0)
            goes_on = False
        else:
            goes_on = True
        depth += sum(body.count(one) for one in "([{") - sum(body.count(one) for one in ")]}")
        if left > 1 and depth > 0:
            self._quoting[label] = (left - 1, depth)
        return goes_on

    def _is_warning_source(self, line: Line) -> bool:
        """True for the source line that Python prints below a warning."""
        warned = self._warned.pop(line.label, None)
        return (
            warned is not None
            and not line.has_head
            and line.body[:2] == "  "
            and abs(line.number - warned) <= 3
        )

    def _is_quiet(self, line: Line) -> bool:
        """True for a line that cannot be an error: cheap, since launches repeat lines with other figures."""
        body = line.body
        if line.level in _LEVELS or (body[:1] in _LETTERS and (body[0] == "[" or body[1:2].isdigit())):
            return False
        shape = body.translate(_NO_DIGITS) if len(body) <= MAX_CACHED_LENGTH else ""
        if shape in self._quiet:
            return True
        if is_suspicious(body):
            return False
        if shape:
            if len(self._quiet) >= MAX_CACHE:
                self._quiet.clear()
            self._quiet.add(shape)
        return True

    def _look_up(self, line: Line) -> Taken | None:
        """What the line says, by way of the rule that took the latest line of the same shape."""
        body = line.body
        if len(body) > MAX_CACHED_LENGTH:
            return _understand(line)
        if body in self._plain and line.level is None:
            return None
        key = (body.translate(_NO_DIGITS), line.level)
        before = self._known.get(key)
        if before is not None:
            taken = apply(before, body)
            if taken is not None:
                return taken
        taken = _understand(line)
        if taken is not None and taken.rule.words:
            if len(self._known) >= MAX_CACHE:
                self._known.clear()
            self._known[key] = taken.rule
        if taken is None and line.level is None:
            if len(self._plain) >= MAX_CACHE:
                self._plain.clear()
            self._plain.add(body)
        return taken

    def _finish_pending(self, line: Line, stage: Stage | None) -> bool:
        """Joins a native line with the line that holds its message."""
        pending = self._pending.pop(line.label, None)
        if pending is None:
            return False
        follows = _NEXT_LINE[pending.taken.rule.id].match(line.body) if not line.has_head else None
        if follows is None:
            self._record_taken(pending.taken, pending.line, pending.stage)
            return False
        whole = Taken(pending.taken.rule, pending.taken.type, follows["message"].strip())
        self._record_taken(whole, line, pending.stage)
        return True

    def _record_taken(self, taken: Taken, line: Line, stage: Stage | None) -> None:
        type_name = signal_name(taken.message) if taken.rule.id == "caught-signal" else taken.type
        candidate = self._record(
            taken.rule.weight, taken.rule.id, type_name, taken.message, line.text.strip(), taken.rule.level,
            Occurrence(line.number, line.rank, line.at, stage),
        )  # fmt: skip
        if candidate.count == 1:
            candidate.is_headed = line.has_head
        if taken.rule.weight in _DUMPING or taken.rule.id == "crash-diagnostics":
            self._dumps[line.label] = _Dump(candidate)

    def _record(
        self,
        weight: Weight,
        rule: str,
        type_name: str | None,
        message: str,
        excerpt: str,
        level: str,
        occurrence: Occurrence,
    ) -> Candidate:
        message = message[:MAX_MESSAGE]
        print_ = message_fingerprint(type_name, message)
        candidate = self._table.get(print_, weight)
        if candidate is None:
            candidate = Candidate(print_, weight, rule, type_name, message, excerpt[:2000], level)
            self._table.put(candidate)
        candidate.add(occurrence)
        return candidate

    def _fetch_tracebacks(self) -> None:
        for block in self._tracebacks.take_done():
            self._record_traceback(block)

    def _record_traceback(self, block: Traceback) -> None:
        if not block.links:
            return
        chosen, note = pick_link(block.links)
        for index, link in enumerate(block.links):
            view = judge_exception(ExceptionView(link.type, link.message, link.frames, block.context))
            weight, level = view.weight, "error"
            if index != chosen and weight in _REAL:
                weight = Weight.WRAPPER
            candidate = self._record(
                weight, view.rule, link.type, link.message, link.excerpt, level,
                Occurrence(link.line, block.rank, block.at, block.stage),
            )  # fmt: skip
            if candidate.count == 1:
                candidate.context, candidate.is_fatal, candidate.is_certain = (
                    block.context,
                    view.is_fatal,
                    link.is_certain,
                )
                candidate.frames, candidate.note = link.frames, note if index == chosen else ""
                if index == chosen:
                    candidate.text = "\n".join(block.text)

    def _continue_dump(self, line: Line) -> bool:
        dump = self._dumps.get(line.label)
        if dump is None:
            return False
        if line.has_head:
            self._end_dump(line.label, dump)
            return False
        dump.left -= 1
        if dump.left <= 0:
            self._end_dump(line.label, dump)
            return False
        body = line.body[:2000]
        if not body.strip():
            dump.is_current = False
            return True
        if _CURRENT_THREAD.match(body):
            dump.is_current = True
            return True
        if dump.is_current:
            frame = _FAULT_FRAME.match(body)
            if frame is not None and len(dump.frames) < 200:
                dump.frames.append(Frame(frame["file"], int(frame["line"]), frame["function"]))
                dump.candidate.frames = tuple(reversed(dump.frames))
        return _DUMP_LINE.match(body) is not None

    def _end_dump(self, label: str, dump: _Dump) -> None:
        del self._dumps[label]


_REAL = frozenset({Weight.EXCEPTION, Weight.REQUEST, Weight.WARMUP, Weight.PEER})
_DUMPING = frozenset({Weight.NATIVE, Weight.DUMP, Weight.ERROR})
_NEXT_LINE = {
    "cpp-terminate": regex.compile(r"^\s*what\(\): +(?P<message>.+)"),
    "rust-panic": regex.compile(r"^(?P<message>(?!note: |stack backtrace)\S.*)"),
}


def _without_rank_prefix(line: Line) -> Line:
    """``[rank1]: text``, as torch prefixes uncaught exceptions, as a line of a source of its own."""
    match = _RANK_PREFIX.match(line.body)
    if match is None:
        return line
    rank = match["rank"]
    label = f"{line.label}[{rank}]"
    return replace(line, label=label, rank=line.rank or rank, has_head=False, body=line.body[match.end() :])


_LEVELS = {
    "ERROR": Weight.LOGGED,
    "CRITICAL": Weight.LOGGED,
    "FATAL": Weight.LOGGED,
    "WARNING": Weight.WARNING,
    "WARN": Weight.WARNING,
}
_LEVEL_RULES = {
    Weight.LOGGED: MessageRule("level-word", Weight.LOGGED, (), regex.compile("")),
    Weight.WARNING: MessageRule("level-word-warning", Weight.WARNING, (), regex.compile("")),
}
_BARE_RULE = MessageRule("bare-exception", Weight.EXCEPTION, (), regex.compile(""))


def _understand(line: Line) -> Taken | None:
    """What one line says by itself, or None."""
    body = line.body
    weight = _LEVELS.get(line.level or "")
    if weight is None and not is_suspicious(body):
        return None
    if _DUMPED.match(body):
        return None
    taken = take(_SPECIFIC_RULES, body)
    if taken is not None:
        return taken
    bare = (
        read_exception(body[:2000].rstrip(), is_strict=True, is_bare=True)
        if not line.has_head or line.rank
        else None
    )
    if bare is not None and ":" in body:
        view = judge_exception(ExceptionView(bare[0], bare[1], (), ""))
        rule = (
            _BARE_RULE
            if view.weight is Weight.EXCEPTION
            else MessageRule(view.rule, view.weight, (), _BARE_RULE.pattern)
        )
        return Taken(rule, bare[0], bare[1])
    if weight is not None:
        return Taken(_LEVEL_RULES[weight], None, body.strip()[:2000])
    return take(WORDED_RULES, body)
