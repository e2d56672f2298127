-- Version 2. A file that is the beginning of a longer log holds that log's launches up to its own end, and
-- a copy in another encoding or with other line ends is the same log: identity is that of the text.

ALTER TABLE logs ADD COLUMN text_size BIGINT;
ALTER TABLE logs ADD COLUMN text_crc32 BIGINT;
COMMENT ON COLUMN logs.text_size IS 'Bytes of the text taken in so far, in UTF-8 with plain line ends; null for a log that schema 1 took in: as bytes_read';
COMMENT ON COLUMN logs.text_crc32 IS 'CRC-32 of that text; null for a log that schema 1 took in: as crc32';

ALTER TABLE sources ADD COLUMN lines BIGINT;
COMMENT ON COLUMN sources.lines IS 'Lines of the log that the file held when it was last seen: fewer than the log has where the file is a copy of its beginning; null for one last seen by schema 1: all of them';

CREATE TABLE beginnings (log_id VARCHAR, size BIGINT, crc32 BIGINT);
COMMENT ON TABLE beginnings IS 'Checksums after each of the first lines of a log, by which a copy of its beginning is recognised; internal';
COMMENT ON COLUMN beginnings.log_id IS 'The log';
COMMENT ON COLUMN beginnings.size IS 'Bytes of its text up to the end of the line';
COMMENT ON COLUMN beginnings.crc32 IS 'CRC-32 of these bytes';

CREATE VIEW run_sources AS
SELECT r.run_id, r.ordinal, s.path, s.is_current, s.seen_at
FROM runs r JOIN sources s ON s.log_id = r.log_id AND r.first_line <= coalesce(s.lines, r.first_line);
COMMENT ON VIEW run_sources IS 'The files in which each run stands, with the number of the launch in them; a copy of a log''s beginning holds its first launches only';
COMMENT ON COLUMN run_sources.path IS 'Absolute path of the file; - for standard input';
COMMENT ON COLUMN run_sources.is_current IS 'False when the path was later found to hold another log';
COMMENT ON COLUMN run_sources.seen_at IS 'Last found there, UTC';
