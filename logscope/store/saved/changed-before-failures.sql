-- Which arguments had just been changed when a launch failed?
SELECT c.name, count(DISTINCT c.run_id) AS failures,
       string_agg(DISTINCT concat(c.before, ' -> ', c.after), '; ' ORDER BY concat(c.before, ' -> ', c.after)) AS changes
FROM arg_changes c JOIN failures f USING (run_id)
WHERE c.name NOT IN ('random_seed', 'nccl_port') AND c.change = 'changed'
GROUP BY c.name ORDER BY failures DESC, c.name LIMIT 8
