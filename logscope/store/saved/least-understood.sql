-- Of which logs was least understood?
SELECT run_id, lines, lines_unknown, round(100 * lines_unknown / lines, 1) AS percent, lines_torn, parse_filename(path) AS log
FROM runs WHERE lines > 0 ORDER BY percent DESC, run_id LIMIT 5
