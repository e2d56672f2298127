"""The run to compare with: the last successful comparable one, and why.

A success is a run that got ready and did not fail; a person's mark overrides that. Among the successes
before the run the nearest counts, and of equally near ones the last: the launch that a person would
call 'the same thing when it still worked'.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from logscope.store.nearness import FineDifferences, FineValues
from logscope.store.records import Baseline, RunId, short_id
from logscope.store.setup import (
    DEPLOYMENT,
    LIMIT,
    Memory,
    Row,
    coarse_differences,
    coarse_distance,
    rows_where,
    run_row,
    same_deployment,
)
from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

WEIGHED = 200
"""Successes of the deployment that are weighed: those with the same arguments first, then the latest."""
NEAREST = 10
"""Runs whose arguments are compared one by one; all others are ruled out by coarse facts or age."""

GOOD = (
    "CASE r.mark WHEN 'good' THEN true WHEN 'bad' THEN false WHEN 'skip' THEN false "
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


def find_baseline(connection: DuckDBPyConnection, run_id: str, memory: Memory | None = None) -> Baseline:
    """The baseline of a stored run; says why there is none instead of raising."""
    run = run_row(connection, run_id, memory)
    if run is None:
        return Baseline(None, "the run is not in the store", None)
    same_error, any_error = _first_failures(connection, run)
    near = [each for each in _nearest(connection, run, deployment_only=True) if each[1] <= LIMIT]
    if not near:
        rows = _nearest(connection, run, deployment_only=False)
        reason = _none_reason(connection, run, rows)
        return Baseline(None, reason, None, first_bad=same_error, first_failed=any_error)
    values = FineValues(connection, [run, *(row for row, _ in near)])
    ranked = sorted(
        (_Candidate(row, coarse, values.between(row, run)) for row, coarse in near),
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
        first_bad=same_error,
        first_failed=any_error,
    )


def _nearest(connection: DuckDBPyConnection, run: Row, deployment_only: bool) -> list[tuple[Row, float]]:
    """Successes before the run with their coarse distance, the nearest first, of equal ones the latest
    first."""
    names = ["order_at", "run_no", "argv_key", "args_key"]
    where = f"{GOOD} AND {BEFORE}"
    if deployment_only and run["model_key"] is not None:  # any other model is farther than LIMIT
        where += f" AND (r.model_key IS NULL OR {same_deployment()})"
        names += ["model_key", "served_model_name", "port"]
    others = rows_where(
        connection,
        f"{where} ORDER BY coalesce(r.argv_key = $argv_key, r.args_key = $args_key, false) DESC, "
        f"r.order_at DESC, r.run_no DESC LIMIT {WEIGHED}",
        {name: run[name] for name in names},
    )
    weighed = sorted(((coarse_distance(run, other), place) for place, other in enumerate(others)))
    return [(others[place], distance) for distance, place in weighed[:NEAREST]]


def _first_failures(connection: DuckDBPyConnection, run: Row) -> tuple[RunId | None, RunId | None]:
    """The first runs of this deployment since its last success with the same error, and with any.

    None where that is the run itself; without an error of its own, only the second is known.
    """
    if run["model_key"] is None:
        return None, None
    rows = connection.execute(
        f"SELECT r.run_id, {GOOD}, r.outcome IN ('failed', 'hung', 'killed') "
        "AND coalesce(r.mark, '') <> 'skip', r.root_fingerprint "
        f"FROM runs r WHERE {same_deployment()} AND {BEFORE} ORDER BY r.order_at DESC, r.run_no DESC",
        {name: run[name] for name in (*DEPLOYMENT, "order_at", "run_no")},
    )
    same: RunId | None = None
    failed: RunId | None = None
    while (row := rows.fetchone()) is not None:
        run_id, is_good, is_bad, fingerprint = row
        if is_good:
            return same, failed
        if is_bad:
            failed = RunId(run_id)
            if fingerprint is not None and fingerprint == run["root_fingerprint"]:
                same = failed
    return None, None


def _reason(run: Row, best: _Candidate, second: _Candidate | None) -> str:
    said = f"the nearest good run before it: {_same(run, best.row)}, {_away(run, best)}"
    if second is None:
        return f"{said}; no other good run before it is comparable"
    name = f"runner-up {short_id(second.row['run_id'])}"
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
            f"none is comparable: the nearest good run before it is {short_id(row['run_id'])} "
            f"({', '.join(coarse_differences(run, row)) or 'another setup'})"
        )
    count = connection.execute("SELECT count(*) FROM runs").fetchone()
    if count is not None and count[0] <= 1:
        return "none is comparable: it is the only run in the store"
    return "none is comparable: no run before it got ready without failing"


def _seconds(row: Row) -> float:
    at: Any = row["order_at"]
    return 0.0 if at is None else float((at - _EPOCH).total_seconds())
