"""Drops old runs and gives their room back. Notes stay: they are people's work."""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from logscope.errors import StoreError, UsageError
from logscope.store import schema
from logscope.store.connection import Database, remove_database, run_transaction
from logscope.store.facts import FACT_COLUMNS, FACT_SOURCE, NEWEST_FIRST, facts_of
from logscope.store.loading import delete_runs
from logscope.store.records import RunFacts
from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

STATE_AGE = timedelta(days=30)
"""Reader states of logs that did not change for so long go with every prune: such logs no longer grow."""


@dataclass(frozen=True, slots=True)
class PruneRule:
    """Which runs go: those that fit all that is given."""

    older_than: timedelta | None = None
    keep: int | None = None
    """The newest so many of the others stay."""
    outcomes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pruned:
    """What went."""

    runs: tuple[RunFacts, ...]
    """Newest first."""
    bytes_before: int
    bytes_after: int
    """Equal to `bytes_before` when nothing was written (a trial)."""


def prune(database: Database, rule: PruneRule, now: datetime, only_tell: bool = False) -> Pruned:
    """Drops the runs that the rule names, and compacts the file. Raises UsageError for an empty rule."""
    if rule == PruneRule():
        raise UsageError("prune needs a rule", "--older-than, --keep or --outcome")
    before = _size(database)
    if only_tell:
        with database.reading() as connection:
            return Pruned(_going(connection, rule, now)[1], before, before)
    with database.writing() as connection:
        numbers, runs = _going(connection, rule, now)

        def work() -> None:
            delete_runs(connection, numbers)
            connection.execute(
                "DELETE FROM reader_states WHERE log_id IN (SELECT log_id FROM logs WHERE updated_at < ?)",
                [now - STATE_AGE],
            )

        run_transaction(connection, work)
    compact(database)
    return Pruned(runs, before, _size(database))


def compact(database: Database) -> None:
    """Writes the store anew without holes and puts it in the old one's place.

    Both files are held until the new one stands, so that no writer can end up in the old one.
    """
    path = database.path
    if path is None:
        return
    with database.writing() as holding:  # waits for others, and migrates what is old
        holding.execute("CHECKPOINT")
    fresh = path.with_name(f".{path.name}.compact-{os.getpid()}")
    remove_database(fresh)
    try:
        with database.alone() as connection:
            _copy(connection, str(path), str(fresh))
            fresh.replace(path)
            connection.execute("USE memory")
            connection.execute("DETACH old")
            time.sleep(0.05)  # one who opened the old file before finds it locked until here, and opens again
            connection.execute("DETACH fresh")
    finally:
        remove_database(fresh)


def _copy(connection: DuckDBPyConnection, path: str, fresh: str) -> None:
    connection.execute(f"ATTACH '{_quoted(fresh)}' AS fresh (STORAGE_VERSION '{schema.STORAGE_VERSION}')")
    connection.execute("USE fresh")
    schema.create(connection)
    tables = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'fresh' ORDER BY table_oid"
    ).fetchall()
    connection.execute("SET threads = 1")
    for (table,) in tables:
        connection.execute(f"DELETE FROM fresh.{table}")
        connection.execute(f"INSERT INTO fresh.{table} BY NAME SELECT * FROM old.{table}")
    following = connection.execute("SELECT coalesce(max(run_no), 0) + 1 FROM old.runs").fetchone()
    assert following is not None
    connection.execute(f"CREATE OR REPLACE SEQUENCE run_numbers START {int(following[0])}")
    counts = [
        connection.execute(
            f"SELECT (SELECT count(*) FROM old.{table}) = (SELECT count(*) FROM fresh.{table})"
        ).fetchone()
        for (table,) in tables
    ]
    if not all(count is not None and count[0] for count in counts):
        raise StoreError(f"{path}: the compacted copy is not complete", "the store is as it was")
    connection.execute("CHECKPOINT fresh")


def _going(
    connection: DuckDBPyConnection, rule: PruneRule, now: datetime
) -> tuple[list[int], tuple[RunFacts, ...]]:
    where, values = "true", {}
    if rule.older_than is not None:
        where += " AND r.order_at < $before"
        values["before"] = now - rule.older_than
    names = ", ".join(f"'{outcome}'" for outcome in rule.outcomes if outcome.isalpha())
    if names:
        where += f" AND r.outcome IN ({names})"
    rows = connection.execute(
        f"SELECT {FACT_COLUMNS}, r.run_no FROM {FACT_SOURCE} WHERE {where} {NEWEST_FIRST}", values
    ).fetchall()
    going = rows[rule.keep :] if rule.keep is not None else rows
    return [int(row[-1]) for row in going], tuple(facts_of(row[:-1]) for row in going)


def _size(database: Database) -> int:
    return database.path.stat().st_size if database.path is not None and database.path.exists() else 0


def _quoted(path: str) -> str:
    return path.replace("'", "''")
