"""The typed records that the parsers give out: the whole contract of this package.

Every record is frozen and keeps its evidence (line numbers count from 1, by ``\\n``, as a text
editor shows them). Nothing here reads, decides or prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from parsers.lazy_dataclass import dataclass, field

if TYPE_CHECKING:  # numpy costs 0.1 s to import and only the batch blocks hold its arrays
    import numpy as np

PARSER_VERSION = 1
"""Raised when the same bytes give another result; stored with each run."""

FINGERPRINT_VERSION = 1
"""Raised when the same message gives another fingerprint."""

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""Any JSON value."""


class Outcome(StrEnum):
    """How a run ended; the words are those of the public contract."""

    READY = "ready"
    FAILED = "failed"
    KILLED = "killed"
    HUNG = "hung"
    RUNNING = "running"
    UNKNOWN = "unknown"


class Stage(StrEnum):
    """How far a launch got, in the order in which a launch goes through them."""

    ARGS = "args"
    ENV = "env"
    DISTRIBUTED = "distributed"
    LOAD = "load"
    KV_CACHE = "kv-cache"
    GRAPH_CAPTURE = "graph-capture"
    WARMUP = "warmup"
    SERVING = "serving"
    SHUTDOWN = "shutdown"


@dataclass(frozen=True, slots=True)
class Line:
    """One piece of a physical line after carriers, colour codes and ``\\r`` bars are taken off."""

    number: int
    part: int
    """0 for the first piece of the physical line; ``\\r`` bars and glued records give more."""
    label: str
    """The carrier's name of the source (``api-1``, ``Engine pid=4101``, ``worker_0``); '' if none."""
    at: datetime | None
    """SGLang's own time when the piece has one, else the carrier's; naive, as printed."""
    rank: str
    """``TP0``, ``DP1 TP3`` as printed; '' for the parent, tokenizer and HTTP server."""
    level: str | None
    """A level word that was printed (``INFO``, ``ERROR``), upper case; SGLang prints none itself."""
    has_head: bool
    """True when the piece begins a record (bracketed time, level, rank), False for continuations."""
    body: str
    """The text after the head; the whole text where there is no head."""
    text: str
    """The piece with its head, without carrier and colour: what is quoted as evidence."""
    source_file: str | None = None
    """``server_args.py:1171`` where the head names it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One traceback frame, outermost first in every list of them."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Argument:
    """One server argument in the printed order."""

    name: str
    value: Json
    """The value as JSON; where ``is_literal`` is False, its printed text."""
    raw: str
    is_literal: bool = True


@dataclass(frozen=True, slots=True)
class EnvVar:
    """An environment variable that the log itself shows."""

    name: str
    value: str
    line: int


class EventRole(StrEnum):
    """What part an error played in how the run ended."""

    ROOT = "root"
    CANDIDATE = "candidate"
    """Could have been the root; another one was chosen."""
    ECHO = "echo"
    """A consequence of the root (sigquit, EOFError, peer closed)."""
    SURVIVED = "survived"
    """The server went on after it."""
    REQUEST = "request"
    """Ended one request, not the server."""
    OUTSIDE = "outside"
    """Text of a harness or client around the server."""
    NONE = ""


@dataclass(frozen=True, slots=True)
class Event:
    """All occurrences of one error or warning (one fingerprint) in a run."""

    fingerprint: str
    level: str
    """``error`` or ``warning``."""
    type: str | None
    """Exception class, or a word such as ``SIGSEGV``, ``argparse`` where there is none."""
    message: str
    line: int
    """Line of the first occurrence's own message."""
    last_line: int
    count: int
    ranks: tuple[str, ...]
    benign: bool
    """True for look-alikes that stand in good launches too."""
    at: datetime | None
    last_at: datetime | None
    stage: Stage | None
    """Stage the launch was in at the first occurrence."""
    role: EventRole
    role_reason: str
    """Why it is not the root, or why it is: one clause, shown by ``explain``."""
    rule: str
    """Id of the rule that took the line."""
    excerpt: str
    """The line of the message as it stands in the log (carrier taken off)."""
    traceback: tuple[Frame, ...] = ()
    traceback_text: str = ""
    """The raw traceback block of the first occurrence, at most 200 lines; '' if there was none."""


@dataclass(frozen=True, slots=True)
class RootError:
    """The error that ended the run."""

    type: str
    message: str
    line: int
    """Line on which the exception's own message begins."""
    rank: str
    fingerprint: str
    traceback: tuple[Frame, ...]
    reason: str
    """Why this one and not the others."""
    ranks: tuple[str, ...] = ()
    """All ranks that printed it."""
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Milestone:
    """A line that says how far the launch is."""

    name: str
    """Canonical over releases: ``args``, ``distributed-begin``, ``distributed-end``, ``load-begin``,
    ``load-end``, ``kv-cache``, ``memory-pool-end``, ``graph-begin``, ``graph-end``, ``limits``,
    ``http-started``, ``http-running``, ``engine-timings``, ``ready``, ``sigterm``, ``sigquit``,
    ``drained``, ``shutdown`` ... (the full list: ``parsers.rules.milestones``)."""
    stage: Stage
    rank: str
    line: int
    at: datetime | None
    seconds: float | None
    """Printed duration; None where the release prints none."""
    role: str = ""
    """``target`` or ``draft`` where a draft model gives the same milestone twice."""
    values: tuple[tuple[str, float | str], ...] = ()
    """Figures of the line in canonical names: ``avail_mem_gb``, ``mem_usage_gb``, ``tokens``,
    ``k_size_gb``, ``v_size_gb``, ``max_total_num_tokens``, ``context_len``, ``type``, ``dtype`` ..."""
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class StageSpan:
    """One stage of one rank ('' = the whole launch)."""

    stage: Stage
    rank: str
    began_at: datetime | None
    ended_at: datetime | None
    first_line: int
    last_line: int
    seconds: float | None
    """Printed by SGLang where it is, else the difference of the times."""
    complete: bool
    """False when the stage began and its end never came."""
    mem_gb: float | None = None
    """Memory the stage took, GB, where printed."""
    avail_gb: float | None = None
    """Memory left at its end, GB, where printed."""


