"""`logscope mark`: a person's word on a run."""

from __future__ import annotations

import argparse

from logscope.cli.common import add_format, note, store_path
from logscope.exit_codes import ExitCode

DESCRIPTION = """A person's word on a run. It overrides the judged outcome when a baseline is chosen:
a good run may be one, a bad or skipped run never is. The newest mark of a run counts."""
EPILOG = """examples:
  logscope mark last bad --note 'ready, but half the throughput'
  logscope mark 3e595ff4 good
  logscope mark server.log#2 skip --note 'somebody tried something'"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", metavar="RUN", help="a run id, a prefix of one, a log's path, last, last-failed ..."
    )
    parser.add_argument("verdict", choices=("good", "bad", "skip"))
    parser.add_argument("--note", default="", metavar="TEXT", help="why, for those who come later")
    add_format(parser, ("text",))


def run(options: argparse.Namespace) -> int:
    from logscope.store import Store
    from logscope.store.records import short_id

    store = Store.open(store_path(options))
    with store.reading():
        stored = store.load(options.run)
    store.mark(stored.run_id, options.verdict, options.note)
    note(options, f"logscope: {short_id(stored.run_id)} ({stored.path}) is marked {options.verdict}")
    return ExitCode.OK
