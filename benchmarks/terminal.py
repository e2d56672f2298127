"""A command in a terminal of its own: what it costs until something is seen, what a key sends to it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence

PATIENCE = 60.0
"""Seconds after which what is waited for will not come."""
_QUIET = 0.4
"""Seconds without output after which a screen is taken as drawn."""


class Terminal:
    """A pseudo terminal with one program in it."""

    def __init__(
        self, words: Sequence[str], size: tuple[int, int] = (120, 40), env: Mapping[str, str] | None = None
    ) -> None:
        self._pid, self._file = pty.fork()
        if self._pid == 0:
            os.environ.update({"TERM": "xterm-256color", **(env or {})})
            os.execvp(words[0], list(words))
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def until(self, wanted: str) -> bytes:
        """Output until it holds the pattern `wanted`. Raises RuntimeError when that does not come."""
        pattern, out, began = re.compile(wanted.encode()), b"", time.monotonic()
        while not pattern.search(out):
            out += self._read(0.5)
            if time.monotonic() - began > PATIENCE:
                raise RuntimeError(f"{wanted} did not come; last was {out[-300:]!r}")
        return out

    def press(self, keys: str) -> int:
        """Types `keys` and gives the bytes that the program sent until it was quiet."""
        os.write(self._file, keys.encode())
        return self.rest()

    def rest(self) -> int:
        """Waits until the program is quiet and gives the bytes that it sent."""
        count = 0
        while part := self._read(_QUIET):
            count += len(part)
        return count

    def kill(self) -> float:
        """Ends the program at once; gives the CPU seconds that it took, user and system."""
        os.kill(self._pid, signal.SIGKILL)
        usage = os.wait4(self._pid, 0)[2]
        os.close(self._file)
        return usage.ru_utime + usage.ru_stime

    def _read(self, patience: float) -> bytes:
        ready, _, _ = select.select([self._file], [], [], patience)
        try:
            return os.read(self._file, 1 << 16) if ready else b""
        except OSError:  # the program has ended
            return b""
