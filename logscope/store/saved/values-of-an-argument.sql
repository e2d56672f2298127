-- Which values of an argument were tried, and how did those runs end? (here: max_running_requests)
SELECT r.model_key, a.text AS value, count(*) AS runs, count(*) FILTER (g.run_no IS NOT NULL) AS good,
       max(r.order_at) AS last_used
FROM server_args a JOIN runs r USING (run_no) LEFT JOIN good_runs g USING (run_no)
WHERE a.name = 'max_running_requests' GROUP BY ALL ORDER BY r.model_key, last_used
