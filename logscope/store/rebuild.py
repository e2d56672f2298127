"""A stored run read back from the tables, whole: the way back of `run_rows`.

Few small queries by ``run_no`` and plain tuples: no numpy, no pandas, so that a diff of two stored runs
costs little more than loading DuckDB.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from logscope.context import Context, WeightFile
from logscope.store.json_paths import load, load_all, unflatten
from logscope.store.records import Bucket, Mark, RunId, StoredRun, Throughput
from logscope.store.run_rows import RUN_COLUMNS
from parsers.records import (
    Argument,
    Coverage,
    EnvVar,
    Event,
    EventRole,
    Frame,
    Milestone,
    Outcome,
    RootError,
    Run,
    Stage,
    StageSpan,
    VersionGuess,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Row = tuple[Any, ...]
_SUMMARY = [
    "decode_lines",
    "prefill_lines",
    "gen_last",
    "gen_median",
    "gen_p10",
    "gen_p90",
    "accept_length",
    "cuda_graph_share",
    "input_median",
    "running_max",
    "queue_max",
    "token_usage_max",
]
_COLUMNS = [word.split(":")[0] for word in RUN_COLUMNS.split()] + _SUMMARY + ["mark"]


def stored_run(connection: DuckDBPyConnection, run_no: int) -> StoredRun:
    """The run with this number, which must exist."""
    return stored_runs(connection, [run_no])[0]


def stored_runs(connection: DuckDBPyConnection, run_nos: Sequence[int]) -> list[StoredRun]:
    """The runs with these numbers, in this order: each query costs a millisecond however many it is for."""
    tables = _Tables(connection, run_nos)
    return [_stored_run(connection, _Rows(tables, number)) for number in run_nos]


def _stored_run(connection: DuckDBPyConnection, rows: _Rows) -> StoredRun:
    facts = dict(zip(_COLUMNS, rows.of("runs", ", ".join(_COLUMNS))[0], strict=True))
    env = rows.of("env", "name, value, origin, line")
    return StoredRun(
        run_id=RunId(facts["run_id"]),
        path=facts["path"],
        run=_run(facts, env, rows),
        context=_context(facts, env, rows) if facts["has_context"] else None,
        throughput=Throughput(
            **{**{name: facts[name] for name in _SUMMARY}, "decode_lines": facts["decode_lines"] or 0,
               "prefill_lines": facts["prefill_lines"] or 0},
            buckets=_buckets(rows) if facts["decode_lines"] else (),
        ),
        mark=_mark(connection, facts["run_id"]) if facts["mark"] is not None else None,
        paths=_paths(connection, facts["log_id"], facts["first_line"]),
        host=facts["host"],
    )  # fmt: skip


class _Tables:
    """Rows of some runs; each table is asked once for all of them."""

    def __init__(self, connection: DuckDBPyConnection, run_nos: Sequence[int]) -> None:
        self._connection = connection
        self._numbers = ", ".join(str(number) for number in run_nos)
        self._held: dict[str, defaultdict[int, list[Row]]] = {}

    def rows(self, table: str, columns: str, run_no: int) -> list[Row]:
        if table not in self._held:
            held = self._held[table] = defaultdict(list)
            found = self._connection.execute(
                f"SELECT run_no, {columns} FROM {table} WHERE run_no IN ({self._numbers})"
            )
            for row in found.fetchall():
                held[row[0]].append(row[1:])
        return self._held[table][run_no]


class _Rows:
    """Rows of one run."""

    def __init__(self, tables: _Tables, run_no: int) -> None:
        self._tables = tables
        self._run_no = run_no

    def of(self, table: str, columns: str) -> list[Row]:
        return self._tables.rows(table, columns, self._run_no)

    def in_order(self, table: str, columns: str) -> list[Row]:
        """By the first column (here, for less than DuckDB takes to plan an order)."""
        return sorted(self.of(table, columns), key=itemgetter(0))


def _run(facts: Mapping[str, Any], env: Sequence[Row], rows: _Rows) -> Run:
    frames = _frames(rows)
    events, milestones = _events(rows, frames)
    arguments = rows.in_order("server_args", "position, name, value, raw, is_literal")
    spans = rows.in_order(
        "stages",
        "position, stage, rank, began_at, ended_at, first_line, last_line, seconds, complete, mem_gb, "
        "avail_gb",
    )
    return Run(
        ordinal=facts["ordinal"],
        first_line=facts["first_line"],
        last_line=facts["last_line"],
        label=facts["label"],
        carrier=facts["carrier"],
        outcome=Outcome(facts["outcome"]),
        ready=facts["ready"],
        stage=_stage(facts["stage"]),
        reason=facts["reason"],
        started_at=facts["started_at"],
        ready_at=facts["ready_at"],
        ended_at=facts["ended_at"],
        version=VersionGuess(
            facts["version_in_log"], facts["version_kind"], facts["version_first"], facts["version_last"],
            facts["version_reason"],
        ),
        model_path=facts["model_in_log"],
        ranks=tuple(facts["ranks"]),
        server_args=tuple(
            Argument(row[1], value, row[3], row[4])
            for row, value in zip(arguments, load_all([row[2] for row in arguments]), strict=True)
        ),
        server_args_line=facts["server_args_line"],
        server_args_complete=facts["server_args_complete"],
        env=tuple(EnvVar(name, value, line) for name, value, origin, line in env if origin == "log"),
        root_error=_root_error(facts, frames[0]),
        events=events,
        milestones=milestones,
        stages=tuple(StageSpan(Stage(row[1]), *row[2:]) for row in spans),
        coverage=Coverage(
            facts["lines"], facts["lines_understood"], facts["lines_unknown"], facts["lines_torn"],
            facts["secrets_masked"], facts["parser_version"], facts["fingerprint_version"],
        ),
    )  # fmt: skip


def _frames(rows: _Rows) -> defaultdict[int, tuple[Frame, ...]]:
    gathered: defaultdict[int, tuple[Frame, ...]] = defaultdict(tuple)
    for _, event, file, line, function in rows.in_order("tracebacks", "frame, event, file, line, function"):
        gathered[event] += (Frame(file, line, function),)
    return gathered


def _events(
    rows: _Rows, frames: Mapping[int, tuple[Frame, ...]]
) -> tuple[tuple[Event, ...], tuple[Milestone, ...]]:
    events: list[Event] = []
    milestones: list[Milestone] = []
    for row in rows.in_order(
        "events",
        "position, kind, name, type, fingerprint, message, line, last_line, count, rank, ranks, benign, "
        "logged_at, last_at, stage, role, role_reason, rule, excerpt, seconds, figures, traceback_text",
    ):
        position, kind, name, error_type, fingerprint, message, line, last_line, count, rank = row[:10]
        ranks, benign, at, last_at, stage, role, role_reason, rule, excerpt, seconds, figures, text = row[10:]
        if kind == "milestone":
            values = tuple((str(each[0]), each[1]) for each in load(figures) or [])  # type: ignore[union-attr,index]
            milestones.append(
                Milestone(name, Stage(stage), rank, line, at, seconds, role, values, excerpt)  # type: ignore[arg-type]
            )
            continue
        events.append(
            Event(
                fingerprint, kind, error_type, message, line, last_line, count, tuple(ranks), benign, at,
                last_at,
                _stage(stage), EventRole(role), role_reason, rule, excerpt, frames[position], text or "",
            )
        )  # fmt: skip
    return tuple(events), tuple(milestones)


def _root_error(facts: Mapping[str, Any], frames: tuple[Frame, ...]) -> RootError | None:
    if facts["root_fingerprint"] is None:
        return None
    return RootError(
        facts["root_type"], facts["root_message"], facts["root_line"], facts["root_rank"],
        facts["root_fingerprint"], frames, facts["root_reason"], tuple(facts["root_ranks"]),
        facts["root_excerpt"],
    )  # fmt: skip


def _context(facts: Mapping[str, Any], env: Sequence[Row], rows: _Rows) -> Context:
    configs: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    origins: dict[str, str] = {}
    keys = rows.in_order("model_configs", "position, role, key, value, origin")
    for _, role, key, value, origin in sorted(keys, key=itemgetter(1), reverse=True):
        configs[role].append((key, value))
        origins[role] = origin
    return Context(
        argv=None if facts["argv"] is None else tuple(facts["argv"]),
        env={row[0]: row[1] for row in env if row[2] == "context"} if facts["env_known"] else None,
        sglang_version=facts["context_version"],
        sglang_commit=facts["sglang_commit"],
        packages=dict(rows.of("packages", "name, version")),
        host=facts["context_host"],
        kernel=facts["kernel"],
        image=facts["image"],
        gpus=tuple(facts["gpus"]),
        driver=facts["driver"],
        model_configs={role: unflatten(pairs) for role, pairs in configs.items()},
        config_origin=origins,
        model_files=tuple(WeightFile(*row) for row in rows.of("model_files", "role, name, size, sha256")),
        facts=dict(rows.of("host_facts", "name, value")),
        start_time=facts["context_start"],
        end_time=facts["context_end"],
        exit_code=facts["exit_code"],
        exit_signal=facts["exit_signal"],
    )


def _buckets(rows: _Rows) -> tuple[Bucket, ...]:
    """By the number of requests; without a graph first, not printed last."""
    found = rows.in_order("throughput_buckets", "running, cuda_graph, lines, median, p10, p90")
    return tuple(Bucket(*row) for row in sorted(found, key=lambda row: (row[0], row[1] is None, row[1])))


def _mark(connection: DuckDBPyConnection, run_id: str) -> Mark | None:
    row = connection.execute(
        "SELECT verdict, note, noted_at FROM notes WHERE run_id = ? ORDER BY noted_at DESC LIMIT 1", [run_id]
    ).fetchone()
    return None if row is None else Mark(*row)


def _paths(connection: DuckDBPyConnection, log_id: str, first_line: int) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT path FROM sources WHERE log_id = ? AND is_current AND coalesce(lines, ?) >= ? "
        "ORDER BY added_at, path",
        [log_id, first_line, first_line],
    ).fetchall()
    return tuple(row[0] for row in rows)


def _stage(name: str | None) -> Stage | None:
    return None if name is None else Stage(name)
