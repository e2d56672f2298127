-- Which arguments changed from one launch to the next?
SELECT order_at, run_id, name, before, after FROM arg_changes
WHERE name NOT IN ('random_seed', 'nccl_port') AND change = 'changed' ORDER BY order_at, run_id, name LIMIT 10
