-- What failed lately, at which stage, and why?
SELECT run_id, order_at, outcome, stage, root_type, left(root_message, 60) AS message
FROM failures ORDER BY order_at DESC LIMIT 8
