-- In which release was each fatal error first seen?
SELECT r.root_type, left(r.root_message, 50) AS message, arg_min(r.sglang_version, r.order_at) AS first_release,
       min(r.order_at) AS first_at, count(*) AS runs
FROM runs r WHERE r.root_fingerprint IS NOT NULL
GROUP BY r.root_fingerprint, r.root_type, r.root_message ORDER BY first_at LIMIT 8
