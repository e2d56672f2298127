"""How long everyday questions take in a large store.

    python benchmarks/store.py build /tmp/large.duckdb --runs 5000 --args 400 --batch-rows 5000000
    python benchmarks/store.py ask /tmp/large.duckdb

The store is filled by SQL: runs of 20 deployments over a year, args that change now and then, every sixth
run a failure with one of 60 errors, warnings, stages. `ask` prints the median of several calls on an open
connection, in milliseconds of wall time and of CPU.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from logscope.store import Store
from logscope.store.connection import Database

DEPLOYMENTS, ERRORS, WARNINGS = 20, 60, 20


def build(path: Path, runs: int, args: int, batch_rows: int) -> None:
    """Fills a new store."""
    path.unlink(missing_ok=True)
    database = Database(path)
    with database.writing(creates=True) as connection:
        connection.execute("SET threads = 1")
        for name, sql in _FILL.items():
            began = time.perf_counter()
            words = {"runs": runs, "args": args, "per_run": max(1, batch_rows // runs)}
            connection.execute(sql, {word: value for word, value in words.items() if f"${word}" in sql})
            sys.stdout.write(f"{name:<16} {time.perf_counter() - began:6.1f} s\n")
        connection.execute(f"CREATE OR REPLACE SEQUENCE run_numbers START {runs + 1}")
        connection.execute("CHECKPOINT")
    sys.stdout.write(f"{path.stat().st_size / 1e6:.0f} MB\n")


_FILL = {
    "runs": f"""
        INSERT INTO runs BY NAME
        SELECT n::INTEGER AS run_no, lower(substr(md5(n::VARCHAR), 1, 16)) AS run_id,
        md5('log' || n)[:24] AS log_id,
               '/logs/run-' || n || '.log' AS path, 1 AS ordinal, 1 AS first_line, 5000 AS last_line,
               '' AS label,
               'plain' AS carrier, CASE WHEN n % 6 = 0 THEN 'failed' ELSE 'ready' END AS outcome,
               n % 6 <> 0 AS ready,
               CASE WHEN n % 6 = 0 THEN 'load' ELSE 'serving' END AS stage, 'made' AS reason,
               moment AS started_at,
               CASE WHEN n % 6 <> 0 THEN moment + INTERVAL 90 SECOND END AS ready_at,
               moment + INTERVAL 1 HOUR AS ended_at,
               CASE WHEN n % 6 <> 0 THEN 80 + n % 20 END AS ready_seconds, moment AS order_at,
               'log' AS order_from,
               '0.5.' || (1 + n * 20 // $runs) AS sglang_version,
               '0.5.' || (1 + n * 20 // $runs) AS version_in_log,
               'exact' AS version_kind, '' AS version_reason, '/models/model-' || deployment AS model_path,
               '/models/model-' || deployment AS model_in_log, 'model-' || deployment AS model_key,
               'model-' || deployment AS served_model_name, (30000 + deployment)::INTEGER AS port,
               (1 << (deployment % 4)) AS tp_size, 1 AS dp_size, 1 AS pp_size, 1 AS ep_size, 1 AS nnodes,
               'cuda' AS device, 'node-' || (n % 8) AS host, ['TP0'] AS ranks, 3 AS server_args_line,
               true AS server_args_complete,
               CASE WHEN n % 6 = 0 THEN 'ValueError' END AS root_type,
               CASE WHEN n % 6 = 0 THEN 'made error ' || (n % {ERRORS}) END AS root_message,
               CASE WHEN n % 6 = 0 THEN 100 END AS root_line, CASE WHEN n % 6 = 0 THEN '' END AS root_rank,
               CASE WHEN n % 6 = 0 THEN md5('error' || (n % {ERRORS}))[:16] END AS root_fingerprint,
               CASE WHEN n % 6 = 0 THEN 'the only one' END AS root_reason, []::VARCHAR[] AS root_ranks,
               '' AS root_excerpt, 5000 AS lines, 5000 AS lines_understood, 0 AS lines_unknown,
               0 AS lines_torn,
               0 AS secrets_masked, 1 AS parser_version, 1 AS fingerprint_version, false AS has_context,
               false AS env_known, []::VARCHAR[] AS gpus, 1000 AS decode_lines, 200 AS prefill_lines,
               md5((n % 97)::VARCHAR)[:16] AS args_key, 1000 + n % 50 AS gen_median, 900 AS gen_p10, 1100 AS
               gen_p90, 1000 AS gen_last
        FROM (
            SELECT n, n % {DEPLOYMENTS} AS deployment,
                   TIMESTAMP '2025-01-01' + to_seconds(n * 31536000 // $runs) AS moment
            FROM range(1, $runs + 1) t(n)
        )
    """,
    "server_args": f"""
        INSERT INTO server_args
        SELECT n::INTEGER, lower(substr(md5(n::VARCHAR), 1, 16)), a::INTEGER, 'argument_' || a, value, value,
        value,
               value::DOUBLE, true
        FROM (
            SELECT n, a,
            (a * 7 + n // (1 + a * 37 % 900) * (a % 9 = 0)::INTEGER + n % {DEPLOYMENTS} % 3)::VARCHAR AS value
            FROM range(1, $runs + 1) t(n), range(1, $args + 1) s(a)
        ) ORDER BY n, a
    """,
    "events": f"""
        INSERT INTO events BY NAME
        SELECT n::INTEGER AS run_no, lower(substr(md5(n::VARCHAR), 1, 16)) AS run_id,
        (e + 1)::INTEGER AS position,
               CASE WHEN e = 0 AND n % 6 = 0 THEN 'error' ELSE 'warning' END AS kind,
               CASE WHEN e = 0 AND n % 6 = 0 THEN 'error' ELSE 'warning' END AS level, 'ValueError' AS type,
               CASE WHEN e = 0 AND n % 6 = 0 THEN md5('error' || (n % {ERRORS}))[:16]
                    ELSE md5('warning' || ((n + e * 7) % 200))[:16] END AS fingerprint,
               'made message ' || e AS message, 100 + e AS line, 100 + e AS last_line, 1 AS count, '' AS rank,
               [''] AS ranks, e > 0 AS benign, 'load' AS stage,
               CASE WHEN e = 0 THEN 'root' ELSE '' END AS role,
               '' AS role_reason, 'made' AS rule, 'made line' AS excerpt
        FROM range(1, $runs + 1) t(n), range(0, {WARNINGS}) s(e) ORDER BY n, e
    """,
    "stages": """
        INSERT INTO stages BY NAME
        SELECT n::INTEGER AS run_no, lower(substr(md5(n::VARCHAR), 1, 16)) AS run_id, s::INTEGER AS position,
               ['args', 'distributed', 'load', 'kv-cache', 'graph-capture', 'warmup', 'serving'][s] AS stage,
               '' AS rank, s AS first_line, s + 1 AS last_line, s * 3 + n % 5 AS seconds, true AS complete
        FROM range(1, $runs + 1) t(n), range(1, 8) u(s) ORDER BY n, s
    """,
    "batch_ranks": "INSERT INTO batch_ranks SELECT n, 0, 'TP0' FROM range(1, $runs + 1) t(n)",
    "decode_lines": """
        INSERT INTO decode_lines BY NAME
        SELECT n::INTEGER AS run_no, (200 + i) AS line, TIMESTAMP '2025-01-01' + to_seconds(i) AS logged_at,
               0 AS rank_no, (i % 32)::BIGINT AS running_req, 0 AS queue_req, (i * 17 % 60000) AS token,
               (i % 100) / 100 AS token_usage, 900 + (hash(i + n) % 20000) / 100 AS gen_throughput,
               true AS cuda_graph, i % 200 = 0 AS after_idle
        FROM range(1, $runs + 1) t(n), range(0, $per_run) s(i) ORDER BY n, i
    """,
    "logs": """
        INSERT INTO logs BY NAME
        SELECT log_id, log_id AS content_key, 500000 AS bytes_read, 5000 AS lines, run_no AS crc32,
        '' AS tail_sha256,
               'utf-8' AS encoding, false AS newest_first, []::VARCHAR[] AS notes, 1 AS parser_version,
               order_at AS ingested_at, order_at AS updated_at
        FROM runs ORDER BY run_no
    """,
    "sources": """
        INSERT INTO sources BY NAME
        SELECT path, log_id, 500000 AS file_size, run_no AS file_mtime_ns, true AS is_current,
        order_at AS added_at,
               order_at AS seen_at
        FROM runs ORDER BY run_no
    """,
}


def ask(path: Path, repeats: int) -> None:
    """Prints what each question costs."""
    store = Store.open(path, read_only=True)
    with store.reading():
        failing = store.load("last-failed")
        ready = store.load("last-ready")
        root = failing.run.root_error
        fingerprint = root.fingerprint if root is not None else ""
        questions: dict[str, Callable[[], object]] = {
            "last comparable run": lambda: store.baseline(failing.run_id),
            "load a run by id": lambda: store.load(failing.run_id),
            "load last-failed": lambda: store.load("last-failed"),
            "first seen, fixed by": lambda: store.seen_before(fingerprint, failing.run_id),
            "contrast of an argument": lambda: store.contrast(
                failing.run_id, "arg", "argument_9", 63, fingerprint
            ),
            "usual": lambda: store.usual(failing.run_id),
            "series of a run": lambda: store.series(ready.run_id, "gen_throughput", 240),
            "history of an argument": lambda: store.argument_history("argument_9"),
            "history of an error": lambda: store.error_past(fingerprint),
            "all runs": store.facts,
            "error history": store.error_history,
        }
        for name, question in questions.items():
            _tell(name, question, repeats)
    with store._database.reading() as connection:
        for name, sql in _QUERIES.items():
            words = {"good": ready.run_id, "bad": failing.run_id, "fingerprint": fingerprint}
            used = {word: value for word, value in words.items() if f"${word}" in sql}
            _tell(name, lambda sql=sql, used=used: connection.execute(sql, used).fetchall(), repeats)  # type: ignore[misc]
    _tell("open, one query, close", lambda: store.load(failing.run_id), repeats)


_QUERIES = {
    "args diff of two runs": """
        SELECT name, g.text, b.text FROM (SELECT name, value, text FROM server_args WHERE run_no =
               (SELECT run_no FROM runs WHERE run_id = $good)) g
        FULL JOIN (SELECT name, value, text FROM server_args WHERE run_no =
               (SELECT run_no FROM runs WHERE run_id = $bad)) b USING (name)
        WHERE g.value IS DISTINCT FROM b.value
    """,
    "args of a run by run_id": "SELECT name, text FROM server_args WHERE run_id = $bad ORDER BY position",
    "first time seen (SQL)": """
        SELECT min(r.order_at) FROM runs r
        WHERE r.run_no IN (SELECT run_no FROM events WHERE fingerprint = $fingerprint)
    """,
    "percentiles of a run": """
        SELECT quantile_cont(gen_throughput, [0.1, 0.5,
        0.9]) FROM batches WHERE run_id = $good AND kind = 'decode'
    """,
    "throughput of all runs": "SELECT * FROM throughput_by_run",
    "last good of each model": "SELECT * FROM last_good",
}


def _tell(name: str, question: Callable[[], object], repeats: int) -> None:
    question()
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        question()
        walls.append(1000 * (time.perf_counter() - wall))
        cpus.append(1000 * (time.process_time() - cpu))
    wall, cpu = statistics.median(walls), statistics.median(cpus)
    sys.stdout.write(f"{name:<26} {wall:8.1f} ms wall  {cpu:8.1f} ms CPU\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("build", help="fill a new store")
    making.add_argument("path", type=Path)
    making.add_argument("--runs", type=int, default=5000)
    making.add_argument("--args", type=int, default=400)
    making.add_argument("--batch-rows", type=int, default=5_000_000)
    asking = commands.add_parser("ask", help="measure questions")
    asking.add_argument("path", type=Path)
    asking.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    if options.command == "build":
        build(options.path, options.runs, options.args, options.batch_rows)
    else:
        ask(options.path, options.repeats)


if __name__ == "__main__":
    main()
