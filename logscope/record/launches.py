"""The two launches of a bisection: from a run's context file, the store, or a command line in quotes."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from logscope.compare import noise
from logscope.context import Context, context_path, read_context
from logscope.errors import LogScopeError, SourceError
from logscope.record.changes import ChangeSet, LaunchChange, LaunchSpec, spec_of
from logscope.record.environment import kept_environment
from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from logscope.compare.records import RunDiff
    from logscope.explain.records import Explanation
    from logscope.store import Store
    from logscope.store.records import StoredRun

_TELLING = ("SGLANG_", "SGL_", "NCCL_", "CUDA_", "HF_", "TORCH_", "PYTORCH_")
_INERT_WEIGHT = 0.01
_PLAIN_WEIGHT = 0.1


@dataclass(frozen=True, slots=True)
class GivenLaunch:
    """A launch as the user named it."""

    reference: str
    spec: LaunchSpec
    context: Context | None
    """None for a command line."""


def launch_of(reference: str, store: Path) -> GivenLaunch:
    """The launch that `reference` names. Raises SourceError when its command line is not known."""
    if _is_command_line(reference):
        return GivenLaunch(reference, spec_of(shlex.split(reference), {}), None)
    context = _context_of(reference, store)
    if context is None or context.argv is None:
        raise SourceError(
            f"{reference}: its command line is not known (no context file)",
            "give the command lines in quotes, or launch with 'logscope record'",
        )
    return GivenLaunch(reference, spec_of(context.argv, context.env or {}), context)


def with_suspicion(changes: ChangeSet, good: GivenLaunch, bad: GivenLaunch, store: Path) -> ChangeSet:
    """The changes with what is known against each: ranked causes of the bad run, else a rule of thumb."""
    named = _suspicion_of_causes(good, bad, store) if good.context and bad.context else {}
    weighed = tuple(
        dataclasses.replace(
            change, weight=max(named.get((change.kind, change.name), 0.0), _rule_of_thumb(change))
        )
        for change in changes.changes
    )
    return dataclasses.replace(changes, changes=weighed)


def with_shell_notes(
    changes: ChangeSet, good: GivenLaunch, bad: GivenLaunch, shell: Mapping[str, str]
) -> ChangeSet:
    """Says which variables of this shell reach every try though neither run had them."""
    if good.context is None or bad.context is None or good.context.env is None or bad.context.env is None:
        return changes
    known = {*good.context.env, *bad.context.env}
    strange = sorted(
        name for name in kept_environment(shell) if name.startswith(_TELLING) and name not in known
    )
    notes = tuple(
        f"{name} is set in this shell and in neither run: it holds in every try" for name in strange
    )
    return dataclasses.replace(changes, notes=changes.notes + notes)


def usual_seconds(good: GivenLaunch, store: Path) -> float | None:
    """How long the good launch took to get ready; None when that is not known."""
    if good.context is None:
        return None
    try:
        run = _load([good.reference], store)[0].run
    except (LogScopeError, OSError, IndexError):
        return None
    if run.started_at is None or run.ready_at is None:
        return None
    return (run.ready_at - run.started_at).total_seconds()


def _is_command_line(reference: str) -> bool:
    return any(character.isspace() for character in reference.strip()) and not Path(reference).exists()


def _context_of(reference: str, store: Path) -> Context | None:
    path = Path(reference)
    if path.is_file():
        beside = context_path(path)
        if path.name.endswith(".context.json"):
            return read_context(path)
        return read_context(beside) if beside.is_file() else None
    from logscope.store import Store  # duckdb costs 0.1 s

    return Store.open(store, read_only=True).load(reference).context


def _load(references: list[str], store: Path) -> list[StoredRun]:
    """Runs by their references; logs that are files are read into a store in memory."""
    history = _history(references, store)
    return [history.load(reference) for reference in references]


def _history(references: list[str], store: Path) -> Store:
    from logscope.store import Store  # duckdb costs 0.1 s

    paths = [reference for reference in references if Path(reference).is_file()]
    if not paths:
        return Store.open(store, read_only=True)
    history = Store.in_memory()
    history.ingest(paths)
    return history


def _suspicion_of_causes(good: GivenLaunch, bad: GivenLaunch, store: Path) -> dict[tuple[str, str], float]:
    """(kind, name) -> score of the cause or relevance of the row, as `diff` would rank them."""
    try:
        from logscope.compare import compare  # these load the store's and SGLang's facts
        from logscope.explain import explain

        references = [good.reference, bad.reference]
        history = _history(references, store)
        diff = compare(history, history.load(bad.reference), history.load(good.reference))
        return _scores(diff, explain(diff, history))
    except (LogScopeError, OSError):
        return {}


def _scores(diff: RunDiff, explanation: Explanation) -> dict[tuple[str, str], float]:
    scores: dict[tuple[str, str], float] = {}
    for argument in diff.args:
        scores["arg", argument.name] = 0.5 * argument.relevance
    for variable in diff.env:
        scores["env", variable.name] = 0.5 * variable.relevance
    for cause in explanation.causes:
        key = (cause.kind, cause.subject)
        scores[key] = max(scores.get(key, 0.0), cause.score)
    return scores


def _rule_of_thumb(change: LaunchChange) -> float:
    name = change.name.partition("#")[0]
    is_inert = name in noise.INERT_ARGUMENTS or name in noise.NOISE_ARGUMENTS or name in noise.NOISE_ENV
    return _INERT_WEIGHT if is_inert else _PLAIN_WEIGHT
