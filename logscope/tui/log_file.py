"""A log of any size, read by line number: only the blocks on screen are ever decoded.

Counting line ends is done in a worker, block by block; a line is there as soon as its block was counted.
"""

from __future__ import annotations

import mmap
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from logscope.errors import SourceError

if TYPE_CHECKING:
    import numpy as np

BLOCK = 1 << 20
"""Bytes counted at once."""
LONGEST = 1 << 16
"""Bytes of one line that are decoded for the screen."""


class LogFile:
    """Random access to the lines of a plain file. Lines count from 1. Raises SourceError on open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ends_before: list[int] = [0]
        """Line ends before each counted block; the last entry is the total so far."""
        self._cache: OrderedDict[int, np.ndarray] = OrderedDict()
        try:
            self._file = path.open("rb")
            self._size = self._file.seek(0, 2)
            self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) if self._size else None
        except (OSError, ValueError) as error:
            raise SourceError(f"{path}: cannot be opened: {error}") from error

    def close(self) -> None:
        """Gives the file back."""
        if self._map is not None:
            self._map.close()
        self._file.close()

    @property
    def size(self) -> int:
        """Bytes of the file when it was opened or last grown."""
        return self._size

    @property
    def is_counted(self) -> bool:
        """True when every block has been counted."""
        return (len(self._ends_before) - 1) * BLOCK >= self._size

    @property
    def lines(self) -> int:
        """Lines counted so far."""
        ends = self._ends_before[-1]
        has_rest = (
            self.is_counted and self._map is not None and self._map[self._size - 1 : self._size] != b"\n"
        )
        return ends + has_rest

    def count(self, blocks: int | None = None, cancelled: Callable[[], bool] = lambda: False) -> bool:
        """Counts `blocks` more blocks (all when None); False when there is nothing left to count."""
        import numpy as np  # 0.1 s, and only this screen needs it

        done = 0
        while not self.is_counted and not cancelled() and (blocks is None or done < blocks):
            start = (len(self._ends_before) - 1) * BLOCK
            assert self._map is not None
            chunk = np.frombuffer(self._map[start : min(start + BLOCK, self._size)], np.uint8)
            self._ends_before.append(self._ends_before[-1] + int(np.count_nonzero(chunk == 10)))
            done += 1
        return not self.is_counted

    def count_to(self, line: int) -> None:
        """Counts until `line` is known or the file ends."""
        while self._ends_before[-1] < line and self.count(16):
            pass

    def grow(self) -> bool:
        """Takes in what was appended since; True when there was something. The last block is counted anew."""
        size = self._file.seek(0, 2)
        if size <= self._size:
            return False
        whole = self._size // BLOCK
        del self._ends_before[whole + 1 :]
        for block in [b for b in self._cache if b >= whole]:
            del self._cache[block]
        if self._map is not None:
            self._map.close()
        self._size = size
        self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return True

    def line(self, number: int) -> str:
        """The text of a line without its end; '' beyond what was counted. At most 64 KiB of it."""
        span = self._span(number)
        if span is None or self._map is None:
            return ""
        start, end = span
        return self._map[start : min(end, start + LONGEST)].rstrip(b"\r").decode("utf-8", "replace")

    def find(
        self, text: str, start: int, step: int, cancelled: Callable[[], bool] = lambda: False
    ) -> int | None:
        """The next (step 1) or previous (-1) line from `start` that holds `text`; None when there is none."""
        if self._map is None or not text:
            return None
        wanted = text.encode()
        span = self._span(start)
        if span is None:
            return None
        found = (
            self._scan_forward(wanted, span[1], cancelled)
            if step > 0
            else self._scan_back(wanted, span[0], cancelled)
        )
        return None if found < 0 else self.number_at(found)

    def _scan_forward(self, wanted: bytes, position: int, cancelled: Callable[[], bool]) -> int:
        assert self._map is not None
        while position < self._size and not cancelled():
            found = self._map.find(wanted, position, min(self._size, position + 16 * BLOCK + len(wanted)))
            if found >= 0:
                return found
            position += 16 * BLOCK
        return -1

    def _scan_back(self, wanted: bytes, position: int, cancelled: Callable[[], bool]) -> int:
        assert self._map is not None
        while position > 0 and not cancelled():
            found = self._map.rfind(wanted, max(0, position - 16 * BLOCK), position + len(wanted) - 1)
            if 0 <= found < position:
                return found
            position -= 16 * BLOCK
        return -1

    def matching(
        self, keep: Callable[[str], bool], needle: str = "", cancelled: Callable[[], bool] = lambda: False
    ) -> Iterator[list[int]]:
        """Line numbers for which `keep(text)` holds, a list a block; blocks without `needle` are not read."""
        wanted = needle.encode()
        for block in range(len(self._ends_before) - 1):
            if cancelled() or self._map is None:
                return
            if wanted and self._map.find(wanted, block * BLOCK, (block + 1) * BLOCK + len(wanted)) < 0:
                yield []
                continue
            first, last = self._ends_before[block] + 1, self._ends_before[block + 1]
            if block == len(self._ends_before) - 2:
                last = self.lines
            yield [number for number in range(first, last + 1) if keep(self.line(number))]

    def number_at(self, offset: int) -> int:
        """The number of the line that holds the byte at `offset`; counts up to it when need be."""
        while (len(self._ends_before) - 1) * BLOCK <= offset and self.count(16):
            pass
        block = offset // BLOCK
        ends = self._ends(block)
        return self._ends_before[block] + int((ends < offset).sum()) + 1

    def _span(self, number: int) -> tuple[int, int] | None:
        if number < 1 or number > self.lines:
            return None
        start = 0 if number == 1 else self._end_of(number - 1) + 1
        end = self._size if number > self._ends_before[-1] else self._end_of(number)
        return start, end

    def _end_of(self, number: int) -> int:
        """Offset of the newline that ends line `number`."""
        block = bisect_left(self._ends_before, number) - 1
        return int(self._ends(block)[number - self._ends_before[block] - 1])

    def _ends(self, block: int) -> np.ndarray:
        import numpy as np

        held = self._cache.get(block)
        if held is None:
            assert self._map is not None
            start = block * BLOCK
            chunk = np.frombuffer(self._map[start : min(start + BLOCK, self._size)], np.uint8)
            held = np.flatnonzero(chunk == 10) + start
            self._cache[block] = held
            if len(self._cache) > 64:
                self._cache.popitem(last=False)
        return held
