"""SQL typed by a person: read only, nothing but the store, bounded, and stoppable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from logscope.errors import QueryError
from logscope.store.connection import Database

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_LIMIT = "1GB"
ROW_LIMIT = 1_000_000
"""Rows that one query gives at most; a query that wants more is cut, and this is said."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of a query."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    is_cut: bool = False
    """True when there were more rows than the limit."""


def lock_down(connection: DuckDBPyConnection, memory_limit: str = MEMORY_LIMIT) -> None:
    """From here on this connection reads the open store and nothing else; no setting can be changed back."""
    connection.execute(f"SET memory_limit = '{memory_limit}'")
    connection.execute("SET autoload_known_extensions = false")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def run_query(
    connection: DuckDBPyConnection, sql: str, parameters: Sequence[Any] = (), limit: int = ROW_LIMIT
) -> QueryResult:
    """The rows of one statement. Raises QueryError with one line."""
    import duckdb

    try:
        statements = duckdb.extract_statements(sql)
        if len(statements) != 1:
            count = "no statement" if not statements else f"{len(statements)} statements"
            raise QueryError(f"{count} in the query", "give one")
        cursor = connection.execute(sql, list(parameters))
        description = cursor.description or []
        rows = cursor.fetchmany(limit + 1) if description else []
    except duckdb.InterruptException as error:
        raise QueryError("the query was stopped") from error
    except duckdb.Error as error:
        raise QueryError(one_line(str(error))) from error
    return QueryResult(
        tuple(str(column[0]) for column in description),
        tuple(str(column[1]) for column in description),
        tuple(rows[:limit]),
        is_cut=len(rows) > limit,
    )


def user_query(
    database: Database, sql: str, parameters: Sequence[Any] = (), limit: int = ROW_LIMIT
) -> QueryResult:
    """The rows of a person's query, on a connection of its own that can reach nothing else."""
    with database.reading() as connection:
        if database.path is not None:
            lock_down(connection)
        return run_query(connection, sql, parameters, limit)


def one_line(text: str) -> str:
    """DuckDB's error without the picture of the query."""
    head = text.split("\n\nLINE ")[0].split("\nLINE ")[0]
    return " ".join(head.split())
