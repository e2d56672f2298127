"""Runs a command as if nobody watched, with a copy of its output in a log.

Must never change what the command sees or what the caller gets: output, exit status, signals, terminal.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from types import FrameType

from logscope.record.outputs import Outputs, open_outputs
from logscope.record.processes import Process, descendants, die_with_parent, send, still_runs
from logscope.record.pump import LogFile, Pump
from logscope.record.witness import GroupWitness
from parsers.lazy_dataclass import dataclass, field

PASSED_ON = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
_ENDING = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT})
_AFTER_END_SECONDS = 2.0
"""How long output of processes that outlive the command is waited for before they are left to a second
recorder in the background."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the command ended."""

    code: int
    """Exit code; 128 + number after a signal."""
    signal: int | None
    is_background: bool = False
    """True in the process that stays behind to keep the log of processes that outlive the command."""
    has_background: bool = False
    """True when such a process stays behind; it completes the recording."""


class CannotStart(Exception):
    """The command could not be started; `code` is what a shell would return (126, 127)."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class Launch:
    """One recorded command, from its start to its end."""

    words: Sequence[str]
    env: Mapping[str, str] | None
    log: LogFile
    to_group: bool = False
    """Pass signals to every process of the command's group at once, instead of to the command first."""
    on_end: Callable[[int, int | None], None] = field(default=lambda code, number: None)
    """Called once with exit code and signal number as soon as the command has ended."""
    _child: subprocess.Popen[bytes] | None = None
    _witness: GroupWitness | None = None
    _ended_at: float | None = None
    _told: int | None = None
    """The last ending signal that was passed on."""
    _below: tuple[Process, ...] = ()
    """The command's descendants when it was passed on."""
    _outputs: Outputs | None = None

    def start(self) -> int:
        """Starts the command and returns its process id. Raises CannotStart, OSError."""
        self._witness = GroupWitness()
        self._outputs = open_outputs()
        self._wake_read, self._wake_write = _wake_pipe()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
        try:
            self._child = _spawn(self.words, self.env, self._outputs.child, mask)
            self._take_signals()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            self._outputs.close_child_side()
        return self._child.pid

    def run(self) -> Ended:
        """Copies output and passes signals on until the command and its output have ended."""
        assert self._child is not None and self._outputs is not None and self._witness is not None
        pump = Pump(self._outputs.streams, self.log, self._wake_read)
        pump.run(self._seconds_left)
        pump.wait(self._seconds_until_end)
        self._witness.close()
        is_background = False
        if pump.is_open:
            is_background = os.fork() == 0
            if is_background:
                pump.run(lambda: None)
        status = self._child.returncode
        number = -status if status < 0 else None
        return Ended(
            128 - status if status < 0 else status, number, is_background, pump.is_open and not is_background
        )

    def _seconds_left(self) -> float | None:
        """Without limit while the command runs, or what it left behind is ending on our word."""
        if not self._has_ended() or self._ended_at is None:
            return None
        if any(still_runs(process) for process in self._below):
            return 1.0
        return self._ended_at + _AFTER_END_SECONDS - time.monotonic()

    def _seconds_until_end(self) -> float | None:
        return 0.0 if self._has_ended() else None

    def _has_ended(self) -> bool:
        assert self._child is not None
        if self._ended_at is None and self._child.poll() is not None:
            self._ended_at = time.monotonic()
            status = self._child.returncode
            self._end_what_is_left()
            self.on_end(*((128 - status, -status) if status < 0 else (status, None)))
        return self._ended_at is not None

    def _end_what_is_left(self) -> None:
        """The signal that ended the command also goes to those of its group that it left behind."""
        if self._told is None:
            self._below = ()
            return
        group = os.getpgrp()
        self._below = tuple(p for p in self._below if p.group == group and still_runs(p))
        for process in self._below:
            send(process, self._told)

    def _take_signals(self) -> None:
        for number in PASSED_ON:
            if signal.getsignal(number) != signal.SIG_IGN:  # nohup: the command ignores it too
                signal.signal(number, self._pass_on)
        signal.signal(signal.SIGWINCH, self._fit_window)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)  # wakes the pump
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        assert self._child is not None and self._witness is not None
        below = descendants(self._child.pid)
        if number in _ENDING:
            self._told, self._below = number, below
        if self._witness.saw(number) and self._is_in_our_group():
            return  # the command got it from the sender
        if self.to_group:
            for process in below:
                if process.group == _group_of(self._child.pid):
                    send(process, number)
        if self._child.poll() is None:
            self._child.send_signal(number)
        else:
            for process in self._below:
                send(process, number)

    def _is_in_our_group(self) -> bool:
        return self._child is not None and _group_of(self._child.pid) == os.getpgrp()

    def _fit_window(self, number: int, frame: FrameType | None) -> None:
        """The command may have read the old size before the new one was set: tell it again."""
        assert self._outputs is not None and self._child is not None
        self._outputs.fit_window()
        if self._outputs.terminals and self._child.poll() is None:
            os.kill(self._child.pid, signal.SIGWINCH)

    _wake_read: int = -1
    _wake_write: int = -1


def die_like(ended: Ended) -> int:
    """Ends this process by the signal that ended the command; else returns the exit code to use."""
    if ended.signal is None:
        return ended.code
    import resource  # needed once, at the end

    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the core that matters is the command's
    if ended.signal not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(ended.signal, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {ended.signal})
    os.kill(os.getpid(), ended.signal)
    return ended.code  # the signal's default is not to end (never so for one that ended the command)


def _spawn(
    words: Sequence[str],
    env: Mapping[str, str] | None,
    descriptors: Mapping[int, int],
    mask: set[signal.Signals] | set[int],
) -> subprocess.Popen[bytes]:
    recorder = os.getpid()

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        die_with_parent()
        if os.getppid() != recorder:  # it was killed in between
            os.kill(os.getpid(), signal.SIGKILL)

    def start(command: Sequence[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            env=env,
            stdout=descriptors.get(1),
            stderr=descriptors.get(2),
            close_fds=False,  # descriptors that a supervisor handed down stay
            preexec_fn=prepare,
        )

    try:
        return start(words)
    except OSError as error:
        if error.errno == errno.ENOEXEC:  # a script without a first line '#!': shells run it by sh
            return start(["/bin/sh", *words])
        raise CannotStart(*_start_failure(words[0], error)) from error


def _start_failure(program: str, error: OSError) -> tuple[str, int]:
    if error.errno == errno.ENOENT:
        return f"{program}: command not found", 127
    return f"{program}: {os.strerror(error.errno or 0)}", 126


def _wake_pipe() -> tuple[int, int]:
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    return read, write


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None
