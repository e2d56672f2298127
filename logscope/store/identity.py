"""Which log is this: the same text, a grown log, the beginning of a known one, or another log.

A log is named by its head: everything up to the end of the args line (it holds a random seed, times
and ports, so two launches never share it), else the first 64 KiB, else the whole of a shorter log. Two
different logs with an equal head (a copy that somebody edited) are told apart by CRC-32 of all their
text, which costs 0.3 s a GB. Identity is that of the text: a packed copy, one in UTF-16 and one with
other line ends are the same log.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from pathlib import Path

from logscope.store.records import RunId
from parsers.lazy_dataclass import dataclass
from parsers.reader import ByteDecoder

HEAD = 1 << 16
"""Bytes of the beginning that name a log at most."""
TAIL = 1 << 16
"""Bytes before the end of what was read, by which a grown file is recognised."""
FULL_CHECK = 1 << 26
"""Up to this size (64 MiB, 0.02 s) all old bytes of a grown file are checked, above it head and tail."""
SUMMED_LINES = 500
"""Lines after which the CRC is kept, so that a copy of a log's beginning is known by it (a launch has some
hundred lines until it serves)."""
TELLING = 1 << 10
"""Bytes from which on a common beginning without an args line makes two files one log: a few warnings of
libraries stand before many launches."""

_ARGS = (b"server_args=", b"server_args: ")


@dataclass(frozen=True, slots=True)
class Content:
    """Identity of the first `size` bytes of a log (decompressed)."""

    key: str
    """Hex sha256 of the head of the text."""
    size: int
    crc32: int
    tail_sha256: str
    text_size: int
    """Of the text in UTF-8 with plain line ends."""
    text_crc32: int
    line_sums: tuple[tuple[int, int], ...] = ()
    """(bytes of text, its CRC) after each of the first lines that were read now."""
    summed_all: bool = True
    """False when the log has more lines than are summed."""


class ContentMeter:
    """Takes a log's bytes as they are read and names what it has seen."""

    def __init__(self, watch: Sequence[int] = ()) -> None:
        """`watch`: sizes of text after which the CRC is to be kept, in `crc_at`."""
        self.head = b""
        self.crc_at: dict[int, int] = {}
        self._watch = sorted(set(watch))
        self._tail = b""
        self._crc = 0
        self._size = 0
        self._text = _PlainText()
        self._text_crc = 0
        self._text_size = 0
        self._line_sums: list[tuple[int, int]] = []
        self._sums_lines = True

    @property
    def size(self) -> int:
        """Bytes taken so far."""
        return self._size

    def feed(self, block: bytes) -> None:
        """Takes the next bytes."""
        self._tail = block[-TAIL:] if len(block) >= TAIL else (self._tail + block)[-TAIL:]
        text = self._text.feed(block)
        is_same = text is block and self._crc == self._text_crc and self._size == self._text_size
        self._size += len(block)
        self._take_text(text)
        self._crc = self._text_crc if is_same else zlib.crc32(block, self._crc)

    def content(self) -> Content:
        """What was taken; more cannot be taken afterwards."""
        self._take_text(self._text.finish())
        tail = hashlib.sha256(self._tail).hexdigest()
        return Content(
            content_key(self.head), self._size, self._crc, tail, self._text_size, self._text_crc,
            tuple(self._line_sums), self._sums_lines,
        )  # fmt: skip

    def continue_from(self, head: bytes, tail: bytes, old: Content) -> None:
        """Stands where it stood after the bytes that `old` names, of which head and tail are given.

        Only for a log in UTF-8: the state of another decoder is not kept.
        """
        self.head, self._tail = text_of(head)[:HEAD], tail[-TAIL:]
        self._crc, self._size = old.crc32, old.size
        self._text_crc, self._text_size = old.text_crc32, old.text_size
        self._text = _PlainText(is_begun=True, held=tail.endswith(b"\r"))
        self._sums_lines = self.head.count(b"\n") < SUMMED_LINES and old.text_size < HEAD
        self._watch = []

    def _take_text(self, text: bytes) -> None:
        if len(self.head) < HEAD:
            self.head += text[: HEAD - len(self.head)]
        rest = memoryview(text)
        for stop, is_line in self._stops(text):
            self._text_crc = zlib.crc32(rest[: stop - self._text_size], self._text_crc)
            rest = rest[stop - self._text_size :]
            self._text_size = stop
            if is_line:
                self._line_sums.append((stop, self._text_crc))
            else:
                self.crc_at[stop] = self._text_crc
        self._text_crc = zlib.crc32(rest, self._text_crc)
        self._text_size += len(rest)

    def _stops(self, text: bytes) -> list[tuple[int, bool]]:
        """(size, whether it is a line's end) of the places in the new text after which the CRC is kept."""
        end = self._text_size + len(text)
        watched = [size for size in self._watch if size <= end]
        self._watch = self._watch[len(watched) :]
        lines: list[int] = []
        at = 0
        while self._sums_lines and (at := text.find(b"\n", at) + 1):
            lines.append(self._text_size + at)
            self._sums_lines = len(self._line_sums) + len(lines) < SUMMED_LINES
        return sorted([*((size, False) for size in watched), *((size, True) for size in lines)])


