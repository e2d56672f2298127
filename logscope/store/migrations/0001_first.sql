-- Version 1. Every table and column carries a COMMENT: docs/schema.md is generated from them.
-- run_no clusters the long tables in the order of ingest, so that a run is found by the min/max of
-- row groups and no index has to be kept. Nothing here is UNIQUE: DuckDB checks such constraints too
-- early when a row is deleted and written again in one transaction; the one writer checks them.

CREATE TABLE meta (key VARCHAR, value VARCHAR);
COMMENT ON TABLE meta IS 'Facts about this store: program (logscope), schema_version, salt (hex, of the secret masks), created_at (UTC)';
COMMENT ON COLUMN meta.key IS 'Name of the fact';
COMMENT ON COLUMN meta.value IS 'Its value as text';

CREATE SEQUENCE run_numbers;

CREATE TABLE logs (
    log_id VARCHAR, content_key VARCHAR, bytes_read BIGINT, lines BIGINT, crc32 BIGINT, tail_sha256 VARCHAR,
    encoding VARCHAR, newest_first BOOLEAN, notes VARCHAR[], parser_version INTEGER, context_sha256 VARCHAR,
    ingested_at TIMESTAMP, updated_at TIMESTAMP
);
COMMENT ON TABLE logs IS 'One row a distinct log, whatever number of paths it lies under';
COMMENT ON COLUMN logs.log_id IS 'Hex; identity of the log by content, kept while it grows';
COMMENT ON COLUMN logs.content_key IS 'Hex sha256 of the head of the log (to the end of the args line, else 64 KiB, else all of a shorter log); equal for a log and its grown self';
COMMENT ON COLUMN logs.bytes_read IS 'Bytes taken in so far, after decompression';
COMMENT ON COLUMN logs.lines IS 'Lines taken in so far';
COMMENT ON COLUMN logs.crc32 IS 'CRC-32 of the bytes taken in so far; tells a copy from another log with the same head';
COMMENT ON COLUMN logs.tail_sha256 IS 'sha256 of the last 64 KiB before bytes_read; tells a grown log from a replaced one';
COMMENT ON COLUMN logs.encoding IS 'Text encoding found';
COMMENT ON COLUMN logs.newest_first IS 'True when the log was written newest line first';
COMMENT ON COLUMN logs.notes IS 'What the reader had to say about the log as a whole';
COMMENT ON COLUMN logs.parser_version IS 'Version of the parser that read it; another one makes --reparse worth while';
COMMENT ON COLUMN logs.context_sha256 IS 'sha256 of the context file, config files and env file used; null when there was none';
COMMENT ON COLUMN logs.ingested_at IS 'First taken in, UTC';
COMMENT ON COLUMN logs.updated_at IS 'Last change by an ingest, UTC';

CREATE TABLE reader_states (log_id VARCHAR, parser_version INTEGER, state BLOB);
COMMENT ON TABLE reader_states IS 'Where the reader stood at the end of each log, so that a grown file is read on and not again; internal';
COMMENT ON COLUMN reader_states.log_id IS 'The log';
COMMENT ON COLUMN reader_states.parser_version IS 'Version of the parser that wrote the state; another one cannot use it';
COMMENT ON COLUMN reader_states.state IS 'Packed reader, readable by that version only';

CREATE TABLE sources (
    path VARCHAR, log_id VARCHAR, file_size BIGINT, file_mtime_ns BIGINT, is_current BOOLEAN,
    added_at TIMESTAMP, seen_at TIMESTAMP
);
COMMENT ON TABLE sources IS 'The paths under which logs were found; one log may have several';
COMMENT ON COLUMN sources.path IS 'Absolute path of the file; - for standard input';
COMMENT ON COLUMN sources.log_id IS 'The log found there';
COMMENT ON COLUMN sources.file_size IS 'Size of the file on disk, bytes (compressed where it is); null for standard input';
COMMENT ON COLUMN sources.file_mtime_ns IS 'Modification time of the file, nanoseconds since 1970; null for standard input';
COMMENT ON COLUMN sources.is_current IS 'False when the path was later found to hold another log';
COMMENT ON COLUMN sources.added_at IS 'First found there, UTC';
COMMENT ON COLUMN sources.seen_at IS 'Last found there, UTC';

