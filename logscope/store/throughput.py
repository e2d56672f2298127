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
    decode_lines = d.lines, prefill_lines = p.lines, gen_last = d.gen_last,
    gen_median = d.gen[2], gen_p10 = d.gen[1], gen_p90 = d.gen[3], accept_length = d.accept_length,
    cuda_graph_share = d.cuda_graph_share, input_median = p.input_median, running_max = d.running_max,
    queue_max = greatest(d.queue_max, p.queue_max),
    token_usage_max = coalesce(greatest(d.token_usage_max, p.token_usage_max), x.full_token_usage_max)
FROM (
    SELECT count(*) AS lines,
           arg_max(gen_throughput, line) FILTER (gen_throughput IS NOT NULL) AS gen_last,
           quantile_cont(gen_throughput, [0.1, 0.5, 0.9]) AS gen, median(accept_len) AS accept_length,
           avg(cuda_graph::INTEGER) AS cuda_graph_share, max(running_req) AS running_max,
           max(queue_req) AS queue_max, max(token_usage) AS token_usage_max
    FROM decode_lines WHERE run_no = $no
) d, (
    SELECT count(*) AS lines, median(input_throughput) AS input_median, max(queue_req) AS queue_max,
           max(token_usage) AS token_usage_max
    FROM prefill_lines WHERE run_no = $no
) p, (SELECT max(full_token_usage) AS full_token_usage_max FROM batch_extras WHERE run_no = $no) x
WHERE runs.run_no = $no
"""

_BUCKETS = """
INSERT INTO throughput_buckets (run_no, run_id, running, cuda_graph, lines, median, p10, p90)
SELECT $no, (SELECT run_id FROM runs WHERE run_no = $no), running_req, cuda_graph, lines, q[2], q[1], q[3]
FROM (
    SELECT running_req, cuda_graph, count(*) AS lines, quantile_cont(gen_throughput, [0.1, 0.5, 0.9]) AS q
    FROM decode_lines
    WHERE run_no = $no AND NOT after_idle AND gen_throughput IS NOT NULL AND running_req IS NOT NULL
    GROUP BY ALL
)
ORDER BY running_req, cuda_graph
"""
