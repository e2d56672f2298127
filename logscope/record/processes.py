"""Processes of the machine: who descends from whom, who dies with whom. Reads /proc; empty without it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path

from parsers.lazy_dataclass import dataclass

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Process:
    """One process as /proc shows it; `started` tells it from a later one with the same id."""

    pid: int
    parent: int
    group: int
    started: int
    """Clock ticks since boot."""
    is_dead: bool
    """Ended and not yet waited for."""


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Has the kernel send this process `number` when the thread that forked it ends. Linux only."""

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def read_process(pid: int) -> Process | None:
    """The process with this id, or None."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    words = text.rpartition(")")[2].split()  # the name before it may hold blanks and brackets
    return Process(pid, int(words[1]), int(words[2]), int(words[19]), words[0] in "ZX")


def descendants(pid: int) -> tuple[Process, ...]:
    """Every living process below `pid`, without itself."""
    everyone = _all_processes()
    children: dict[int, list[Process]] = {}
    for process in everyone:
        children.setdefault(process.parent, []).append(process)
    below: list[Process] = []
    waiting = [pid]
    while waiting:
        for process in children.get(waiting.pop(), ()):
            below.append(process)
            waiting.append(process.pid)
    return tuple(process for process in below if not process.is_dead)


def still_runs(process: Process) -> bool:
    """True while this very process (not a later one with its id) is alive."""
    now = read_process(process.pid)
    return now is not None and now.started == process.started and not now.is_dead


def send(process: Process, number: int) -> None:
    """Sends a signal to the process if it still runs."""
    if still_runs(process):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, number)


def command_of(pid: int) -> str:
    """The command line of a process, '' when it cannot be read."""
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return raw.replace(b"\0", b" ").decode("utf-8", "replace").strip()


def _all_processes() -> tuple[Process, ...]:
    try:
        names = [entry.name for entry in Path("/proc").iterdir()]
    except OSError:
        return ()
    read = (read_process(int(name)) for name in names if name.isdigit())
    return tuple(process for process in read if process is not None)
