"""The throughput summary of a run, kept on its row so that no list has to read batch rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


MOST_EXACT = 2_000_000
"""Decode lines of one run up to which its percentiles are exact: they cost some 50 bytes of memory a line.
Beyond, they are estimates within a thousandth or so."""


def summarise(
    connection: DuckDBPyConnection, run_nos: Sequence[int], old_runs: Sequence[int] = ()
) -> None:
    """Computes summary and buckets of these runs from their batch rows; `old_runs` of them have some."""
    numbers = {"nos": list(run_nos)}
    if old_runs:
        connection.execute(f"DELETE FROM throughput_buckets WHERE run_no {_THESE}", {"nos": list(old_runs)})
    lines = connection.execute(_MOST_LINES, numbers).fetchone()
    is_exact = lines is None or lines[0] <= MOST_EXACT
    connection.execute(_quantiles(_SUMMARY, is_exact), numbers)
    connection.execute(_quantiles(_BUCKETS, is_exact), numbers)


def _quantiles(query: str, is_exact: bool) -> str:
    return query if is_exact else query.replace("quantile_cont(", "approx_quantile(")


_THESE = "IN (SELECT unnest($nos::INTEGER[]))"

_MOST_LINES = f"""
SELECT coalesce(max(lines), 0) FROM (
    SELECT count(*) AS lines FROM decode_lines WHERE run_no {_THESE} GROUP BY run_no
)
"""

_SUMMARY = f"""
UPDATE runs SET
    decode_lines = coalesce(s.decode_lines, 0), prefill_lines = coalesce(s.prefill_lines, 0),
    gen_last = s.gen_last, gen_median = s.gen[2], gen_p10 = s.gen[1], gen_p90 = s.gen[3],
    accept_length = s.accept_length, cuda_graph_share = s.cuda_graph_share, input_median = s.input_median,
    running_max = s.running_max, queue_max = greatest(s.decode_queue, s.prefill_queue),
    token_usage_max = coalesce(greatest(s.decode_usage, s.prefill_usage), s.full_usage)
FROM (
    SELECT * FROM (SELECT unnest($nos::INTEGER[]) AS run_no)
    LEFT JOIN (
        SELECT run_no, count(*) AS decode_lines,
               arg_max(gen_throughput, line) FILTER (gen_throughput IS NOT NULL) AS gen_last,
               quantile_cont(gen_throughput, [0.1, 0.5, 0.9]) AS gen, quantile_cont(accept_len,
               0.5) AS accept_length,
               avg(cuda_graph::INTEGER) AS cuda_graph_share, max(running_req) AS running_max,
               max(queue_req) AS decode_queue, max(token_usage) AS decode_usage
        FROM decode_lines WHERE run_no {_THESE} GROUP BY run_no
    ) USING (run_no)
    LEFT JOIN (
        SELECT run_no, count(*) AS prefill_lines, quantile_cont(input_throughput, 0.5) AS input_median,
               max(queue_req) AS prefill_queue, max(token_usage) AS prefill_usage
        FROM prefill_lines WHERE run_no {_THESE} GROUP BY run_no
    ) USING (run_no)
    LEFT JOIN (
        SELECT run_no, max(full_token_usage) AS full_usage
        FROM batch_extras WHERE run_no {_THESE} GROUP BY run_no
    ) USING (run_no)
) s
WHERE runs.run_no = s.run_no
"""

_BUCKETS = f"""
INSERT INTO throughput_buckets (run_no, run_id, running, cuda_graph, lines, median, p10, p90)
SELECT run_no, run_id, running_req, cuda_graph, lines, q[2], q[1], q[3]
FROM (
    SELECT run_no, running_req, cuda_graph, count(*) AS lines,
           quantile_cont(gen_throughput, [0.1, 0.5, 0.9]) AS q
    FROM decode_lines
    WHERE run_no {_THESE} AND NOT after_idle AND gen_throughput IS NOT NULL AND running_req IS NOT NULL
    GROUP BY ALL
) JOIN (SELECT run_no, run_id FROM runs WHERE run_no {_THESE}) USING (run_no)
ORDER BY run_no, running_req, cuda_graph
"""
