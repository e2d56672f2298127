"""What differs between two runs: the one value that every report and the terminal UI show."""

from __future__ import annotations

from enum import StrEnum

from logscope.store.records import Baseline, RunId, Spread, StoredRun
from parsers.lazy_dataclass import dataclass
from parsers.records import Json, Stage


class Origin(StrEnum):
    """Why an argument has its value."""

    USER = "user"
    DEFAULT = "default"
    DERIVED = "derived"
    UNKNOWN = "unknown"


class Change(StrEnum):
    """What happened to a thing between the good and the bad run."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    RENAMED = "renamed"
    ORIGIN = "origin"
    """Same value, other origin."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quoted line: a person can go from it to the log."""

    text: str
    """The text as it stands on `line` of the log (its beginning, when it is long)."""
    run: str
    """``good`` or ``bad``."""
    line: int | None
    """None when it stands in the context file or the store, not in the log."""


@dataclass(frozen=True, slots=True)
class ArgumentChange:
    """One server argument that differs."""

    name: str
    good: Json
    bad: Json
    change: Change
    origin_good: Origin
    origin_bad: Origin
    relevance: float
    """0 (noise) to 1 (named in the root error)."""
    renamed_from: str | None = None
    is_noise: bool = False
    """Seeds, ports, paths that only moved: kept, hidden at first."""
    note: str = ""
    """``default changed between the releases``, ``SGLang derived it from tp_size`` ..."""
    was_typed: bool | None = None
    """Whether a command line of either run holds it; None where that is not known for certain."""


@dataclass(frozen=True, slots=True)
class ValueChange:
    """An environment variable, package version, host fact, config.json key or model file that differs."""

    name: str
    """Config keys are dotted paths without the role."""
    good: Json
    bad: Json
    change: Change
    role: str | None = None
    """``target`` or ``draft`` for config.json keys and model files."""
    relevance: float = 0.0
    is_noise: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Two things inside the failing run that contradict each other, though nothing need have changed."""

    rule: str
    subject: str
    """``draft.max_position_embeddings``, ``tp_size`` ..."""
    text: str
    """One sentence with both values."""
    reason: str
    """Why they must agree."""
    values: tuple[tuple[str, Json], ...]
    relevance: float = 0.0
    in_good_too: bool = False
    """The good run had the same contradiction and got ready all the same."""


@dataclass(frozen=True, slots=True)
class ValidationChange:
    """An error or warning of the bad run (or gone from it), against the good run."""

    fingerprint: str
    level: str
    type: str | None
    message: str
    line: int | None
    status: str
    """``new``, ``promoted`` (warning in good, error in bad), ``gone`` or ``known``."""
    benign: bool
    good_line: int | None = None
    seen_before: int = 0
    introduced_in: str | None = None
    """The release in which SGLang began to raise it, where the catalogue knows."""
    finding: str | None = None
    """The catalogue's word: ``new``, ``default-flipped``, ``unchanged`` ...; None when not asked."""
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class StageChange:
    """One stage of the launch in both runs."""

    stage: Stage
    good_seconds: float | None
    bad_seconds: float | None
    good_reached: bool
    bad_reached: bool
    bad_complete: bool
    good_mem_gb: float | None = None
    bad_mem_gb: float | None = None
    usual_seconds: Spread | None = None
    is_outside: bool = False
    """The bad run's figure lies outside the spread of the good runs."""
    first_missing: bool = False
    """The first stage that the failing run never reached."""


@dataclass(frozen=True, slots=True)
class MetricChange:
    """One figure of throughput or memory in both runs."""

    metric: str
    unit: str
    good: float | None
    bad: float | None
    ratio: float | None
    """bad / good."""
    is_significant: bool
    """Larger than the runs' own noise."""
    noise: str = ""
    """How that was judged, in words; ``not reproducible`` cases are said here."""
    interval: tuple[float, float] | None = None
    """Bootstrap interval of the ratio, 95 %."""


@dataclass(frozen=True, slots=True)
class RunDiff:
    """Everything that differs between `good` and `bad`, noise marked, and what could not be compared."""

    good: StoredRun | None
    bad: StoredRun
    baseline: Baseline
    args: tuple[ArgumentChange, ...] = ()
    env: tuple[ValueChange, ...] = ()
    versions: tuple[ValueChange, ...] = ()
    """sglang itself first, then packages, driver, commit."""
    host: tuple[ValueChange, ...] = ()
    configs: tuple[ValueChange, ...] = ()
    files: tuple[ValueChange, ...] = ()
    """Model files that came, went or changed size."""
    mismatches: tuple[Mismatch, ...] = ()
    validations: tuple[ValidationChange, ...] = ()
    stages: tuple[StageChange, ...] = ()
    metrics: tuple[MetricChange, ...] = ()
    cleared: tuple[str, ...] = ()
    """What was compared and is the same."""
    not_compared: tuple[str, ...] = ()
    """What could not be compared, and why."""
    first_bad: RunId | None = None
    first_failed: RunId | None = None
    matters: bool = True
    """False when nothing that matters differs (exit code 0)."""
