"""`logscope explain`: ranked causes of a run's failure, with evidence and remedies."""

from __future__ import annotations

import argparse
from pathlib import Path

from logscope.cli.common import add_format, page_columns, wants_color, write
from logscope.exit_codes import ExitCode

DESCRIPTION = "Ranked causes of a run's failure: evidence, remedies, and what each remedy assumes and risks."
EPILOG = """examples:
  logscope explain last-failed
  logscope explain bad.log --in logs/ --why

exit code: 0 there is a cause to offer, 1 there is none, 2 trouble"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from logscope.cli.inputs import add_given_files
    from logscope.cli.reports import FORMATS

    parser.add_argument("run", metavar="RUN", help="a log's path, a run id, last, last-failed ...")
    parser.add_argument(
        "--in", dest="folder", type=Path, metavar="DIR", help="look for the baseline among the logs of DIR"
    )
    parser.add_argument("--why", action="store_true", help="show how each cause's score was made")
    parser.add_argument(
        "--rules", type=Path, metavar="FILE", help="failure rules of your own, beside the built-in ones"
    )
    add_given_files(parser)
    add_format(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    from logscope.cli.inputs import explained
    from logscope.cli.reports import rendered
    from logscope.report.layout import page
    from logscope.report.text import explanation_text

    options.all = True
    answer = explained(options, options.run, None)
    if options.format == "text":
        with page(page_columns()):
            write(explanation_text(answer.explanation, wants_color(options), options.why))
    else:
        write(rendered(answer, options))
    return ExitCode.OK if answer.explanation.causes else ExitCode.DIFFERENT
