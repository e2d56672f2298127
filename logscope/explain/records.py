"""Ranked causes and what to do about them."""

from __future__ import annotations

from logscope.compare.records import Evidence, RunDiff
from logscope.store.records import Contrast, Seen
from parsers.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way out."""

    action: str
    """One sentence in the imperative."""
    apply: str
    """The flag, variable, config key or command to type; '' when there is none."""
    durability: str
    """``quick``, ``lasting``, ``workaround`` or ``last resort``."""
    assumes: str
    risks: str = ""
    worked_before: str = ""
    """Where it worked before in this store; '' when it did not."""


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One summand of a cause's score."""

    name: str
    points: float
    why: str


@dataclass(frozen=True, slots=True)
class Cause:
    """One candidate for what made the run fail or slow."""

    rank: int
    title: str
    kind: str
    """``arg``, ``env``, ``config``, ``version``, ``host`` or ``other``."""
    subject: str
    """``context_length``, ``NCCL_P2P_DISABLE``, ``draft.max_position_embeddings``, ``sglang`` ..."""
    score: float
    """0 to 1; the order of confidence."""
    mechanism: str
    """How it leads to the failure, one or two sentences."""
    evidence: tuple[Evidence, ...]
    remedies: tuple[Remedy, ...]
    seen_before: Seen | None = None
    contrast: Contrast | None = None
    parts: tuple[ScorePart, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """A diff with its verdict and causes: what every report and the terminal UI show."""

    diff: RunDiff
    verdict: str
    """One sentence a person could paste into a ticket."""
    causes: tuple[Cause, ...]
