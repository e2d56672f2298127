"""Real commands with and without a recorder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

LAUNCHER = (sys.executable, str(Path(__file__).with_name("launcher.py")))
ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class Done:
    """What a caller gets of a command."""

    code: int
    out: bytes
    err: bytes


class Recorder:
    """Starts commands, plain or recorded, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "a.log"
        self.context = folder / "a.context.json"
        self._started: list[subprocess.Popen[bytes]] = []

    def words(self, *command: str, options: Sequence[str] = ()) -> list[str]:
        own = [sys.executable, "-m", "logscope", "record", "--log", str(self.log), "--no-ingest"]
        return [*own, *options, "--", *LAUNCHER, *command]

    def plain(self, *command: str) -> list[str]:
        return [*LAUNCHER, *command]

    def env(self, **more: str) -> dict[str, str]:
        held = {**os.environ, "PYTHONPATH": str(ROOT), "LOGSCOPE_DB": str(self.folder / "store.duckdb")}
        return held | more

    def run(self, words: Sequence[str], stdin: bytes = b"", **env: str) -> Done:
        done = subprocess.run(
            words, input=stdin, capture_output=True, cwd=self.folder, env=self.env(**env), timeout=60
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, words: Sequence[str]) -> subprocess.Popen[bytes]:
        """Starts a command in a session of its own and waits for its line 'ready'."""
        process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env=self.env(),
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()


def read_until(process: subprocess.Popen[bytes], text: bytes) -> bytes:
    """Reads standard output line by line until one holds `text`."""
    assert process.stdout is not None
    read = b""
    for line in process.stdout:
        read += line
        if text in line:
            return read
    raise AssertionError(f"{text!r} never came, only {read!r}")


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def wait_dead(pid: int, seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while is_alive(pid):
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(tmp_path)
    yield made
    made.close()
