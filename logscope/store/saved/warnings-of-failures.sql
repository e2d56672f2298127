-- Which warnings stand in failures but in no good run of the same model?
SELECT r.model_key, e.type, left(e.message, 60) AS message, count(DISTINCT r.run_id) AS failures
FROM events e JOIN runs r USING (run_no)
WHERE e.kind = 'warning' AND r.outcome = 'failed' AND r.model_key IN (SELECT model_key FROM good_runs)
  AND NOT EXISTS (FROM events f JOIN good_runs g USING (run_no)
                  WHERE g.model_key = r.model_key AND f.fingerprint = e.fingerprint)
GROUP BY r.model_key, e.fingerprint, e.type, e.message ORDER BY failures DESC, r.model_key, message LIMIT 8
