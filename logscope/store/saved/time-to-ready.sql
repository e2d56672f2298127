-- How long does a launch take until it is ready, by model and release?
SELECT model_key, sglang_version, count(*) AS runs, median(ready_seconds) AS seconds,
       max(ready_seconds) AS longest
FROM runs WHERE ready GROUP BY ALL ORDER BY model_key, min(order_at)
