"""Runs a command and tells what it cost; compared commands take turns, so that all meet the same noise."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a command took."""

    cpu: float
    """Seconds, user and system, of the process and its children."""
    wall: float
    peak_mb: float
    """Largest resident size."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A command that takes part in a comparison."""

    name: str
    words: Sequence[str]
    prepare: Callable[[], None] | None = None
    """Done before each run and not counted."""
    codes: tuple[int, ...] = (0,)
    """Exit codes that are no failure."""


def run(contender: Contender) -> Cost:
    """One run. Raises RuntimeError when the command fails."""
    if contender.prepare is not None:
        contender.prepare()
    began = time.perf_counter()
    process = subprocess.Popen(contender.words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in contender.codes:
        words = said.decode(errors="replace")
        raise RuntimeError(f"{contender.name}: exit code {process.returncode}\n{words}")
    scale = 1e6 if sys.platform == "darwin" else 1e3  # macOS counts bytes, Linux kilobytes
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / scale)


def in_turn(contenders: Sequence[Contender], repeat: int) -> dict[str, list[Cost]]:
    """Each command `repeat` times, in the order A B C A B C."""
    costs: dict[str, list[Cost]] = {contender.name: [] for contender in contenders}
    for turn in range(repeat):
        for contender in contenders:
            sys.stderr.write(f"\r\x1b[K{turn + 1}/{repeat} {contender.name}")
            sys.stderr.flush()
            costs[contender.name].append(run(contender))
    sys.stderr.write("\r\x1b[K")
    return costs


def median(costs: Sequence[Cost]) -> Cost:
    """The median of each figure."""
    return Cost(
        statistics.median(cost.cpu for cost in costs),
        statistics.median(cost.wall for cost in costs),
        statistics.median(cost.peak_mb for cost in costs),
    )
