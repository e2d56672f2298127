"""docs/schema.md, made from the comments of the schema: ``python -m logscope.store.schema_text >
docs/schema.md``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from logscope.store import schema
from logscope.store.loading import BATCH_TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

INNER = ("meta", "logs", "reader_states", *(table for table in BATCH_TABLES if table != "throughput_buckets"))
"""Tables that no everyday question needs; they come last."""
_LIKE_TABLES = ("batches", "requests")
"""Views that put narrow tables together: to people they are tables."""

_HEAD = """# Tables and views

Generated from the comments in the store (`python -m logscope.store.schema_text`); `logscope sql` without a
query lists the same. Schema version {version}; the file can be opened by DuckDB {storage} and newer.

Times are as the log prints them, without a zone, unless a column says UTC. `run_no` joins the long tables
fast; `run_id` is the id that all commands show. Questions with their queries: [sql.md](sql.md).
"""


def schema_markdown() -> str:
    """All tables and views with the meaning of each column."""
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        schema.create(connection)
        return _markdown(connection)
    finally:
        connection.close()


def _markdown(connection: DuckDBPyConnection) -> str:
    kinds = dict(
        connection.execute(
            "SELECT table_name, 'table' FROM duckdb_tables() WHERE NOT internal "
            "UNION ALL SELECT view_name, 'view' FROM duckdb_views() WHERE NOT internal"
        ).fetchall()
    )
    tables = [name for name, kind in kinds.items() if kind == "table" and name not in INNER]
    views = [name for name, kind in kinds.items() if kind == "view" and name not in _LIKE_TABLES]
    parts = [_HEAD.format(version=schema.VERSION, storage=schema.STORAGE_VERSION.removeprefix("v"))]
    for title, names in (("Tables", [*tables, *_LIKE_TABLES]), ("Views", views), ("Inner tables", INNER)):
        parts.append(f"## {title}\n")
        parts += [_section(connection, name) for name in sorted(names)]
    return "\n".join(parts)


def _section(connection: DuckDBPyConnection, name: str) -> str:
    meaning = connection.execute(
        "SELECT comment FROM duckdb_tables() WHERE table_name = $name "
        "UNION ALL SELECT comment FROM duckdb_views() WHERE view_name = $name",
        {"name": name},
    ).fetchone()
    columns = connection.execute(
        "SELECT column_name, data_type, comment FROM duckdb_columns() WHERE table_name = ? ORDER BY "
        "column_index",
        [name],
    ).fetchall()
    rows = "\n".join(f"| `{column}` | {kind} | {comment} |" for column, kind, comment in columns)
    said = meaning[0] if meaning else ""
    return f"### {name}\n\n{said}.\n\n| column | type | meaning |\n|---|---|---|\n{rows}\n"


if __name__ == "__main__":
    sys.stdout.write(schema_markdown())
