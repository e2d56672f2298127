"""The run to compare with: the last successful comparable one, and why.

A success is a run that got ready and did not fail; a person's mark overrides that. Among the successes
before the run the nearest counts, and of equally near ones the last: the launch that a person would
call 'the same thing when it still worked'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from logscope.store.nearness import FineDifferences, fine_differences
from logscope.store.records import Baseline, RunId
from logscope.store.setup import (
    COLUMNS,
    LIMIT,
    Row,
    coarse_differences,
    distance_parameters,
    distance_sql,
    run_row,
    same_deployment,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NEAREST = 24
"""Runs whose arguments are compared one by one; all others are ruled out by coarse facts or age."""

GOOD = (
    "CASE m.verdict WHEN 'good' THEN true WHEN 'bad' THEN false WHEN 'skip' THEN false "
    "ELSE r.ready AND r.outcome NOT IN ('failed', 'hung', 'killed') END"
)
"""SQL: the run counts as a success."""
BEFORE = "(r.order_at < $order_at OR (r.order_at IS NOT DISTINCT FROM $order_at AND r.run_no < $run_no))"

_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class _Candidate:
    row: Row
    coarse: float
    fine: FineDifferences

    @property
    def distance(self) -> float:
        return round(self.coarse + self.fine.distance, 4)


def find_baseline(connection: DuckDBPyConnection, run_id: str) -> Baseline:
    """The baseline of a stored run; says why there is none instead of raising."""
    run = run_row(connection, run_id)
    if run is None:
        return Baseline(None, "the run is not in the store", None)
    rows = _nearest(connection, run)
    near = [(row, coarse) for row, coarse in rows if coarse <= LIMIT]
    if not near:
        return Baseline(
            None, _none_reason(connection, run, rows), None, first_bad=_first_bad(connection, run)
        )
    fine = fine_differences(connection, run, [row for row, _ in near])
    ranked = sorted(
        (_Candidate(row, coarse, fine[row["run_no"]]) for row, coarse in near),
        key=lambda one: (one.distance, -_seconds(one.row), -one.row["run_no"]),
    )
    best = ranked[0]
    second = ranked[1] if len(ranked) > 1 else None
    return Baseline(
        run_id=RunId(best.row["run_id"]),
        reason=_reason(run, best, second),
        distance=best.distance,
        differences=(*coarse_differences(run, best.row), *best.fine.words),
        runner_up=None if second is None else RunId(second.row["run_id"]),
        first_bad=_first_bad(connection, run),
    )


def _nearest(connection: DuckDBPyConnection, run: Row) -> list[tuple[Row, float]]:
    """Successes before the run, coarsely nearest first, of equal ones the latest first."""
    columns = ", ".join(f"r.{name}" for name in COLUMNS)
    rows = connection.execute(
        f"SELECT {columns}, {distance_sql()} AS distance FROM runs r LEFT JOIN marks m ON m.run_id = r.run_id "
        f"WHERE {GOOD} AND {BEFORE} ORDER BY distance, r.order_at DESC, r.run_no DESC LIMIT {NEAREST}",
        {**distance_parameters(run), "order_at": run["order_at"], "run_no": run["run_no"]},
    ).fetchall()
    return [(dict(zip(COLUMNS, row, strict=False)), float(row[-1])) for row in rows]


def _first_bad(connection: DuckDBPyConnection, run: Row) -> RunId | None:
    """The first failed run of this deployment since its last success, when that is an earlier one."""
    if run["model_key"] is None:
        return None
    parameters = {
        name: run[name] for name in ("model_key", "served_model_name", "port", "order_at", "run_no")
    }
    row = connection.execute(
        f"WITH earlier AS (SELECT r.*, {GOOD} AS good, m.verdict FROM runs r LEFT JOIN marks m ON m.run_id = r.run_id "
        f"WHERE {same_deployment()} AND {BEFORE}), "
        "last AS (SELECT order_at, run_no FROM earlier WHERE good ORDER BY order_at DESC, run_no DESC LIMIT 1) "
        "SELECT e.run_id FROM earlier e, last WHERE NOT e.good AND (e.verdict IS NULL OR e.verdict <> 'skip') "
        "AND e.outcome IN ('failed', 'hung', 'killed') "
        "AND (e.order_at > last.order_at OR (e.order_at = last.order_at AND e.run_no > last.run_no)) "
        "ORDER BY e.order_at, e.run_no LIMIT 1",
        parameters,
    ).fetchone()
    return None if row is None else RunId(row[0])


def _reason(run: Row, best: _Candidate, second: _Candidate | None) -> str:
    said = f"the nearest good run before it: {_same(run, best.row)}, {_away(run, best)}"
    if second is None:
        return f"{said}; no other good run before it is comparable"
    name = f"runner-up {second.row['run_id']}"
    if second.distance == best.distance:
        return f"{said}; {name} is as near, but earlier"
    return f"{said}; {name} is {_away(run, second)}"


def _same(run: Row, other: Row) -> str:
    same = [
        name
        for name, column in (("model", "model_key"), ("tp", "tp_size"), ("version", "sglang_version"))
        if run[column] is not None and run[column] == other[column]
    ]
    return f"same {_listed(same)}" if same else "little is known of this run"


def _away(run: Row, candidate: _Candidate) -> str:
    """``3 arguments and 1 release away``, with the facts that weigh most by name."""
    coarse, fine = coarse_differences(run, candidate.row), candidate.fine
    parts = [text for text in coarse if not text.startswith("sglang: ")]
    counts = (
        (len(fine.arguments), "argument"),
        (len(fine.env), "variable"),
        (len(fine.configs), "config key"),
        (len(coarse) - len(parts), "release"),
    )
    parts += [f"{count} {one}{'s' if count > 1 else ''}" for count, one in counts if count]
    if parts:
        return f"{_listed(parts)} away"
    if fine.compared_arguments:
        return "nothing differs in its arguments"
    return "its arguments could not be compared"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _none_reason(connection: DuckDBPyConnection, run: Row, rows: list[tuple[Row, float]]) -> str:
    if rows:
        row, _ = rows[0]
        return (
            f"none is comparable: the nearest good run before it is {row['run_id']} "
            f"({', '.join(coarse_differences(run, row)) or 'another setup'})"
        )
    count = connection.execute("SELECT count(*) FROM runs").fetchone()
    if count is not None and count[0] <= 1:
        return "none is comparable: it is the only run in the store"
    return "none is comparable: no run before it got ready without failing"


def _seconds(row: Row) -> float:
    at: Any = row["order_at"]
    return 0.0 if at is None else float((at - _EPOCH).total_seconds())
