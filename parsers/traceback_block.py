"""One traceback as far as it was read: its exceptions in the order printed, and what the text of it says."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from parsers.exception_lines import looks_like_class
from parsers.lazy_dataclass import dataclass, field
from parsers.lazy_pattern import lazy_pattern
from parsers.records import Frame, Line, Stage

MAX_TEXT_LINES = 200
_OUTERMOST = frozenset({"<module>", "_run_module_as_main", "_run_module_code"})
_LAUNCHER = lazy_pattern(
    r"sglang[/\\](?:launch_server|__main__|cli[/\\]|srt[/\\]entrypoints[/\\]|multimodal_gen[/\\])|bin[/\\]sglang$"
)
_RAISE = lazy_pattern(r"^\s*raise (?P<type>[A-Za-z_][\w.]*)\b")
_ASSERT = lazy_pattern(r"^\s*assert\b")


class State(StrEnum):
    """Which line a traceback expects."""

    FRAMES = "frames"
    """A frame, a source line or the exception."""
    MESSAGE = "message"
    """The exception has come; its message may go on."""
    HEADER = "header"
    """A chain goes on: the next header follows."""


class Whereabouts(NamedTuple):
    """What the frames of a traceback tell of the program that raised it."""

    is_server: bool
    """SGLang's server code is among them."""
    is_outside: bool
    """They are of a test, a benchmark or a client, and no server code is among them."""
    is_warmup: bool
    """The server was asking itself."""


@dataclass(slots=True)
class Link:
    """One exception of a traceback, in the order printed."""

    type: str
    message: str
    line: int
    """Where the exception's own message begins."""
    excerpt: str
    frames: tuple[Frame, ...]
    joined: str
    """How it hangs on the one before: '' (first), ``cause``, ``context``, ``remote`` or ``group``."""
    is_certain: bool = True
    """False when the exception line was cut off and the class is read from the source line."""
    where: Whereabouts | None = None
    """What its frames tell; None where they were not asked yet."""


@dataclass(slots=True)
class Traceback:
    """A whole traceback block."""

    context: str
    """The text before the header, or the line above it: says which part of the server it ended."""
    label: str
    rank: str
    first_line: int
    last_line: int
    at: datetime | None
    stage: Stage | None
    links: list[Link] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    """Frames of the exception that is being read."""
    text: list[str] = field(default_factory=list)
    source: str = ""
    """The latest source line, from which a cut exception can be told."""
    has_indent: bool = False
    joint: str = ""
    state: State = State.FRAMES
    is_blank: bool = False
    message_lines: int = 0
    foreign: int = 0
    is_group: bool = False
    margin: str = ""
    """Head of a foreign logger that stands before every line of it, digits as zeros."""
    has_heads: bool = False
    """True when every line of it has a head with a level."""


def ends_launcher(block: Traceback) -> bool:
    """True for an uncaught exception of the launching process: its frames begin in no function."""
    if block.state is not State.MESSAGE or block.context or not block.links:
        return False
    frames = block.links[-1].frames
    if (
        not frames
        or frames[0].function not in _OUTERMOST
        or frames[0].file.startswith(("<string>", "<stdin>"))
    ):
        return False
    return any(_LAUNCHER.search(frame.file) for frame in frames) and not any(
        frame.function == "spawn_main" for frame in frames
    )


def keep(block: Traceback, line: Line) -> None:
    block.last_line = line.number
    block.foreign = 0
    if len(block.text) < MAX_TEXT_LINES:
        block.text.append(line.text.rstrip()[:2000])


def cut_link(block: Traceback) -> Link | None:
    """What a traceback without its exception line still says: the class named by its last source line."""
    raised, asserted = _RAISE.match(block.source), _ASSERT.match(block.source)
    if raised is None and asserted is None:
        return None
    name = raised["type"] if raised is not None else "AssertionError"
    if not looks_like_class(name):
        return None
    return Link(name, block.source, block.last_line, block.source, tuple(block.frames), block.joint, False)
