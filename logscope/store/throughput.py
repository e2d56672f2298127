"""The throughput summary of a run, kept on its row so that no list has to read batch rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def summarise(connection: DuckDBPyConnection, run_no: int) -> None:
    """Computes summary and buckets of a run from its batch rows, anew."""
    connection.execute("DELETE FROM throughput_buckets WHERE run_no = ?", [run_no])
    connection.execute(_SUMMARY, {"no": run_no})
    connection.execute(_BUCKETS, {"no": run_no})


_SUMMARY = """
UPDATE runs SET
    decode_lines = s.decode_lines, prefill_lines = s.prefill_lines, gen_last = s.gen_last,
    gen_median = s.gen[2], gen_p10 = s.gen[1], gen_p90 = s.gen[3], accept_length = s.accept_length,
    cuda_graph_share = s.cuda_graph_share, input_median = s.input_median, running_max = s.running_max,
    queue_max = s.queue_max, token_usage_max = s.token_usage_max
FROM (
    SELECT count(*) FILTER (kind = 'decode') AS decode_lines, count(*) FILTER (kind = 'prefill') AS prefill_lines,
           arg_max(gen_throughput, line) FILTER (kind = 'decode' AND gen_throughput IS NOT NULL) AS gen_last,
           quantile_cont(gen_throughput, [0.1, 0.5, 0.9]) FILTER (kind = 'decode') AS gen,
           median(accept_len) FILTER (kind = 'decode') AS accept_length,
           avg(cuda_graph::INTEGER) FILTER (kind = 'decode') AS cuda_graph_share,
           median(input_throughput) FILTER (kind = 'prefill') AS input_median,
           max(running_req) FILTER (kind = 'decode') AS running_max, max(queue_req) AS queue_max,
           max(coalesce(token_usage, full_token_usage)) AS token_usage_max
    FROM batches WHERE run_no = $no
) s
WHERE runs.run_no = $no
"""

_BUCKETS = """
INSERT INTO throughput_buckets (run_no, run_id, running, cuda_graph, lines, median, p10, p90)
SELECT run_no, run_id, running_req, cuda_graph, lines, q[2], q[1], q[3]
FROM (
    SELECT run_no, run_id, running_req, cuda_graph, count(*) AS lines,
           quantile_cont(gen_throughput, [0.1, 0.5, 0.9]) AS q
    FROM batches
    WHERE run_no = $no AND kind = 'decode' AND NOT after_idle AND gen_throughput IS NOT NULL
          AND running_req IS NOT NULL
    GROUP BY ALL
)
ORDER BY running_req, cuda_graph
"""