class _PlainText:
    """Turns a log's bytes into UTF-8 without a byte order mark and with ``\\n`` at the ends of lines."""

    def __init__(self, is_begun: bool = False, held: bool = False) -> None:
        """`is_begun`: stands in the middle of a log in UTF-8; `held`: right after a ``\\r``."""
        self._decoder = None if is_begun else ByteDecoder()
        self._held = b"\r" if held else b""

    def feed(self, block: bytes) -> bytes:
        """The text of the next bytes; the very same object where nothing is to be changed."""
        return self._ends(block if self._decoder is None else self._decoder.feed(block))

    def finish(self) -> bytes:
        """What is left. A ``\\r`` at the very end is no text yet: a line's end may follow."""
        return b"" if self._decoder is None else self._ends(self._decoder.finish())

    def _ends(self, text: bytes) -> bytes:
        if self._held:
            text = self._held + text
        self._held = b"\r" if text.endswith(b"\r") else b""
        if self._held:
            text = text[:-1]
        return text.replace(b"\r\n", b"\n") if _has_long_end(text) else text


def _has_long_end(text: bytes) -> bool:
    """``b"\\r\\n" in text``, which is four times as slow where the few ``\\r`` are of progress bars."""
    at = text.find(b"\r")
    while at >= 0 and text[at + 1 : at + 2] != b"\n":
        at = text.find(b"\r", at + 1)
    return at >= 0


def text_of(block: bytes) -> bytes:
    """The text of a log's first bytes."""
    plain = _PlainText()
    return plain.feed(block) + plain.finish()


def head_of(stream_start: bytes) -> bytes:
    """The head of the text, from twice as many bytes as it has at most (so that UTF-16 fills it, too)."""
    return text_of(stream_start)[:HEAD]


def content_key(head: bytes) -> str:
    """Hex sha256 of the part of `head` (the first 64 KiB, or all of a shorter log) that names the log."""
    return hashlib.sha256(head[: _end_of_launch_head(head)]).hexdigest()


def is_telling(head: bytes) -> bool:
    """True when no other launch begins with this text."""
    return len(head) >= TELLING or has_args(head)


def has_args(head: bytes) -> bool:
    """True when the head holds a whole args line: the log keeps its key from then on."""
    return _end_of_args(head) is not None


def _end_of_launch_head(head: bytes) -> int:
    return _end_of_args(head) or min(len(head), HEAD)


def _end_of_args(head: bytes) -> int | None:
    places = [at for at in (head.find(word, 0, HEAD) for word in _ARGS) if at >= 0]
    end = head.find(b"\n", min(places), HEAD) if places else -1
    return end + 1 if end >= 0 else None


def log_id(content: Content, taken: int = 0) -> str:
    """The id of a new log; `taken`: how many of the ids that it would have, other logs have already.

    One with the same head has the first; the next one is that of a log that had these very bytes, and grew.
    """
    if not taken:
        return content.key[:24]
    text = f"{content.key} {content.text_size} {content.text_crc32}" + (f" {taken}" if taken > 1 else "")
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def run_id(log: str, ordinal: int) -> RunId:
    """The id of the launch `ordinal` of a log."""
    return RunId(hashlib.sha256(f"{log}#{ordinal}".encode()).hexdigest()[:16])


def begins_with(path: Path, old: Content) -> bool:
    """True when the plain file at `path` begins with the bytes that `old` names. Reads no more than it
    must."""
    with path.open("rb") as file:
        if old.size <= FULL_CHECK:
            return _crc_of(file.read(old.size)) == old.crc32
        head = file.read(2 * HEAD)
        file.seek(max(0, old.size - TAIL))
        tail = hashlib.sha256(file.read(min(TAIL, old.size))).hexdigest()
    return content_key(head_of(head)) == old.key and tail == old.tail_sha256


def crc_at_sizes(head: bytes, sizes: Sequence[int]) -> dict[int, int]:
    """CRC-32 of the first so many bytes of the text, for each of the sizes that it reaches."""
    crc = place = 0
    sums: dict[int, int] = {}
    for size in sorted({size for size in sizes if size <= len(head)}):
        crc = zlib.crc32(head[place:size], crc)
        place, sums[size] = size, crc
    return sums


def _crc_of(block: bytes) -> int:
    return zlib.crc32(block)
