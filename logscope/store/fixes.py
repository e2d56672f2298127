"""What fixed an error: what changed least from a run that it ended to the next good run of the deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from logscope.store.baseline import BEFORE, GOOD
from logscope.store.nearness import FineValues
from logscope.store.records import RunId
from logscope.store.setup import DEPLOYMENT, Row, coarse_differences, rows_where, same_deployment

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FIXES = 3
"""Failures, the newest, that are looked at."""


def what_fixed(
    connection: DuckDBPyConnection, fingerprint: str, time: dict[str, Any]
) -> tuple[RunId | None, tuple[str, ...]]:
    """The good run whose difference to a failure before it is the least, and the difference in words.

    `time`: order_at and run_no of the run before which one looks. The fewer things changed, the surer one of
    them was the fix; of equal pairs the newest counts. A run without words: it went away by itself.
    """
    failures = rows_where(
        connection,
        f"r.root_fingerprint = $fingerprint AND {BEFORE} "
        f"ORDER BY r.order_at DESC, r.run_no DESC LIMIT {FIXES}",
        {**time, "fingerprint": fingerprint},
    )
    successors = _next_good(connection, failures, time)
    if not successors:
        return None, ()
    values = FineValues(connection, [*failures, *successors.values()])
    told = []
    for failed in failures:
        good = successors.get(failed["run_no"])
        if good is None:
            continue
        words = (*coarse_differences(good, failed), *values.between(failed, good).words)
        told.append((RunId(good["run_id"]), words))
    changed = [each for each in told if each[1]]
    if not changed:
        return told[0] if told else (None, ())
    return min(changed, key=lambda each: len(each[1]))


def _next_good(connection: DuckDBPyConnection, failures: list[Row], time: dict[str, Any]) -> dict[int, Row]:
    """run_no of a failure -> the first good run of its deployment after it."""
    next_number: dict[int, int] = {}
    for deployment, its_failures in _by_deployment(failures).items():
        good = connection.execute(
            f"SELECT r.order_at, r.run_no FROM runs r WHERE {GOOD} AND {BEFORE} AND {same_deployment()} "
            "AND r.order_at >= $since ORDER BY r.order_at, r.run_no",
            {**time, **dict(zip(DEPLOYMENT, deployment, strict=True)), "since": its_failures[-1]["order_at"]},
        ).fetchall()
        for failed in its_failures:
            later = next((one for one in good if one > (failed["order_at"], failed["run_no"])), None)
            if later is not None:
                next_number[failed["run_no"]] = later[1]
    if not next_number:
        return {}
    numbers = ", ".join(str(number) for number in set(next_number.values()))
    by_number = {row["run_no"]: row for row in rows_where(connection, f"r.run_no IN ({numbers})", {})}
    return {failed: by_number[good] for failed, good in next_number.items()}


def _by_deployment(failures: list[Row]) -> dict[tuple[Any, ...], list[Row]]:
    """The failures of each deployment, the newest first as they come."""
    gathered: dict[tuple[Any, ...], list[Row]] = {}
    for failed in failures:
        gathered.setdefault(tuple(failed[name] for name in DEPLOYMENT), []).append(failed)
    return gathered
