"""JSON of runs and diffs, exactly as the public contract names it (``docs/json.md``).

Same values, same bytes: keys in a fixed order, no time of writing. Characters that could turn a terminal
are written as ``\\uXXXX``; a JSON reader gives them back unchanged.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from logscope.context import context_to_json
from logscope.report.harmless import is_hidden
from logscope.store.records import StoredRun, Throughput
from parsers.lazy_pattern import lazy_re
from parsers.records import Event, Frame, Json, Milestone, RootError, StageSpan

RUN_SCHEMA = "logscope.run/1"

_UNUSUAL = lazy_re(r"[^\n\x20-\x7e]")


def runs_json(
    runs: Sequence[StoredRun],
    origins: Mapping[str, Mapping[str, str]] | None = None,
    groups: Sequence[Json] = (),
) -> str:
    """The document of ``logscope show``; `origins` gives run id -> argument name -> origin."""
    known = origins or {}
    rows: list[Json] = [run_value(stored, known.get(stored.run_id)) for stored in runs]
    return dump({"schema": RUN_SCHEMA, "runs": rows, "groups": list(groups)})


def dump(document: Mapping[str, Json]) -> str:
    """`document` as text with an indent of one, UTF-8 safe, without NaN."""
    text = json.dumps(_finite(dict(document)), ensure_ascii=False, indent=1, allow_nan=False)
    return _UNUSUAL.sub(_escaped, text) + "\n"


def run_value(stored: StoredRun, origins: Mapping[str, str] | None = None) -> dict[str, Json]:
    """A RUN with its lists."""
    run = stored.run
    value = brief_run_value(stored, origins)
    value["errors"] = [_event(event) for event in run.errors]
    value["warnings"] = [_event(event) for event in run.warnings]
    value["milestones"] = [_milestone(milestone) for milestone in run.milestones]
    value["stages"] = [_stage(span) for span in run.stages]
    return value


def brief_run_value(stored: StoredRun, origins: Mapping[str, str] | None = None) -> dict[str, Json]:
    """A RUN without its lists of errors, warnings, milestones and stages: a side of a diff."""
    run = stored.run
    version = run.version
    return {
        "run_id": stored.run_id,
        "source": {
            "path": stored.path,
            "first_line": run.first_line,
            "last_line": run.last_line,
            "ordinal": run.ordinal,
            "label": run.label,
            "paths": list(stored.paths) or [stored.path],
        },
        "outcome": run.outcome.value,
        "ready": run.ready,
        "stage": run.stage.value if run.stage else None,
        "reason": run.reason,
        "started_at": _time(stored.started_at),
        "ready_at": _time(run.ready_at),
        "ended_at": _time(run.ended_at),
        "sglang_version": stored.sglang_version,
        "version": {
            "kind": version.kind,
            "first": version.first,
            "last": version.last,
            "reason": version.reason,
        },
        "model_path": run.model_path,
        "host": stored.host,
        "ranks": list(run.ranks),
        "carrier": run.carrier,
        "server_args": {argument.name: argument.value for argument in run.server_args},
        "server_args_line": run.server_args_line,
        "server_args_complete": run.server_args_complete,
        "server_args_text": [argument.name for argument in run.server_args if not argument.is_literal],
        "origins": dict(origins) if origins else {},
        "env": {variable.name: variable.value for variable in run.env},
        "root_error": _root(run.root_error),
        "coverage": {
            "lines": run.coverage.lines,
            "understood": run.coverage.understood,
            "unknown": run.coverage.unknown,
            "torn": run.coverage.torn,
            "masked": run.coverage.masked,
            "parser_version": run.coverage.parser_version,
            "fingerprint_version": run.coverage.fingerprint_version,
        },
        "throughput": _throughput(stored.throughput),
        "context": None if stored.context is None else context_to_json(stored.context),
        "mark": None
        if stored.mark is None
        else {"verdict": stored.mark.verdict, "note": stored.mark.note, "at": _time(stored.mark.at)},
    }


def _root(root: RootError | None) -> Json:
    if root is None:
        return None
    return {
        "type": root.type,
        "message": root.message,
        "line": root.line,
        "rank": root.rank,
        "ranks": list(root.ranks),
        "fingerprint": root.fingerprint,
        "reason": root.reason,
        "excerpt": root.excerpt,
        "traceback": _frames(root.traceback),
    }


def _event(event: Event) -> Json:
    return {
        "fingerprint": event.fingerprint,
        "level": event.level,
        "type": event.type,
        "message": event.message,
        "line": event.line,
        "last_line": event.last_line,
        "count": event.count,
        "ranks": list(event.ranks),
        "benign": event.benign,
        "at": _time(event.at),
        "last_at": _time(event.last_at),
        "stage": event.stage.value if event.stage else None,
        "role": event.role.value,
        "role_reason": event.role_reason,
        "rule": event.rule,
        "excerpt": event.excerpt,
        "traceback": _frames(event.traceback),
    }


def _frames(frames: Sequence[Frame]) -> Json:
    return [{"file": frame.file, "line": frame.line, "function": frame.function} for frame in frames]


def _milestone(milestone: Milestone) -> Json:
    return {
        "name": milestone.name,
        "stage": milestone.stage.value,
        "rank": milestone.rank,
        "line": milestone.line,
        "at": _time(milestone.at),
        "seconds": milestone.seconds,
        "role": milestone.role,
        "values": dict(milestone.values),
    }


def _stage(span: StageSpan) -> Json:
    return {
        "stage": span.stage.value,
        "rank": span.rank,
        "began_at": _time(span.began_at),
        "ended_at": _time(span.ended_at),
        "first_line": span.first_line,
        "last_line": span.last_line,
        "seconds": span.seconds,
        "complete": span.complete,
        "mem_gb": span.mem_gb,
        "avail_gb": span.avail_gb,
    }


def _throughput(figures: Throughput) -> Json:
    return {
        "decode": {
            "lines": figures.decode_lines,
            "gen_throughput": {
                "last": figures.gen_last,
                "median": figures.gen_median,
                "p10": figures.gen_p10,
                "p90": figures.gen_p90,
            },
            "accept_length": figures.accept_length,
            "cuda_graph_share": figures.cuda_graph_share,
            "running_max": figures.running_max,
            "queue_max": figures.queue_max,
            "token_usage_max": figures.token_usage_max,
            "by_running_requests": [
                {
                    "running": bucket.running,
                    "cuda_graph": bucket.cuda_graph,
                    "lines": bucket.lines,
                    "median": bucket.median,
                    "p10": bucket.p10,
                    "p90": bucket.p90,
                }
                for bucket in figures.buckets
            ],
        },
        "prefill": {"lines": figures.prefill_lines, "input_throughput": figures.input_median},
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _finite(value: Json) -> Json:
    """JSON has no NaN and no infinity: they become their printed text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): _finite(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(held) for held in value]
    return value


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    return json.dumps(char)[1:-1] if is_hidden(char) else char
