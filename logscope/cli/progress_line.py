"""One line on a terminal that says how far reading is: written over, and gone at the end."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import TextIO

_INTERVAL = 0.1
"""Seconds between two writes."""


class ProgressLine:
    """Shows the input, what was read of it, the rate and the time left."""

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._clock = clock
        self._input = ""
        self._began = self._first_bytes = 0.0
        self._written = -_INTERVAL

    def begin(self, path: str, number: int, total: int) -> None:
        """Another input comes."""
        self._input = f"{number}/{total} {path}"
        self._began, self._first_bytes = self._clock(), -1.0
        self._write("")

    def advance(self, done: int, size: int | None) -> None:
        """`done` bytes were read of `size` (None: not known, or packed)."""
        now = self._clock()
        if self._first_bytes < 0:  # a grown log begins in its middle
            self._first_bytes = 0.0 if done <= 1 << 22 else float(done)
        if now - self._written < _INTERVAL:
            return
        seconds = now - self._began
        rate = (done - self._first_bytes) / seconds if seconds > 0 else 0.0
        parts = [f"{_bytes(done)}" + (f" of {_bytes(size)}" if size else "")]
        if rate > 0:
            parts.append(f"{_bytes(rate)}/s")
        if size and rate > 0 and size > done:
            parts.append(f"{_seconds((size - done) / rate)} left")
        self._write(", ".join(parts))

    def clear(self) -> None:
        """Take the line away."""
        self._out.write("\r\x1b[K")
        self._out.flush()

    def _write(self, text: str) -> None:
        room = shutil.get_terminal_size().columns - 1
        left = max(10, room - len(text) - 2)
        shown = self._input if len(self._input) <= left else "…" + self._input[1 - left :]
        self._out.write(f"\r\x1b[K{shown}" + (f"  {text}" if text else ""))
        self._out.flush()
        self._written = self._clock()


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _seconds(count: float) -> str:
    whole = max(1, round(count))
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60} s"
