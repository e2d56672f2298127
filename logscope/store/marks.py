"""People's words on runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from logscope.errors import UsageError
from logscope.store.records import Mark

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

VERDICTS = ("good", "bad", "skip")


def add_mark(connection: DuckDBPyConnection, run_no: int, verdict: str, note: str) -> Mark:
    """Notes a verdict; the newest one counts. Call it inside a transaction."""
    if verdict not in VERDICTS:
        raise UsageError(f"{verdict}: no verdict", f"one of {', '.join(VERDICTS)}")
    now = datetime.now(UTC).replace(tzinfo=None)
    connection.execute(
        "INSERT INTO notes (run_id, verdict, note, noted_at, path) "
        "SELECT run_id, ?, ?, ?, path FROM runs WHERE run_no = ?",
        [verdict, note, now, run_no],
    )
    connection.execute("UPDATE runs SET mark = ?, mark_note = ? WHERE run_no = ?", [verdict, note, run_no])
    return Mark(verdict, note, now)


def put_marks_back(connection: DuckDBPyConnection, run_nos: Sequence[int]) -> None:
    """Puts the newest note of each of these runs on its row: rows are written anew when a log has grown."""
    connection.execute(
        "UPDATE runs SET mark = m.verdict, mark_note = m.note FROM marks m "
        "WHERE runs.run_id = m.run_id AND runs.run_no IN (SELECT unnest(?::INTEGER[]))",
        [list(run_nos)],
    )
