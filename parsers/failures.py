"""Reads the errors, warnings and tracebacks out of the lines of one run, and concludes how it ended.

`FailureReader` takes lines in order and understands those that belong to an error; ordinary lines
cost a few look-ups. It decides nothing while reading: what was the root error and how the launch
ended is judged in `conclude` from everything that was seen (`parsers.root`, `parsers.outcome`).
"""

from __future__ import annotations

import copy
from datetime import datetime

from parsers.candidates import MAX_MESSAGE, Candidate, CandidateTable, Occurrence
from parsers.dumps import PRINTED_STARTS, PrintedRequests, StackDumps
from parsers.fingerprint import message_fingerprint
from parsers.inner_lines import InnerLines
from parsers.lazy_dataclass import dataclass, replace
from parsers.lazy_pattern import lazy_pattern
from parsers.outcome import conclude, in_time_order
from parsers.plain import Header
from parsers.records import Conclusion, Frame, Line, Progress, Stage
from parsers.rules.chains import (
    CUT_TRACEBACK,
    ends_process,
    judge_exception,
    pick_link,
    whereabouts,
)
from parsers.rules.classify import STRONG_RULE_IDS, LineClassifier
from parsers.rules.message_rule import Taken, Weight
from parsers.rules.native import signal_name
from parsers.traceback_block import MAX_TEXT_LINES, Link, State, Traceback
from parsers.tracebacks import HEADER, TracebackReader
from parsers.whole_tracebacks import WholeTraceback, exception_of

_CLASSIFIER = LineClassifier()
"""Shared by all runs: it holds no state of a run."""

_INTRODUCTION = lazy_pattern(
    r"^(?:Process \S+:|Exception (?:in|ignored|on|while)|Error in |Original exception was:|Error processing"
    r"|Task exception|--- Logging error)|ASGI application"
    r"|[Ww]arm-?up|hit an exception|^(?:ERROR|FAIL): "
)
"""Sentences that stand above a traceback and say which part of a server, or what else, it belongs to."""
_RANK_PREFIX = lazy_pattern(r"\[(?P<rank>rank\d{1,6})\]:(?: |$)")

