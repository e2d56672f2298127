"""Files beside the store that a killed process left: waiting rows, half-built stores, half-compacted ones."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from parsers.lazy_pattern import lazy_re

_OURS = lazy_re(
    r"\.(?:logscope-(?P<rows>\d+)-\w+\.rows|.+\.new-(?P<new>\d+)-\d+|.+\.compact-(?P<compact>\d+))(?:\.wal)?\Z"
)


def remove_leftovers(folder: Path) -> None:
    """Removes those whose process is gone; all others belong to somebody who is still at work."""
    if not folder.is_dir():
        return
    for file in folder.iterdir():
        ours = _OURS.match(file.name) if file.name.startswith(".") else None
        if ours is not None and not _is_alive(int(ours["rows"] or ours["new"] or ours["compact"])):
            with contextlib.suppress(OSError):  # another process may be tidying up, too
                file.unlink()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