CREATE TABLE runs (
    run_no INTEGER, run_id VARCHAR, log_id VARCHAR, path VARCHAR, ordinal INTEGER,
    first_line BIGINT, last_line BIGINT, label VARCHAR, carrier VARCHAR,
    outcome VARCHAR, ready BOOLEAN, stage VARCHAR, reason VARCHAR,
    started_at TIMESTAMP, ready_at TIMESTAMP, ended_at TIMESTAMP, ready_seconds DOUBLE,
    order_at TIMESTAMP, order_from VARCHAR,
    sglang_version VARCHAR, version_in_log VARCHAR, version_kind VARCHAR, version_first VARCHAR,
    version_last VARCHAR, version_reason VARCHAR,
    model_path VARCHAR, model_in_log VARCHAR, model_key VARCHAR, served_model_name VARCHAR, port INTEGER,
    tp_size INTEGER, dp_size INTEGER, pp_size INTEGER, ep_size INTEGER, nnodes INTEGER,
    quantization VARCHAR, speculative_algorithm VARCHAR, device VARCHAR, host VARCHAR,
    ranks VARCHAR[], server_args_line BIGINT, server_args_complete BOOLEAN,
    root_type VARCHAR, root_message VARCHAR, root_line BIGINT, root_rank VARCHAR, root_fingerprint VARCHAR,
    root_reason VARCHAR, root_ranks VARCHAR[], root_excerpt VARCHAR,
    lines BIGINT, lines_understood BIGINT, lines_unknown BIGINT, lines_torn BIGINT, secrets_masked BIGINT,
    parser_version INTEGER, fingerprint_version INTEGER,
    has_context BOOLEAN, argv VARCHAR[], env_known BOOLEAN, sglang_commit VARCHAR, kernel VARCHAR,
    image VARCHAR, driver VARCHAR, gpus VARCHAR[], context_host VARCHAR, context_version VARCHAR,
    context_start TIMESTAMP, context_end TIMESTAMP, exit_code INTEGER, exit_signal VARCHAR,
    ended_cleanly BOOLEAN, argv_key VARCHAR, args_key VARCHAR, mark VARCHAR, mark_note VARCHAR,
    decode_lines BIGINT, prefill_lines BIGINT, gen_last DOUBLE, gen_median DOUBLE, gen_p10 DOUBLE,
    gen_p90 DOUBLE, accept_length DOUBLE, cuda_graph_share DOUBLE, input_median DOUBLE,
    running_max BIGINT, queue_max BIGINT, token_usage_max DOUBLE
);
COMMENT ON TABLE runs IS 'One row a run (one start of one SGLang server), with the facts that lists and the choice of a baseline need';
COMMENT ON COLUMN runs.run_no IS 'Order in which runs were taken in; joins the long tables quickly';
COMMENT ON COLUMN runs.run_id IS 'Hex; the same log and launch always give the same id';
COMMENT ON COLUMN runs.log_id IS 'The log that holds the run';
COMMENT ON COLUMN runs.path IS 'Path of the log, the first one where it has several; - for standard input';
COMMENT ON COLUMN runs.ordinal IS '1 for the first launch in the log';
COMMENT ON COLUMN runs.first_line IS 'First line of the run in the log, from 1';
COMMENT ON COLUMN runs.last_line IS 'Last line of the run in the log, from 1';
COMMENT ON COLUMN runs.label IS 'The carrier''s name of the source where several servers share a log; empty otherwise';
COMMENT ON COLUMN runs.carrier IS 'What wrapped the lines: plain, docker, k8s, slurm, ray, journald ...';
COMMENT ON COLUMN runs.outcome IS 'ready, failed, killed, hung, running or unknown';
COMMENT ON COLUMN runs.ready IS 'True when the server said that it serves; stays true if it crashed later';
COMMENT ON COLUMN runs.stage IS 'How far the launch got: args, env, distributed, load, kv-cache, graph-capture, warmup, serving, shutdown; null when not even that is known';
COMMENT ON COLUMN runs.reason IS 'Why the outcome is what it is, one sentence';
COMMENT ON COLUMN runs.started_at IS 'First time printed, as printed (no zone); null when the log prints none';
COMMENT ON COLUMN runs.ready_at IS 'Time of the ready line, as printed; null when it never came';
COMMENT ON COLUMN runs.ended_at IS 'Last time printed, as printed';
COMMENT ON COLUMN runs.ready_seconds IS 'Seconds from start to the ready line; null when it never came or no times are printed';
COMMENT ON COLUMN runs.order_at IS 'Time by which runs are put in order: started_at, else the context file''s start, else the file''s modification time';
COMMENT ON COLUMN runs.order_from IS 'Where order_at is from: log, context, file or ingest';
COMMENT ON COLUMN runs.sglang_version IS 'SGLang version: the context file''s word, else what the log shows exactly; null when unknown';
COMMENT ON COLUMN runs.version_in_log IS 'Exact version that the log shows; null when it shows none';
COMMENT ON COLUMN runs.version_kind IS 'How far the log tells the version: exact, range or unknown';
COMMENT ON COLUMN runs.version_first IS 'First release that fits the log; null when unknown';
COMMENT ON COLUMN runs.version_last IS 'Last release that fits the log; null when unknown';
COMMENT ON COLUMN runs.version_reason IS 'What in the log tells the version';
COMMENT ON COLUMN runs.model_path IS 'Model path: of the printed args, else of the command line; null when neither shows it';
COMMENT ON COLUMN runs.model_in_log IS 'Model path that the log shows; null when it shows none';
COMMENT ON COLUMN runs.model_key IS 'Name of the model without its folder, lower case: the same model under another path has the same key';
COMMENT ON COLUMN runs.served_model_name IS 'Name under which the model is served; null when unknown';
COMMENT ON COLUMN runs.port IS 'HTTP port; null when unknown';
COMMENT ON COLUMN runs.tp_size IS 'Tensor-parallel size; null when unknown';
COMMENT ON COLUMN runs.dp_size IS 'Data-parallel size; null when unknown';
COMMENT ON COLUMN runs.pp_size IS 'Pipeline-parallel size; null when unknown';
COMMENT ON COLUMN runs.ep_size IS 'Expert-parallel size; null when unknown';
COMMENT ON COLUMN runs.nnodes IS 'Number of nodes; null when unknown';
COMMENT ON COLUMN runs.quantization IS 'Quantization of the weights as given or derived; null when none or unknown';
COMMENT ON COLUMN runs.speculative_algorithm IS 'Speculative decoding algorithm; null when none or unknown';
COMMENT ON COLUMN runs.device IS 'Device kind (cuda, cpu ...); null when unknown';
COMMENT ON COLUMN runs.host IS 'Machine: of the context file; null when unknown';
COMMENT ON COLUMN runs.ranks IS 'Ranks seen, as printed';
COMMENT ON COLUMN runs.server_args_line IS 'Line of the args; null when the log has none';
COMMENT ON COLUMN runs.server_args_complete IS 'False when the args line is cut off';
COMMENT ON COLUMN runs.root_type IS 'Type of the error that ended the run; null when there is none';
COMMENT ON COLUMN runs.root_message IS 'Its message';
COMMENT ON COLUMN runs.root_line IS 'Line on which its own message begins';
COMMENT ON COLUMN runs.root_rank IS 'Rank that printed it first; empty for the parent';
COMMENT ON COLUMN runs.root_fingerprint IS 'Identity of the message with its variable parts taken out';
COMMENT ON COLUMN runs.root_reason IS 'Why this error and not another one';
COMMENT ON COLUMN runs.root_ranks IS 'All ranks that printed it';
COMMENT ON COLUMN runs.root_excerpt IS 'The line as it stands in the log';
COMMENT ON COLUMN runs.lines IS 'Physical lines of the run';
COMMENT ON COLUMN runs.lines_understood IS 'Lines that a rule took';
COMMENT ON COLUMN runs.lines_unknown IS 'Lines that no rule took';
COMMENT ON COLUMN runs.lines_torn IS 'Records torn by another process and repaired';
COMMENT ON COLUMN runs.secrets_masked IS 'Secrets masked as the log was taken in';
COMMENT ON COLUMN runs.parser_version IS 'Version of the parser that read the run';
COMMENT ON COLUMN runs.fingerprint_version IS 'Version of the fingerprint rules';
COMMENT ON COLUMN runs.has_context IS 'True when a context file or files given by hand told of the surroundings';
COMMENT ON COLUMN runs.argv IS 'Command line, program first; null when unknown';
COMMENT ON COLUMN runs.env_known IS 'True when the whole environment of the launch is known (rows of env with origin context)';
COMMENT ON COLUMN runs.sglang_commit IS 'Git commit of SGLang; null when unknown';
COMMENT ON COLUMN runs.kernel IS 'Kernel of the machine; null when unknown';
COMMENT ON COLUMN runs.image IS 'Container image; null when unknown';
COMMENT ON COLUMN runs.driver IS 'GPU driver version; null when unknown';
COMMENT ON COLUMN runs.gpus IS 'GPUs of the machine; empty when unknown';
COMMENT ON COLUMN runs.context_host IS 'Host name that the context file gives; null when it gives none';
COMMENT ON COLUMN runs.context_version IS 'SGLang version that the context file gives; null when it gives none';
COMMENT ON COLUMN runs.context_start IS 'Start of the launch in the context file, UTC; null when unknown';
COMMENT ON COLUMN runs.context_end IS 'End of the launch in the context file, UTC; null when unknown';
COMMENT ON COLUMN runs.exit_code IS 'Exit code of the launch; null when unknown or ended by a signal';
COMMENT ON COLUMN runs.exit_signal IS 'Signal that ended the launch; null when unknown or none';
COMMENT ON COLUMN runs.ended_cleanly IS 'True when the log shows that the server was stopped in order; null when it shows no end';
COMMENT ON COLUMN runs.argv_key IS 'Hash of the command line''s options without seeds, ports and what has a column of its own; equal options have equal keys; null when unknown';
COMMENT ON COLUMN runs.args_key IS 'The same of the printed arguments; null when the log has none';
COMMENT ON COLUMN runs.mark IS 'A person''s newest word on the run: good, bad or skip; null when there is none';
COMMENT ON COLUMN runs.mark_note IS 'The note to it; null when there is no mark';
COMMENT ON COLUMN runs.decode_lines IS 'Decode batch lines';
COMMENT ON COLUMN runs.prefill_lines IS 'Prefill batch lines';
COMMENT ON COLUMN runs.gen_last IS 'Last generation throughput, tokens/s; null when none is printed';
COMMENT ON COLUMN runs.gen_median IS 'Median generation throughput of the decode lines, tokens/s';
COMMENT ON COLUMN runs.gen_p10 IS '10th percentile of it, tokens/s';
COMMENT ON COLUMN runs.gen_p90 IS '90th percentile of it, tokens/s';
COMMENT ON COLUMN runs.accept_length IS 'Median accepted tokens per step; null without speculative decoding';
COMMENT ON COLUMN runs.cuda_graph_share IS 'Share (0 to 1) of decode lines that ran in a graph; null when not printed';
COMMENT ON COLUMN runs.input_median IS 'Median prefill throughput, tokens/s; null where the release prints none';
COMMENT ON COLUMN runs.running_max IS 'Most requests running at once in a decode line';
COMMENT ON COLUMN runs.queue_max IS 'Longest queue in a batch line';
COMMENT ON COLUMN runs.token_usage_max IS 'Highest share (0 to 1) of the KV cache in use';

