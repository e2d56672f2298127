"""`logscope show`: one run, or all runs of a log."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from logscope.cli.common import add_format, wants_color, write
from logscope.exit_codes import ExitCode

if TYPE_CHECKING:
    from logscope.store.records import StoredRun

DESCRIPTION = (
    "One run, or every launch of a log: outcome, stage, root error, arguments, milestones, throughput."
)
EPILOG = """examples:
  logscope show server.log
  logscope show 'server.log#2' --format json
  kubectl logs sglang-0 | logscope show -
  logscope show last-failed --all

exit code: 0 every run is ready, 1 one is not, 2 trouble"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from logscope.cli.inputs import add_given_files

    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="a log's path ('-' is standard input), a run id, last, last-failed ...",
    )
    parser.add_argument(
        "--all", action="store_true", help="all arguments, errors and warnings, not only the telling ones"
    )
    add_given_files(parser)
    add_format(parser, ("text", "json", "markdown"))


def run(options: argparse.Namespace) -> int:
    from logscope.cli.inputs import all_runs

    runs = all_runs(options, options.runs)
    origins: dict[str, dict[str, str]] = {stored.run_id: _origins(stored) for stored in runs}
    if options.format == "json":
        from logscope.report.json_report import runs_json

        write(runs_json(runs, origins))
    elif options.format == "markdown":
        from logscope.report.markdown import runs_markdown

        write(runs_markdown(runs, origins))
    else:
        from logscope.report.run_text import runs_text

        write(runs_text(runs, origins, wants_color(options), options.all))
    return ExitCode.OK if all(stored.run.outcome == "ready" for stored in runs) else ExitCode.DIFFERENT


def _origins(stored: StoredRun) -> dict[str, str]:
    from logscope.compare.origins import argument_origins

    names = {argument.name for argument in stored.run.server_args}
    return {name: origin.value for name, origin in argument_origins(stored, names).items()}
