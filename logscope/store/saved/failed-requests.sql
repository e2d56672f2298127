-- Which requests were answered with an error?
SELECT run_id, path, status, requests, first_line FROM request_status
WHERE status >= 400 ORDER BY requests DESC, run_id, path LIMIT 6
