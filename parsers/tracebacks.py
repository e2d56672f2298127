"""Tracebacks put together from single lines: chained, grouped, remote, cut, interleaved, indentation lost.

Only the first line of a traceback carries a head; everything after it belongs to the traceback that
was opened last in the same source (`Line.label`). A traceback ends when a line comes that cannot be
part of it; what was read is then given out once, as a `Traceback`. Text in which a traceback is
quoted (a prompt, a dump of requests) opens none.
"""

from __future__ import annotations

from parsers.digits import AS_ZEROS
from parsers.exception_lines import read_exception
from parsers.inner_lines import CARETS, FRAME, InnerLines, frame_of
from parsers.lazy_dataclass import dataclass, field
from parsers.lazy_pattern import lazy_pattern
from parsers.records import Line, Stage
from parsers.traceback_block import MAX_TEXT_LINES, Link, State, Traceback, cut_link, ends_launcher, keep

MAX_MESSAGE_LINES = 80
MAX_FOREIGN_LINES = 400
"""Lines of other processes between two lines of a traceback before it counts as cut."""
MAX_OPEN = 32
MAX_BEFORE = 8
"""Lines between a sentence that introduces a traceback and the traceback."""
MAX_LINE = 4000

HEADER = "Traceback (most recent call last)"

_HEADER_END = lazy_pattern(
    r"^(?P<before>.*?)[|+* ]*(?:Exception Group )?Traceback \(most recent call last\):?[\s*|`]*$"
)
_MARGIN = lazy_pattern(r"^\s*\| ?")
_LOG_MARGIN = lazy_pattern(r"^.{0,40}?\d{4}-\d\d-\d\d[T ]\d\d:\d\d.{0,120}$")
_REPEATED = lazy_pattern(r"^\s*\[Previous line repeated \d+ more times?\]")
_GROUP_RULE = lazy_pattern(r"^[\s|]*\+-[-+ \d.]*$")
_CAUSE = "The above exception was the direct cause of the following exception"
_CONTEXT = "During handling of the above exception, another exception occurred"
_REMOTE = lazy_pattern(r"^=+ Remote Traceback|^-- Process \d+ terminated with the following error"
                        r"|^(?:The )?[Rr]emote traceback|^Original Traceback|"
                        r"^\"\"\"$|^The original traceback is")  # fmt: skip
_QUOTED_BEFORE = lazy_pattern(r"obj=|Req\(|['\"]\S|prompt|content")


