"""`logscope ingest`: takes logs into the store."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING

from logscope.cli.common import add_format, count, note, shows_progress, store_path, write
from logscope.cli.progress_line import ProgressLine
from logscope.exit_codes import ExitCode
from logscope.report.harmless import harmless
from logscope.store.records import short_id

if TYPE_CHECKING:
    from logscope.store.ingest_report import IngestedPath, IngestReport

DESCRIPTION = """Takes files, folders, globs and '-' (standard input) into the store.
Taking the same log in again changes nothing, a grown file is read on from where it stopped, and a file
that was replaced is a new run. A NAME.context.json beside NAME.log is taken up by itself."""
EPILOG = """examples:
  logscope ingest server.log
  logscope ingest logs/ '/var/log/sglang/*.log.gz'
  kubectl logs sglang-0 | logscope ingest -

exit code: 0 all is in, 2 some path failed (the others are in)"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from logscope.cli.inputs import add_given_files

    parser.add_argument("paths", nargs="+", metavar="PATH", help="a log, a folder, a glob, or '-'")
    parser.add_argument(
        "--reparse",
        action="store_true",
        help="read known logs again, and say what changed (after an upgrade)",
    )
    parser.add_argument(
        "--jobs",
        type=count,
        default=1,
        metavar="N",
        help="read N logs at a time (default: 1; for many small logs)",
    )
    add_given_files(parser)
    add_format(parser, ("text", "json"))


def run(options: argparse.Namespace) -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's, unused here: its threads spin, 20 ms
    from logscope.store import Store
    from logscope.store.surroundings import given_files
    from logscope.tui.headline import keep_headline

    given = given_files(options.config, options.env_file)
    store = Store.open(store_path(options))
    shown = ProgressLine(sys.stderr) if shows_progress(options) else None
    try:
        report = store.ingest(
            options.paths,
            config_files=given.configs,
            env_file=given.env_file,
            reparse=options.reparse,
            progress=shown.begin if shown else None,
            on_bytes=shown.advance if shown else None,
            jobs=max(1, options.jobs),
        )
    except KeyboardInterrupt:
        note(options, "logscope: interrupted (logs that were done are in the store, others left no trace)")
        return ExitCode.INTERRUPTED
    finally:
        if shown:
            shown.clear()
    keep_headline(store_path(options), report)
    write(_as_json(report) if options.format == "json" else _as_text(report, options))
    for failed in report.failed:
        note(options, f"logscope: {harmless(failed.message)}" + (f" ({failed.hint})" if failed.hint else ""))
    return ExitCode.TROUBLE if report.failed else ExitCode.OK


def _as_text(report: IngestReport, options: argparse.Namespace) -> str:
    lines = [line for path in report.paths for line in _lines(path, options.verbose > 0)]
    counts = Counter(path.status.value for path in report.paths)
    parts = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    lines.append(f"{len(report.runs)} runs from {len(report.paths)} paths: {parts or 'nothing'}")
    return "\n".join(lines)


def _lines(path: IngestedPath, verbose: bool) -> list[str]:
    if path.status in ("failed", "skipped"):
        return [f"{path.status:<9} {harmless(path.path)}"] if path.status == "failed" or verbose else []
    lines = [f"{path.status:<9} {harmless(path.path)}  {' '.join(map(short_id, path.runs))}"]
    lines += [f"          {text}" for text in (*path.changes, *(path.notes if verbose else ()))]
    if path.status == "reread" and not path.changes:
        lines.append("          nothing changed")
    return lines


def _as_json(report: IngestReport) -> str:
    paths = [
        {
            "path": path.path,
            "status": path.status.value,
            "runs": list(path.runs),
            "message": path.message or None,
            "new_bytes": path.new_bytes,
            "changes": list(path.changes),
            "notes": list(path.notes),
        }
        for path in report.paths
    ]
    return json.dumps({"schema": "logscope.ingest/1", "paths": paths}, indent=2)
