-- In which stage do launches spend their time?
SELECT stage, count(*) AS runs, median(seconds) AS median_seconds, max(seconds) AS longest,
       arg_max(run_id, seconds) AS longest_run
FROM stage_times WHERE complete AND stage <> 'serving' GROUP BY stage ORDER BY longest DESC, stage
