"""`logscope watch`: follows a launch until it is ready, failed or hung."""

from __future__ import annotations

import argparse
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from logscope.cli.common import add_format, flush, note, store_path, write
from logscope.errors import LogScopeError, SourceError, UsageError
from logscope.exit_codes import ExitCode

if TYPE_CHECKING:
    from logscope.record.watching import Watcher, WatchEvent
    from logscope.store.records import SetupSpread
    from parsers.records import Run

DESCRIPTION = """Follows the newest launch of a log that is being written (the log need not exist yet, and may
be rotated): each stage with the seconds that it usually takes in the good runs of the store, then ready,
failed or hung. A failure is answered with the diff against its baseline at once."""

EPILOG = """examples:
  logscope watch server.log
  logscope watch server.log --timeout 300 --format json
  logscope watch server.log --new          # the launches in it are over, the next one counts

exit code: 0 ready, 1 failed or killed, 124 hung, 2 trouble"""

_LOOK_SECONDS = 0.25


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", type=Path, metavar="LOG", help="the log of the launch")
    parser.add_argument(
        "--timeout",
        type=float,
        metavar="S",
        help="hung after S seconds without a new line (default: by the spread of the good runs; 600 if there "
        "are none)",
    )
    parser.add_argument(
        "--from-start", action="store_true", help="also tell of the launches before the newest one in the log"
    )
    parser.add_argument(
        "--new", action="store_true", help="pass over the launches that are in the log already"
    )
    add_format(parser, ("text", "json"))


def run(options: argparse.Namespace) -> int:
    from logscope.record.watching import Watcher

    if str(options.log) == "-":
        raise UsageError("watch follows a file", "for a pipe: ... | tee server.log, and watch server.log")
    watcher = Watcher(
        options.log, options.timeout, options.new, options.from_start, lambda run: _usual(run, options)
    )
    try:
        return _follow(watcher, options)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        why = error.strerror or str(error)
        raise SourceError(f"{options.log}: cannot be read: {why}", "watch follows one log file") from error
    finally:
        watcher.close()


def _follow(watcher: Watcher, options: argparse.Namespace) -> int:
    while True:
        try:
            modified: float | None = options.log.stat().st_mtime
        except FileNotFoundError:
            modified = None
        events = watcher.step(time.time(), modified)
        for event in events:
            _say(event, options)
        last = events[-1].kind if events else ""
        if last == "ready":
            return ExitCode.OK
        if last in ("failed", "killed", "hung"):
            _explain(options, last)
            return ExitCode.HUNG if last == "hung" else ExitCode.DIFFERENT
        time.sleep(_LOOK_SECONDS)


def _say(event: WatchEvent, options: argparse.Namespace) -> None:
    from logscope.record.watch_report import event_json, event_text

    now = datetime.now().astimezone()
    if options.format == "json":
        write(event_json(event, now.isoformat(timespec="milliseconds")))
    else:
        write(event_text(event, f"{now:%H:%M:%S}"))
    flush()


def _usual(run: Run, options: argparse.Namespace) -> SetupSpread | None:
    """What the good runs of this setup took; without a store there is nothing to compare with."""
    from logscope.record.watching import usual_of
    from logscope.store import Store  # duckdb costs 0.1 s

    if not store_path(options).exists():
        return None
    try:
        return usual_of(Store.open(store_path(options), read_only=True), run)
    except LogScopeError as error:
        note(options, f"logscope: no usual times: {error}")
        return None


def _explain(options: argparse.Namespace, word: str) -> None:
    """The diff with the baseline; JSON watchers get it as one more event."""
    if not options.log.exists():
        return
    from logscope.cli.inputs import explained

    question = argparse.Namespace(
        **{**vars(options), "folder": None, "config": [], "env_file": None, "rules": None}
    )
    try:
        explanation = explained(question, str(options.log), None).explanation
    except (LogScopeError, OSError) as error:
        note(options, f"logscope: no diff: {error}")
        return
    if options.format == "json":
        from logscope.report.json_diff import diff_json

        write(_diff_event(diff_json(explanation)))
    else:
        from logscope.cli.common import wants_color
        from logscope.report.text import diff_text

        write("\n" + diff_text(explanation, wants_color(options), False, False))


def _diff_event(diff: str) -> str:
    import json

    from logscope.record.watch_report import SCHEMA

    return json.dumps({"schema": SCHEMA, "event": "diff", "diff": json.loads(diff)})
