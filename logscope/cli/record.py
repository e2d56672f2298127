"""`logscope record`: runs a launch and keeps its log and surroundings."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from datetime import datetime
from pathlib import Path

from logscope.cli.common import store_path
from logscope.cli.launch_words import take_launch
from logscope.errors import LogScopeError, UsageError
from logscope.record.launch import CannotStart, die_like
from logscope.record.session import RecordPlan, complain, default_log, record

DESCRIPTION = """Runs COMMAND as if it had been typed without 'logscope record': its output, exit code,
signals and terminal stay what they are. Keeps NAME.log and, beside it, NAME.context.json with what no log
holds: command line, environment (a list of prefixes, secrets masked), package versions, git commit, GPUs and
driver, limits, config.json and file sizes of the models. Takes both into the store in the end."""

EPILOG = """examples:
  logscope record -- python -m sglang.launch_server --model-path /models/llama --tp 2
  logscope record --log logs/server.log --keep-env 'MY_*' -- ./launch.sh

Exit code: the command's own; if a signal ended it, the same signal ends 'logscope record'.
126/127: the command cannot be run / does not exist. An earlier NAME.log is renamed, never overwritten."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    take_launch(parser, "logscope record [options] -- COMMAND...")
    parser.add_argument(
        "--log", type=Path, metavar="NAME.log", help="the log (default: launch-DATE-TIME.log in this folder)"
    )
    parser.add_argument(
        "--keep-env",
        action="append",
        default=[],
        metavar="PATTERN",
        help="also keep variables whose name matches (MY_*); repeatable",
    )
    parser.add_argument("--no-ingest", action="store_true", help="do not take the log into the store")
    parser.add_argument(
        "--signal-to",
        choices=("command", "group"),
        default="command",
        help="who gets a signal sent to 'logscope record' alone: the command first and, when it has ended, "
        "what is left of its group (so that a server can drain), or its whole group at once (default: "
        "command)",
    )


def run(options: argparse.Namespace) -> int:
    words = options.command
    if not words:
        raise UsageError("no command to record", "logscope record [options] -- COMMAND...")
    log = options.log if options.log is not None else default_log(datetime.now())
    store = store_path(options)
    plan = RecordPlan(words, log, options.keep_env, options.signal_to == "group", store.parent)
    try:
        ended = record(plan)
    except CannotStart as error:
        complain(str(error))
        return error.code
    if not options.no_ingest and not ended.has_background:
        _ingest(log, store, options.verbose > 0)
    if ended.is_background:
        os._exit(0)
    return die_like(ended)


def _ingest(log: Path, store: Path, is_verbose: bool) -> None:
    """Takes the log in; the launch's own exit code counts, whatever happens here."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        from logscope.store import Store  # duckdb costs 0.1 s, and the launch has ended by now
        from logscope.tui.headline import keep_headline

        report = Store.open(store).ingest([str(log)])
        keep_headline(store, report)
    except KeyboardInterrupt:
        complain(f"{log} not taken into the store: interrupted; 'logscope ingest {log}' does it")
    except (LogScopeError, OSError) as error:
        complain(f"{log} not taken into the store: {error}")
    else:
        for failed in report.failed:
            complain(f"{log} not taken into the store: {failed.message}")
        if is_verbose and not report.failed:
            sys.stderr.write(f"logscope record: {log} is in {store}\n")
