"""The schema: its version, its numbered migrations, and the description that is generated from it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from logscope.errors import StoreError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

STORAGE_VERSION = "v1.4.0"
"""Oldest DuckDB whose clients can open the file; 1.4 is the oldest that LogScope runs with."""

_FOLDER = Path(__file__).with_name("migrations")


def migrations() -> tuple[tuple[int, Path], ...]:
    """(version, SQL file) of every step, oldest first."""
    files = sorted(_FOLDER.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    return tuple((int(file.name[:4]), file) for file in files)


VERSION = 2
"""The schema that this program reads and writes; equals the last migration (checked by a test)."""


def create(connection: DuckDBPyConnection, is_kept: bool = True) -> None:
    """Builds the newest schema in an empty database; without comments (60 ms) where it is not kept."""
    import secrets  # 4 ms, and this happens once a store

    connection.execute("BEGIN")  # hundreds of statements, each of which would else be synced to the disk
    for _, file in migrations():
        sql = file.read_text(encoding="utf-8")
        if not is_kept:
            sql = "\n".join(line for line in sql.splitlines() if not line.startswith("COMMENT ON "))
        connection.execute(sql)
    if is_kept:
        _comment_views(connection)
    connection.execute(
        "INSERT INTO meta VALUES ('program', 'logscope'), ('schema_version', ?), ('salt', ?), "
        "('created_at', ?)",
        [
            str(VERSION),
            secrets.token_hex(16) if is_kept else "",
            datetime.now(UTC).isoformat(timespec="seconds"),
        ],
    )
    connection.execute("COMMIT")


def version_of(connection: DuckDBPyConnection, path: Path | None) -> int:
    """The schema version of the open store. Raises StoreError when the file is none or is newer."""
    from logscope.store.engine import engine as duckdb

    try:  # every opening asks this: the catalogue's own tables would cost ten times as much
        facts = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    except (duckdb.CatalogException, duckdb.BinderException):
        facts = {}
    program, version = facts.get("program"), facts.get("schema_version")
    if program != "logscope" or not str(version).isdigit():
        raise StoreError(f"{path}: a DuckDB file, but not a LogScope store", "give another --db")
    if int(str(version)) > VERSION:
        raise StoreError(
            f"{path}: made by a newer LogScope (schema {version}, this one knows {VERSION})",
            "upgrade LogScope",
        )
    return int(str(version))


def migrate(connection: DuckDBPyConnection, path: Path | None) -> None:
    """Brings an older store forward, in one transaction."""
    connection.execute("BEGIN")
    have = version_of(connection, path)
    for version, file in migrations():
        if version > have:
            connection.execute(file.read_text(encoding="utf-8"))
    _comment_views(connection)
    connection.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", [str(VERSION)])
    connection.execute("COMMIT")


def _comment_views(connection: DuckDBPyConnection) -> None:
    """Gives view columns without a comment of their own the comment of the column that they show."""
    rows = connection.execute(
        "SELECT table_name, column_name, comment FROM duckdb_columns() "
        "WHERE NOT internal AND database_name = current_database()"
    ).fetchall()
    views = {
        name
        for (name,) in connection.execute(
            "SELECT view_name FROM duckdb_views() WHERE NOT internal"
        ).fetchall()
    }
    known = {(table, column): comment for table, column, comment in rows if comment is not None}
    for view, column, comment in rows:
        if view not in views or comment is not None:
            continue
        for table in _SHOWN_BY_VIEWS:
            if (table, column) in known:
                text = known[table, column].replace("'", "''")
                connection.execute(f"COMMENT ON COLUMN {view}.{column} IS '{text}'")
                break


_SHOWN_BY_VIEWS = ("runs", "events", "notes", "stages")
"""Tables whose columns the views show, in the order in which a name is looked up."""
