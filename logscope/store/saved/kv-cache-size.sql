-- How many tokens fit into the KV cache of each run?
SELECT r.run_id, r.model_key, r.sglang_version, max(list_extract(figure, 2)::BIGINT) AS tokens
FROM runs r JOIN events e USING (run_no),
     unnest(from_json(e.figures, '[["VARCHAR"]]')) AS figures(figure)
WHERE e.name = 'limits' AND list_extract(figure, 1) = 'max_total_num_tokens'
GROUP BY ALL ORDER BY max(r.order_at) DESC LIMIT 6