CREATE TABLE server_args (
    run_no INTEGER, run_id VARCHAR, position INTEGER, name VARCHAR, value VARCHAR, text VARCHAR, raw VARCHAR,
    number DOUBLE, is_literal BOOLEAN
);
COMMENT ON TABLE server_args IS 'Server arguments as the log prints them, one row each, in run order';
COMMENT ON COLUMN server_args.run_no IS 'runs.run_no';
COMMENT ON COLUMN server_args.run_id IS 'runs.run_id';
COMMENT ON COLUMN server_args.position IS 'Place in the printed order, from 1';
COMMENT ON COLUMN server_args.name IS 'Name of the argument';
COMMENT ON COLUMN server_args.value IS 'Value as JSON text (strings quoted); the printed text as a JSON string where it is no literal';
COMMENT ON COLUMN server_args.text IS 'Value as plain text: strings unquoted, null for None';
COMMENT ON COLUMN server_args.raw IS 'Value as printed';
COMMENT ON COLUMN server_args.number IS 'Value where it is a number (not for booleans); null otherwise';
COMMENT ON COLUMN server_args.is_literal IS 'False when the printed value is not a Python literal';

CREATE TABLE env (run_no INTEGER, run_id VARCHAR, name VARCHAR, value VARCHAR, origin VARCHAR, line BIGINT);
COMMENT ON TABLE env IS 'Environment variables of a run';
COMMENT ON COLUMN env.run_no IS 'runs.run_no';
COMMENT ON COLUMN env.run_id IS 'runs.run_id';
COMMENT ON COLUMN env.name IS 'Name of the variable';
COMMENT ON COLUMN env.value IS 'Its value; secrets masked';
COMMENT ON COLUMN env.origin IS 'log: a line of the log shows it; context: the context or env file does';
COMMENT ON COLUMN env.line IS 'Line of the log; null for origin context';

CREATE TABLE model_configs (
    run_no INTEGER, run_id VARCHAR, role VARCHAR, position INTEGER, key VARCHAR, value VARCHAR, origin VARCHAR
);
COMMENT ON TABLE model_configs IS 'Keys of the models'' config.json, nested ones as dotted paths';
COMMENT ON COLUMN model_configs.run_no IS 'runs.run_no';
COMMENT ON COLUMN model_configs.run_id IS 'runs.run_id';
COMMENT ON COLUMN model_configs.role IS 'target or draft';
COMMENT ON COLUMN model_configs.position IS 'Place in the file, from 1';
COMMENT ON COLUMN model_configs.key IS 'Dotted path of the key; empty for a file that is no JSON object (its text is the value)';
COMMENT ON COLUMN model_configs.value IS 'Value as JSON text; lists are one value';
COMMENT ON COLUMN model_configs.origin IS 'launch: as recorded at launch; now: read from disk at ingest; given: by hand';