@dataclass(frozen=True, slots=True)
class VersionGuess:
    """The SGLang version and how it is known."""

    version: str | None
    """Exact version, else None."""
    kind: str
    """``exact``, ``range`` or ``unknown``."""
    first: str | None = None
    last: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far the result can be trusted; counts of physical lines of the run."""

    lines: int
    understood: int
    unknown: int
    torn: int
    """Records torn by another process's output and repaired where certain."""
    masked: int
    """Secrets masked."""
    parser_version: int = PARSER_VERSION
    fingerprint_version: int = FINGERPRINT_VERSION


@dataclass(frozen=True, slots=True)
class Run:
    """One launch as its log shows it."""

    ordinal: int
    """1 for the first launch of the log (``PATH#1``)."""
    first_line: int
    last_line: int
    label: str
    """The carrier's source label, where several servers share a log."""
    carrier: str
    outcome: Outcome
    ready: bool
    stage: Stage | None
    reason: str
    started_at: datetime | None
    ready_at: datetime | None
    ended_at: datetime | None
    version: VersionGuess
    model_path: str | None
    ranks: tuple[str, ...]
    server_args: tuple[Argument, ...]
    server_args_line: int | None
    server_args_complete: bool
    env: tuple[EnvVar, ...]
    root_error: RootError | None
    events: tuple[Event, ...]
    """Errors and warnings, by first line."""
    milestones: tuple[Milestone, ...]
    stages: tuple[StageSpan, ...]
    coverage: Coverage

    @property
    def errors(self) -> tuple[Event, ...]:
        return tuple(event for event in self.events if event.level == "error")

    @property
    def warnings(self) -> tuple[Event, ...]:
        return tuple(event for event in self.events if event.level == "warning")


@dataclass(frozen=True, slots=True)
class BatchPart:
    """Lines of one kind as columns; all arrays have one length, and ``line`` ascends."""

    kind: int
    """PREFILL or DECODE of ``parsers.rules.batches``."""
    columns: Mapping[str, np.ndarray]
    """``line``, ``at``, ``rank``, and each other of ``parsers.rules.batches.BATCH_COLUMNS`` in which a line
    has a value. Missing values: NaN in float columns, -1 in counts, -1 in tri-state booleans (int8), NaT in
    ``at``, '' in ``other``."""


@dataclass(frozen=True, slots=True)
class BatchBlock:
    """Prefill and decode lines of one run, from one stretch of its log."""

    ordinal: int
    """The run (``Run.ordinal``) that the rows belong to."""
    parts: tuple[BatchPart, ...]
    """One or more a kind; the lines of two parts may lie among each other."""
    ranks: tuple[str, ...]
    """Text of the codes in the ``rank`` columns."""


@dataclass(frozen=True, slots=True)
class RequestBlock:
    """Access-log lines of one run as columns."""

    ordinal: int
    columns: Mapping[str, np.ndarray]
    """``line`` int64, ``at`` datetime64[us], ``tail`` int32 (code into ``tails``)."""
    tails: tuple[tuple[str, str, int], ...]
    """(method, path, status) of each code."""


@dataclass(frozen=True, slots=True)
class ParsedLog:
    """All that a log holds. Batch and request rows were given out as blocks while reading."""

    runs: tuple[Run, ...]
    lines: int
    size: int
    """Bytes read, after decompression."""
    is_sglang: bool
    """False when nothing in the text is of an SGLang launch."""
    encoding: str = "utf-8"
    newest_first: bool = False
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Progress:
    """What a launch did, for weighing its errors: given by the reader to the failure model."""

    first_line: int
    last_line: int
    first_at: datetime | None
    last_at: datetime | None
    milestones: tuple[Milestone, ...]
    server_args_line: int | None
    ready_line: int | None
    first_batch_line: int | None
    last_batch_line: int | None
    last_batch_at: datetime | None
    batch_lines: int
    last_good_request_line: int | None
    """Last access line with a status below 400 (health probes and model_info left out)."""
    is_torn_at_end: bool = False
    """The last physical line has no end of line."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """How a launch ended and what ended it."""

    outcome: Outcome
    ready: bool
    stage: Stage | None
    reason: str
    """One sentence."""
    root_error: RootError | None
    events: tuple[Event, ...]
