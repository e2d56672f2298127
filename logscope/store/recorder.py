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


def _is_alive(recorder: str) -> bool:
    pid, _, start = recorder.partition(" ")
    if not pid.isdigit() or not Path("/proc/self/stat").exists():
        return True  # not known: nothing is claimed
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    words = stat.rpartition(")")[2].split()
    return words[0] not in "ZX" and words[_START_FIELD] == start
