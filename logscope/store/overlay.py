"""A store in memory that begins as a copy of the one on disk: to compare a log that is not in it yet.

Batch and access rows stay behind: they are nearly all the bytes, and their summaries stand in `runs`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from logscope.store.connection import Database

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LEFT_BEHIND = ("decode_lines", "prefill_lines", "batch_extras", "access_lines", "reader_states", "beginnings")


def copied(path: Path) -> Database:
    """A database in memory with what the store at `path` knows. Raises StoreError, StoreLocked."""
    disk = Database(path, read_only=True)
    with disk.reading():
        pass  # waits for a lock and says what is wrong with the file, before it is attached
    database = Database(None)
    database.beside, database.is_copy = disk, True
    place = str(path).replace("'", "''")
    with database.writing() as connection:
        connection.execute(f"ATTACH '{place}' AS disk (READ_ONLY)")
        for table in _tables(connection):
            connection.execute(f"DELETE FROM {table}")
            connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM disk.{table}")
        connection.execute("DETACH disk")
        highest = connection.execute("SELECT coalesce(max(run_no), 0) FROM runs").fetchone()
        start = 1 + (0 if highest is None else int(highest[0]))
        connection.execute(f"CREATE OR REPLACE SEQUENCE run_numbers START {start}")
    return database


def _tables(connection: DuckDBPyConnection) -> list[str]:
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'disk' AND NOT internal "
        "ORDER BY table_oid"
    ).fetchall()
    return [name for (name,) in rows if name not in LEFT_BEHIND]
