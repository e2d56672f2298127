"""`logscope triage`: takes logs in and shows the newest failed run beside its baseline."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from typing import TYPE_CHECKING

from logscope.cli.common import note, page_columns, store_path, write
from logscope.exit_codes import ExitCode

if TYPE_CHECKING:
    from logscope.store import Store

DESCRIPTION = """Takes the logs in and opens the terminal UI on the newest failed run beside its baseline.
Without a terminal it prints the text report of that run instead."""
EPILOG = """examples:
  logscope triage logs/
  logscope triage            (what is in the store)
  logscope triage logs/ | less

exit code: 0; 2 on trouble"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="logs, folders or globs to take in first")


def run(options: argparse.Namespace) -> int:
    if sys.stdout.isatty() and sys.stdin.isatty():
        return _terminal_ui(options)
    from logscope.store import Store

    store = Store.open(store_path(options))
    if options.paths:
        _take_in(store, options)
    from logscope.report.layout import page

    with page(page_columns()):
        write(_report(store))
    return ExitCode.OK


def _terminal_ui(options: argparse.Namespace) -> int:
    # what a start imports stays: looking through it for rubbish takes 6 % of the first paint, and later up to
    # 50 ms at once, in which no key is heard
    gc.disable()
    from logscope.config import config_dir
    from logscope.tui.app import LogScopeApp

    keys = {}
    if (config_dir() / "keys.json").exists():
        from logscope.tui.keymap import read_keymap

        keys = read_keymap(config_dir())
    if options.no_color:
        os.environ["NO_COLOR"] = "1"
    app = LogScopeApp(store_path(options), ingest=options.paths, keymap=keys, at_rest=_collect_from_now)
    app.run()
    return ExitCode.OK if app.return_code in (None, 0) else ExitCode.TROUBLE


def _collect_from_now() -> None:
    gc.freeze()
    gc.enable()


def _take_in(store: Store, options: argparse.Namespace) -> None:
    from logscope.errors import SourceError

    report = store.ingest(options.paths)
    for failure in report.failed:
        note(options, f"logscope: {failure.message}")
    if report.failed and not report.runs:
        raise SourceError(f"none of {', '.join(options.paths)} could be taken in")


def _report(store: Store) -> str:
    """The diff of the newest failed run; of the newest run, when none failed."""
    from logscope.compare import compare
    from logscope.errors import RunNotFound
    from logscope.explain import explain
    from logscope.report.run_text import runs_text
    from logscope.report.text import diff_text

    with store.reading():
        try:
            failed = store.load("last-failed")
        except RunNotFound:
            return runs_text([store.load("last")])
        return diff_text(explain(compare(store, failed), store))
