"""Which log is this: the same bytes, a grown log, or another one with the same beginning.

A log is named by its head: everything up to the end of the args line (it holds a random seed, times
and ports, so two launches never share it), else the first 64 KiB, else the whole of a shorter log. The
head stays the same while a log grows, so its runs keep their ids. Two different logs with an equal
head (a copy that somebody edited) are told apart by CRC-32 of all their bytes, which costs 0.3 s a GB.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from pathlib import Path

from logscope.store.records import RunId
from parsers.lazy_dataclass import dataclass

HEAD = 1 << 16
"""Bytes of the beginning that name a log at most."""
TAIL = 1 << 16
"""Bytes before the end of what was read, by which a grown file is recognised."""
FULL_CHECK = 1 << 26
"""Up to this size (64 MiB, 0.02 s) all old bytes of a grown file are checked, above it head and tail."""

_ARGS = (b"server_args=", b"server_args: ")


@dataclass(frozen=True, slots=True)
class Content:
    """Identity of the first `size` bytes of a log (decompressed)."""

    key: str
    """Hex sha256 of the head."""
    size: int
    crc32: int
    tail_sha256: str


class ContentMeter:
    """Takes a log's bytes as they are read and names what it has seen."""

    def __init__(self, watch: Sequence[int] = ()) -> None:
        """`watch`: sizes after which the CRC is to be kept, in `crc_at`."""
        self.head = b""
        self.crc_at: dict[int, int] = {}
        self._watch = sorted(watch)
        self._tail = b""
        self._crc = 0
        self._size = 0

    @property
    def size(self) -> int:
        """Bytes taken so far."""
        return self._size

    def feed(self, block: bytes) -> None:
        """Takes the next bytes."""
        if len(self.head) < HEAD:
            self.head += block[: HEAD - len(self.head)]
        self._tail = block[-TAIL:] if len(block) >= TAIL else (self._tail + block)[-TAIL:]
        rest = memoryview(block)
        while self._watch and self._watch[0] <= self._size + len(rest):
            size = self._watch.pop(0)
            self._crc = zlib.crc32(rest[: size - self._size], self._crc)
            rest = rest[size - self._size :]
            self._size = size
            self.crc_at[size] = self._crc
        self._crc = zlib.crc32(rest, self._crc)
        self._size += len(rest)

    def content(self) -> Content:
        """What was taken so far."""
        tail = hashlib.sha256(self._tail).hexdigest()
        return Content(content_key(self.head), self._size, self._crc, tail)

    def continue_from(self, head: bytes, tail: bytes, crc32: int, size: int) -> None:
        """Stands where it stood after `size` bytes, of which head and tail are given."""
        self.head, self._tail, self._crc, self._size = head[:HEAD], tail[-TAIL:], crc32, size


def content_key(head: bytes) -> str:
    """Hex sha256 of the part of `head` (the first 64 KiB, or all of a shorter log) that names the log."""
    return hashlib.sha256(head[: _end_of_launch_head(head)]).hexdigest()


def _end_of_launch_head(head: bytes) -> int:
    places = [at for at in (head.find(word, 0, HEAD) for word in _ARGS) if at >= 0]
    end = head.find(b"\n", min(places), HEAD) if places else -1
    return end + 1 if end >= 0 else min(len(head), HEAD)


def log_id(content: Content, taken: int = 0) -> str:
    """The id of a new log; `taken`: how many of the ids that it would have, other logs have already.

    One with the same head has the first; the next one is that of a log that had these very bytes, and grew.
    """
    if not taken:
        return content.key[:24]
    text = f"{content.key} {content.size} {content.crc32}" + (f" {taken}" if taken > 1 else "")
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
        head = file.read(HEAD)
        file.seek(max(0, old.size - TAIL))
        tail = hashlib.sha256(file.read(min(TAIL, old.size))).hexdigest()
    return content_key(head) == old.key and tail == old.tail_sha256


def _crc_of(block: bytes) -> int:
    return zlib.crc32(block)