CREATE TABLE model_files (
    run_no INTEGER, run_id VARCHAR, role VARCHAR, name VARCHAR, size BIGINT, sha256 VARCHAR
);
COMMENT ON TABLE model_files IS 'Files of the model folders at launch, from the context file';
COMMENT ON COLUMN model_files.run_no IS 'runs.run_no';
COMMENT ON COLUMN model_files.run_id IS 'runs.run_id';
COMMENT ON COLUMN model_files.role IS 'target or draft';
COMMENT ON COLUMN model_files.name IS 'Name in the folder';
COMMENT ON COLUMN model_files.size IS 'Size, bytes';
COMMENT ON COLUMN model_files.sha256 IS 'Hash of small files; null for weights';

CREATE TABLE packages (run_no INTEGER, run_id VARCHAR, name VARCHAR, version VARCHAR);
COMMENT ON TABLE packages IS 'Versions of Python packages at launch, from the context file';
COMMENT ON COLUMN packages.run_no IS 'runs.run_no';
COMMENT ON COLUMN packages.run_id IS 'runs.run_id';
COMMENT ON COLUMN packages.name IS 'Name of the package';
COMMENT ON COLUMN packages.version IS 'Its version';

CREATE TABLE host_facts (run_no INTEGER, run_id VARCHAR, name VARCHAR, value VARCHAR);
COMMENT ON TABLE host_facts IS 'Other facts about the machine at launch, from the context file';
COMMENT ON COLUMN host_facts.run_no IS 'runs.run_no';
COMMENT ON COLUMN host_facts.run_id IS 'runs.run_id';
COMMENT ON COLUMN host_facts.name IS 'Name of the fact, such as ulimit_nofile';
COMMENT ON COLUMN host_facts.value IS 'Its value as text';

CREATE TABLE events (
    run_no INTEGER, run_id VARCHAR, position INTEGER, kind VARCHAR, name VARCHAR, level VARCHAR, type VARCHAR,
    fingerprint VARCHAR, message VARCHAR, line BIGINT, last_line BIGINT, count BIGINT, rank VARCHAR,
    ranks VARCHAR[], benign BOOLEAN, logged_at TIMESTAMP, last_at TIMESTAMP, stage VARCHAR, role VARCHAR,
    role_reason VARCHAR, rule VARCHAR, excerpt VARCHAR, seconds DOUBLE, figures VARCHAR,
    traceback_text VARCHAR
);
COMMENT ON TABLE events IS 'Every error, warning and milestone; repeated errors and warnings are one row with a count';
COMMENT ON COLUMN events.run_no IS 'runs.run_no';
COMMENT ON COLUMN events.run_id IS 'runs.run_id';
COMMENT ON COLUMN events.position IS 'Place among the rows of the same kind of the run, from 1 (errors and warnings count together)';
COMMENT ON COLUMN events.kind IS 'error, warning or milestone';
COMMENT ON COLUMN events.name IS 'Name of the milestone, canonical over releases; null for errors and warnings';
COMMENT ON COLUMN events.level IS 'error or warning; null for milestones';
COMMENT ON COLUMN events.type IS 'Exception class or a word such as SIGSEGV; null when there is none';
COMMENT ON COLUMN events.fingerprint IS 'Identity of the message with its variable parts taken out; null for milestones';
COMMENT ON COLUMN events.message IS 'The message; null for milestones';
COMMENT ON COLUMN events.line IS 'Line of the first occurrence, from 1';
COMMENT ON COLUMN events.last_line IS 'Line of the last occurrence; null for milestones';
COMMENT ON COLUMN events.count IS 'Number of occurrences over all ranks; 1 for milestones';
COMMENT ON COLUMN events.rank IS 'Rank that printed it first; empty for the parent';
COMMENT ON COLUMN events.ranks IS 'All ranks that printed it';
COMMENT ON COLUMN events.benign IS 'True for look-alikes that stand in good launches too; null for milestones';
COMMENT ON COLUMN events.logged_at IS 'Time of the first occurrence, as printed; null when none is printed';
COMMENT ON COLUMN events.last_at IS 'Time of the last occurrence, as printed';
COMMENT ON COLUMN events.stage IS 'Stage the launch was in';
COMMENT ON COLUMN events.role IS 'Errors and warnings: root, candidate, echo, survived, request, outside or empty; milestones: target or draft where a model gives it';
COMMENT ON COLUMN events.role_reason IS 'Why it is the root or why not; null for milestones';
COMMENT ON COLUMN events.rule IS 'Id of the rule that took the line; null for milestones';
COMMENT ON COLUMN events.excerpt IS 'The line as it stands in the log';
COMMENT ON COLUMN events.seconds IS 'Printed duration of a milestone, seconds; null when none is printed';
COMMENT ON COLUMN events.figures IS 'Figures of a milestone as a JSON list of [name, value]; null for errors and warnings';
COMMENT ON COLUMN events.traceback_text IS 'Raw traceback of the first occurrence; null when there was none';

CREATE TABLE tracebacks (
    run_no INTEGER, run_id VARCHAR, event INTEGER, fingerprint VARCHAR, frame INTEGER, file VARCHAR, line BIGINT,
    function VARCHAR
);
COMMENT ON TABLE tracebacks IS 'Frames of the tracebacks, outermost first';
COMMENT ON COLUMN tracebacks.run_no IS 'runs.run_no';
COMMENT ON COLUMN tracebacks.run_id IS 'runs.run_id';
COMMENT ON COLUMN tracebacks.event IS 'events.position of the error; 0 for the traceback of the root error';
COMMENT ON COLUMN tracebacks.fingerprint IS 'Fingerprint of the error';
COMMENT ON COLUMN tracebacks.frame IS 'Place in the traceback, from 1 (outermost)';
COMMENT ON COLUMN tracebacks.file IS 'File as printed';
COMMENT ON COLUMN tracebacks.line IS 'Line in that file';
COMMENT ON COLUMN tracebacks.function IS 'Function';

