"""What earlier runs say: an error's history, what fixed it, how often a value went with it, what is usual."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from logscope.figures import quantile
from logscope.store.baseline import BEFORE, GOOD
from logscope.store.fixes import what_fixed
from logscope.store.json_paths import dump
from logscope.store.records import Contrast, RunId, Seen, SetupSpread, Spread
from logscope.store.setup import DEPLOYMENT, Memory, Row, run_row, same_deployment
from parsers.lazy_dataclass import dataclass
from parsers.records import Json

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

USUAL_RUNS = 50
"""Good runs that a spread is taken over at most: the newest."""
_LAYOUT = (
    "device", "tp_size", "dp_size", "pp_size", "ep_size", "nnodes", "speculative_algorithm", "quantization",
)  # fmt: skip
_OF_SETUP = ("run_no", "run_id", "sglang_version", "gen_median", "accept_length")

_END_OF_TIME = {"order_at": datetime.max, "run_no": 2**31 - 1}


def seen_before(
    connection: DuckDBPyConnection, fingerprint: str, run_id: str | None, memory: Memory | None = None
) -> Seen:
    """What runs before this one say of a fingerprint; all runs where `run_id` is None."""
    time: dict[str, Any] = _END_OF_TIME
    if run_id is not None:
        run = run_row(connection, run_id, memory)
        if run is None:
            return Seen(0, None, None, ())
        time = {"order_at": run["order_at"], "run_no": run["run_no"]}
    known = {} if memory is None or run_id is None else memory.setdefault(("seen", run_id), {})
    if fingerprint not in known:
        _look_up(connection, fingerprint, time, known)
    count, first_run, first_at, ended = known[fingerprint]
    if not count:
        return Seen(0, None, None, ())
    fixes = {} if memory is None or run_id is None else memory.setdefault(("fixes", run_id), {})
    if fingerprint not in fixes:
        fixes[fingerprint] = what_fixed(connection, fingerprint, time) if ended else (None, ())
    fixed_in, fixed_by = fixes[fingerprint]
    return Seen(int(count), RunId(first_run), first_at, fixed_by, fixed_in)


def _look_up(
    connection: DuckDBPyConnection, fingerprint: str, time: dict[str, Any], known: dict[str, Any]
) -> None:
    """A diff asks for one error mostly, which is cheap; where it asks again, all of its errors are told."""
    asked = {**time, "fingerprint": fingerprint}
    if known:
        known[fingerprint] = (0, None, None, 0)
        for name, *told in connection.execute(_SEEN_OF_RUN, asked).fetchall():
            known[name] = told
    else:
        known[fingerprint] = connection.execute(_SEEN, asked).fetchone()


_SEEN = f"""
SELECT count(*), arg_min(r.run_id, (r.order_at, r.run_no)), min(r.order_at),
       count(*) FILTER (r.root_fingerprint = $fingerprint)
FROM runs r
WHERE {BEFORE} AND r.run_no IN (
    SELECT run_no FROM events WHERE fingerprint = $fingerprint AND kind <> 'milestone'
)
"""
"""Earlier runs with a fingerprint, the first one, when that was, how many it ended."""
_SEEN_OF_RUN = f"""
SELECT e.fingerprint, count(DISTINCT r.run_no), arg_min(r.run_id, (r.order_at, r.run_no)), min(r.order_at),
       count(*) FILTER (r.root_fingerprint = e.fingerprint)
