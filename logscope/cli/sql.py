"""`logscope sql`: read-only SQL over the store."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from logscope.cli.common import add_format, note, store_path, write, write_bytes, write_lines
from logscope.cli.stoppable import stoppable
from logscope.exit_codes import ExitCode

if TYPE_CHECKING:
    from logscope.store import Store

DESCRIPTION = """Read-only SQL over the store (DuckDB's dialect); nothing but the store can be reached.
Without a query: a prompt on a terminal, else the tables and views with what they mean."""
EPILOG = """examples:
  logscope sql "SELECT run_id, root_message FROM failures ORDER BY order_at DESC LIMIT 5"
  logscope sql --saved last-good
  logscope sql "FROM throughput_by_run" --format csv > throughput.csv
  logscope sql "FROM batches" --format parquet --output batches.parquet
  echo "FROM last_good" | logscope sql -

exit code: 0, or 2 on an SQL error"""
FORMATS = ("table", "csv", "json", "jsonl", "markdown", "parquet")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "query", nargs="?", metavar="QUERY", help="one SQL statement; '-' reads it from standard input"
    )
    parser.add_argument("--saved", metavar="NAME", help="run a saved query")
    parser.add_argument("--list", action="store_true", help="list the saved queries")
    parser.add_argument("--save", metavar="NAME", help="keep QUERY under this name")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write there instead of to standard output"
    )
    parser.add_argument(
        "--limit", type=int, metavar="N", help="rows at most (default: 1000000; 10000 for table and markdown)"
    )
    add_format(parser, FORMATS, default="table")


def run(options: argparse.Namespace) -> int:
    from logscope.store import Store

    if options.list:
        write_lines(_saved_list().splitlines())
        return ExitCode.OK
    store = Store.open(store_path(options), read_only=True)
    sql = _query(options)
    if sql is None:
        return _without_query(store, options)
    if options.save:
        from logscope.store.saved_queries import save_query

        store.query(f"EXPLAIN {sql}")
        note(options, f"kept as {save_query(options.save, sql)}")
        return ExitCode.OK
    if options.format == "parquet":
        return _parquet(store, sql, options)
    limit = options.limit or (10_000 if options.format in ("table", "markdown") else 1_000_000)
    result = stoppable(lambda started: store.query(sql, limit=limit, started=started))
    from logscope.cli.sql_formats import rendered

    text = rendered(result, options.format)
    if options.output is not None:
        _write_file(options.output, text)
    elif text:
        write(text)
    if result.is_cut:
        note(options, f"logscope: only the first {limit} rows (--limit N for more)")
    return ExitCode.OK


def _query(options: argparse.Namespace) -> str | None:
    from logscope.errors import UsageError

    if options.saved:
        if options.query:
            raise UsageError("--saved has its own query", "leave QUERY out")
        from logscope.store.saved_queries import saved_query

        return saved_query(options.saved).sql
    if options.query == "-":
        return sys.stdin.read()
    query: str | None = options.query
    return query


def _without_query(store: Store, options: argparse.Namespace) -> int:
    if sys.stdin.isatty() and sys.stdout.isatty():
        from logscope.cli.sql_prompt import prompt

        return prompt(store)
    notes = store.tables()
    width = max(len(table.name) for table in notes)
    lines = [f"{table.kind:<5}  {table.name:<{width}}  {table.meaning}" for table in notes]
    write_lines(lines)
    return ExitCode.OK


def _saved_list() -> str:
    from logscope.store.saved_queries import saved_queries

    queries = saved_queries()
    width = max((len(query.name) for query in queries), default=0)
    return "\n".join(f"{query.name:<{width}}  {query.question}" for query in queries)


def _parquet(store: Store, sql: str, options: argparse.Namespace) -> int:
    from logscope.errors import UsageError

    if options.output is not None:
        rows = _export(store, sql, options.output)
        note(options, f"logscope: {rows} rows in {options.output}")
        return ExitCode.OK
    if sys.stdout.isatty():
        raise UsageError("parquet is not for a terminal", "--output FILE, or redirect standard output")
    with tempfile.TemporaryDirectory(prefix="logscope-") as folder:
        file = Path(folder) / "result.parquet"
        _export(store, sql, file)
        write_bytes(file.read_bytes())
    return ExitCode.OK


def _export(store: Store, sql: str, file: Path) -> int:
    return stoppable(lambda started: store.export_query(sql, file, "parquet", started))


def _write_file(path: Path, text: str) -> None:
    from logscope.errors import UsageError

    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