CREATE TABLE stages (
    run_no INTEGER, run_id VARCHAR, position INTEGER, stage VARCHAR, rank VARCHAR, began_at TIMESTAMP,
    ended_at TIMESTAMP, first_line BIGINT, last_line BIGINT, seconds DOUBLE, complete BOOLEAN, mem_gb DOUBLE,
    avail_gb DOUBLE
);
COMMENT ON TABLE stages IS 'Stages of each launch, for the whole launch and by rank';
COMMENT ON COLUMN stages.run_no IS 'runs.run_no';
COMMENT ON COLUMN stages.run_id IS 'runs.run_id';
COMMENT ON COLUMN stages.position IS 'Order, from 1';
COMMENT ON COLUMN stages.stage IS 'Stage, as in runs.stage';
COMMENT ON COLUMN stages.rank IS 'Rank; empty for the whole launch';
COMMENT ON COLUMN stages.began_at IS 'Begin, as printed; null when no time is printed';
COMMENT ON COLUMN stages.ended_at IS 'End, as printed; null when it never came or no time is printed';
COMMENT ON COLUMN stages.first_line IS 'First line';
COMMENT ON COLUMN stages.last_line IS 'Last line';
COMMENT ON COLUMN stages.seconds IS 'Duration in seconds: printed where SGLang prints it, else the difference of the times; null when unknown';
COMMENT ON COLUMN stages.complete IS 'False when the stage began and its end never came';
COMMENT ON COLUMN stages.mem_gb IS 'Memory the stage took, GB; null when not printed';
COMMENT ON COLUMN stages.avail_gb IS 'Memory left at its end, GB; null when not printed';

-- Batch and access lines are nearly all rows of a store, and each column of a row costs 40 ns to write
-- even where it is null. So each kind has a narrow table, what is rarely printed stands apart, and texts
-- stand once a run. `batches` and `requests` put them together again; queries use these two.

CREATE TABLE decode_lines (
    run_no INTEGER, line BIGINT, logged_at TIMESTAMP, rank_no SMALLINT, running_req BIGINT,
    queue_req BIGINT, token BIGINT, token_usage DOUBLE, gen_throughput DOUBLE, accept_len DOUBLE,
    accept_rate DOUBLE, cuda_graph BOOLEAN, after_idle BOOLEAN
);
COMMENT ON TABLE decode_lines IS 'Decode batch lines, narrow; ask batches';
COMMENT ON COLUMN decode_lines.run_no IS 'runs.run_no';
COMMENT ON COLUMN decode_lines.line IS 'Line of the log, from 1';
COMMENT ON COLUMN decode_lines.logged_at IS 'Time as printed';
COMMENT ON COLUMN decode_lines.rank_no IS 'batch_ranks.rank_no';
COMMENT ON COLUMN decode_lines.running_req IS 'Requests running';
COMMENT ON COLUMN decode_lines.queue_req IS 'Requests waiting';
COMMENT ON COLUMN decode_lines.token IS 'Decode: tokens in the KV cache';
COMMENT ON COLUMN decode_lines.token_usage IS 'Share of the KV cache in use, 0 to 1';
COMMENT ON COLUMN decode_lines.gen_throughput IS 'Generated tokens/s of this scheduler, averaged since its previous decode line';
COMMENT ON COLUMN decode_lines.accept_len IS 'Accepted tokens per step with speculative decoding';
COMMENT ON COLUMN decode_lines.accept_rate IS 'Share of drafted tokens accepted, 0 to 1; its divisor differs between releases';
COMMENT ON COLUMN decode_lines.cuda_graph IS 'True when the batch ran in a graph (of any device)';
COMMENT ON COLUMN decode_lines.after_idle IS 'Decode: true when the scheduler had nothing to run since its previous decode line (or this is its first), so that gen_throughput counts the pause';

CREATE TABLE prefill_lines (
    run_no INTEGER, line BIGINT, logged_at TIMESTAMP, rank_no SMALLINT, new_seq BIGINT, new_token BIGINT,
    cached_token BIGINT, running_req BIGINT, queue_req BIGINT, pending_token BIGINT, token_usage DOUBLE,
    input_throughput DOUBLE, cuda_graph BOOLEAN
);
COMMENT ON TABLE prefill_lines IS 'Prefill batch lines, narrow; ask batches';
COMMENT ON COLUMN prefill_lines.run_no IS 'runs.run_no';
COMMENT ON COLUMN prefill_lines.line IS 'Line of the log, from 1';
COMMENT ON COLUMN prefill_lines.logged_at IS 'Time as printed';
COMMENT ON COLUMN prefill_lines.rank_no IS 'batch_ranks.rank_no';
COMMENT ON COLUMN prefill_lines.new_seq IS 'Prefill: new sequences in the batch';
COMMENT ON COLUMN prefill_lines.new_token IS 'Prefill: tokens computed';
COMMENT ON COLUMN prefill_lines.cached_token IS 'Prefill: tokens found in the prefix cache';
COMMENT ON COLUMN prefill_lines.running_req IS 'Requests running';
COMMENT ON COLUMN prefill_lines.queue_req IS 'Requests waiting';
COMMENT ON COLUMN prefill_lines.pending_token IS 'Prefill: tokens still to compute of chunked requests';
COMMENT ON COLUMN prefill_lines.token_usage IS 'Share of the KV cache in use, 0 to 1';
COMMENT ON COLUMN prefill_lines.input_throughput IS 'Prefill tokens/s of this scheduler';
COMMENT ON COLUMN prefill_lines.cuda_graph IS 'True when the batch ran in a graph (of any device)';

