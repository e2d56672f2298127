"""A log of any size, read by line number: only what is on screen is ever decoded.

Line ends are counted block by block, in a worker; a line is there as soon as its block was counted.
The file is read with ``pread``, never mapped: a log that is cut while it is shown must not end the app,
and no call holds the interpreter for longer than one block takes.
"""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import RLock

from logscope.errors import SourceError
from logscope.tui.needle import Needle

BLOCK = 1 << 18
"""Bytes counted at once."""
LONGEST = 1 << 16
"""Bytes of one line that are decoded for the screen."""
_HELD_BLOCKS = 256
"""Blocks whose line ends are kept."""
_NEWLINE = re.compile(rb"\n")


def never() -> bool:
    """The answer of a question that nobody cancels."""
    return False


def size_of(path: str) -> int:
    """Bytes of a file; -1 when it cannot be reached."""
    try:
        return Path(path).stat().st_size
    except OSError:
        return -1


class LogFile:
    """Random access to the lines of a plain file. Lines count from 1. Raises SourceError on open.

    May be used from several threads: what is counted only ever grows, except in `grow`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ends_before: list[int] = [0]
        """Line ends before each block counted from the begin; the last entry is their total so far."""
        self._tail: list[int] = []
        """The same for blocks counted backwards from a known end; the last entry is for what follows."""
        self._tail_from = 0
        """The first block of the tail."""
        self._cache: OrderedDict[int, array[int]] = OrderedDict()
        self._lock = RLock()
        self._file = -1
        try:
            self._file = os.open(path, os.O_RDONLY)
            self._size = os.fstat(self._file).st_size
            os.pread(self._file, 1, 0)  # a folder can be opened, and fails here
        except OSError as error:
            self.close()
            raise SourceError(f"{path}: cannot be opened: {error.strerror}") from error
        self._ends_with_newline = self._read(self._size - 1, 1) == b"\n"

    def close(self) -> None:
        """Gives the file back; every later line is empty."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1

    @property
    def size(self) -> int:
        """Bytes of the file when it was opened or last grown."""
        return self._size

    def end_is(self, size: int, lines: int) -> None:
        """Tells how many lines an earlier reader found in the first `size` bytes.

        Lines near that end can then be had without counting all that comes before them. What is told is
        checked when the count from the begin arrives there.
        """
        with self._lock:
            if self._tail or size > self._size or size < 1:
                return
            block = (size - 1) // BLOCK
            head = self._read(block * BLOCK, size - block * BLOCK)
            ends = lines if head.endswith(b"\n") else lines - 1
            rest = self._read(size, min(BLOCK * (block + 1), self._size) - size)
            self._tail_from = block
            self._tail = [ends - head.count(b"\n"), ends + rest.count(b"\n")]

    @property
    def counted(self) -> int:
        """Bytes whose lines are known from the begin on."""
        return min((len(self._ends_before) - 1) * BLOCK, self._size)

    @property
    def is_counted(self) -> bool:
        """True when every block has been counted."""
        return self.counted >= self._size

    @property
    def lines(self) -> int:
        """Lines known so far; with a known end, all up to there."""
        ends_at = max(len(self._ends_before) - 1, self._tail_from + len(self._tail) - 1)
        has_rest = self._size > 0 and ends_at * BLOCK >= self._size and not self._ends_with_newline
        return max(self._ends_before[-1], *self._tail[-1:], 0) + has_rest

    def count(self, blocks: int | None = None, cancelled: Callable[[], bool] = never) -> bool:
        """Counts `blocks` more blocks (all when None); False when there is nothing left to count."""
        done = 0
        while not cancelled() and (blocks is None or done < blocks):
            with self._lock:  # let go between blocks: the screen reads lines meanwhile
                if self.is_counted or self._file < 0:
                    return False
                block = self._block(len(self._ends_before) - 1)
                self._ends_before.append(self._ends_before[-1] + block.count(b"\n"))
                self._join()
            done += 1
        return not self.is_counted

    def _join(self) -> None:
        """The count from the begin has reached the tail: the tail goes on from there, when it is right."""
        if self._tail and len(self._ends_before) - 1 >= self._tail_from:
            if self._ends_before[self._tail_from] == self._tail[0]:
                self._ends_before += self._tail[len(self._ends_before) - self._tail_from :]
            self._tail = []

    def count_to(self, line: int, cancelled: Callable[[], bool] = never) -> None:
        """Counts until `line` is known or the file ends: backwards from a known end where that is nearer."""
        if self._tail and (self._tail_from + len(self._tail) - 1) * BLOCK >= self._size:
            line = min(line, self.lines)  # the end is known: beyond it there is nothing to count for
        while self._tail and line > self._ends_before[-1] and not cancelled():
            is_near = self._tail[-1] - line < line - self._ends_before[-1]
            if not is_near or not self._tail_backwards(line):
                break
        while not self._knows(line) and self.count(64, cancelled) and not cancelled():
            pass

    def _tail_backwards(self, line: int) -> bool:
        """Counts one block before the tail; False when the tail has the line, or is at the begin."""
        with self._lock:
            if not self._tail or self._tail[0] < line - 1 or self._tail_from == 0:
                return False
            self._tail_from -= 1
            self._tail.insert(0, self._tail[0] - self._block(self._tail_from).count(b"\n"))
            self._join()
            return True

    def is_unknown(self, line: int) -> bool:
        """True when the line lies where nothing was counted yet."""
        return not self._knows(line) and not self.is_counted

    def _knows(self, line: int) -> bool:
        ends = self._ends_before[-1]
        return line <= ends or (bool(self._tail) and self._tail[0] < line - 1 and line <= self._tail[-1])

    def grow(self) -> bool:
        """Takes in what was appended since; True when there was something. The last block is counted anew.

        A file that became shorter was written anew and is counted from its begin.
        """
        with self._lock:
            if self._file < 0:
                return False
            size = os.fstat(self._file).st_size
            if size == self._size:
                return False
            whole = self._size // BLOCK if size > self._size else 0
            if size < self._size or self._tail_from + len(self._tail) - 1 > whole:
                self._tail = []
            del self._ends_before[whole + 1 :]
            for block in [b for b in self._cache if b >= whole]:
                del self._cache[block]
            self._size = size
            self._ends_with_newline = self._read(size - 1, 1) == b"\n"
            return True

    def line(self, number: int) -> str:
        """The text of a line without its end; '' beyond what was counted. At most 64 KiB of it."""
        with self._lock:
            span = self._span(number)
            if span is None:
                return ""
            start, end = span
            return self._read(start, min(end - start, LONGEST)).rstrip(b"\r").decode("utf-8", "replace")

    # -- looking for text -------------------------------------------------------------------------

    def find(
        self, needle: Needle, start: int, step: int, cancelled: Callable[[], bool] = never
    ) -> int | None:
        """The next (step 1) or previous (-1) line from `start` that holds `needle`; None if there is none."""
        with self._lock:
            span = self._span(start)
        if span is None or not needle:
            return None
        found = (
            self._scan_forward(needle, span[1], cancelled)
            if step > 0
            else self._scan_back(needle, span[0], cancelled)
        )
        return None if found < 0 else self.number_at(found, cancelled)

    def find_from_end(
        self, needle: Needle, step: int, cancelled: Callable[[], bool] = never
    ) -> int | None:
        """The first (step 1) or last (-1) line of all that holds `needle`; None if there is none."""
        if not needle:
            return None
        found = (
            self._scan_forward(needle, 0, cancelled)
            if step > 0
            else self._scan_back(needle, self._size, cancelled)
        )
        return None if found < 0 else self.number_at(found, cancelled)

    def _scan_forward(self, needle: Needle, position: int, cancelled: Callable[[], bool]) -> int:
        wanted = needle.wanted
        while position < self._size and not cancelled():
            found = needle.prepared(self._read(position, BLOCK + len(wanted) - 1)).find(wanted)
            if found >= 0:
                return position + found
            position += BLOCK
        return -1

    def _scan_back(self, needle: Needle, position: int, cancelled: Callable[[], bool]) -> int:
        """The last place before `position`; a hit lies wholly before it, since no text spans two lines."""
        wanted = needle.wanted
        while position > 0 and not cancelled():
            start = max(0, position - BLOCK)
            found = needle.prepared(self._read(start, position - start + len(wanted) - 1)).rfind(wanted)
            if found >= 0 and start + found < position:
                return start + found
            position = start
        return -1

    def matching(
        self, needle: Needle, keep: Callable[[str], bool], cancelled: Callable[[], bool] = never
    ) -> Iterator[list[int]]:
        """Numbers of the lines that hold `needle` and of whose text `keep` holds, a list a block."""
        block = 0
        while block * BLOCK < self._size and not cancelled():
            self.number_at(block * BLOCK, cancelled)
            yield self._lines_with(needle, block, keep)
            block += 1

    def _lines_with(self, needle: Needle, block: int, keep: Callable[[str], bool]) -> list[int]:
        """Numbers of the lines in which a hit begins in this block, and of whose text `keep` holds."""
        with self._lock:
            before = self._before(block)
            if before is None:
                return []
            ends = self._ends(block)
        wanted = needle.wanted
        data = self._read(block * BLOCK, BLOCK + len(wanted) - 1)
        seen = needle.prepared(data)
        found: list[int] = []
        position = seen.find(wanted)
        while 0 <= position < BLOCK:
            index = bisect_left(ends, position)
            is_whole = 0 < index < len(ends)
            text = (
                data[ends[index - 1] + 1 : ends[index]].decode("utf-8", "replace")
                if is_whole
                else self.line(before + index + 1)
            )
            if keep(text):
                found.append(before + index + 1)
            if index == len(ends):
                break
            position = seen.find(wanted, ends[index] + 1)
        return found

    def number_at(self, offset: int, cancelled: Callable[[], bool] = never) -> int:
        """The number of the line that holds the byte at `offset`; counts up to it when need be."""
        block = offset // BLOCK
        while self._before(block) is None and not cancelled() and self.count(64, cancelled):
            pass
        with self._lock:
            before = self._before(block)
            if before is None:
                return self.lines
            return before + bisect_left(self._ends(block), offset - block * BLOCK) + 1

    def _before(self, block: int) -> int | None:
        """Line ends before a block; None where they are not counted yet."""
        if block < len(self._ends_before):
            return self._ends_before[block]
        index = block - self._tail_from
        return self._tail[index] if 0 <= index < len(self._tail) else None

    # -- bytes ------------------------------------------------------------------------------------

    def _span(self, number: int) -> tuple[int, int] | None:
        if number < 1 or number > self.lines or self._file < 0:
            return None
        start = 0 if number == 1 else self._end_of(number - 1) + 1
        end = self._end_of(number)
        return (start, end) if start > 0 or number == 1 else None

    def _end_of(self, number: int) -> int:
        """Offset of the newline that ends a line; -1 where it is not counted, the size for an open last."""
        known, first = self._ends_before, 0
        if number > known[-1] and self._tail and number > self._tail[0]:
            known, first = self._tail, self._tail_from
        if number > known[-1]:
            return self._size if number == self.lines and not self._ends_with_newline else -1
        block = bisect_left(known, number) - 1
        index = number - known[block] - 1
        ends = self._ends(first + block)
        if index >= len(ends):
            return self._size  # the file was cut meanwhile
        return (first + block) * BLOCK + ends[index]

    def _ends(self, block: int) -> array[int]:
        """Places of the newlines of a block, from its begin."""
        held = self._cache.get(block)
        if held is None:
            held = array("I", (hit.start() for hit in _NEWLINE.finditer(self._block(block))))
            self._cache[block] = held
            if len(self._cache) > _HELD_BLOCKS:
                self._cache.popitem(last=False)
        else:
            self._cache.move_to_end(block)
        return held

    def _block(self, block: int) -> bytes:
        start = block * BLOCK
        return self._read(start, min(BLOCK, self._size - start))

    def _read(self, start: int, length: int) -> bytes:
        """Bytes of the file; fewer than asked where it ends or cannot be read any more."""
        if self._file < 0 or length <= 0 or start < 0:
            return b""
        try:
            return os.pread(self._file, length, start)
        except OSError:
            return b""
