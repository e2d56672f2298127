-- Which run was the last good one of each model?
SELECT model_key, run_id, order_at, sglang_version, tp_size, round(gen_median, 1) AS gen_median
FROM last_good ORDER BY model_key
