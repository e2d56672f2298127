"""`logscope export`: the store's tables as files, or the report of one run."""

from __future__ import annotations

import argparse
from pathlib import Path

from logscope.cli.common import add_format, note, store_path, write
from logscope.exit_codes import ExitCode

DESCRIPTION = """Without RUN: every table of the store, one file each. With RUN: its rows of every table
(parquet, csv), or its report beside its baseline (json, html)."""
EPILOG = """examples:
  logscope export --format parquet --output store/
  logscope export --format csv --output tables/
  logscope export last-failed --format html --output report.html
  logscope export last --format json > run.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="a run id, a prefix of one, a log's path, last ..."
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="PATH",
        help="folder for tables, file for a report (default: standard output)",
    )
    add_format(parser, ("parquet", "csv", "json", "html"), default="parquet")


def run(options: argparse.Namespace) -> int:
    if options.run is not None and options.format in ("json", "html"):
        return _report(options)
    return _tables(options)


def _tables(options: argparse.Namespace) -> int:
    from logscope.errors import UsageError
    from logscope.store import Store

    if options.format == "html":
        raise UsageError("html is the report of one run", "give RUN")
    if options.output is None:
        raise UsageError("tables go into a folder", "--output FOLDER")
    store = Store.open(store_path(options), read_only=True)
    for file, rows in store.export(options.output, options.format, options.run):
        write(f"{rows:>9}  {file}")
    return ExitCode.OK


def _report(options: argparse.Namespace) -> int:
    from logscope.cli.inputs import explained
    from logscope.cli.reports import rendered
    from logscope.errors import UsageError

    asked = argparse.Namespace(**{"why": False, "all": True, "config": [], "env_file": None, **vars(options)})
    text = rendered(explained(asked, options.run, None), asked)
    if options.output is None:
        write(text)
        return ExitCode.OK
    try:
        options.output.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{options.output}: cannot be written: {error.strerror}") from error
    note(options, f"logscope: wrote {options.output}")
    return ExitCode.OK
