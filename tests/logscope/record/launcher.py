"""A stand-in for a launcher: does on request what real launchers do. Run as a child process by the tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def say(text: str, stream: int = 1) -> None:
    os.write(stream, text.encode() + b"\n")


def both_streams(count: str) -> None:
    """Lines to both streams in turn, with a pause that lets a reader keep the order."""
    for number in range(int(count)):
        say(f"out {number}", 1)
        time.sleep(0.004)
        say(f"err {number}", 2)
        time.sleep(0.004)
    sys.exit(5)


def flood(size: str) -> None:
    """`size` bytes of numbered lines on standard output, as fast as the pipe takes them."""
    written = number = 0
    while written < int(size):
        block = b"".join(b"%012d some text of a log line\n" % (number + i) for i in range(500))
        view = memoryview(block)
        while len(view):
            view = view[os.write(1, view) :]
        number += 500
        written += len(block)


def raw(*hexes: str) -> None:
    for text in hexes:
        os.write(1, bytes.fromhex(text))


def die(number: str) -> None:
    say("dying")
    os.kill(os.getpid(), int(number))
    time.sleep(10)


def drain(number: str) -> None:
    """Takes a signal, finishes its work first, and ends with its own code."""

    def on_signal(got: int, frame: object) -> None:
        say(f"got {signal.Signals(got).name}, draining")
        time.sleep(0.3)
        say("drained")
        sys.exit(9)

    signal.signal(int(number), on_signal)
    _wait_ready()


def count_signals(number: str) -> None:
    """Says every signal of this number; ends on SIGALRM."""
    signal.signal(int(number), lambda got, frame: say(f"got {got}"))
    signal.signal(signal.SIGALRM, lambda got, frame: sys.exit(0))
    _wait_ready()


def ignore_term() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say("ready")
    time.sleep(1.2)
    say("still here")
    sys.exit(4)


def with_worker(worker: str = "time.sleep(60)") -> None:
    """A launcher without handlers that has a worker in its group."""
    child = subprocess.Popen([sys.executable, "-c", f"import time, os; {worker}"])
    say(f"worker {child.pid}")
    _wait_ready()


def leave_behind() -> None:
    """Ends at once; a process that it started writes on for a while."""
    subprocess.Popen(["sh", "-c", "sleep 3; echo late; sleep 0.2"])
    say("started it")


def own_group() -> None:
    os.setpgid(0, 0)

    def on_signal(got: int, frame: object) -> None:
        say("got SIGINT")
        sys.exit(3)

    signal.signal(signal.SIGINT, on_signal)
    _wait_ready()


def environment() -> None:
    """What a command can see of how it was started."""
    say(f"cwd {Path.cwd()}")
    say(f"umask {os.umask(0):o}")
    say(f"stdin {sys.stdin.read()}")
    status = Path("/proc/self/status").read_text()
    for row in status.splitlines():
        if row.startswith(("SigBlk", "SigIgn")):
            say(row)
    opened = sorted(int(entry.name) for entry in Path("/proc/self/fd").iterdir())
    say(f"fds {opened[:-1]}")  # the last one is the listing's own
    for name in sorted(os.environ):
        say(f"env {name}={os.environ[name]}")


def terminal() -> None:
    for number in (0, 1, 2):
        say(f"tty{number} {os.isatty(number)}")
    size = os.get_terminal_size(1)
    say(f"size {size.columns}x{size.lines}")
    say("\x1b[31mred\x1b[0m\ttab\rback")
    sys.exit(6)


def _wait_ready() -> None:
    say("ready")
    for _ in range(600):
        time.sleep(0.1)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
