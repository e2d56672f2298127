"""Tells a signal sent to this process alone from one sent to its whole process group.

A recorded command stays in the process group of its recorder, so that Ctrl-C, Ctrl-Z and a group-wide kill
reach it as they would without the recorder. Such a signal must not be passed on a second time (a second
SIGINT makes a server cut its requests off), while one sent to the recorder's own id must be. The witness is a
process of the same group that blocks every signal: what is pending there was sent to the group.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from pathlib import Path

from logscope.record.processes import die_with_parent

_ANSWER_SECONDS = 0.2


class GroupWitness:
    """A sleeping process of this process group. Start it before any thread (it is a fork)."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._line = ours
        self.pid = os.fork()
        if self.pid == 0:
            _sleep_and_drain(theirs)
        theirs.close()

    def saw(self, number: int) -> bool:
        """True when signal `number` was sent to the whole group. False also where /proc is missing."""
        for pause in (0, 0.002, 0.008):  # the kernel may still be going through the group
            time.sleep(pause)
            if number in pending_signals(self.pid):
                self._drain()
                return True
        return False

    def close(self) -> None:
        """Ends the witness."""
        self._line.close()
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:  # reaped elsewhere
            return

    def _drain(self) -> None:
        """Has the witness forget what is pending, so that the next signal is seen as a new one."""
        try:
            self._line.sendall(b"?")
            if select.select([self._line], [], [], _ANSWER_SECONDS)[0]:
                self._line.recv(1)
        except OSError:  # the witness was killed: every later signal counts as sent to us alone
            return


def pending_signals(pid: int) -> frozenset[int]:
    """Signals pending for process `pid`; empty where /proc does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return frozenset()
    mask = 0
    for row in status.splitlines():
        if row.startswith(("SigPnd:", "ShdPnd:")):
            mask |= int(row.split()[1], 16)
    return frozenset(number for number in range(1, 65) if mask >> (number - 1) & 1)


def _sleep_and_drain(line: socket.socket) -> None:
    """The witness's whole life; never returns."""
    try:
        every = signal.valid_signals()
        signal.pthread_sigmask(signal.SIG_BLOCK, every)
        for number in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
            signal.signal(number, signal.SIG_DFL)
        die_with_parent()
        _close_all_but(line.fileno())
        while line.recv(1):
            while signal.sigtimedwait(every, 0) is not None:
                pass
            line.sendall(b"!")
    finally:
        os._exit(0)


def _close_all_but(kept: int) -> None:
    """Lets go of the pipes of the outside, which would stay open as long as the witness lives."""
    os.closerange(0, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") < 65536 else 65536)
