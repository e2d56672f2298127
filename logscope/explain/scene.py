"""Everything an explanation looks at: the diff, the clues of the error, the atlas and what history says."""

from __future__ import annotations

from pathlib import Path

from logscope.compare.clues import Clues, clues_of
from logscope.compare.facts import RunFacts
from logscope.compare.noise import INERT_ARGUMENTS
from logscope.compare.records import ArgumentChange, Origin, RunDiff
from logscope.compare.validations import root_finding
from logscope.config import config_dir
from logscope.errors import RunNotFound
from logscope.explain.bearing import what_bears
from logscope.knowledge.atlas import AtlasMatch, atlas, match, user_rules_path
from logscope.knowledge.records import ValidationFinding
from logscope.store.interface import RunHistory
from logscope.store.records import Seen, StoredRun
from parsers.lazy_dataclass import dataclass
from parsers.records import Json

_CLOSE = 1.3
"""Atlas matches this far below the best one are other readings, not this failure."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One diff with all that is asked about it once."""

    diff: RunDiff
    clues: Clues
    matches: tuple[AtlasMatch, ...]
    finding: ValidationFinding | None
    seen: Seen | None
    first_bad: StoredRun | None
    """The first failed run since the good one with the same error, when it is another run."""
    changed_arguments: tuple[ArgumentChange, ...]
    """Arguments that could matter: no noise, no names and logs, not made by the release alone."""
    changes: int
    """How many things that could matter differ at all: the sglang release is one, other GPUs are one."""

    @property
    def bad(self) -> StoredRun:
        return self.diff.bad

    @property
    def is_outside(self) -> bool:
        """True when the failure itself points away from the configuration."""
        return any(hit.rule.cause_score >= 0.6 and hit.rule.cause_kind for hit in self.matches[:1])

    @property
    def is_all_known(self) -> bool:
        """False when the arguments of a run are not known: then no change is 'the only one'."""
        return not any(
            text.startswith("arguments:") and "not known" in text for text in self.diff.not_compared
        )

    @property
    def set_gate(self) -> str | None:
        """What the failing run sets the variable to whose default changed; None where the default holds."""
        if self.finding is None or self.finding.finding != "default-flipped" or not self.finding.gates:
            return None
        gate = self.finding.gates[0]
        return RunFacts(self.bad).env(gate.name) if gate.kind == "env" else None

    @property
    def is_env_known(self) -> bool:
        """True when both environments were compared."""
        return not any(text.startswith("environment:") for text in self.diff.not_compared)

    def is_alone(self, others: int = 0) -> bool:
        """True when exactly one change (and `others` more) could matter."""
        return self.is_all_known and self.changes == 1 + others


def could_matter(row: ArgumentChange) -> bool:
    """True for arguments that a person changed, or that no one can tell."""
    return not row.is_noise and row.relevance >= 0.1 and row.name not in INERT_ARGUMENTS


def was_typed(row: ArgumentChange) -> bool:
    """True when either run got the value from its command line."""
    return row.was_typed is True or Origin.USER in (row.origin_good, row.origin_bad)


def is_switch(row: ArgumentChange) -> bool:
    """True for the argument that switched a family of arguments on or off."""
    return any(row.name == switch for _, switch in FAMILIES) and is_off(row.good) != is_off(row.bad)


def is_off(value: Json) -> bool:
    """True for a value that switches its feature off."""
    return value is None or value is False or value in ("", "null", "none", "None")


def family(name: str) -> str:
    """The switch that a family of arguments hangs on; the name itself where there is none."""
    return next((switch for prefix, switch in FAMILIES if name.startswith(prefix)), name)


FAMILIES = (
    ("speculative_", "speculative_algorithm"),
    ("disaggregation_", "disaggregation_mode"),
    ("hicache_", "enable_hierarchical_cache"),
    ("enable_hierarchical_cache", "enable_hierarchical_cache"),
    ("lora_", "lora_paths"),
    ("max_lora", "lora_paths"),
    ("enable_lora", "lora_paths"),
    ("eplb_", "enable_eplb"),
)
"""Prefix of a family and the argument that switches it on."""


def scene_of(diff: RunDiff, history: RunHistory, rules: Path | None = None) -> Scene:
    """Asks the atlas, the catalogue of checks and the history once."""
    clues = clues_of(diff.bad)
    hits = match(atlas(rules or user_rules_path(config_dir())), diff.bad.run)
    best = hits[0].score if hits else 0.0
    changed = tuple(row for row in diff.args if could_matter(row))
    seen = history.seen_before(clues.fingerprint, diff.bad.run_id) if clues.has_error else None
    seen = None if seen is None else what_bears(seen, diff.bad.run, hits)
    return Scene(
        diff=diff,
        clues=clues,
        matches=tuple(hit for hit in hits if hit.score >= best - _CLOSE),
        finding=root_finding(diff.bad, diff.good),
        seen=seen,
        first_bad=_first_bad(diff, history) if seen is not None and seen.runs else None,
        changed_arguments=changed,
        changes=_changes(diff, changed),
    )


def _changes(diff: RunDiff, changed: tuple[ArgumentChange, ...]) -> int:
    rows = (*diff.env, *diff.versions, *diff.configs, *diff.files)
    groups = {family(row.name) for row in changed}
    gpus = sum(row.name == "gpus" for row in diff.host)
    return len(groups) + gpus + sum(not row.is_noise for row in rows)


def _first_bad(diff: RunDiff, history: RunHistory) -> StoredRun | None:
    if diff.first_bad is None or diff.first_bad == diff.bad.run_id:
        return None
    try:
        return history.load(diff.first_bad)
    except RunNotFound:
        return None
