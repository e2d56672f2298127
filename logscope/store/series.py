"""Figures of a run over time, thinned to a bounded number of slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logscope.errors import QueryError
from logscope.store.records import Series, SeriesPoint

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

DECODE_METRICS = frozenset(
    [
        "gen_throughput",
        "running_req",
        "queue_req",
        "token",
        "token_usage",
        "full_token_usage",
        "swa_token_usage",
        "mamba_usage",
        "accept_len",
        "accept_rate",
    ]
)
PREFILL_METRICS = frozenset(
    ["input_throughput", "new_seq", "new_token", "cached_token", "cache_hit_rate", "pending_token"]
)


def thinned_series(connection: DuckDBPyConnection, run_id: str, metric: str, points: int) -> Series:
    """Median and 10th to 90th percentile of a batch column in `points` equal slices of the run's time.

    Lines without a time are left out. Raises QueryError for a column that has no series.
    """
    if metric not in DECODE_METRICS | PREFILL_METRICS:
        known = ", ".join(sorted(DECODE_METRICS | PREFILL_METRICS))
        raise QueryError(f"{metric}: no figure of batch lines", f"one of {known}")
    kind = "decode" if metric in DECODE_METRICS else "prefill"
    rows = connection.execute(
        f"""
        WITH lines AS (
            SELECT epoch_us(logged_at) / 1e6 AS t, {metric} AS v FROM batches
            WHERE run_no = (SELECT run_no FROM runs WHERE run_id = $run) AND kind = '{kind}'
                  AND logged_at IS NOT NULL AND {metric} IS NOT NULL
        ), bounds AS (SELECT min(t) AS t0, greatest((max(t) - min(t)) / $points, 1e-6) AS width FROM lines),
        cut AS (SELECT least(floor((t - t0) / width), $points - 1)::BIGINT AS slice, v, width FROM lines,
        bounds)
        SELECT slice, any_value(width), quantile_cont(v, [0.1, 0.5, 0.9]), count(*) FROM cut GROUP BY slice
        ORDER BY slice
        """,
        {"run": run_id, "points": max(1, points)},
    ).fetchall()
    slices = tuple(SeriesPoint((row[0] + 0.5) * row[1], row[2][1], row[2][0], row[2][2]) for row in rows)
    return Series(metric, slices, sum(row[3] for row in rows))
