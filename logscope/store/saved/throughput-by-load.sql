-- How fast does a run decode at each number of running requests?
SELECT b.run_id, b.running, b.cuda_graph, b.lines, round(b.median, 1) AS median, round(b.p10, 1) AS p10, round(b.p90, 1) AS p90
FROM throughput_buckets b JOIN runs r USING (run_no)
WHERE b.lines >= 5 ORDER BY r.order_at DESC, b.running LIMIT 10
