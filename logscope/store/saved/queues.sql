-- When did requests wait, and how many?
SELECT run_id, time_bucket(INTERVAL 10 SECOND, logged_at) AS at_time, max(queue_req) AS waiting,
       max(running_req) AS running
FROM batches WHERE queue_req > 0 GROUP BY ALL ORDER BY waiting DESC, run_id, at_time LIMIT 6
