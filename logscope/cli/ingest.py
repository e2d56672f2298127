"""`logscope ingest`: takes logs into the store."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING

from logscope.cli.common import add_format, count, drop_output, flush, note, shows_progress, store_path, write
from logscope.cli.progress_line import ProgressLine
from logscope.errors import OutputError
from logscope.exit_codes import ExitCode
from logscope.report.harmless import harmless
from logscope.store.records import short_id

if TYPE_CHECKING:
    from logscope.store.ingest_report import IngestedPath, IngestReport

_NAMED = 3
"""Skipped files that are named without -v."""

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
    teller = _Teller(options)
    try:
        report = store.ingest(
            options.paths,
            config_files=given.configs,
            env_file=given.env_file,
            reparse=options.reparse,
            progress=teller.begin,
            on_bytes=teller.advance,
            on_done=teller.done,
            jobs=options.jobs,
        )
    except KeyboardInterrupt:
        teller.clear()
        note(options, f"logscope: interrupted: {teller.kept()}")
        return ExitCode.INTERRUPTED
    finally:
        teller.clear()
    keep_headline(store_path(options), report)
    if options.format == "json":
        write(_as_json(report))
    else:
        teller.write("\n".join(_summary(report, options)))
    if teller.trouble is not None:
        raise teller.trouble
    for failed in report.failed:
        note(options, f"logscope: {harmless(failed.message)}" + (f" ({failed.hint})" if failed.hint else ""))
    return ExitCode.TROUBLE if report.failed else ExitCode.OK


class _Teller:
    """Says what becomes of each input as soon as it is certain, and how far reading is."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._line = ProgressLine(sys.stderr) if shows_progress(options) else None
        self._is_shown = False
        self._total = 0
        self._done: dict[str, IngestedPath] = {}  # one may be told again after an interrupt
        self._is_closed = False
        self.trouble: OutputError | None = None
        """Why the lines could not be written: told at the end, the rest goes in all the same."""

    def begin(self, path: str, number: int, total: int) -> None:
        self._total = total
        if self._line is not None:
            self._is_shown = True
            self._line.begin(path, number, total)

    def advance(self, done: int, size: int | None) -> None:
        if self._line is not None:
            self._line.advance(done, size)

    def clear(self) -> None:
        if self._line is not None and self._is_shown:
            self._is_shown = False
            self._line.clear()

    def done(self, path: IngestedPath) -> None:
        lines = _lines(path, self._options.verbose > 0)
        if lines and self._options.format == "text":
            self.clear()
            self.write("\n".join(lines))
        self._done[path.path] = path

    def write(self, text: str) -> None:
        """Writes lines at once; where nobody reads them any more, the ingest goes on without."""
        if self._is_closed:
            return
        try:
            write(text)
            flush()
        except BrokenPipeError:
            self._is_closed = True
            drop_output()
        except OutputError as error:
            self._is_closed, self.trouble = True, error

    def kept(self) -> str:
        """What an interrupted ingest leaves in the store."""
        kept = [path for path in self._done.values() if path.status not in ("failed", "skipped")]
        runs = {run for path in kept for run in path.runs}
        left = self._total - len([path for path in self._done.values() if path.status != "failed"])
        if not kept:
            return "nothing of it is in the store"
        from logscope.report.names import counted

        are = "is" if len(kept) == 1 else "are"
        logs, without = f"{counted(len(kept), 'log')} ({counted(len(runs), 'run')})", max(left, 0)
        return f"{logs} {are} in the store, {counted(without, 'input')} left no trace"


def _summary(report: IngestReport, options: argparse.Namespace) -> list[str]:
    counts = Counter(path.status.value for path in report.paths)
    parts = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    skipped = [path for path in report.paths if path.status == "skipped"]
    lines = []
    if options.verbose == 0:
        lines = [line for path in skipped[:_NAMED] for line in _lines(path, verbose=True)]
        if len(skipped) > _NAMED:
            lines.append(f"skipped   {len(skipped) - _NAMED} more (-v names them all)")
    return [*lines, f"{len(report.runs)} runs from {len(report.paths)} paths: {parts or 'nothing'}"]


def _lines(path: IngestedPath, verbose: bool) -> list[str]:
    if path.status == "failed":
        return [f"{path.status:<9} {harmless(path.path)}"]
    if path.status == "skipped":
        return [f"{path.status:<9} {harmless(path.message)}"] if verbose else []
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
