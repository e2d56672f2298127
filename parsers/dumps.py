"""Dumps that follow a line: stacks after a native error, requests and arguments printed in full.

What stands in them is no message of its own. Stacks are understood, and those of the thread that
crashed become the frames of its error; printed requests are quoted text and are left alone.
"""

from __future__ import annotations

from parsers.candidates import Candidate
from parsers.lazy_dataclass import dataclass, field
from parsers.lazy_pattern import lazy_pattern
from parsers.records import Frame, Line

MAX_STACK_LINES = 600
MAX_STACK_FRAMES = 200
MAX_QUOTED_LINES = 500
MAX_BODY = 2000

_STACK_LINE = lazy_pattern(
    r"^(?:(?:Current )?[Tt]hread 0x|Current thread|\s*File \"|Extension modules:|frame #\d+:"
    r"|Exception raised from|\s+<no Python frame>|Process \d+: |Python v\d"
    r"|Thread \d+ \(|Thread \d+$|\s{4}\S.* \([^()]*:\d+\)|\s*\d+ +(?:0x|/)|={4,}|CUDA kernel errors"
    r"|For debugging consider|Compile with `TORCH|\s*\.\.\.)"
)
_CURRENT_THREAD = lazy_pattern(r"^Current thread 0x")
_FAULT_FRAME = lazy_pattern(r'^\s*File "(?P<file>[^"]{1,1000})", line (?P<line>\d+) in (?P<function>\S+)')

PRINTED_STARTS = frozenset({"Rece", "Fini", "self", "obj=", "Dump", "serv"})
"""First letters of such lines, for a look before anything else."""
_PRINTED = lazy_pattern(
    r"^(?:self\.cur_batch|Receive: obj=|Finish: obj=|Receive OpenAI|obj=GenerateReq|Dumping \d+ requests"
    r"|server_args=)"
)


_ARGUMENTS = "server_args="
"""Arguments are joined over their lines by whoever reads them; no line after theirs is quoted text."""


def prints_requests(body: str) -> bool:
    """True for a line that prints requests or arguments: what stands in it is quoted."""
    return body[:4] in PRINTED_STARTS and _PRINTED.match(body) is not None


@dataclass(slots=True)
class _Stack:
    candidate: Candidate
    left: int = MAX_STACK_LINES
    is_current: bool = False
    frames: list[Frame] = field(default_factory=list)


@dataclass(slots=True)
class StackDumps:
    """Reads the stacks that faulthandler, C++, UCX and py-spy print below an error, by source."""

    open: dict[str, _Stack] = field(default_factory=dict)

    def begin(self, label: str, candidate: Candidate) -> None:
        """A stack may follow the error that was just read."""
        self.open[label] = _Stack(candidate)

    def take(self, line: Line) -> bool:
        """True for a line of a stack."""
        stack = self.open.get(line.label)
        if stack is None:
            return False
        stack.left -= 1
        if line.has_head or stack.left <= 0:
            del self.open[line.label]
            return False
        body = line.body[:MAX_BODY]
        if _CURRENT_THREAD.match(body):
            stack.is_current = True
        elif stack.is_current:
            self._take_frame(stack, body)
        return not body.strip() or _STACK_LINE.match(body) is not None

    def _take_frame(self, stack: _Stack, body: str) -> None:
        """Stacks are printed innermost first and end with a line that is no frame."""
        frame = _FAULT_FRAME.match(body)
        if frame is None:
            stack.is_current = False
        elif len(stack.frames) < MAX_STACK_FRAMES:
            stack.frames.append(Frame(frame["file"], int(frame["line"]), frame["function"]))
            stack.candidate.frames = tuple(reversed(stack.frames))


@dataclass(slots=True)
class PrintedRequests:
    """Follows a printed request over its lines, until its brackets close or a record begins."""

    open: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Lines that may still come and open brackets, by source."""

    def take(self, line: Line) -> bool:
        """True for a line that continues a printed request."""
        body = line.body
        left, depth = self.open.pop(line.label, (0, 0)) if self.open else (0, 0)
        goes_on = left > 0 and not line.has_head
        if not goes_on:
            if not prints_requests(body) or body.startswith(_ARGUMENTS):
                return False
            left, depth = MAX_QUOTED_LINES, 0
        depth += sum(body.count(one) for one in "([{") - sum(body.count(one) for one in ")]}")
        if left > 1 and depth > 0:
            self.open[line.label] = (left - 1, depth)
        return goes_on
