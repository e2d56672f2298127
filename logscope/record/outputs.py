"""What a recorded command gets as its standard output and error, and where that goes from there.

A terminal is answered with a terminal (the command sees isatty, colours and the window's size), a pipe or
file with a pipe. Where both go to one place, the command gets one pipe for both, so their order is exact.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios

from logscope.record.pump import Stream
from parsers.lazy_dataclass import dataclass, field

_PIPE_BYTES = 1 << 20
"""A roomy pipe: the command need not wait for a short pause of its recorder."""


@dataclass(slots=True)
class Outputs:
    """The descriptors for the command and the streams that the recorder reads."""

    child: dict[int, int] = field(default_factory=dict)
    """1 and 2 -> the descriptor that the command shall have there; one that is missing stays as it is."""
    streams: list[Stream] = field(default_factory=list)
    terminals: list[tuple[int, int]] = field(default_factory=list)
    """(our side, real terminal) of every terminal made."""

    def close_child_side(self) -> None:
        """Lets go of the command's side after the start: its end is then seen."""
        for descriptor in set(self.child.values()):
            os.close(descriptor)

    def fit_window(self) -> None:
        """Gives every made terminal the size of the real one."""
        for ours, real in self.terminals:
            _copy_size(real, ours)


def open_outputs() -> Outputs:
    """Makes pipes or terminals for this process's own standard output and error. Raises OSError."""
    outputs = Outputs()
    opened = [number for number in (1, 2) if _is_open(number)]
    if len(opened) == 2 and _place(1) == _place(2):
        ours, theirs = _channel(1, outputs)
        outputs.child = {1: theirs, 2: theirs}
        outputs.streams.append(Stream(ours, 1))
        return outputs
    for number in opened:
        ours, theirs = _channel(number, outputs)
        outputs.child[number] = theirs
        outputs.streams.append(Stream(ours, number))
    return outputs


def _channel(number: int, outputs: Outputs) -> tuple[int, int]:
    """(our reading side, the command's writing side)."""
    if os.isatty(number):
        ours, theirs = os.openpty()
        _make_plain(number, theirs)
        _copy_size(number, ours)
        outputs.terminals.append((ours, number))
        return ours, theirs
    ours, theirs = os.pipe()
    with contextlib.suppress(OSError, AttributeError):  # above the user's limit, or not Linux
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return ours, theirs


def _make_plain(real: int, made: int) -> None:
    """The made terminal passes bytes as they are: the real one turns line ends and echoes, not both."""
    try:
        modes = termios.tcgetattr(real)
    except termios.error:
        modes = termios.tcgetattr(made)
    modes[1] &= ~termios.OPOST
    modes[3] &= ~(termios.ECHO | termios.ISIG)
    termios.tcsetattr(made, termios.TCSANOW, modes)


def _copy_size(source: int, target: int) -> None:
    with contextlib.suppress(OSError):
        size = fcntl.ioctl(source, termios.TIOCGWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
        fcntl.ioctl(target, termios.TIOCSWINSZ, size)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _place(number: int) -> tuple[int, int, int]:
    held = os.fstat(number)
    return held.st_dev, held.st_ino, held.st_rdev
