"""The run list: one row a run, from facts kept on ``runs``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from logscope.store.records import RunFacts
from parsers.records import Outcome, Stage

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FACT_COLUMNS = (
    "r.run_id, r.path, r.ordinal, coalesce(r.started_at, r.context_start), r.outcome, r.ready, r.stage, "
    "r.reason, r.sglang_version, "
    "r.model_path, r.tp_size, r.dp_size, r.pp_size, r.ep_size, r.quantization, r.speculative_algorithm, "
    "r.device, "
    "r.host, r.root_type, r.root_message, r.root_fingerprint, r.ready_seconds, r.gen_median, r.mark, "
    "r.mark_note, r.running_max"
)
FACT_SOURCE = "runs r"
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
    make: Any = RunFacts  # 5,000 rows: by position, in the order of FACT_COLUMNS
    facts: RunFacts = make(*row[:4], _OUTCOMES[row[4]], row[5], _STAGES.get(row[6]), *row[7:])
    return facts


_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_STAGES = {stage.value: stage for stage in Stage}
