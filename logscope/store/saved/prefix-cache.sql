-- What share of prompt tokens came from the prefix cache?
SELECT b.run_id, sum(b.new_token) AS computed, sum(b.cached_token) AS cached,
       round(sum(b.cached_token) / nullif(sum(b.new_token) + sum(b.cached_token), 0), 3) AS share
FROM batches b JOIN runs r USING (run_no) WHERE b.kind = 'prefill'
GROUP BY b.run_id, r.order_at ORDER BY r.order_at DESC LIMIT 6
