"""Follows a growing log: what was added since the last look, and what the launch in it has come to.

The file may not exist yet, may be cut off and written anew, or be replaced by another one of its name.
"""

from __future__ import annotations

import os
from pathlib import Path

from parsers.lazy_dataclass import dataclass
from parsers.log import LogReader
from parsers.records import Run

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Addition:
    """What a look at the log found."""

    block: bytes
    is_new_file: bool
    """The file was cut off or replaced: `block` begins a new text."""


class GrowingFile:
    """A file that others write. Reads what is new, at most 1 MB a look."""

    def __init__(self, path: Path, from_start: bool = True) -> None:
        self._path = path
        self._from_start = from_start
        self._descriptor: int | None = None
        self._identity: tuple[int, int] = (0, 0)
        self._offset = 0

    @property
    def exists(self) -> bool:
        """True once the file has been opened."""
        return self._descriptor is not None

    def look(self) -> Addition:
        """The bytes added since the last look; b"" when nothing came. A missing file is no error."""
        is_new = self._reopen_if_replaced()
        if self._descriptor is None:
            return Addition(b"", False)
        block = os.pread(self._descriptor, _BLOCK, self._offset)
        self._offset += len(block)
        return Addition(block, is_new)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _reopen_if_replaced(self) -> bool:
        """True when the text begins anew. What an old file still holds is read to its end first."""
        try:
            now = self._path.stat()
        except FileNotFoundError:  # not yet there, or between two files of a rotation
            return False
        identity = (now.st_dev, now.st_ino)
        if self._descriptor is None:
            self._open(identity)
            if not self._from_start:
                self._offset = now.st_size
            return False
        if identity != self._identity:
            if os.fstat(self._descriptor).st_size > self._offset:
                return False
            os.close(self._descriptor)
            self._open(identity)
            return True
        if now.st_size < self._offset:
            self._offset = 0
            return True
        return False

    def _open(self, identity: tuple[int, int]) -> None:
        self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        self._identity = identity
        self._offset = 0


class LaunchFollower:
    """The launch that a growing log shows, as far as it was written."""

    def __init__(self, path: Path, from_start: bool = True, skip_earlier: bool = False) -> None:
        self._file = GrowingFile(path, from_start)
        self._reader = LogReader()
        self._skip_earlier = skip_earlier
        self._earlier = 0
        self._runs: tuple[Run, ...] = ()
        self.lines = 0
        """Physical lines read."""

    @property
    def exists(self) -> bool:
        """True once there is a log."""
        return self._file.exists

    @property
    def run(self) -> Run | None:
        """The newest launch of the log; None before there is one."""
        return self._runs[-1] if self._runs else None

    @property
    def runs(self) -> tuple[Run, ...]:
        """All launches of the log, but for those to be passed over."""
        return self._runs

    def look(self) -> bool:
        """Reads on; True when something was added."""
        grown = False
        while True:
            added = self._file.look()
            if added.is_new_file:
                self._reader, self._earlier, self._runs = LogReader(), 0, ()
            if not added.block:
                break
            grown = True
            self._reader.feed(added.block)
        if grown:
            parsed = self._reader.result()
            self.lines = parsed.lines
            if self._skip_earlier:
                self._earlier, self._skip_earlier = len(parsed.runs), False
            self._runs = parsed.runs[self._earlier :]
        return grown

    def close(self) -> None:
        self._file.close()
