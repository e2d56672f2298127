"""Is a port free, and who holds it."""

from __future__ import annotations

import contextlib
import errno
import socket
import time
from pathlib import Path

from logscope.errors import SourceError
from logscope.record.processes import command_of

_POLL_SECONDS = 0.1


def is_port_free(address: tuple[str, int]) -> bool:
    """True when one could listen there now; also when the address is none of this machine's."""
    host, port = address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            return getattr(error, "errno", None) != errno.EADDRINUSE
    return True


def wait_for_port(address: tuple[str, int], seconds: float) -> None:
    """Waits until the port is free. Raises SourceError when it stays taken."""
    end = time.monotonic() + seconds
    while not is_port_free(address):
        if time.monotonic() > end:
            holder = holder_of(address[1])
            raise SourceError(
                f"port {address[1]} is in use by {holder or 'another process'}",
                "end it, or give another --port after --",
            )
        time.sleep(_POLL_SECONDS)


def holder_of(port: int) -> str:
    """``PID (command line)`` of the process that listens on `port`; '' when that cannot be seen."""
    sockets = _listening(port)
    if not sockets:
        return ""
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        if _opened(process) & sockets:
            return f"{process.name} ({command_of(int(process.name))[:100]})"
    return ""


def _opened(process: Path) -> set[str]:
    """What the descriptors of a process lead to; empty for another user's."""
    found = set()
    with contextlib.suppress(OSError):
        for link in (process / "fd").iterdir():
            with contextlib.suppress(OSError):  # closed meanwhile
                found.add(str(link.readlink()))
    return found


def _listening(port: int) -> set[str]:
    """``socket:[INODE]`` of what listens on the port."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            rows = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for words in (row.split() for row in rows):
            if words[3] == "0A" and int(words[1].rpartition(":")[2], 16) == port:
                found.add(f"socket:[{words[9]}]")
    return found
