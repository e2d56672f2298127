-- How fast did each run decode? (tokens/s)
SELECT run_id, order_at, sglang_version, decode_lines, round(gen_p10, 1) AS p10, round(gen_median, 1) AS median,
       round(gen_p90, 1) AS p90, running_max
FROM throughput_by_run WHERE decode_lines > 0 ORDER BY order_at DESC LIMIT 8
