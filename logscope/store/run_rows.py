"""One run as rows of the tables. The way back is `rebuild`; the two must agree."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from logscope.context import Context
from logscope.store import command_line
from logscope.store.columns import TableRows, clean
from logscope.store.json_paths import dump, flatten
from logscope.store.nearness import values_key
from logscope.store.records import RunId
from parsers.lazy_dataclass import dataclass
from parsers.records import Argument, Event, Frame, Json, Milestone, Run, StageSpan

RUN_COLUMNS = (
    "run_no:i run_id:s log_id:s path:s ordinal:i first_line:i last_line:i label:s carrier:s outcome:s "
    "ready:b "
    "stage:s reason:s started_at:t ready_at:t ended_at:t ready_seconds:f order_at:t order_from:s "
    "sglang_version:s version_in_log:s version_kind:s version_first:s version_last:s version_reason:s "
    "model_path:s model_in_log:s model_key:s served_model_name:s port:i tp_size:i dp_size:i pp_size:i "
    "ep_size:i "
    "nnodes:i quantization:s speculative_algorithm:s device:s host:s ranks:l server_args_line:i "
    "server_args_complete:b root_type:s root_message:s root_line:i root_rank:s root_fingerprint:s "
    "root_reason:s "
    "root_ranks:l root_excerpt:s lines:i lines_understood:i lines_unknown:i lines_torn:i secrets_masked:i "
    "parser_version:i fingerprint_version:i has_context:b argv:l env_known:b sglang_commit:s kernel:s "
    "image:s "
    "driver:s gpus:l context_host:s context_version:s context_start:t context_end:t exit_code:i "
    "exit_signal:s "
    "ended_cleanly:b argv_key:s args_key:s"
)
_CLEAN_ENDS = ("drained", "shutdown")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stands in the store and in time."""

    run_no: int
    run_id: RunId
    log_id: str
    path: str
    fallback_time: datetime | None
    """For the order of runs whose log and context tell no time: the file's modification time."""
    zone: timedelta
    """Printed times minus UTC, as far as other runs tell."""


class RunTables:
    """Rows of all small tables, gathered over many runs and then put in at once."""

    def __init__(self) -> None:
        self.runs = TableRows("runs", RUN_COLUMNS)
        key = "run_no:i run_id:s "
        self.args = TableRows(
            "server_args", key + "position:i name:s value:s text:s raw:s number:f is_literal:b"
        )
        self.env = TableRows("env", key + "name:s value:s origin:s line:i")
        self.configs = TableRows("model_configs", key + "role:s position:i key:s value:s origin:s")
        self.files = TableRows("model_files", key + "role:s name:s size:i sha256:s")
        self.packages = TableRows("packages", key + "name:s version:s")
        self.facts = TableRows("host_facts", key + "name:s value:s")
        self.events = TableRows(
            "events",
            key
            + "position:i kind:s name:s level:s type:s fingerprint:s message:s line:i last_line:i count:i "
            "rank:s ranks:l benign:b logged_at:t last_at:t stage:s role:s role_reason:s rule:s excerpt:s "
            "seconds:f "
            "figures:s traceback_text:s",
        )
        self.tracebacks = TableRows(
            "tracebacks", key + "event:i fingerprint:s frame:i file:s line:i function:s"
        )
        self.stages = TableRows(
            "stages",
            key
            + "position:i stage:s rank:s began_at:t ended_at:t first_line:i last_line:i seconds:f complete:b "
            "mem_gb:f avail_gb:f",
        )

    def all(self) -> tuple[TableRows, ...]:
        """Every table that a run has rows in, besides batches, requests and throughput."""
        return (
            self.runs, self.args, self.env, self.configs, self.files, self.packages, self.facts, self.events,
            self.tracebacks, self.stages,
        )  # fmt: skip

    def add(self, run: Run, context: Context | None, place: Place) -> None:
        """Takes all rows of one run."""
        key = (place.run_no, str(place.run_id))
        self.runs.add(*_run_row(run, context, place))
        for position, argument in enumerate(run.server_args, start=1):
            self.args.add(*key, position, *_argument_row(argument))
        for variable in run.env:
            self.env.add(*key, variable.name, variable.value, "log", variable.line)
        for position, event in enumerate(run.events, start=1):
            self.events.add(*key, position, *_event_row(event))
            self._add_frames(key, position, event.fingerprint, event.traceback)
        if run.root_error is not None:
            self._add_frames(key, 0, run.root_error.fingerprint, run.root_error.traceback)
        for position, milestone in enumerate(run.milestones, start=1):
            self.events.add(*key, position, *_milestone_row(milestone))
        for position, span in enumerate(run.stages, start=1):
            self.stages.add(*key, position, *_stage_row(span))
        if context is not None:
            self._add_context(key, context)

    def _add_context(self, key: tuple[int, str], context: Context) -> None:
        for name, value in (context.env or {}).items():
            self.env.add(*key, name, value, "context", None)
        for role, config in context.model_configs.items():
            origin = context.config_origin.get(role, "launch")
            for position, (path, text) in enumerate(flatten(config), start=1):
                self.configs.add(*key, role, position, path, text, origin)
        for file in context.model_files:
            self.files.add(*key, file.role, file.name, file.size, file.sha256)
        for name, version in context.packages.items():
            self.packages.add(*key, name, version)
        for name, value in context.facts.items():
            self.facts.add(*key, name, value)

    def _add_frames(
        self, key: tuple[int, str], event: int, fingerprint: str, frames: Iterable[Frame]
    ) -> None:
        for number, frame in enumerate(frames, start=1):
            self.tracebacks.add(*key, event, fingerprint, number, frame.file, frame.line, frame.function)


