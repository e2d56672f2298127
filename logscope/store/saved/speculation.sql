-- How many tokens does each draft model get accepted per step?
SELECT r.run_id, max(a.text) FILTER (a.name = 'speculative_draft_model_path') AS draft_model,
       max(a.text) FILTER (a.name = 'speculative_num_steps') AS steps, r.accept_length,
       round(r.gen_median, 1) AS gen_median
FROM runs r JOIN server_args a USING (run_no)
WHERE r.accept_length IS NOT NULL GROUP BY ALL ORDER BY max(r.order_at)
