"""The run list: one row a run, from facts kept on ``runs``."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from logscope.store.records import RunFacts, RunId
from parsers.records import Outcome, Stage

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FACT_COLUMNS = (
    "r.run_id, r.path, r.ordinal, r.started_at, r.outcome, r.ready, r.stage, r.reason, r.sglang_version, "
    "r.model_path, r.tp_size, r.dp_size, r.pp_size, r.ep_size, r.quantization, r.speculative_algorithm, r.device, "
    "r.host, r.root_type, r.root_message, r.root_fingerprint, r.ready_seconds, r.gen_median, m.verdict, m.note"
)
FACT_SOURCE = "runs r LEFT JOIN marks m ON m.run_id = r.run_id"
NEWEST_FIRST = "ORDER BY r.order_at DESC NULLS LAST, r.run_no DESC"


def all_facts(
    connection: DuckDBPyConnection, where: str = "true", parameters: dict[str, Any] | None = None
) -> list[RunFacts]:
    """The runs that fit, newest first."""
    rows = connection.execute(
        f"SELECT {FACT_COLUMNS} FROM {FACT_SOURCE} WHERE {where} {NEWEST_FIRST}", parameters or {}
    ).fetchall()
    return [facts_of(row) for row in rows]


def facts_of(row: tuple[Any, ...]) -> RunFacts:
    """The record of one row of FACT_COLUMNS."""
    names = (field.name for field in fields(RunFacts))
    held = dict(zip(names, row, strict=True))
    held["run_id"] = RunId(held["run_id"])
    held["outcome"] = Outcome(held["outcome"])
    held["stage"] = None if held["stage"] is None else Stage(held["stage"])
    return RunFacts(**held)
