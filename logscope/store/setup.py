"""How far two runs are from each other, in numbers for the choice and in words for people.

Coarse facts (model, layout, device ...) are weighed over the good runs of a deployment; for the few nearest
the changed arguments, variables and config keys are counted. Weights say how much a difference spoils a
comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Row = dict[str, Any]
Memory = dict[tuple[str, ...], Any]
"""Answers that hold as long as one connection is open."""

COLUMNS = (
    "run_no", "run_id", "path", "order_at", "model_key", "model_path", "served_model_name", "port", "device",
    "tp_size", "dp_size", "pp_size", "ep_size", "nnodes", "speculative_algorithm", "quantization",
    "sglang_version", "host", "gpus", "argv", "env_known", "argv_key", "args_key", "root_fingerprint",
)  # fmt: skip
DEPLOYMENT = ("model_key", "served_model_name", "port")
"""What `same_deployment` asks for."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One coarse fact that a distance counts."""

    name: str
    weight: float
    column: str


OTHER_MODEL = 2.0
MOVED_MODEL = 0.2
"""Same served name and port: the same deployment with its model moved, renamed or mistyped."""

FACTS = (
    Fact("device", 0.6, "device"),
    Fact("tp_size", 0.5, "tp_size"),
    Fact("pp_size", 0.4, "pp_size"),
    Fact("dp_size", 0.3, "dp_size"),
    Fact("ep_size", 0.3, "ep_size"),
    Fact("nnodes", 0.5, "nnodes"),
    Fact("speculative_algorithm", 0.4, "speculative_algorithm"),
    Fact("quantization", 0.4, "quantization"),
    Fact("host", 0.1, "host"),
    Fact("GPUs", 0.4, "gpus"),
    Fact("port", 0.05, "port"),
)
RELEASE = 0.1
"""Another release; the same for all, since a near release need not be a like one."""
LIMIT = 1.5
"""Farther runs are not comparable: another model on the same port alone is beyond it."""

_MAY_BE_UNKNOWN = {"device", "tp_size", "pp_size", "dp_size", "ep_size", "nnodes", "host", "gpus", "port"}
"""Facts of which not knowing says nothing: a run that failed before its args line has none of them."""


def coarse_distance(run: Row, other: Row) -> float:
    """The weight of the coarse facts that differ."""
    distance = 0.0
    if run["model_key"] and other["model_key"] and run["model_key"] != other["model_key"]:
        is_moved = run["served_model_name"] == other["served_model_name"] and run["port"] == other["port"]
        distance += MOVED_MODEL if is_moved and run["served_model_name"] and run["port"] else OTHER_MODEL
    if run["sglang_version"] and other["sglang_version"] and run["sglang_version"] != other["sglang_version"]:
        distance += RELEASE
    return distance + sum(fact.weight for fact in FACTS if _differs(fact, run, other))


def _differs(fact: Fact, run: Row, other: Row) -> bool:
    old, new = other[fact.column], run[fact.column]
    if fact.column in _MAY_BE_UNKNOWN:
        return bool(old and new and old != new)
    return run["model_key"] is not None and old != new


def coarse_differences(run: Row, other: Row) -> list[str]:
    """The coarse facts that differ, from `other` (the earlier one) to `run`, in words."""
    said: list[str] = []
    if run["model_key"] and other["model_key"] and run["model_key"] != other["model_key"]:
        said.append(f"model: {other['model_path']} -> {run['model_path']}")
    if run["sglang_version"] and other["sglang_version"] and run["sglang_version"] != other["sglang_version"]:
        said.append(f"sglang: {other['sglang_version']} -> {run['sglang_version']}")
    said += [
        f"{fact.name}: {_shown(other[fact.column])} -> {_shown(run[fact.column])}"
        for fact in FACTS
        if _differs(fact, run, other)
    ]
    return said


def run_row(connection: DuckDBPyConnection, run_id: str, memory: Memory | None = None) -> Row | None:
    """The facts of one run; every question of a diff begins with them, so `memory` keeps them."""
    kept: dict[str, Row | None] = {} if memory is None else memory.setdefault(("run rows",), {})
    if run_id not in kept:
        rows = rows_where(connection, "r.run_id = $run_id", {"run_id": run_id})
        kept[run_id] = rows[0] if rows else None
    return kept[run_id]


def rows_where(connection: DuckDBPyConnection, where: str, parameters: dict[str, Any]) -> list[Row]:
    """The facts of the runs `r` that fit an SQL condition (which may end with an order and a limit)."""
    columns = ", ".join(f"r.{name}" for name in COLUMNS)
    rows = connection.execute(f"SELECT {columns} FROM runs r WHERE {where}", parameters).fetchall()
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def same_deployment(column: Callable[[str], str] = lambda name: f"r.{name}") -> str:
    """SQL condition: the row is of the deployment of $model_key, $served_model_name and $port."""
    return (
        f"({column('model_key')} = $model_key OR ({column('served_model_name')} = $served_model_name "
        f"AND {column('port')} = $port))"
    )


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "None" if value is None else str(value)