CREATE TABLE batch_extras (
    run_no INTEGER, line BIGINT, is_decode BOOLEAN, iteration BIGINT, new_seq BIGINT, new_token BIGINT, cached_token BIGINT,
    pending_token BIGINT, token BIGINT, full_token BIGINT, full_token_usage DOUBLE, swa_token BIGINT,
    swa_token_usage DOUBLE, mamba_num BIGINT, mamba_usage DOUBLE, cache_hit_rate DOUBLE,
    gen_throughput DOUBLE, input_throughput DOUBLE, accept_len DOUBLE, accept_rate DOUBLE,
    retracted_req BIGINT, prealloc_req BIGINT, preallocated_usage DOUBLE, transfer_req BIGINT,
    bootstrap_req BIGINT, inflight_req BIGINT, other VARCHAR
);
COMMENT ON TABLE batch_extras IS 'What few batch lines print, for the lines that print it; ask batches';
COMMENT ON COLUMN batch_extras.run_no IS 'runs.run_no';
COMMENT ON COLUMN batch_extras.line IS 'Line of the log, from 1';
COMMENT ON COLUMN batch_extras.is_decode IS 'True for a line of decode_lines, false for one of prefill_lines';
COMMENT ON COLUMN batch_extras.iteration IS 'Forward iteration';
COMMENT ON COLUMN batch_extras.new_seq IS 'Prefill: new sequences in the batch';
COMMENT ON COLUMN batch_extras.new_token IS 'Prefill: tokens computed';
COMMENT ON COLUMN batch_extras.cached_token IS 'Prefill: tokens found in the prefix cache';
COMMENT ON COLUMN batch_extras.pending_token IS 'Prefill: tokens still to compute of chunked requests';
COMMENT ON COLUMN batch_extras.token IS 'Decode: tokens in the KV cache';
COMMENT ON COLUMN batch_extras.full_token IS 'Tokens in the full-attention cache of a hybrid model';
COMMENT ON COLUMN batch_extras.full_token_usage IS 'Share of the full-attention cache in use, 0 to 1';
COMMENT ON COLUMN batch_extras.swa_token IS 'Tokens in the sliding-window cache of a hybrid model';
COMMENT ON COLUMN batch_extras.swa_token_usage IS 'Share of the sliding-window cache in use, 0 to 1';
COMMENT ON COLUMN batch_extras.mamba_num IS 'State slots in use of a state-space hybrid';
COMMENT ON COLUMN batch_extras.mamba_usage IS 'Share of the state slots in use, 0 to 1';
COMMENT ON COLUMN batch_extras.cache_hit_rate IS 'Prefix cache hit rate since the start, percent';
COMMENT ON COLUMN batch_extras.gen_throughput IS 'Generated tokens/s of this scheduler, averaged since its previous decode line';
COMMENT ON COLUMN batch_extras.input_throughput IS 'Prefill tokens/s of this scheduler';
COMMENT ON COLUMN batch_extras.accept_len IS 'Accepted tokens per step with speculative decoding';
COMMENT ON COLUMN batch_extras.accept_rate IS 'Share of drafted tokens accepted, 0 to 1; its divisor differs between releases';
COMMENT ON COLUMN batch_extras.retracted_req IS 'Requests retracted';
COMMENT ON COLUMN batch_extras.prealloc_req IS 'Disaggregated: requests in preallocation';
COMMENT ON COLUMN batch_extras.preallocated_usage IS 'Disaggregated decode: share preallocated, 0 to 1';
COMMENT ON COLUMN batch_extras.transfer_req IS 'Disaggregated: requests in transfer';
COMMENT ON COLUMN batch_extras.bootstrap_req IS 'Disaggregated prefill: requests in bootstrap';
COMMENT ON COLUMN batch_extras.inflight_req IS 'Disaggregated prefill: requests in flight';
COMMENT ON COLUMN batch_extras.other IS 'Rarer fields of the line as a JSON object; null when there are none';

CREATE TABLE batch_ranks (
    run_no INTEGER, rank_no SMALLINT, rank VARCHAR
);
COMMENT ON TABLE batch_ranks IS 'Rank texts of the batch lines of a run';
COMMENT ON COLUMN batch_ranks.run_no IS 'runs.run_no';
COMMENT ON COLUMN batch_ranks.rank_no IS 'Code of the rank in this run, from 0';
COMMENT ON COLUMN batch_ranks.rank IS 'Rank as printed; empty when none is';

CREATE TABLE access_lines (
    run_no INTEGER, line BIGINT, logged_at TIMESTAMP, kind_no INTEGER
);
COMMENT ON TABLE access_lines IS 'Access log of the HTTP server, narrow; ask requests';
COMMENT ON COLUMN access_lines.run_no IS 'runs.run_no';
COMMENT ON COLUMN access_lines.line IS 'Line of the log, from 1';
COMMENT ON COLUMN access_lines.logged_at IS 'Time as printed; null when the line has none';
COMMENT ON COLUMN access_lines.kind_no IS 'access_kinds.kind_no';

CREATE TABLE access_kinds (
    run_no INTEGER, kind_no INTEGER, method VARCHAR, path VARCHAR, status INTEGER
);
COMMENT ON TABLE access_kinds IS 'Distinct requests of a run';
COMMENT ON COLUMN access_kinds.run_no IS 'runs.run_no';
COMMENT ON COLUMN access_kinds.kind_no IS 'Code of the request in this run, from 0';
COMMENT ON COLUMN access_kinds.method IS 'HTTP method';
COMMENT ON COLUMN access_kinds.path IS 'Path and query';
COMMENT ON COLUMN access_kinds.status IS 'HTTP status';

CREATE VIEW batches AS
SELECT d.run_no, r.run_id, d.line, d.logged_at, k.rank, 'decode' AS kind, x.iteration, x.new_seq,
       x.new_token, x.cached_token, d.running_req, d.queue_req, x.pending_token, d.token, d.token_usage,
       x.full_token, x.full_token_usage, x.swa_token, x.swa_token_usage, x.mamba_num, x.mamba_usage,
       x.cache_hit_rate, d.gen_throughput, x.input_throughput, d.accept_len, d.accept_rate, d.cuda_graph,
       x.retracted_req, x.prealloc_req, x.preallocated_usage, x.transfer_req, x.bootstrap_req,
       x.inflight_req, x.other, d.after_idle
FROM decode_lines d JOIN runs r USING (run_no) JOIN batch_ranks k USING (run_no, rank_no)
LEFT JOIN batch_extras x ON x.run_no = d.run_no AND x.line = d.line AND x.is_decode
UNION ALL
SELECT p.run_no, r.run_id, p.line, p.logged_at, k.rank, 'prefill' AS kind, x.iteration, p.new_seq,
       p.new_token, p.cached_token, p.running_req, p.queue_req, p.pending_token, x.token, p.token_usage,
       x.full_token, x.full_token_usage, x.swa_token, x.swa_token_usage, x.mamba_num, x.mamba_usage,
       x.cache_hit_rate, x.gen_throughput, p.input_throughput, x.accept_len, x.accept_rate, p.cuda_graph,
       x.retracted_req, x.prealloc_req, x.preallocated_usage, x.transfer_req, x.bootstrap_req,
       x.inflight_req, x.other, NULL AS after_idle
