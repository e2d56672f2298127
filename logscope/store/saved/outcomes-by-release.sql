-- How do launches end, release by release?
SELECT sglang_version, count(*) AS runs, count(*) FILTER (outcome = 'ready') AS ready,
       count(*) FILTER (outcome = 'failed') AS failed, count(*) FILTER (outcome IN ('killed', 'hung')) AS killed_or_hung
FROM runs GROUP BY sglang_version ORDER BY min(order_at)
