"""`logscope compare`: several runs side by side, one column a run, only what differs."""

from __future__ import annotations

import argparse

from logscope.cli.common import add_format, count, note, write
from logscope.exit_codes import ExitCode

DESCRIPTION = "Several runs side by side: one column a run, only the rows in which they differ."
EPILOG = """examples:
  logscope compare s02.log s03.log s04.log
  logscope compare last-ready last-failed --format markdown

exit code: 0 done, 2 trouble"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from logscope.cli.inputs import add_given_files

    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="a run id, a log's path, last, last-failed ..."
    )
    parser.add_argument(
        "--width",
        type=count,
        default=0,
        metavar="COLUMNS",
        help="width of the table (default: the terminal's, else 80)",
    )
    add_given_files(parser)
    add_format(parser, ("text", "json", "markdown"))


def run(options: argparse.Namespace) -> int:
    import shutil

    from logscope.cli.inputs import all_runs
    from logscope.report.compare_table import compare_table, table_json, table_markdown, table_text

    named = all_runs(options, options.runs)
    runs = list({stored.run_id: stored for stored in named}.values())
    if len(runs) < len(named):
        note(options, "logscope: a run that is named twice stands in the table once")
    table = compare_table(runs)
    if options.format == "json":
        write(table_json(table, runs))
    elif options.format == "markdown":
        write(table_markdown(table))
    else:
        write(table_text(table, options.width or max(shutil.get_terminal_size().columns, 40)))
    return ExitCode.OK