FROM prefill_lines p JOIN runs r USING (run_no) JOIN batch_ranks k USING (run_no, rank_no)
LEFT JOIN batch_extras x ON x.run_no = p.run_no AND x.line = p.line AND NOT x.is_decode;
COMMENT ON VIEW batches IS 'One row a Prefill or Decode batch line; a field that the line does not print is null';
COMMENT ON COLUMN batches.run_no IS 'runs.run_no';
COMMENT ON COLUMN batches.run_id IS 'runs.run_id';
COMMENT ON COLUMN batches.line IS 'Line of the log, from 1';
COMMENT ON COLUMN batches.logged_at IS 'Time as printed';
COMMENT ON COLUMN batches.rank IS 'Rank as printed; empty when none is';
COMMENT ON COLUMN batches.kind IS 'prefill or decode';
COMMENT ON COLUMN batches.iteration IS 'Forward iteration';
COMMENT ON COLUMN batches.new_seq IS 'Prefill: new sequences in the batch';
COMMENT ON COLUMN batches.new_token IS 'Prefill: tokens computed';
COMMENT ON COLUMN batches.cached_token IS 'Prefill: tokens found in the prefix cache';
COMMENT ON COLUMN batches.running_req IS 'Requests running';
COMMENT ON COLUMN batches.queue_req IS 'Requests waiting';
COMMENT ON COLUMN batches.pending_token IS 'Prefill: tokens still to compute of chunked requests';
COMMENT ON COLUMN batches.token IS 'Decode: tokens in the KV cache';
COMMENT ON COLUMN batches.token_usage IS 'Share of the KV cache in use, 0 to 1';
COMMENT ON COLUMN batches.full_token IS 'Tokens in the full-attention cache of a hybrid model';
COMMENT ON COLUMN batches.full_token_usage IS 'Share of the full-attention cache in use, 0 to 1';
COMMENT ON COLUMN batches.swa_token IS 'Tokens in the sliding-window cache of a hybrid model';
COMMENT ON COLUMN batches.swa_token_usage IS 'Share of the sliding-window cache in use, 0 to 1';
COMMENT ON COLUMN batches.mamba_num IS 'State slots in use of a state-space hybrid';
COMMENT ON COLUMN batches.mamba_usage IS 'Share of the state slots in use, 0 to 1';
COMMENT ON COLUMN batches.cache_hit_rate IS 'Prefix cache hit rate since the start, percent';
COMMENT ON COLUMN batches.gen_throughput IS 'Generated tokens/s of this scheduler, averaged since its previous decode line';
COMMENT ON COLUMN batches.input_throughput IS 'Prefill tokens/s of this scheduler';
COMMENT ON COLUMN batches.accept_len IS 'Accepted tokens per step with speculative decoding';
COMMENT ON COLUMN batches.accept_rate IS 'Share of drafted tokens accepted, 0 to 1; its divisor differs between releases';
COMMENT ON COLUMN batches.cuda_graph IS 'True when the batch ran in a graph (of any device)';
COMMENT ON COLUMN batches.retracted_req IS 'Requests retracted';
COMMENT ON COLUMN batches.prealloc_req IS 'Disaggregated: requests in preallocation';
COMMENT ON COLUMN batches.preallocated_usage IS 'Disaggregated decode: share preallocated, 0 to 1';
COMMENT ON COLUMN batches.transfer_req IS 'Disaggregated: requests in transfer';
COMMENT ON COLUMN batches.bootstrap_req IS 'Disaggregated prefill: requests in bootstrap';
COMMENT ON COLUMN batches.inflight_req IS 'Disaggregated prefill: requests in flight';
COMMENT ON COLUMN batches.other IS 'Rarer fields of the line as a JSON object; null when there are none';
COMMENT ON COLUMN batches.after_idle IS 'Decode: true when the scheduler had nothing to run since its previous decode line (or this is its first), so that gen_throughput counts the pause';

CREATE VIEW requests AS
SELECT a.run_no, r.run_id, a.line, a.logged_at, k.method, k.path, k.status
FROM access_lines a JOIN runs r USING (run_no) JOIN access_kinds k USING (run_no, kind_no);
COMMENT ON VIEW requests IS 'Access log of the HTTP server, one row a line';
COMMENT ON COLUMN requests.run_no IS 'runs.run_no';
COMMENT ON COLUMN requests.run_id IS 'runs.run_id';
COMMENT ON COLUMN requests.line IS 'Line of the log, from 1';
COMMENT ON COLUMN requests.logged_at IS 'Time as printed; null when the line has none';
COMMENT ON COLUMN requests.method IS 'HTTP method';
COMMENT ON COLUMN requests.path IS 'Path and query';
COMMENT ON COLUMN requests.status IS 'HTTP status';

CREATE TABLE throughput_buckets (
    run_no INTEGER, run_id VARCHAR, running BIGINT, cuda_graph BOOLEAN, lines BIGINT, median DOUBLE, p10 DOUBLE,
    p90 DOUBLE
);
COMMENT ON TABLE throughput_buckets IS 'Decode throughput of a run by number of running requests and graph; lines after idle are left out';
COMMENT ON COLUMN throughput_buckets.run_no IS 'runs.run_no';
COMMENT ON COLUMN throughput_buckets.run_id IS 'runs.run_id';
COMMENT ON COLUMN throughput_buckets.running IS 'Requests running';
COMMENT ON COLUMN throughput_buckets.cuda_graph IS 'True when the batches ran in a graph; null when not printed';
COMMENT ON COLUMN throughput_buckets.lines IS 'Decode lines in the bucket';
COMMENT ON COLUMN throughput_buckets.median IS 'Median generation throughput, tokens/s';
COMMENT ON COLUMN throughput_buckets.p10 IS '10th percentile, tokens/s';
COMMENT ON COLUMN throughput_buckets.p90 IS '90th percentile, tokens/s';

CREATE TABLE notes (run_id VARCHAR, verdict VARCHAR, note VARCHAR, noted_at TIMESTAMP, path VARCHAR);
COMMENT ON TABLE notes IS 'What people said of a run; the newest row of a run counts. Kept when the run is pruned';
COMMENT ON COLUMN notes.run_id IS 'runs.run_id';
COMMENT ON COLUMN notes.verdict IS 'good, bad or skip; overrides the judged outcome when a baseline is chosen';
COMMENT ON COLUMN notes.note IS 'Free text; empty when none was given';
COMMENT ON COLUMN notes.noted_at IS 'When, UTC';
COMMENT ON COLUMN notes.path IS 'Path of the log at that time';

CREATE VIEW marks AS
SELECT run_id, arg_max(verdict, noted_at) AS verdict, arg_max(note, noted_at) AS note, max(noted_at) AS noted_at
FROM notes GROUP BY run_id;
COMMENT ON VIEW marks IS 'The word that counts for each marked run: its newest note';

