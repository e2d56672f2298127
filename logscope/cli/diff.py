"""`logscope diff`: what changed between a good and a bad run, and what of it is the cause."""

from __future__ import annotations

import argparse
from pathlib import Path

from logscope.cli.common import add_format, write
from logscope.exit_codes import ExitCode

DESCRIPTION = """What changed between a good and a bad run, and what of it is the cause.
With BAD alone, the baseline is the last successful comparable run of the store (or of --in DIR)."""
EPILOG = """examples:
  logscope diff good.log bad.log
  logscope diff bad.log --in logs/
  logscope diff last-failed --format markdown > ticket.md
  logscope diff good.log bad.log --format html > report.html

exit code, like diff: 0 nothing that matters differs, 1 something does, 2 trouble"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from logscope.cli.inputs import add_given_files
    from logscope.cli.reports import FORMATS

    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="[GOOD] BAD: a log's path, a run id, last, last-failed, last-ready",
    )
    parser.add_argument(
        "--in", dest="folder", type=Path, metavar="DIR", help="look for the baseline among the logs of DIR"
    )
    parser.add_argument("--why", action="store_true", help="show how each cause's score was made")
    parser.add_argument("--all", action="store_true", help="show everything, also noise and what is known")
    parser.add_argument(
        "--rules", type=Path, metavar="FILE", help="failure rules of your own, beside the built-in ones"
    )
    add_given_files(parser)
    add_format(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    from logscope.cli.inputs import explained
    from logscope.cli.reports import rendered
    from logscope.errors import UsageError

    if len(options.runs) > 2:
        raise UsageError("diff takes [GOOD] BAD", "'logscope compare' takes more runs")
    answer = explained(options, options.runs[-1], options.runs[0] if len(options.runs) == 2 else None)
    write(rendered(answer, options))
    return ExitCode.DIFFERENT if answer.explanation.diff.matters else ExitCode.OK
