-- Which argument values stand in failures only, never in a good run of the same model?
SELECT r.model_key, a.name, a.text AS value, count(*) AS failures
FROM server_args a JOIN runs r USING (run_no)
WHERE r.outcome IN ('failed', 'hung') AND a.name NOT IN ('random_seed', 'nccl_port')
  AND NOT EXISTS (FROM server_args b JOIN good_runs g USING (run_no)
                  WHERE g.model_key = r.model_key AND b.name = a.name AND b.value = a.value)
  AND r.model_key IN (SELECT model_key FROM good_runs)
GROUP BY ALL ORDER BY failures DESC, r.model_key, a.name LIMIT 10