@dataclass(slots=True)
class TracebackReader:
    """Puts tracebacks together; `done` holds the finished ones until they are fetched."""

    open: dict[str, list[Traceback]] = field(default_factory=dict)
    done: list[Traceback] = field(default_factory=list)
    before: dict[str, tuple[str, int]] = field(default_factory=dict)
    """The latest line of a source that could introduce a traceback, and its number."""
    has_launcher_end: bool = False
    """A finished traceback is of an exception that nothing in the launching process caught."""

    def is_open(self, label: str) -> bool:
        """True when a traceback of this source awaits lines."""
        return bool(self.open.get(label))

    def is_in_message(self, label: str) -> bool:
        """True when the latest traceback of this source has its exception and may go on with text."""
        stack = self.open.get(label)
        return stack is not None and bool(stack) and stack[-1].state is State.MESSAGE

    @property
    def ended_launcher(self) -> bool:
        """True once the launching process ended with an exception, its message being read or not."""
        return self.has_launcher_end or any(
            ends_launcher(block) for stack in self.open.values() for block in stack
        )

    def feed(self, line: Line, stage: Stage | None, *, is_after_gap: bool = False) -> bool:
        """Takes the line if it is part of a traceback. Gap: lines before it (empty ones) were not fed."""
        body = line.body.rstrip() if len(line.body) <= MAX_LINE else line.body[:MAX_LINE]
        if HEADER in body:
            head = _HEADER_END.match(body)
            if head is not None and (_introduces(head["before"]) or _LOG_MARGIN.match(head["before"])):
                self._begin(line, head["before"], stage)
                return True
        stack = self.open.get(line.label)
        if not stack:
            return False
        if is_after_gap and stack[-1].state is State.MESSAGE:
            stack[-1].is_blank = True
        return self._continue(stack, line, body)

    def feed_inner(self, number: int, text: str) -> bool:
        """Takes a frame or a source line of a plain traceback, as most lines of one are, without a record.

        False: not taken, and nothing changed; `feed` must judge the line.
        """
        stack = self.open.get("")
        if not stack or len(text) > MAX_LINE:
            return False
        block = stack[-1]
        if block.state is not State.FRAMES or block.is_group or block.margin:
            return False
        if "exception" in text or HEADER in text:
            return False
        frame = FRAME.match(text)
        if frame is not None:
            block.frames.append(frame_of(frame))
            block.has_indent = True
        elif not block.frames or CARETS.match(text) or text[4:].lstrip()[:2] == "**" or text[2:3] == "[":
            return False
        else:
            block.source = text.strip()
        block.last_line = number
        block.foreign = 0
        if len(block.text) < MAX_TEXT_LINES:
            block.text.append(text.rstrip()[:2000])
        return True

    def may_pass_over(self, label: str, is_headed: bool, is_after_gap: bool) -> bool:
        """True where lines that hold nothing can only be counted, or end the traceback that is open."""
        stack = self.open.get(label)
        if not stack:
            return True
        block = stack[-1]
        if len(stack) > 1 or block.state is not State.MESSAGE or block.is_group or block.margin:
            return False
        return is_headed or is_after_gap or block.is_blank

    def pass_over(self, label: str, before_head: int, has_head: bool) -> None:
        """Stands for feeding lines that hold nothing: some without a head, and maybe one with a head then."""
        stack = self.open.get(label)
        if not stack:
            return
        block = stack[-1]
        block.is_blank = block.is_blank or before_head > 0
        block.message_lines += before_head
        if has_head or block.message_lines > MAX_MESSAGE_LINES:
            self._give_out(stack.pop())

    def may_take_inner(self) -> bool:
        """True where `take_inner` may be asked."""
        stack = self.open.get("")
        if not stack:
            return False
        block = stack[-1]
        return block.state is State.FRAMES and not block.is_group and not block.margin

    def take_inner(self, number: int, inner: InnerLines) -> bool:
        """Takes lines of a plain traceback, numbered from `number` on; False: it has not begun yet."""
        block = self.open[""][-1]
        if not (block.frames or inner.begins_with_frame):
            return False
        block.frames += inner.frames
        block.has_indent = block.has_indent or bool(inner.frames)
        block.source = inner.source or block.source
        block.last_line = number + inner.count - 1
        block.foreign = 0
        block.text += inner.texts[: MAX_TEXT_LINES - len(block.text)]
        return True

    def take_whole(self, block: Traceback) -> bool:
        """Takes a traceback that was read up to its exception; False: it may belong to one that is open."""
        stack = self.open.setdefault(block.label, [])
        if stack:
            if len(stack) > 1 or stack[0].state is not State.MESSAGE or stack[0].is_group:
                return False
            self._give_out(stack.pop())
        if not block.context:
            block.context = self._said_before(block.label, block.first_line)
        stack.append(block)
        return True

    def _said_before(self, label: str, number: int) -> str:
        """The line above a traceback that introduces it."""
        said, at = self.before.get(label, ("", 0))
        return said if abs(number - at) <= MAX_BEFORE else ""

    def note(self, label: str, body: str, number: int) -> None:
        """Remembers a line that may introduce the next traceback (``Process Process-2:``)."""
        if len(self.before) > MAX_OPEN * 8:
            self.before.clear()
        self.before[label] = (body[:300], number)

    def finish(self, label: str | None = None) -> None:
        """Ends the open tracebacks of one source, or of all."""
        for name in list(self.open) if label is None else [label]:
            for block in self.open.pop(name, []):
                self._give_out(block)

    def take_done(self) -> list[Traceback]:
        """The finished tracebacks, once."""
        done, self.done = self.done, []
        return done

    def _begin(self, line: Line, before: str, stage: Stage | None) -> None:
        margin = line.body[: line.body.find(HEADER)] if _LOG_MARGIN.match(before) else ""
        context = "" if margin else before.strip(" :|+*")
        stack = self.open.setdefault(line.label, [])
        latest = stack[-1] if stack else None
        if latest is not None and (not line.has_head or latest.has_heads) and self._goes_on(latest, line):
            keep(latest, line)
            return
        if latest is not None and (latest.state is not State.FRAMES or not latest.frames):
            self._give_out(stack.pop())
        if len(stack) >= MAX_OPEN:
            self._give_out(stack.pop(0))
        context = context or self._said_before(line.label, line.number)
        block = Traceback(context, line.label, line.rank, line.number, line.number, line.at, stage)
        block.is_group = "Exception Group" in line.body
        block.margin = margin.translate(AS_ZEROS)
        block.has_heads = line.has_head and line.level is not None and not before.strip()
        keep(block, line)
        stack.append(block)

    def _goes_on(self, block: Traceback, line: Line) -> bool:
        """True when a header belongs to the chain or the group that is being read."""
        if block.state is not State.HEADER:
            if not (block.is_group and line.body.lstrip().startswith("|")):
                return False
            block.joint = "group"
        block.state, block.frames, block.source, block.is_blank = State.FRAMES, [], "", False
        return True

    def _continue(self, stack: list[Traceback], line: Line, body: str) -> bool:
        block = stack[-1]
        if block.is_group:
            margin = _MARGIN.match(body)
            body = body[margin.end() :] if margin is not None else body
        if block.margin and body[: len(block.margin)].translate(AS_ZEROS) == block.margin:
            body = body[len(block.margin) :]
        has_own_head = block.has_heads and line.level is not None and line.rank == block.rank
        if line.has_head and not has_own_head and not FRAME.match(body):
            if block.state is not State.FRAMES:
                self._give_out(stack.pop())
            else:
                self._count_foreign(stack)
            return False
        if not body.strip():
            block.is_blank = True
            return True
        if self._joins(block, body):
            keep(block, line)
            return True
        if block.state is not State.FRAMES:
            return self._continue_message(stack, line, body)
        taken = self._continue_frames(block, line, body)
        if taken:
            keep(block, line)
        else:
            self._count_foreign(stack)
        return taken

    def _joins(self, block: Traceback, body: str) -> bool:
        """The sentences between the exceptions of a chain."""
        if not block.links:
            return False
        joint = ""
        if _CAUSE in body:
            joint = "cause"
        elif _CONTEXT in body:
            joint = "context"
        elif block.state is State.MESSAGE and _REMOTE.match(body):
            joint = "remote"
        elif block.is_group and _GROUP_RULE.match(body):
            return True
        if joint:
            block.joint, block.state, block.is_blank = joint, State.HEADER, False
        return bool(joint)

    def _continue_message(self, stack: list[Traceback], line: Line, body: str) -> bool:
        block = stack[-1]
        frame = FRAME.match(body)
        if frame is not None:
            block.joint = block.joint or "remote"
            block.state = State.FRAMES
            block.frames.append(frame_of(frame))
            block.has_indent |= body[:1] == " "
            keep(block, line)
            return True
        block.message_lines += 1
        if body.startswith("Call stack:") or block.message_lines > MAX_MESSAGE_LINES:
            self._give_out(stack.pop())
            return False
        if block.is_blank:
            return False
        last = block.links[-1]
        if not last.message:
            last.message, last.line, last.excerpt = body.strip(), line.number, line.text.strip()
        keep(block, line)
        return True

    def _continue_frames(self, block: Traceback, line: Line, body: str) -> bool:
        frame = FRAME.match(body)
        if frame is not None:
            block.frames.append(frame_of(frame))
            block.has_indent |= body[:1] in (" ", "\t")
            return True
        if CARETS.match(body) or _REPEATED.match(body):
            return True
        if body[:1] in (" ", "\t") and body.lstrip()[:2] != "**":
            block.source = body.strip()
            return bool(block.frames)
        exception = read_exception(body, is_strict=not block.has_indent)
        if exception is not None and (block.frames or block.joint):
            self._add_link(block, exception, line)
            return True
        if not block.has_indent and block.frames:
            block.source = body.strip()
            return True
        return False

    def _add_link(self, block: Traceback, exception: tuple[str, str], line: Line) -> None:
        name, message = exception
        block.links.append(
            Link(name, message, line.number, line.text.strip(), tuple(block.frames), block.joint)
        )
        block.frames, block.joint, block.source = [], "", ""
        block.state, block.is_blank, block.message_lines = State.MESSAGE, False, 0

    def _count_foreign(self, stack: list[Traceback]) -> None:
        stack[-1].foreign += 1
        if stack[-1].foreign > MAX_FOREIGN_LINES:
            self._give_out(stack.pop())

    def _give_out(self, block: Traceback) -> None:
        if block.frames and block.state is State.FRAMES:
            cut = cut_link(block)
            if cut is not None:
                block.links.append(cut)
        self.has_launcher_end = self.has_launcher_end or ends_launcher(block)
        self.done.append(block)


def context_of(body: str) -> str | None:
    """What a plain header says before its ``Traceback``; None where it is no such header."""
    head = _HEADER_END.match(body.rstrip())
    if head is None or "Exception Group" in body or not _introduces(head["before"]):
        return None
    return None if _LOG_MARGIN.match(head["before"]) else head["before"].strip(" :|+*")


def _introduces(before: str) -> bool:
    """True when the text before a header can introduce a traceback, False when it quotes one."""
    stripped = before.strip()
    if not stripped or stripped.strip("|+-* ") == "":
        return True
    return stripped[-1] in ":|>" and len(stripped) <= 300 and _QUOTED_BEFORE.search(stripped) is None
