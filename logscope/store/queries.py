"""SQL typed by a person: read only, nothing but the store, bounded, and stoppable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logscope.errors import QueryError
from logscope.store.connection import Database
from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_LIMIT = "1GB"
ROW_LIMIT = 1_000_000
"""Rows that one query gives at most; a query that wants more is cut, and this is said."""

FILE_FORMATS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl"}
"""Ending of an output file -> its format."""
COPY_OPTIONS = {
    "parquet": "FORMAT parquet",
    "csv": "FORMAT csv, HEADER true",
    "json": "FORMAT json, ARRAY true",
    "jsonl": "FORMAT json",
}


Started = Callable[[Callable[[], None]], None]
"""Is called with a function that stops the query, callable from another thread."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of a query."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    """DuckDB's name of each column's type."""
    rows: tuple[tuple[Any, ...], ...]
    is_cut: bool = False
    """True when there were more rows than the limit."""


def user_query(
    database: Database,
    sql: str,
    parameters: Sequence[Any] = (),
    limit: int = ROW_LIMIT,
    started: Started | None = None,
) -> QueryResult:
    """The rows of a person's query, on a connection that can reach nothing else. Raises QueryError."""
    with database.reading() as connection:
        if database.path is not None:
            _lock_down(connection)
        if started is not None:
            started(_stop_of(connection))
        _one_statement(sql)
        return _run(connection, sql, parameters, limit)


def export_query(
    database: Database,
    sql: str,
    path: Path,
    file_format: str | None = None,
    started: Started | None = None,
) -> int:
    """Writes a query's whole result to a file (its ending says how, without a format); the number of rows.

    Raises QueryError for an unknown ending, a bad query or a file that cannot be written.
    """
    chosen = file_format or FILE_FORMATS.get(path.suffix.lower())
    if chosen not in COPY_OPTIONS:
        raise QueryError(f"{path}: no format known by this ending", f"one of {', '.join(FILE_FORMATS)}")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise QueryError(f"{path}: no file can be written there")
    _must_be_select(sql)
    with database.reading() as connection:
        if database.path is not None:
            _lock_down(connection, writes_to=path.absolute())
        if started is not None:
            started(_stop_of(connection))
        place = str(path.absolute()).replace("'", "''")
        bare = sql.strip().rstrip(";")
        counted = _run(connection, f"COPY ({bare}\n) TO '{place}' ({COPY_OPTIONS[chosen]})", (), 1)
    return int(counted.rows[0][0])


def _stop_of(connection: DuckDBPyConnection) -> Callable[[], None]:
    """Stops what the connection is doing; nothing when it is closed already."""
    from logscope.store.engine import engine as duckdb

    def stop() -> None:
        with suppress(duckdb.ConnectionException):
            connection.interrupt()

    return stop


def _lock_down(connection: DuckDBPyConnection, writes_to: Path | None = None) -> None:
    """From here on this connection reads the open store and nothing else; no setting can be changed back."""
    locked = connection.execute("SELECT current_setting('lock_configuration')").fetchone()
    if locked is not None and locked[0]:
        return  # an earlier query on the same opening has done it
    if writes_to is not None:
        place = str(writes_to).replace("'", "''")
        connection.execute(f"SET allowed_paths = ['{place}']")
    connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
    connection.execute("SET temp_directory = ''")
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET autoload_known_extensions = false")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _run(connection: DuckDBPyConnection, sql: str, parameters: Sequence[Any], limit: int) -> QueryResult:
    from logscope.store.engine import engine as duckdb

    try:
        cursor = connection.execute(sql, list(parameters))
        description = cursor.description or []
        rows = cursor.fetchmany(limit + 1) if description else []
    except duckdb.InterruptException as error:
        raise QueryError("the query was stopped") from error
    except duckdb.Error as error:
        raise QueryError(one_line(str(error))) from error
    except RuntimeError as error:  # what DuckDB 1.x raises after an interrupt
        raise QueryError("the query was stopped") from error
    names, types = (tuple(str(column[part]) for column in description) for part in (0, 1))
    return QueryResult(names, types, tuple(rows[:limit]), is_cut=len(rows) > limit)


def _one_statement(sql: str) -> Any:
    from logscope.store.engine import engine as duckdb

    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise QueryError(one_line(str(error))) from error
    if len(statements) != 1:
        count = "no statement" if not statements else f"{len(statements)} statements"
        raise QueryError(f"{count} in the query", "give one at a time")
    return statements[0]


def _must_be_select(sql: str) -> None:
    from logscope.store.engine import engine as duckdb

    if _one_statement(sql).type != duckdb.StatementType.SELECT:
        raise QueryError("only a SELECT can be written to a file")


def one_line(text: str) -> str:
    """DuckDB's error without the picture of the query."""
    head = text.split("\n\nLINE ")[0].split("\nLINE ")[0]
    return " ".join(head.split())
