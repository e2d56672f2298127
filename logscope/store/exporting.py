"""The tables as files, for other tools. The salt of the secret masks never leaves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from logscope.errors import StoreError, UsageError
from logscope.store.connection import Database
from logscope.store.loading import BATCH_TABLES
from logscope.store.queries import COPY_OPTIONS
from logscope.store.references import find_run

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

KEPT_BACK = (
    "meta",
    "reader_states",
    "beginnings",
    *(table for table in BATCH_TABLES if table != "throughput_buckets"),
)
"""Inner workings, the salt, and what the views of _VIEWS put together."""
_VIEWS = ("batches", "requests")


def export_tables(
    database: Database, folder: Path, file_format: str, reference: str | None = None
) -> list[tuple[Path, int]]:
    """Writes each table, or the rows of one run, to ``FOLDER/TABLE.FORMAT``; (file, rows) of each.

    Raises UsageError for a format that is none, StoreError when a file cannot be written.
    """
    if file_format not in COPY_OPTIONS:
        raise UsageError(f"{file_format}: no format", f"one of {', '.join(COPY_OPTIONS)}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be made: {error.strerror}") from error
    with database.reading() as connection:
        number = None if reference is None else find_run(connection, reference)
        return [
            (folder / f"{table}.{file_format}", _copy(connection, table, number, folder, file_format))
            for table in _tables(connection)
        ]


def _copy(
    connection: DuckDBPyConnection, table: str, run_no: int | None, folder: Path, file_format: str
) -> int:
    place = str(folder.absolute() / f"{table}.{file_format}").replace("'", "''")
    where = "" if run_no is None else _of_run(table, run_no)
    row = connection.execute(
        f"COPY (SELECT * FROM {table}{where}) TO '{place}' ({COPY_OPTIONS[file_format]})"
    ).fetchone()
    return 0 if row is None else int(row[0])


def _of_run(table: str, run_no: int) -> str:
    if table in ("logs", "sources"):
        return f" WHERE log_id = (SELECT log_id FROM runs WHERE run_no = {run_no})"
    if table == "notes":
        return f" WHERE run_id = (SELECT run_id FROM runs WHERE run_no = {run_no})"
    return f" WHERE run_no = {run_no}"


def _tables(connection: DuckDBPyConnection) -> list[str]:
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal "
        "ORDER BY table_oid"
    ).fetchall()
    return [*(name for (name,) in rows if name not in KEPT_BACK), *_VIEWS]
