"""A stored run read back from the tables, whole: the way back of `run_rows`.

Few small queries by ``run_no`` and plain tuples: no numpy, no pandas, so that a diff of two stored runs
costs little more than loading DuckDB.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
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
_COLUMNS = [word.split(":")[0] for word in RUN_COLUMNS.split()] + _SUMMARY


def stored_run(connection: DuckDBPyConnection, run_no: int) -> StoredRun:
    """The run with this number, which must exist."""
    rows = _Rows(connection, run_no)
    found = rows.of(f"SELECT {', '.join(_COLUMNS)} FROM runs WHERE run_no = ?")
    facts = dict(zip(_COLUMNS, found[0], strict=True))
    buckets = rows.of(
        "SELECT running, cuda_graph, lines, median, p10, p90 FROM throughput_buckets WHERE run_no = ? "
        "ORDER BY running, cuda_graph"
    )
    env = rows.of("SELECT name, value, origin, line FROM env WHERE run_no = ?")
    return StoredRun(
        run_id=RunId(facts["run_id"]),
        path=facts["path"],
        run=_run(facts, env, rows),
        context=_context(facts, env, rows) if facts["has_context"] else None,
        throughput=Throughput(
            **{**{name: facts[name] for name in _SUMMARY}, "decode_lines": facts["decode_lines"] or 0,
               "prefill_lines": facts["prefill_lines"] or 0},
            buckets=tuple(Bucket(*row) for row in buckets),
        ),
        mark=_mark(connection, facts["run_id"]),
        paths=_paths(connection, facts["log_id"]),
        host=facts["host"],
    )  # fmt: skip


class _Rows:
    """Queries about one run."""

    def __init__(self, connection: DuckDBPyConnection, run_no: int) -> None:
        self._connection = connection
        self._run_no = run_no

    def of(self, sql: str) -> list[Row]:
        return self._connection.execute(sql, [self._run_no]).fetchall()


def _run(facts: Mapping[str, Any], env: Sequence[Row], rows: _Rows) -> Run:
    frames = _frames(rows)
    events, milestones = _events(rows, frames)
    arguments = rows.of(
        "SELECT name, value, raw, is_literal FROM server_args WHERE run_no = ? ORDER BY position"
    )
    spans = rows.of(
        "SELECT stage, rank, began_at, ended_at, first_line, last_line, seconds, complete, mem_gb, avail_gb "
        "FROM stages WHERE run_no = ? ORDER BY position"
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
            Argument(row[0], value, row[2], row[3])
            for row, value in zip(arguments, load_all([row[1] for row in arguments]), strict=True)
        ),
        server_args_line=facts["server_args_line"],
        server_args_complete=facts["server_args_complete"],
        env=tuple(EnvVar(name, value, line) for name, value, origin, line in env if origin == "log"),
        root_error=_root_error(facts, frames[0]),
        events=events,
        milestones=milestones,
        stages=tuple(StageSpan(Stage(row[0]), *row[1:]) for row in spans),
        coverage=Coverage(
            facts["lines"], facts["lines_understood"], facts["lines_unknown"], facts["lines_torn"],
            facts["secrets_masked"], facts["parser_version"], facts["fingerprint_version"],
        ),
    )  # fmt: skip


def _frames(rows: _Rows) -> defaultdict[int, tuple[Frame, ...]]:
    gathered: defaultdict[int, tuple[Frame, ...]] = defaultdict(tuple)
    for event, file, line, function in rows.of(
        "SELECT event, file, line, function FROM tracebacks WHERE run_no = ? ORDER BY event, frame"
    ):
        gathered[event] += (Frame(file, line, function),)
    return gathered


def _events(
    rows: _Rows, frames: Mapping[int, tuple[Frame, ...]]
) -> tuple[tuple[Event, ...], tuple[Milestone, ...]]:
    events: list[Event] = []
    milestones: list[Milestone] = []
    for row in rows.of(
        "SELECT kind, position, name, type, fingerprint, message, line, last_line, count, rank, ranks, "
        "benign, logged_at, "
        "last_at, stage, role, role_reason, rule, excerpt, seconds, figures, traceback_text "
        "FROM events WHERE run_no = ? ORDER BY position"
    ):
        kind, position, name, error_type, fingerprint, message, line, last_line, count, rank = row[:10]
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
    for role, key, value, origin in rows.of(
        "SELECT role, key, value, origin FROM model_configs WHERE run_no = ? ORDER BY role DESC, position"
    ):
        configs[role].append((key, value))
        origins[role] = origin
    return Context(
        argv=None if facts["argv"] is None else tuple(facts["argv"]),
        env={row[0]: row[1] for row in env if row[2] == "context"} if facts["env_known"] else None,
        sglang_version=facts["context_version"],
        sglang_commit=facts["sglang_commit"],
        packages=dict(rows.of("SELECT name, version FROM packages WHERE run_no = ?")),
        host=facts["context_host"],
        kernel=facts["kernel"],
        image=facts["image"],
        gpus=tuple(facts["gpus"]),
        driver=facts["driver"],
        model_configs={role: unflatten(pairs) for role, pairs in configs.items()},
        config_origin=origins,
        model_files=tuple(
            WeightFile(*row)
            for row in rows.of("SELECT role, name, size, sha256 FROM model_files WHERE run_no = ?")
        ),
        facts=dict(rows.of("SELECT name, value FROM host_facts WHERE run_no = ?")),
        start_time=facts["context_start"],
        end_time=facts["context_end"],
        exit_code=facts["exit_code"],
        exit_signal=facts["exit_signal"],
    )


def _mark(connection: DuckDBPyConnection, run_id: str) -> Mark | None:
    row = connection.execute(
        "SELECT verdict, note, noted_at FROM notes WHERE run_id = ? ORDER BY noted_at DESC LIMIT 1", [run_id]
    ).fetchone()
    return None if row is None else Mark(*row)


def _paths(connection: DuckDBPyConnection, log_id: str) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT path FROM sources WHERE log_id = ? AND is_current ORDER BY added_at, path", [log_id]
    ).fetchall()
    return tuple(row[0] for row in rows)


def _stage(name: str | None) -> Stage | None:
    return None if name is None else Stage(name)
