"""The inner lines of tracebacks, frames and source lines, many at once.

Nine of ten lines of a failing log are of this kind, and the same tracebacks come again and again: from each
rank, for each request. What a piece of text holds is found once and remembered.
"""

from __future__ import annotations

import regex

from parsers.lazy_dataclass import dataclass
from parsers.lazy_pattern import lazy_pattern
from parsers.lookahead import HeldLines
from parsers.records import Frame
from parsers.rules.chains import whereabouts
from parsers.secrets import may_hold_secret
from parsers.traceback_block import Whereabouts

MOST_LINES = 64
"""Lines of one piece of text."""
MAX_KEPT_LINES = 30_000
"""Lines that are remembered; each costs some 300 bytes."""
LONGEST = 2000

FRAME = lazy_pattern(
    r'^\s*File "(?P<file>[^"]{1,1000})", line (?P<line>\d+)(?:, in (?P<function>.{1,300}))?\s*$'
)
CARETS = lazy_pattern(r"^[\s~^*|]+$")
_TOLD = (
    b"\0", b"\r", b"\x1b", b"[0m", b"[20", b"[gpu", b"it/s", b"s/it", b"%|", b"B/s]", b"launch_server",
    b"<IPython", b"NOTE: Typ", b"&lt;", b"&gt;", b"&quot;", b"&apos;", b"&#", b"\xc2\xa0",
)  # fmt: skip
"""What the reader looks for in lines that begin with blanks, version numbers and secrets apart; with the
marks of text copied out of a web page."""
_VERSION = regex.compile(rb"sglang(?:[-: v]|_v)")


@dataclass(frozen=True, slots=True)
class InnerLines:
    """Consecutive lines inside one traceback."""

    count: int
    texts: tuple[str, ...]
    frames: tuple[Frame, ...]
    source: str
    """The last source line; '' where there is none."""
    begins_with_frame: bool
    is_whole: bool
    """True where these are all lines of the text, from a frame on."""
    may_begin_launch: bool
    """The traceback can be of a launch that has only begun, see `parsers.lookahead`."""
    where: Whereabouts


class InnerReader:
    """Reads pieces of text that hold inner lines; remembers those that came before."""

    def __init__(self) -> None:
        self._known: dict[bytes, InnerLines] = {}
        self._kept = 0

    def __reduce__(self) -> tuple[type[InnerReader], tuple[()]]:
        return InnerReader, ()  # what is remembered only saves time

    def read(self, text: bytes) -> InnerLines:
        """The inner lines that the text begins with; each of its lines begins with two blanks."""
        known = self._known.get(text)
        if known is None:
            known = _read(text)
            if self._kept > MAX_KEPT_LINES:
                self._known.clear()
                self._kept = 0
            self._known[text] = known
            self._kept += known.count + 1
        return known


def _read(text: bytes) -> InnerLines:
    texts: list[str] = []
    frames: list[Frame] = []
    source = ""
    begins_with_frame = False
    may_tell = may_tell_more(text)
    lines = text.split(b"\n")
    for whole in lines:
        raw = whole.rstrip(b"\r")
        begin = raw.lstrip()[:1]
        if not begin or begin.isdigit() or len(raw) > LONGEST or b":" in raw[:4]:
            break
        if may_tell and may_tell_more(raw):
            break
        line = raw.decode("utf-8", "replace")
        match = FRAME.match(line)
        if match is not None:
            begins_with_frame = begins_with_frame or not texts
            frames.append(frame_of(match))
        elif not CARETS.match(line):
            if "exception" in line or "Traceback" in line or line[4:].lstrip()[:2] == "**" or line[2] == "[":
                break
            source = line.strip()
        texts.append(line.rstrip())
    count = len(texts)
    is_whole = begins_with_frame and count == len(lines)
    may_begin = is_whole and _may_begin_launch(lines)
    return InnerLines(
        count,
        tuple(texts),
        tuple(frames),
        source,
        begins_with_frame,
        is_whole,
        may_begin,
        whereabouts(frames),
    )


def _may_begin_launch(lines: list[bytes]) -> bool:
    held = HeldLines()
    verdict = held.add(0, b"", False)
    for raw in lines:
        verdict = held.add(0, raw, False)
        if verdict is not None:
            break
    return verdict is not False


def may_tell_more(raw: bytes) -> bool:
    """False for text in which nothing stands that is looked for outside of tracebacks too."""
    if may_hold_secret(raw):
        return True
    for word in _TOLD:
        if word in raw:
            return True
    return b"sglang" in raw and _VERSION.search(raw) is not None


def frame_of(match: regex.Match[str]) -> Frame:
    """The frame that `FRAME` found."""
    return Frame(match["file"], int(match["line"]), (match["function"] or "").strip())