def model_key(path: str | None) -> str | None:
    """Name of a model without its folder: equal for a hub name, a snapshot folder and a plain copy."""
    if not path:
        return None
    cached = re.search(r"models--[^/]+?--([^/]+)/snapshots/[0-9a-f]+/?$", path)
    name = cached.group(1) if cached else path.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1]
    return name.lower() or None


def plain_text(value: Json) -> str | None:
    """A value as plain text: strings as they are, None for null, all else as JSON."""
    if value is None:
        return None
    return clean(value) if isinstance(value, str) else dump(value)


def _run_row(run: Run, context: Context | None, place: Place) -> tuple[object, ...]:
    known = Known(run, context)
    surroundings = context or Context()
    order_at, order_from = order_of(run, context, place)
    root, version, coverage = run.root_error, run.version, run.coverage
    return (
        place.run_no, str(place.run_id), place.log_id, place.path, run.ordinal, run.first_line, run.last_line,
        run.label, run.carrier, str(run.outcome), run.ready, run.stage and str(run.stage), run.reason,
        run.started_at, run.ready_at, run.ended_at, _seconds(run.started_at, run.ready_at), order_at,
        order_from,
        surroundings.sglang_version or version.version, version.version, version.kind, version.first,
        version.last, version.reason, known.model, run.model_path, model_key(known.model),
        known.text("served_model_name"), known.number("port"), known.number("tp_size"),
        known.number("dp_size"),
        known.number("pp_size"), known.number("ep_size"), known.number("nnodes"), known.text("quantization"),
        known.text("speculative_algorithm"), known.text("device"), surroundings.host, run.ranks,
        run.server_args_line, run.server_args_complete, root and root.type, root and root.message,
        root and root.line, root and root.rank, root and root.fingerprint, root and root.reason,
        root and root.ranks, root and root.excerpt, coverage.lines, coverage.understood, coverage.unknown,
        coverage.torn, coverage.masked, coverage.parser_version, coverage.fingerprint_version,
        context is not None, surroundings.argv, surroundings.env is not None, surroundings.sglang_commit,
        surroundings.kernel, surroundings.image, surroundings.driver, surroundings.gpus, surroundings.host,
        surroundings.sglang_version, surroundings.start_time, surroundings.end_time, surroundings.exit_code,
        surroundings.exit_signal, ends_cleanly(run, context), known.argv_key, known.args_key,
    )  # fmt: skip


class Known:
    """Facts about a run from its args line, else from its command line."""

    def __init__(self, run: Run, context: Context | None) -> None:
        self._printed = {argument.name: argument.value for argument in run.server_args}
        self._typed = command_line.options(context.argv) if context is not None and context.argv else {}
        self.model = run.model_path or self.text("model_path")
        self.argv_key = values_key(self._typed)
        self.args_key = values_key(self._printed)

    def text(self, name: str) -> str | None:
        value = self._value(name)
        return None if value is None or value is True else str(value)

    def number(self, name: str) -> int | None:
        return command_line.whole_number(self._value(name))

    def _value(self, name: str) -> Json:
        if name in self._printed:
            return self._printed[name]
        return self._typed.get(name)


def order_of(run: Run, context: Context | None, place: Place) -> tuple[datetime | None, str]:
    """The time that puts the run in order, on the log's own clock, and where it is from."""
    if run.started_at is not None:
        return run.started_at, "log"
    if context is not None and context.start_time is not None:
        return context.start_time + place.zone, "context"
    if place.fallback_time is not None:
        return place.fallback_time, "file"
    return None, "ingest"


def zone_of(run: Run, context: Context | None) -> timedelta | None:
    """Printed times minus UTC, to a quarter of an hour; None when one of the two is missing or they
    contradict."""
    if run.started_at is None or context is None or context.start_time is None:
        return None
    quarters = round((run.started_at - context.start_time) / timedelta(minutes=15))
    return timedelta(minutes=15 * quarters) if abs(quarters) <= 60 else None


def ends_cleanly(run: Run, context: Context | None) -> bool | None:
    """True when the log or a zero exit code says that the server was stopped in order."""
    if any(milestone.name in _CLEAN_ENDS for milestone in run.milestones):
        return True
    return True if context is not None and context.exit_code == 0 else None


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return None if start is None or end is None else (end - start).total_seconds()


def _argument_row(argument: Argument) -> tuple[str | float | bool | None, ...]:
    value = argument.value
    number = None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        number = _float(value)
    return argument.name, dump(value), plain_text(value), argument.raw, number, argument.is_literal


def _float(value: int | float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _event_row(event: Event) -> tuple[object, ...]:
    rank = event.ranks[0] if event.ranks else ""
    return (
        event.level, None, event.level, event.type, event.fingerprint, event.message, event.line,
        event.last_line, event.count, rank, event.ranks, event.benign, event.at, event.last_at,
        event.stage and str(event.stage), str(event.role), event.role_reason, event.rule, event.excerpt, None,
        None, event.traceback_text or None,
    )  # fmt: skip


def _milestone_row(milestone: Milestone) -> tuple[object, ...]:
    figures = dump([[name, value] for name, value in milestone.values])
    return (
        "milestone", milestone.name, None, None, None, None, milestone.line, None, 1, milestone.rank,
        (milestone.rank,), None, milestone.at, None, str(milestone.stage), milestone.role, None, None,
        milestone.excerpt, milestone.seconds, figures, None,
    )  # fmt: skip


def _stage_row(span: StageSpan) -> tuple[object, ...]:
    return (
        str(span.stage), span.rank, span.began_at, span.ended_at, span.first_line, span.last_line,
        span.seconds,
        span.complete, span.mem_gb, span.avail_gb,
    )  # fmt: skip
