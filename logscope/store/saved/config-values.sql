-- Which keys of a model's config.json had several values over its launches?
SELECT r.model_key, c.role, c.key, list(DISTINCT c.value ORDER BY c.value) AS seen
FROM model_configs c JOIN runs r USING (run_no)
GROUP BY ALL HAVING count(DISTINCT c.value) > 1 ORDER BY r.model_key, c.role, c.key LIMIT 8
