-- Which errors end most runs, and since when?
SELECT fingerprint, type, left(message, 60) AS message, was_root AS runs_ended, first_at, last_at
FROM error_history WHERE was_root > 0 ORDER BY was_root DESC, last_at DESC LIMIT 8
