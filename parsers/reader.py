"""Bytes in, physical lines out: decompression, encodings and the limit on a line's length.

Lines are counted by ``\\n`` only, as an editor shows them. Nothing here knows of SGLang.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import os
import select
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

LINE_HEAD = 1 << 20
"""Bytes of a line that are always kept from its begin (a banner is 20 kB)."""
LINE_TAIL = 1 << 18
"""Bytes kept from the end of a longer line (where the last message behind ``\\r`` bars stands)."""

PIPE_PATIENCE = 3
"""Seconds for which a named pipe may stay without anybody who writes into it."""

_PROBE = 512


def open_log(path: str | Path) -> BinaryIO:
    """Open a log for reading bytes, decompressed; ``-`` is standard input.

    Raises OSError when the file cannot be read. A damaged archive raises while it is read.
    """
    stream: BinaryIO = _standard_input() if str(path) == "-" else _opened(Path(path))
    buffered = (
        stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, stream))
    )
    magic = buffered.peek(10)[:10]
    if magic[:2] == b"\x1f\x8b":
        return cast(BinaryIO, gzip.GzipFile(fileobj=buffered))
    if magic[:6] == b"\xfd7zXZ\x00":
        return cast(BinaryIO, lzma.LZMAFile(buffered))
    if magic[:3] == b"BZh" and magic[4:] == b"1AY&SY":
        import bz2

        return cast(BinaryIO, bz2.BZ2File(buffered))
    if magic[:4] == b"\x28\xb5\x2f\xfd":
        import zstandard  # 20 ms, and few logs need it

        return cast(BinaryIO, zstandard.ZstdDecompressor().stream_reader(buffered, read_across_frames=True))
    return buffered


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer


def _opened(path: Path) -> BinaryIO:
    """The file; a named pipe only when somebody writes into it, since opening one waits for that for ever."""
    if not path.is_fifo():
        return path.open("rb")
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        if not waiting.poll(PIPE_PATIENCE * 1000) and not _has_writer(descriptor):
            raise OSError("a pipe into which nobody writes")
        os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _has_writer(descriptor: int) -> bool:
    """True when the empty pipe is held by one who has written nothing yet."""
    try:
        return os.read(descriptor, 1) != b""
    except BlockingIOError:
        return True


def read_blocks(stream: BinaryIO, size: int = 1 << 22) -> Iterator[bytes]:
    """The stream in blocks; a truncated archive ends where it is cut instead of raising."""
    while True:
        try:
            block = stream.read(size)
        except (EOFError, lzma.LZMAError, gzip.BadGzipFile):
            return
        if not block:
            return
        yield block


class ByteDecoder:
    """Turns a log's bytes into UTF-8 bytes without a byte order mark; picklable at any point."""

    def __init__(self) -> None:
        self.encoding = "utf-8"
        self._probe: bytes | None = b""
        self._decoder: codecs.IncrementalDecoder | None = None

    def feed(self, block: bytes) -> bytes:
        if self._probe is not None:
            self._probe += block
            if len(self._probe) < _PROBE:
                return b""
            block = self._decide()
        if self._decoder is None:
            return block
        return self._decoder.decode(block).encode("utf-8", "replace")

    def finish(self) -> bytes:
        """What is left when no more bytes come."""
        block = self._decide() if self._probe is not None else b""
        if self._decoder is None:
            return block
        return self._decoder.decode(block, final=True).encode("utf-8", "replace")

    def _decide(self) -> bytes:
        probe = self._probe or b""
        self._probe = None
        self.encoding, skip = _encoding_of(probe)
        if self.encoding != "utf-8":
            self._decoder = codecs.getincrementaldecoder(self.encoding)("replace")
        return probe[skip:]

    def __getstate__(self) -> tuple[str, bytes | None, tuple[bytes, int] | None]:
        state = self._decoder.getstate() if self._decoder is not None else None
        return self.encoding, self._probe, state

    def __setstate__(self, state: tuple[str, bytes | None, tuple[bytes, int] | None]) -> None:
        self.encoding, self._probe, decoder_state = state
        self._decoder = None
        if decoder_state is not None:
            self._decoder = codecs.getincrementaldecoder(self.encoding)("replace")
            self._decoder.setstate(decoder_state)


def _encoding_of(probe: bytes) -> tuple[str, int]:
    """(encoding, length of the byte order mark)."""
    if probe.startswith(codecs.BOM_UTF8):
        return "utf-8", 3
    if probe.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le", 2
    if probe.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be", 2
    even, odd = probe[0::2], probe[1::2]
    if len(probe) >= 16 and odd.count(0) > 0.7 * len(odd) and even.count(0) < 0.2 * len(even):
        return "utf-16-le", 0
    if len(probe) >= 16 and even.count(0) > 0.7 * len(even) and odd.count(0) < 0.2 * len(odd):
        return "utf-16-be", 0
    return "utf-8", 0


class LineCutter:
    """Cuts UTF-8 bytes into physical lines; a line longer than the limit keeps its head and its tail."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._held = 0
        self._cut = False
        self.shortened = 0
        """Lines that were longer than the limit."""

    def feed(self, block: bytes) -> list[bytes]:
        lines = block.split(b"\n")
        if len(lines) == 1:
            self._hold(block)
            return []
        self._hold(lines[0])
        lines[0] = self._release()
        self._hold(lines.pop())
        if len(block) > LINE_HEAD + LINE_TAIL:
            return [self.limit(line) for line in lines]
        return lines

    @property
    def open_line(self) -> bytes | None:
        """The last line where it has no end yet; None when nothing follows the last ``\\n``."""
        if not self._held:
            return None
        return self.limit(b"".join(self._parts), self._cut, count=False)

    def _hold(self, part: bytes) -> None:
        if not part:
            return
        self._parts.append(part)
        self._held += len(part)
        if self._held > 2 * (LINE_HEAD + LINE_TAIL):
            whole = b"".join(self._parts)
            self._parts = [whole[:LINE_HEAD], whole[LINE_HEAD:][-LINE_TAIL:]]
            self._held = LINE_HEAD + LINE_TAIL
            self._cut = True

    def _release(self) -> bytes:
        line = b"".join(self._parts)
        line = self.limit(line, self._cut)
        self._parts, self._held, self._cut = [], 0, False
        return line

    def limit(self, line: bytes, cut: bool = False, count: bool = True) -> bytes:
        """The line, shortened in its middle when it is too long."""
        if len(line) <= LINE_HEAD + LINE_TAIL + 1 and not cut:
            return line
        self.shortened += count
        return line[:LINE_HEAD] + b"\r" + line[-LINE_TAIL:]
