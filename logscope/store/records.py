"""What the store gives out: runs with their surroundings, list rows, and answers from history."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NewType

from logscope.context import Context
from parsers.lazy_dataclass import dataclass, field
from parsers.records import Json, Outcome, Run, Stage

RunId = NewType("RunId", str)
"""Hex text; the same log bytes and launch ordinal always give the same id."""


def short_id(run_id: str) -> str:
    """The first twelve digits of a run id, as texts show it: a prefix that every command takes."""
    return run_id[:12]



@dataclass(frozen=True, slots=True)
class Mark:
    """A person's word on a run."""

    verdict: str
    """``good``, ``bad`` or ``skip``; overrides the judged outcome when a baseline is chosen."""
    note: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Bucket:
    """Decode throughput at one number of running requests (lines after idle left out)."""

    running: int
    cuda_graph: bool | None
    """None where the release does not print it."""
    lines: int
    median: float
    p10: float
    p90: float


@dataclass(frozen=True, slots=True)
class Throughput:
    """Summary of one run's batch lines. Rates in tokens/s; None where the log has no such figure."""

    decode_lines: int = 0
    prefill_lines: int = 0
    gen_last: float | None = None
    gen_median: float | None = None
    gen_p10: float | None = None
    gen_p90: float | None = None
    accept_length: float | None = None
    """Median accepted tokens per step; None without speculation."""
    cuda_graph_share: float | None = None
    """Share of decode lines (0 to 1) that ran in a graph; None where not printed."""
    input_median: float | None = None
    running_max: int | None = None
    queue_max: int | None = None
    token_usage_max: float | None = None
    buckets: tuple[Bucket, ...] = ()


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """One slice of a run's time, for plots."""

    seconds: float
    """Middle of the slice, seconds since the first decode line with a time."""
    median: float
    """Over the slice's lines of all ranks, in the figure's own unit (tokens/s for throughput)."""
    low: float
    high: float
    """10th and 90th percentile of the slice."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One run with everything that is known of it; what compare, explain and the reports work on."""

    run_id: RunId
    path: str
    """Path of the log as given; the first one where a run has several."""
    run: Run
    context: Context | None
    throughput: Throughput
    mark: Mark | None = None
    paths: tuple[str, ...] = ()
    host: str | None = None
    """From the context file, else what the log shows."""

    def argument(self, name: str) -> Json:
        """The printed value of a server argument; None when the log has none of that name."""
        for argument in self.run.server_args:
            if argument.name == name:
                return argument.value
        return None

    @property
    def sglang_version(self) -> str | None:
        """The context file's word first, else what the log shows exactly."""
        if self.context is not None and self.context.sglang_version:
            return self.context.sglang_version
        return self.run.version.version

    @property
    def started_at(self) -> datetime | None:
        """When the launch began: the log's own first time, else the context file's."""
        if self.run.started_at is not None:
            return self.run.started_at
        return self.context.start_time if self.context is not None else None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One row of the run list; everything a table or a baseline choice needs."""

    run_id: RunId
    path: str
    ordinal: int
    started_at: datetime | None
    outcome: Outcome
    ready: bool
    stage: Stage | None
    reason: str
    sglang_version: str | None
    model_path: str | None
    tp_size: int | None
    dp_size: int | None
    pp_size: int | None
    ep_size: int | None
    quantization: str | None
    speculative_algorithm: str | None
    device: str | None
    host: str | None
    root_type: str | None
    root_message: str | None
    root_fingerprint: str | None
    ready_seconds: float | None
    """Seconds from start to the ready line; None when it never came or no times are printed."""
    gen_median: float | None
    mark: str | None
    note: str | None
    running_max: int | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """The run to compare with, and why it was chosen."""

    run_id: RunId | None
    """None when no run is comparable."""
    reason: str
    """One sentence: how far it is and which was the runner-up, or why none is comparable."""
    distance: float | None
    differences: tuple[str, ...] = ()
    """The distance in words, one difference each."""
    runner_up: RunId | None = None
    first_bad: RunId | None = None
    """First run of this setup with the same error since its last success, when the failing run is not it."""
    first_failed: RunId | None = None
    """First failed run of this setup since then, with any error, when the failing run is not it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What history says of one fingerprint."""

    runs: int
    """Earlier runs with it."""
    first_run: RunId | None
    first_at: datetime | None
    fixed_by: tuple[str, ...]
    """The differences between an earlier failing run with it and the next good run of the same
    setup, in words (``env SGLANG_X: None -> 1``); () when it was never fixed."""
    fixed_in: RunId | None = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """How often a value stood in failures with this error and in successes of the same setup."""

    failures_with: int
    failures: int
    successes_with: int
    successes: int


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over the good runs of a setup."""

    runs: int
    median: float
    low: float
    high: float
    values: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class SetupSpread:
    """What is usual for a setup: the spread of its good runs."""

    stage_seconds: Mapping[str, Spread] = field(default_factory=dict)
    """Stage -> seconds."""
    stage_mem_gb: Mapping[str, Spread] = field(default_factory=dict)
    gen_throughput: Spread | None = None
    """Medians of the runs, tokens/s."""
    accept_length: Spread | None = None
    warnings: Mapping[str, int] = field(default_factory=dict)
    """Fingerprint -> in how many of the good runs it stands."""
    runs: tuple[RunId, ...] = ()


@dataclass(frozen=True, slots=True)
class ErrorHistory:
    """One error or warning over all runs of the store."""

    fingerprint: str
    level: str
    type: str | None
    message: str
    """Of the newest run with it."""
    occurrences: int
    runs: int
    ended_runs: int
    """Runs of which it is the root error."""
    first_at: datetime | None
    last_at: datetime | None
    last_run: RunId
    last_line: int
    benign: bool


@dataclass(frozen=True, slots=True)
class Series:
    """One figure of a run over time, thinned to a bounded number of points (equal slices)."""

    metric: str
    """Column of ``batches``: ``gen_throughput``, ``running_req``, ``accept_len``, ``token_usage`` ..."""
    points: tuple[SeriesPoint, ...]
    lines: int
    """Rows before thinning."""
