"""Records one launch: log and context file beside it.

If the recording fails the launch goes on, and the failure is said on standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from logscope.context import context_path
from logscope.record.environment import Masker, local_salt
from logscope.record.launch import Ended, Launch
from logscope.record.pump import LogFile
from logscope.record.surroundings import Surroundings, Watched
from parsers.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RecordPlan:
    """What to record and where."""

    words: Sequence[str]
    log: Path
    keep_env: Sequence[str] = ()
    to_group: bool = False
    """Pass signals to the command's whole group at once."""
    salt_folder: Path | None = None
    env: Mapping[str, str] | None = None
    """None: this process's own."""


def record(plan: RecordPlan) -> Ended:
    """Runs the command and records it. Raises CannotStart when there is no such command."""
    log = _open_log(plan.log)
    env = dict(os.environ) if plan.env is None else dict(plan.env)
    surroundings = _surroundings(plan, env)
    launch = Launch(plan.words, plan.env, log, plan.to_group)
    if surroundings is not None:
        launch.on_end = surroundings.end
    launch.start()
    if surroundings is not None:
        surroundings.start()
    ended = launch.run()
    log.close()
    if surroundings is not None and not ended.is_background:
        surroundings.finish()
    return ended


def default_log(now: datetime) -> Path:
    """``launch-20260203-040506.log`` in the current folder."""
    return Path(f"launch-{now:%Y%m%d-%H%M%S}.log")


def set_aside(log: Path) -> None:
    """Renames an earlier log of this name, with its context file, to ``NAME.DATE-TIME.log``: an earlier
    launch is evidence and must not be overwritten. Raises OSError."""
    if not log.exists() or not log.is_file():
        return
    stamp = datetime.fromtimestamp(log.stat().st_mtime)
    stem = log.name.removesuffix(".log")
    for count in range(1, 1000):
        again = f"-{count}" if count > 1 else ""
        older = log.with_name(f"{stem}.{stamp:%Y%m%d-%H%M%S}{again}.log")
        if not older.exists():
            break
    context = context_path(log)
    log.rename(older)
    if context.exists():
        context.rename(context_path(older))


def complain(text: str) -> None:
    """One line on standard error, never an exception."""
    try:
        sys.stderr.write(f"logscope record: {text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def _open_log(path: Path) -> LogFile:
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            complain(f"made the folder {path.parent} for the log")
        set_aside(path)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        complain(f"no log, {path} cannot be written: {error.strerror}; the launch goes on")
        descriptor = os.open(os.devnull, os.O_WRONLY)
    return LogFile(descriptor, complain)


def _surroundings(plan: RecordPlan, env: Mapping[str, str]) -> Surroundings | None:
    try:
        salt = local_salt(plan.salt_folder) if plan.salt_folder is not None else os.urandom(16)
        watched = Watched(plan.words, env, plan.keep_env, context_path(plan.log), Masker(salt))
        return Surroundings(watched, complain)
    except Exception as error:  # the outermost edge: recording is never worth a launch
        complain(f"no context file: {error}; the launch goes on")
        return None
