"""Questions over all runs that screens ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logscope.store.records import ErrorHistory, RunId
from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def error_history(connection: DuckDBPyConnection) -> tuple[ErrorHistory, ...]:
    """Every error and warning over all runs, what ended most runs first."""
    rows = connection.execute(
        "SELECT h.fingerprint, h.level, h.type, h.message, h.count, h.runs, h.was_root, h.first_at, "
        "h.last_at, "
        "h.last_run, min(e.line), h.benign FROM error_history h "
        "JOIN events e ON e.run_id = h.last_run AND e.fingerprint = h.fingerprint AND e.kind <> 'milestone' "
        "GROUP BY ALL ORDER BY h.was_root DESC, h.runs DESC, h.fingerprint"
    ).fetchall()
    return tuple(
        ErrorHistory(
            fingerprint=row[0],
            level=row[1],
            type=row[2],
            message=row[3],
            occurrences=int(row[4]),
            runs=int(row[5]),
            ended_runs=int(row[6]),
            first_at=row[7],
            last_at=row[8],
            last_run=RunId(row[9]),
            last_line=int(row[10]),
            benign=bool(row[11]),
        )
        for row in rows
    )


def columns_of_tables(connection: DuckDBPyConnection) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """(table or view, its (column, type) pairs), tables first."""
    rows = connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE database_name = current_database() AND NOT internal ORDER BY table_name, column_index"
    ).fetchall()
    tables: dict[str, list[tuple[str, str]]] = {}
    for table, column, kind in rows:
        tables.setdefault(str(table), []).append((str(column), str(kind)))
    return tuple((name, tuple(columns)) for name, columns in tables.items())


@dataclass(frozen=True, slots=True)
class TableNote:
    """A table or view in one line."""

    name: str
    kind: str
    """``table`` or ``view``."""
    meaning: str
    rows: int | None
    """As DuckDB estimates it; None for a view."""


def table_notes(connection: DuckDBPyConnection) -> tuple[TableNote, ...]:
    """Tables, then views, with their comments."""
    tables = connection.execute(
        "SELECT table_name, 'table', coalesce(comment, ''), estimated_size FROM duckdb_tables() "
        "WHERE database_name = current_database() AND NOT internal "
        "UNION ALL SELECT view_name, 'view', coalesce(comment, ''), NULL FROM duckdb_views() "
        "WHERE database_name = current_database() AND NOT internal ORDER BY 2, 1"
    ).fetchall()
    return tuple(TableNote(*row) for row in tables)
