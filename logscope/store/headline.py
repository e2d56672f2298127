"""How a run ended, from one row: what can be told of a failure before it is explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from logscope.errors import RunNotFound
from logscope.store.references import find_run
from parsers.lazy_dataclass import dataclass
from parsers.records import RootError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_COLUMNS = "run_id, path, outcome, reason, sglang_version"
_ROOT = (
    "root_type, root_message, root_line, root_rank, root_fingerprint, root_reason, root_ranks, root_excerpt"
)


@dataclass(frozen=True, slots=True)
class Headline:
    """A run's outcome and the error that ended it, without its traceback."""

    run_id: str
    path: str
    outcome: str
    reason: str
    sglang_version: str | None
    root: RootError | None


def newest_failure(connection: DuckDBPyConnection) -> Headline | None:
    """How the newest failed run of the store ended; None when no run failed."""
    try:
        return headline_of(connection, find_run(connection, "last-failed"))
    except RunNotFound:
        return None


def headline_of(connection: DuckDBPyConnection, run_no: int) -> Headline:
    """How the run with this number ended; it must exist."""
    row: Any = connection.execute(
        f"SELECT {_COLUMNS}, {_ROOT} FROM runs WHERE run_no = ?", [run_no]
    ).fetchone()
    kind, message, line, rank, fingerprint, reason, ranks, excerpt = row[5:]
    root = None
    if fingerprint is not None:
        root = RootError(kind, message, line, rank, fingerprint, (), reason, tuple(ranks), excerpt or "")
    run_id, path, outcome, reason, version = row[:5]
    return Headline(run_id, path, outcome, reason, version, root)
