"""Is a launch whose recording was never ended over? Its recorder is gone, and its log has become still."""

from __future__ import annotations

import platform
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from logscope.context import Context

if TYPE_CHECKING:
    from datetime import datetime

STILL_AFTER = timedelta(seconds=60)
"""A log into which nothing was written for so long is still."""
_START_FIELD = 19
"""Of ``/proc/PID/stat``, counted behind the name of the program: ticks after boot."""


def was_abandoned(context: Context | None, changed_at: datetime | None, now: datetime) -> bool:
    """True when nobody will write the end of this launch any more; `changed_at`: of its log.

    Only this machine can tell: of a launch that another one records, nothing is claimed.
    """
    if context is None or context.recorder is None or context.end_time is not None or changed_at is None:
        return False
    is_here = context.host in (None, platform.node())
    return is_here and now - changed_at >= STILL_AFTER and not _is_alive(context.recorder)


def mark_of(pid: int) -> str | None:
    """What a context file says of the process that writes it: ``PID START NAMESPACE``; None without /proc."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        namespace = Path(f"/proc/{pid}/ns/pid").readlink()
    except OSError:
        return None
    words = stat.rpartition(")")[2].split()  # the name before it may hold blanks and brackets
    return None if words[0] in "ZX" else f"{pid} {words[_START_FIELD]} {namespace}"


def _is_alive(recorder: str) -> bool:
    """True, too, where this process cannot see that one: in another container with this host's name, say."""
    pid, namespace = recorder.partition(" ")[0], recorder.rpartition(" ")[2]
    try:
        is_seen = pid.isdigit() and str(Path("/proc/self/ns/pid").readlink()) == namespace
    except OSError:
        is_seen = False
    return not is_seen or mark_of(int(pid)) == recorder
