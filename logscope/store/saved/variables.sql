-- Which environment variables were not set in every run, and how did the runs with them end?
SELECT e.name, e.value, count(*) AS runs, count(*) FILTER (r.outcome = 'ready') AS ready
FROM env e JOIN runs r USING (run_no)
GROUP BY ALL HAVING count(*) < (SELECT count(*) FROM runs WHERE env_known) ORDER BY e.name, e.value LIMIT 8