CREATE VIEW good_runs AS
SELECT * FROM runs r
WHERE CASE r.mark WHEN 'good' THEN true WHEN 'bad' THEN false WHEN 'skip' THEN false
      ELSE r.ready AND r.outcome NOT IN ('failed', 'hung', 'killed') END;
COMMENT ON VIEW good_runs IS 'Runs that count as a success: marked good, or ready without a fatal error after';

CREATE VIEW last_good AS
SELECT model_key, model_path, run_id, order_at, sglang_version, tp_size, dp_size, pp_size, ep_size, device,
       quantization, speculative_algorithm, gen_median, path
FROM good_runs
QUALIFY row_number() OVER (PARTITION BY model_key ORDER BY order_at DESC, run_no DESC) = 1;
COMMENT ON VIEW last_good IS 'The newest success of each model';

CREATE VIEW previous_runs AS
SELECT run_no, run_id, lag(run_no) OVER w AS previous_no, lag(run_id) OVER w AS previous_id
FROM runs
WINDOW w AS (PARTITION BY coalesce(model_key, ''), port ORDER BY order_at, run_no);
COMMENT ON VIEW previous_runs IS 'The run before each run: same model and port';
COMMENT ON COLUMN previous_runs.previous_no IS 'run_no of the run before';
COMMENT ON COLUMN previous_runs.previous_id IS 'run_id of the run before; null for the first of its model and port';

CREATE VIEW arg_changes AS
WITH pairs AS (
    SELECT * FROM previous_runs
    WHERE run_no IN (SELECT run_no FROM server_args) AND previous_no IN (SELECT run_no FROM server_args)
), now AS (
    SELECT p.run_no, p.previous_id, a.name, a.value, a.text FROM pairs p JOIN server_args a USING (run_no)
), before AS (
    SELECT p.run_no, p.previous_id, a.name, a.value, a.text
    FROM pairs p JOIN server_args a ON a.run_no = p.previous_no
)
SELECT r.run_id, r.order_at, coalesce(now.previous_id, before.previous_id) AS previous_id, name,
       before.text AS before, now.text AS after,
       CASE WHEN before.value IS NULL THEN 'added' WHEN now.value IS NULL THEN 'removed' ELSE 'changed' END
           AS change
FROM now FULL JOIN before USING (run_no, name) JOIN runs r USING (run_no)
WHERE before.value IS DISTINCT FROM now.value;
COMMENT ON VIEW arg_changes IS 'Arguments that differ from the run before (same model and port); runs without an args line are left out';
COMMENT ON COLUMN arg_changes.previous_id IS 'run_id of the run before';
COMMENT ON COLUMN arg_changes.name IS 'Name of the argument';
COMMENT ON COLUMN arg_changes.before IS 'Value in the run before, as plain text';
COMMENT ON COLUMN arg_changes.after IS 'Value in this run, as plain text';
COMMENT ON COLUMN arg_changes.change IS 'added, removed or changed';

CREATE VIEW error_history AS
SELECT e.fingerprint, any_value(e.level) AS level, arg_max(e.type, r.order_at) AS type,
       arg_max(e.message, r.order_at) AS message, count(DISTINCT e.run_id) AS runs, sum(e.count) AS count,
       bool_and(e.benign) AS benign, count(*) FILTER (e.fingerprint = r.root_fingerprint) AS was_root,
       min(r.order_at) AS first_at, arg_min(r.run_id, r.order_at) AS first_run,
       max(r.order_at) AS last_at, arg_max(r.run_id, r.order_at) AS last_run
FROM events e JOIN runs r USING (run_no)
WHERE e.kind <> 'milestone'
GROUP BY e.fingerprint;
COMMENT ON VIEW error_history IS 'Each error and warning over all runs: how often, first and last time, and how often it ended a run';
COMMENT ON COLUMN error_history.message IS 'Its message in the newest run with it';
COMMENT ON COLUMN error_history.runs IS 'Runs with it';
COMMENT ON COLUMN error_history.count IS 'Occurrences over all runs and ranks';
COMMENT ON COLUMN error_history.benign IS 'True when every run has it for harmless';
COMMENT ON COLUMN error_history.was_root IS 'Runs that it ended';
COMMENT ON COLUMN error_history.first_at IS 'Order time of the first run with it';
COMMENT ON COLUMN error_history.first_run IS 'run_id of the first run with it';
COMMENT ON COLUMN error_history.last_at IS 'Order time of the last run with it';
COMMENT ON COLUMN error_history.last_run IS 'run_id of the last run with it';

CREATE VIEW throughput_by_run AS
SELECT run_id, order_at, sglang_version, model_path, tp_size, outcome, decode_lines, prefill_lines, gen_last,
       gen_median, gen_p10, gen_p90, accept_length, cuda_graph_share, input_median, running_max, queue_max,
       token_usage_max, path
FROM runs WHERE decode_lines > 0 OR prefill_lines > 0;
COMMENT ON VIEW throughput_by_run IS 'Throughput summary of every run that served anything, tokens/s';

CREATE VIEW failures AS
SELECT run_id, order_at, sglang_version, model_path, outcome, stage, root_type, root_message, root_fingerprint,
       root_line, path
FROM runs WHERE outcome IN ('failed', 'killed', 'hung');
COMMENT ON VIEW failures IS 'Runs that did not end well, with what ended them';

CREATE VIEW stage_times AS
SELECT s.run_id, r.order_at, r.sglang_version, r.model_path, s.stage, s.seconds, s.complete, s.mem_gb, s.avail_gb
FROM stages s JOIN runs r USING (run_no) WHERE s.rank = '';
COMMENT ON VIEW stage_times IS 'Seconds and memory of each stage of each run (whole launch)';

CREATE VIEW request_status AS
SELECT run_id, path, status, count(*) AS requests, min(line) AS first_line
FROM requests GROUP BY ALL;
COMMENT ON VIEW request_status IS 'Number of requests by run, path and status';
COMMENT ON COLUMN request_status.path IS 'Path and query of the request';
COMMENT ON COLUMN request_status.status IS 'HTTP status';
COMMENT ON COLUMN request_status.requests IS 'Number of requests';
COMMENT ON COLUMN request_status.first_line IS 'First line of the log with one';
