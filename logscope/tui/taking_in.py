"""Takes logs in beside the app, in a process of its own: reading logs is work, and the screen must not wait.

``python -m logscope.tui.taking_in STORE PATH...`` prints one JSON object a line: how far it is, at last the
outcome. Stopping it leaves whole logs only, as the store promises for a killed ingest.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from logscope.errors import LogScopeError, StoreError
from logscope.tui.log_file import size_of
from parsers.lazy_dataclass import dataclass

_PAUSE = 0.1
"""Seconds between two words on how far a log is."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far taking in is."""

    number: int
    """Of the log that is read now, from 1."""
    count: int
    name: str
    done: int
    """Bytes read so far, all logs."""
    seconds: float

    @property
    def text(self) -> str:
        """One line for the screen."""
        rate = (
            f", {self.done / 1e6 / self.seconds:,.1f} MB/s" if self.done > 1e6 and self.seconds > 0.2 else ""
        )
        return (
            f"taking in {self.number:,} of {self.count:,}: {self.name}{rate}, "
            f"{self.seconds:.0f} s  (esc stops it)"
        )


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What came of taking logs in."""

    runs: tuple[str, ...]
    """Run ids, in the order of the logs."""
    files: tuple[tuple[str, int], ...]
    """Absolute paths of the logs that are in the store, and their sizes before they were read."""
    changed: int
    """Logs of which something new was read."""
    trouble: tuple[str, ...] = ()
    """One line for each path that could not be read."""
    was_stopped: bool = False


class TakingIn:
    """One ingest in a process of its own; `stop` may be called from any thread."""

    def __init__(self, store: Path, paths: Sequence[str]) -> None:
        self._words = [sys.executable, "-m", "logscope.tui.taking_in", str(store.absolute()), *paths]
        self._process: subprocess.Popen[str] | None = None
        self._is_stopped = False
        self._lock = Lock()

    def stop(self) -> None:
        """Ends it; what was written stays."""
        with self._lock:
            self._is_stopped = True
            if self._process is not None and self._process.poll() is None:
                self._process.terminate()

    def run(self, say: Callable[[Progress], None]) -> TakenIn:
        """Waits for the end; `say` hears how far it is. Raises LogScopeError."""
        with self._lock:
            if self._is_stopped:
                return TakenIn((), (), 0, was_stopped=True)
            self._process = subprocess.Popen(
                self._words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        began, last = monotonic(), None
        with self._process as process:
            assert process.stdout is not None and process.stderr is not None
            for line in process.stdout:
                word: dict[str, Any] = json.loads(line)
                if "number" in word:
                    say(Progress(seconds=monotonic() - began, **word))
                else:
                    last = word
            complaint = process.stderr.read().strip()
        if self._is_stopped:
            return TakenIn((), (), 0, was_stopped=True)
        return _outcome(last, complaint)


def _outcome(last: dict[str, Any] | None, complaint: str) -> TakenIn:
    if last is None:
        end = complaint.rsplit("\n", 1)[-1] or "no word why"
        raise StoreError(f"taking in ended early: {end}", "try 'logscope ingest PATH'")
    if "error" in last:
        raise LogScopeError(last["error"], last["hint"])
    files = tuple((path, size) for path, size in last["files"])
    return TakenIn(tuple(last["runs"]), files, int(last["changed"]), tuple(last["trouble"]))


def take_in(store: Path, paths: Sequence[str], say: Callable[[dict[str, Any]], None]) -> TakenIn:
    """Takes the paths in here, in this process; `say` hears number, count, name and done."""
    from logscope.store import Store
    from logscope.store.ingest_report import IngestStatus
    from logscope.tui.headline import keep_headline

    at: dict[str, Any] = {"number": 0, "count": 0, "name": "", "done": 0}
    sizes: dict[str, int] = {}
    before, told = 0, 0.0

    def begin(path: str, number: int, count: int) -> None:
        nonlocal before
        before = at["done"]
        sizes[path] = size_of(path)
        at.update(number=number, count=count, name=Path(path).name)
        say(at)

    def advance(done: int, whole: int | None) -> None:
        nonlocal told
        at["done"] = before + done
        if monotonic() - told > _PAUSE:
            told = monotonic()
            say(at)

    report = Store.open(store).ingest(list(paths), progress=begin, on_bytes=advance)
    keep_headline(store, report)
    known = (IngestStatus.KNOWN, IngestStatus.SKIPPED, IngestStatus.FAILED)
    return TakenIn(
        report.runs,
        tuple((_absolute(each.path), sizes.get(each.path, -1)) for each in report.paths if each.runs),
        sum(1 for each in report.paths if each.status not in known),
        tuple(each.message for each in report.failed),
    )


def _absolute(path: str) -> str:
    return str(Path(path).absolute())


def main(words: Sequence[str]) -> int:
    """The process: words are the store and the paths."""

    def say(word: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(word) + "\n")
        sys.stdout.flush()

    try:
        taken = take_in(Path(words[0]), words[1:], say)
    except LogScopeError as error:
        say({"error": error.message, "hint": error.hint})
        return 0
    say({"runs": taken.runs, "files": taken.files, "changed": taken.changed, "trouble": taken.trouble})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
