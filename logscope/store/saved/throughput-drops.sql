-- Which good runs decode less than 80 % of the good run before them, at the same load?
WITH paced AS (
    SELECT g.run_id, g.order_at, g.model_key, b.running, b.median,
           lag(b.median) OVER w AS before, lag(g.run_id) OVER w AS run_before
    FROM good_runs g JOIN throughput_buckets b USING (run_no) WHERE b.lines >= 5
    WINDOW w AS (PARTITION BY g.model_key, g.port, b.running, b.cuda_graph ORDER BY g.order_at)
)
SELECT run_id, run_before, running, round(before, 1) AS before, round(median, 1) AS now,
       round(median / before, 2) AS ratio
FROM paced WHERE median < 0.8 * before ORDER BY order_at, running