_CHAINED = frozenset({Weight.EXCEPTION, Weight.REQUEST, Weight.WARMUP, Weight.PEER})
"""What counts as a wrapper where another exception of the chain tells the cause."""
_BEFORE_STACKS = frozenset({Weight.NATIVE, Weight.DUMP, Weight.ERROR})
_NEXT_LINE = {
    "cpp-terminate": lazy_pattern(r"^\s*what\(\): +(?P<message>.+)"),
    "rust-panic": lazy_pattern(r"^(?P<message>(?!note: |stack backtrace)\S.*)"),
}
"""Rules whose message stands on the line below."""
_WITH_SOURCE_LINE = frozenset({"python-warning", "leaked-resources"})


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
        self._stacks = StackDumps()
        self._printed = PrintedRequests()
        self._warned: dict[str, int] = {}
        """Line of the latest Python warning of a source: its source line follows."""
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
        if (self._printed.open or body[:4] in PRINTED_STARTS) and self._printed.take(line):
            return True
        if tracebacks.open.get(line.label) or HEADER in body:
            taken = self._feed_traceback(line, stage, is_after_gap)
            if tracebacks.done:
                self._fetch_tracebacks()
            if taken:
                return True
        if self._warned and self._is_warning_source(line):
            return True
        understood = self._take_line(line, stage)
        may_introduce = understood or body[-1:] == ":" or body[:3] == "---" or body[:12] == "Exception ig"
        if may_introduce and _INTRODUCTION.search(body, 0, 300) is not None:
            tracebacks.note(line.label, body, line.number)
        return understood

    def feed_inner(self, number: int, text: str) -> bool:
        """The quick way for a line without a head or label that begins with spaces, inside a traceback.

        False: not taken, and nothing changed; `feed` must see the line."""
        if self._pending or self._printed.open or not self._tracebacks.feed_inner(number, text):
            return False
        if number != self._last_line:
            if self._last_line:
                self._rises += 1 if number > self._last_line else -1
            self._last_line = number
        return True

    def may_take_inner(self) -> bool:
        """True inside a traceback without a label, so that `take_inner` may be asked."""
        return not self._pending and not self._printed.open and self._tracebacks.may_take_inner()

    def take_inner(self, number: int, inner: InnerLines) -> bool:
        """Stands for feeding inner lines of a traceback, numbered from `number` on."""
        if not self._tracebacks.take_inner(number, inner):
            return False
        self._rises += inner.count if self._last_line else inner.count - 1
        self._last_line = number + inner.count - 1
        return True

    def take_whole(
        self, number: int, whole: WholeTraceback, header: Header, inner: InnerLines, stage: Stage | None
    ) -> bool:
        """Stands for feeding all lines of a traceback, its header being line `number`; False: not taken."""
        if self._pending or self._printed.open or self._warned:
            return False
        text = whole.exception.decode("utf-8", "replace").rstrip("\r")
        exception = exception_of(text)
        if exception is None:
            return False
        last = number + inner.count + 1
        begin = whole.front.decode("utf-8", "replace") + header.body.rstrip()
        block = Traceback(header.context, "", whole.rank, number, last, whole.at, stage)
        block.text = [begin[:2000], *inner.texts, text.rstrip()][:MAX_TEXT_LINES]
        block.links = [Link(*exception, last, text.strip(), inner.frames, "", where=inner.where)]
        block.has_indent, block.state = True, State.MESSAGE
        if not self._tracebacks.take_whole(block):
            return False
        if self._tracebacks.done:
            self._fetch_tracebacks()
        self._rises += inner.count + 2 if self._last_line else inner.count + 1
        self._last_line = last
        self._last_at = whole.at or self._last_at
        return True

    def may_pass_over(self, label: str, number: int, is_headed: bool) -> bool:
        """True where lines that hold nothing, from this one on, need not be fed one by one."""
        waiting = (self._pending, self._printed.open, self._warned, self._stacks.open)
        if any(label in labels for labels in waiting):
            return False
        return self._tracebacks.may_pass_over(label, is_headed, number - self._last_line > 1)

    def pass_over(self, label: str, count: int, before_head: int, number: int, at: datetime | None) -> None:
        """Stands for `count` fed lines that hold nothing.

        `before_head` of them come before the first one with a head, `number` is the last one's, and `at` the
        last time of their heads.
        """
        self._tracebacks.pass_over(label, before_head, before_head < count)
        if self._tracebacks.done:
            self._fetch_tracebacks()
        self._rises += count if self._last_line else count - 1
        self._last_line = number
        self._last_at = at or self._last_at

    @property
    def launcher_ended(self) -> bool:
        """True once the launching process itself ended with an exception."""
        return self._tracebacks.ended_launcher

    def conclude(self, progress: Progress) -> Conclusion:
        """How the launch ended, as far as the lines so far tell; more lines may be fed afterwards."""
        ended = copy.copy(self)
        ended._table = self._table.copy()
        ended._tracebacks = copy.deepcopy(self._tracebacks)
        ended._stacks = StackDumps()
        for pending in self._pending.values():
            ended._record_taken(pending.taken, pending.line, pending.stage)
        ended._tracebacks.finish()
        ended._fetch_tracebacks()
        sign = -1 if self._rises < 0 else 1
        return conclude(ended._table.in_order(sign), in_time_order(progress, sign), ended._last_at)

    def _feed_traceback(self, line: Line, stage: Stage | None, is_after_gap: bool) -> bool:
        label = line.label
        if not line.has_head and self._tracebacks.is_in_message(label) and HEADER not in line.body:
            taken = _CLASSIFIER.say(line)
            if taken is not None and taken.rule.id in STRONG_RULE_IDS:
                self._tracebacks.finish(label)
                return False
        return self._tracebacks.feed(line, stage, is_after_gap=is_after_gap)

    def _take_line(self, line: Line, stage: Stage | None) -> bool:
        taken = _CLASSIFIER.say(line)
        if taken is None:
            return bool(self._stacks.open) and self._stacks.take(line)
        if taken.rule.id in _NEXT_LINE:
            self._pending[line.label] = _Pending(line, taken, stage)
            return True
        self._record_taken(taken, line, stage)
        if taken.rule.id in _WITH_SOURCE_LINE:
            self._warned[line.label] = line.number
        return True

    def _is_warning_source(self, line: Line) -> bool:
        """True for the source line that Python prints below a warning."""
        warned = self._warned.pop(line.label, None)
        return (
            warned is not None
            and not line.has_head
            and line.body[:2] == "  "
            and abs(line.number - warned) <= 3
        )

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
        rule = taken.rule
        type_name = signal_name(taken.message) if rule.id == "caught-signal" else taken.type
        occurrence = Occurrence(line.number, line.rank, line.at, stage)
        candidate = self._count_again(type_name, taken.message, rule.weight, (), occurrence) or self._record(
            Candidate(
                "", rule.weight, rule.id, type_name, taken.message, line.text.strip(), rule.level,
                is_headed=line.has_head,
            ),
            occurrence,
        )  # fmt: skip
        if rule.weight in _BEFORE_STACKS or rule.id == "crash-diagnostics":
            self._stacks.begin(line.label, candidate)

    def _count_again(
        self,
        type_name: str | None,
        message: str,
        weight: Weight,
        frames: tuple[Frame, ...],
        occurrence: Occurrence,
    ) -> Candidate | None:
        """The candidate of a message that came before, if this occurrence tells no more of it."""
        candidate = self._table.get(message_fingerprint(type_name, message), weight)
        if candidate is None or (frames and not candidate.frames):
            return None
        candidate.add(occurrence)
        return candidate

    def _record(self, new: Candidate, occurrence: Occurrence) -> Candidate:
        """Counts an occurrence; a traceback tells more than a line with the same message before it."""
        new.message, new.excerpt = new.message[:MAX_MESSAGE], new.excerpt[:2000]
        new.fingerprint = message_fingerprint(new.type, new.message)
        candidate = self._table.get(new.fingerprint, new.weight)
        if candidate is None:
            candidate = new
            self._table.put(candidate)
        elif new.frames and not candidate.frames:
            candidate.learn(new)
        candidate.add(occurrence)
        return candidate

    def _fetch_tracebacks(self) -> None:
        for block in self._tracebacks.take_done():
            if block.links:
                self._record_traceback(block)
            elif block.frames and ends_process(block.context):
                self._record_cut(block)

    def _record_traceback(self, block: Traceback) -> None:
        chosen, note = pick_link(block.links)
        places = [link.where or whereabouts(link.frames) for link in block.links]
        is_server = any(where.is_server for where in places)
        for index, (link, where) in enumerate(zip(block.links, places, strict=True)):
            view = judge_exception(link.type, link.message, block.context, where, is_server)
            is_wrapper = index != chosen and view.weight in _CHAINED
            weight = Weight.WRAPPER if is_wrapper else view.weight
            occurrence = Occurrence(link.line, block.rank, block.at, block.stage, view.is_fatal)
            if self._count_again(link.type, link.message, weight, link.frames, occurrence):
                continue
            candidate = Candidate("", weight, view.rule, link.type, link.message, link.excerpt, "error")
            candidate.context, candidate.frames = block.context, link.frames
            candidate.is_server, candidate.is_certain = is_server, link.is_certain
            if index == chosen:
                candidate.note, candidate.text = note, "\n".join(block.text)
            self._record(candidate, occurrence)

    def _record_cut(self, block: Traceback) -> None:
        """A traceback that ended a process and whose exception is not in the text."""
        message = f"{block.context}: the text is cut before the error"
        excerpt = block.text[0].strip() if block.text else ""
        candidate = Candidate("", Weight.CHILD_DEATH, CUT_TRACEBACK, None, message, excerpt, "error")
        candidate.frames, candidate.text = tuple(block.frames), "\n".join(block.text)
        self._record(candidate, Occurrence(block.first_line, block.rank, block.at, block.stage, True))


def _without_rank_prefix(line: Line) -> Line:
    """``[rank1]: text``, as torch prefixes uncaught exceptions, as a line of a source of its own."""
    match = _RANK_PREFIX.match(line.body)
    if match is None:
        return line
    rank = match["rank"]
    label = f"{line.label}[{rank}]"
    return replace(line, label=label, rank=line.rank or rank, has_head=False, body=line.body[match.end() :])
