"""On a terminal a recorded command has a terminal, and the same bytes arrive there."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.logscope.record.conftest import Recorder


@dataclass(frozen=True, slots=True)
class Shown:
    """What arrived on the terminal, and the exit status."""

    text: bytes
    code: int


class Terminal:
    """A real terminal (its other side) with one command on it, as a session leader's foreground job."""

    def __init__(self, words: Sequence[str], recorder: Recorder, size: tuple[int, int] = (31, 97)) -> None:
        self.pid, self.side = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
            os.chdir(recorder.folder)
            os.execvpe(words[0], list(words), recorder.env())
        self.text = b""

    def read_until(self, text: bytes) -> None:
        while text not in self.text:
            self.text += os.read(self.side, 4096)

    def type(self, keys: bytes) -> None:
        os.write(self.side, keys)

    def finish(self) -> Shown:
        try:
            while block := os.read(self.side, 4096):
                self.text += block
        except OSError:  # the other side is gone
            pass
        os.close(self.side)
        return Shown(self.text, os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]))


def test_command_sees_a_terminal_of_the_same_size_and_the_bytes_are_the_same(recorder: Recorder) -> None:
    plain = Terminal(recorder.plain("terminal"), recorder).finish()

    recorded = Terminal(recorder.words("terminal"), recorder).finish()

    assert recorded == plain
    assert b"tty1 True" in recorded.text
    assert b"size 97x31" in recorded.text
    assert b"\x1b[31mred" in recorded.text


def test_log_has_plain_line_ends_where_the_terminal_turned_them(recorder: Recorder) -> None:
    Terminal(recorder.words("terminal"), recorder).finish()

    text = recorder.log.read_bytes()
    assert text.startswith(b"tty0 True\ntty1 True\n")
    assert b"\r\n" not in text


def test_only_the_stream_that_is_a_terminal_gets_one(recorder: Recorder) -> None:
    quoted = '"$@" 2>errors'
    plain = Terminal(["sh", "-c", quoted, "sh", *recorder.plain("terminal")], recorder).finish()

    recorded = Terminal(["sh", "-c", quoted, "sh", *recorder.words("terminal")], recorder).finish()

    assert recorded == plain
    assert b"tty2 False" in recorded.text


def test_ctrl_c_reaches_the_command_once(recorder: Recorder) -> None:
    terminal = Terminal(recorder.words("drain", str(int(signal.SIGINT))), recorder)
    terminal.read_until(b"ready")

    terminal.type(b"\x03")
    shown = terminal.finish()

    assert shown.text.count(b"got SIGINT") == 1
    assert shown.text.endswith(b"drained\r\n")
    assert shown.code == 9


def test_typed_lines_reach_the_command(recorder: Recorder) -> None:
    words = recorder.words("x")
    reader = [*words[: words.index("--") + 1], "sh", "-c", "read line; echo you typed $line"]
    terminal = Terminal(reader, recorder)

    terminal.type(b"hello\n")
    shown = terminal.finish()

    assert shown.text.endswith(b"you typed hello\r\n")
    assert recorder.log.read_bytes() == b"you typed hello\n"


def test_new_window_size_is_seen(recorder: Recorder) -> None:
    script = (
        "import os, signal, sys, time\n"
        "def show(*a):\n"
        "    size = os.get_terminal_size(1)\n"
        "    if size.columns == 50: print('now', size.columns, size.lines, flush=True); sys.exit(0)\n"
        "signal.signal(signal.SIGWINCH, show)\n"
        "print('ready', flush=True)\n"
        "time.sleep(20)\n"
    )
    words = recorder.words("x")
    terminal = Terminal([*words[: words.index("--") + 1], sys.executable, "-c", script], recorder)
    terminal.read_until(b"ready")

    fcntl.ioctl(terminal.side, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 50, 0, 0))
    shown = terminal.finish()

    assert shown.text.endswith(b"now 50 20\r\n")


def test_job_control_stops_and_continues_the_command(recorder: Recorder) -> None:
    own = recorder.words("x")
    script = "i=0; while [ $i -lt 40 ]; do echo tick $i; sleep 0.1; i=$((i+1)); done"
    job = _quoted([*own[: own.index("--") + 1], "sh", "-c", script])
    shell = f"set -m\n{job}\necho stopped $?\nfg\necho over $?\n"
    terminal = Terminal(["bash", "--norc", "-c", shell], recorder)
    terminal.read_until(b"tick 3")

    terminal.type(b"\x1a")
    terminal.read_until(b"stopped 148")
    shown = terminal.finish()

    assert b"tick 39" in shown.text
    assert shown.text.endswith(b"over 0\r\n")


def test_hang_up_reaches_the_command(recorder: Recorder) -> None:
    note = recorder.folder / "note"
    script = f"trap 'echo hup > {note}; exit 0' HUP; echo ready; while :; do sleep 0.05; done"
    own = recorder.words("x")
    terminal = Terminal([*own[: own.index("--") + 1], "sh", "-c", script], recorder)
    terminal.read_until(b"ready")

    os.close(terminal.side)
    os.waitpid(terminal.pid, 0)

    for _ in range(100):
        if note.exists():
            break
        time.sleep(0.02)
    assert note.read_text() == "hup\n"


def _quoted(words: Sequence[str]) -> str:
    done = subprocess.run(
        ["bash", "-c", 'printf "%q " "$@"', "bash", *words], capture_output=True, check=True, text=True
    )
    return done.stdout
