-- Which launches stand in which file?
SELECT parse_filename(path) AS file, count(*) AS launches, string_agg(run_id, ' ' ORDER BY ordinal) AS runs
FROM run_sources WHERE is_current GROUP BY path ORDER BY launches DESC, file LIMIT 5