FROM events e JOIN runs r USING (run_no)
WHERE e.kind <> 'milestone' AND {BEFORE} AND (
    e.fingerprint = $fingerprint
    OR e.fingerprint IN (SELECT fingerprint FROM events WHERE run_no = $run_no AND kind = 'error')
)
GROUP BY e.fingerprint
"""
"""The same of it and of all errors of the run $run_no."""


def contrast(
    connection: DuckDBPyConnection,
    run_id: str,
    kind: str,
    name: str,
    value: Json,
    fingerprint: str,
    memory: Memory | None = None,
) -> Contrast:
    """How often the value stood in the failures with this error and in the successes of the deployment.

    Runs of which the value cannot be known are left out of both counts.
    """
    key = ("picked", run_id, fingerprint)
    picked = None if memory is None else memory.get(key)
    if picked is None:
        picked = _failures_and_successes(connection, run_row(connection, run_id, memory), fingerprint)
        if memory is not None:
            memory[key] = picked
    values = _known_values(connection, kind, name, picked)
    wanted = _text(value, kind)
    failed = [values[each.run_no] == wanted for each in picked if each.failed and each.run_no in values]
    good = [values[each.run_no] == wanted for each in picked if not each.failed and each.run_no in values]
    return Contrast(sum(failed), len(failed), sum(good), len(good))


@dataclass(frozen=True, slots=True)
class _Picked:
    """A failure with the error in question, or a success of the deployment."""

    run_no: int
    failed: bool
    version: str | None
    env_known: bool


def _failures_and_successes(
    connection: DuckDBPyConnection, run: Row | None, fingerprint: str
) -> list[_Picked]:
    if run is None:
        return []
    rows = connection.execute(
        f"SELECT r.run_no, NOT {GOOD}, r.sglang_version, r.env_known FROM runs r "
        f"WHERE (r.root_fingerprint = $fingerprint AND NOT {GOOD}) OR ({GOOD} AND {same_deployment()})",
        {**{column: run[column] for column in DEPLOYMENT}, "fingerprint": fingerprint},
    ).fetchall()
    return [_Picked(*row) for row in rows]


def _known_values(
    connection: DuckDBPyConnection, kind: str, name: str, picked: Sequence[_Picked]
) -> dict[int, str | None]:
    """run_no -> the value as the store has it, for the runs of which it can be known; None is 'not set'."""
    if kind == "version":
        return {each.run_no: each.version for each in picked if each.version is not None}
    numbers = [each.run_no for each in picked]
    these = "run_no IN (SELECT unnest($numbers::INTEGER[]))"
    if kind == "env":
        shown = _values(
            connection, f"SELECT run_no, value FROM env WHERE name = $name AND {these}", name, numbers
        )
        unset: dict[int, str | None] = {each.run_no: None for each in picked if each.env_known}
        return unset | shown
    if kind == "config":
        role, _, key = name.partition(".")
        configs = connection.execute(
            "SELECT run_no, any_value(value) FILTER (key = $key) FROM model_configs "
            f"WHERE role = $role AND {these} GROUP BY run_no",
            {"role": role, "key": key, "numbers": numbers},
        ).fetchall()
        return dict(configs)
    return _values(
        connection, f"SELECT run_no, value FROM server_args WHERE name = $name AND {these}", name, numbers
    )


def _values(
    connection: DuckDBPyConnection, query: str, name: str, numbers: Sequence[int]
) -> dict[int, str | None]:
    return dict(connection.execute(query, {"name": name, "numbers": list(numbers)}).fetchall())


def _text(value: Json, kind: str) -> str | None:
    if kind in ("env", "version"):
        return None if value is None else str(value)
    return None if value is None and kind == "config" else dump(value)


def usual(
    connection: DuckDBPyConnection, run_id: str, before: bool = True, memory: Memory | None = None
) -> SetupSpread:
    """The spread of the good runs of the same setup; of the same release where three or more are."""
    run = run_row(connection, run_id, memory)
    if run is None:
        return SetupSpread()
    good = _good_of_setup(connection, run, before)
    if not good:
        return SetupSpread()
    numbers = ", ".join(str(row["run_no"]) for row in good)
    spans = connection.execute(
        "SELECT stage, run_no, max(seconds) FILTER (rank = '' AND complete), max(mem_gb) FROM stages "
        f"WHERE run_no IN ({numbers}) GROUP BY ALL ORDER BY run_no"
    ).fetchall()
    warnings = connection.execute(
        f"SELECT fingerprint, count(DISTINCT run_no) FROM events WHERE kind = 'warning' AND run_no IN "
        f"({numbers}) "
        "GROUP BY fingerprint"
    ).fetchall()
    stages = sorted({row[0] for row in spans})
    oldest_first = sorted(good, key=lambda row: int(row["run_no"]))
    return SetupSpread(
        stage_seconds=_by_stage(stages, [(row[0], row[2]) for row in spans]),
        stage_mem_gb=_by_stage(stages, [(row[0], row[3]) for row in spans]),
        gen_throughput=spread(row["gen_median"] for row in oldest_first),
        accept_length=spread(row["accept_length"] for row in oldest_first),
        warnings=dict(warnings),
        runs=tuple(RunId(row["run_id"]) for row in good),
    )


def _good_of_setup(connection: DuckDBPyConnection, run: Row, before: bool) -> list[Row]:
    """Good runs of the same layout; where there are none, of the same device and tensor-parallel size."""
    parameters: dict[str, Any] = {name: run[name] for name in (*DEPLOYMENT, "run_no")}
    where = f"{GOOD} AND {same_deployment()} AND r.run_no <> $run_no"
    if before:
        where += f" AND {BEFORE}"
        parameters["order_at"] = run["order_at"]
    order = f"ORDER BY r.order_at DESC, r.run_no DESC LIMIT {USUAL_RUNS}"
    for layout in (_LAYOUT, _LAYOUT[:2]) if run["tp_size"] is not None else ((),):
        same = "".join(f" AND r.{name} IS NOT DISTINCT FROM ${name}" for name in layout)
        found = connection.execute(
            f"SELECT {', '.join(_OF_SETUP)} FROM runs r WHERE {where}{same} {order}",
            {**parameters, **{name: run[name] for name in layout}},
        ).fetchall()
        rows = [dict(zip(_OF_SETUP, row, strict=True)) for row in found]
        if rows:
            break
    same_release = [row for row in rows if row["sglang_version"] == run["sglang_version"]]
    return same_release if len(same_release) >= 3 else rows


def _by_stage(stages: Sequence[str], values: Sequence[tuple[str, float | None]]) -> dict[str, Spread]:
    spreads = {stage: spread(value for name, value in values if name == stage) for stage in stages}
    return {stage: figures for stage, figures in spreads.items() if figures is not None}


def spread(values: Iterable[float | None]) -> Spread | None:
    """Median and range of the known values (5th to 95th percentile from 20 on); None without any."""
    known = [float(value) for value in values if value is not None]
    if not known:
        return None
    ordered = sorted(known)
    edge = 0.05 if len(known) >= 20 else 0.0
    low, middle, high = (quantile(ordered, part) for part in (edge, 0.5, 1 - edge))
    return Spread(len(known), middle, low, high, tuple(known))
