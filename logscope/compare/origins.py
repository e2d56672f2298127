"""The one door to facts about SGLang by release: where they are not known, the answer is 'unknown'."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from logscope.compare.records import Origin
from logscope.knowledge.records import ArgumentFact, Life, ValidationFinding
from logscope.store.records import StoredRun
from parsers.records import Frame

try:  # the facts are a room of their own; comparing works without them, only less is explained
    from logscope import knowledge as _facts
except ImportError:  # pragma: no cover - the package always holds it
    _facts = None  # type: ignore[assignment]


def argument_origins(run: StoredRun, names: Collection[str]) -> Mapping[str, Origin]:
    """Argument name -> why it has its value, for `names` only; names that are missing are unknown."""
    argv = run.context.argv if run.context is not None else None
    asked = [argument for argument in run.run.server_args if argument.name in names]
    told = _call("origins", asked, argv, run.sglang_version)
    if not isinstance(told, Mapping):
        return {}
    return {name: _origin(word) for name, word in told.items()}


def _origin(word: object) -> Origin:
    try:
        return Origin(str(word))
    except ValueError:
        return Origin.UNKNOWN


def renamed_arguments(good_version: str | None, bad_version: str | None) -> Mapping[str, str]:
    """New name -> old name between two releases; {} when either is unknown."""
    if not good_version or not bad_version or good_version == bad_version:
        return {}
    told = _call("renamed_arguments", good_version, bad_version)
    return told if isinstance(told, Mapping) else {}


def flags_of(version: str | None) -> Mapping[str, str]:
    """Flag (``--tp``) -> argument name in a release; {} when it is unknown."""
    told = _call("flags_of", version) if version else None
    return told if isinstance(told, Mapping) else {}


def argument_fact(name: str, version: str | None) -> ArgumentFact | None:
    """The argument as the release declares it; None when it has none of that name or is unknown."""
    told = _call("argument_fact", name, version) if version else None
    return told if isinstance(told, ArgumentFact) else None


def argument_life(name: str) -> Life | None:
    """Over which releases the argument lives."""
    told = _call("argument_life", name)
    return told if isinstance(told, Life) else None


def env_life(name: str) -> Life | None:
    """Over which releases SGLang reads the variable."""
    told = _call("env_life", name)
    return told if isinstance(told, Life) else None


def env_default(name: str, version: str | None) -> str | None:
    """What the release takes where the variable is not set; None when that is not known."""
    told = _call("env_default", name, version)
    return told if isinstance(told, str) else None


def validation_finding(
    good_version: str | None,
    bad_version: str | None,
    message: str,
    frames: Sequence[Frame],
    error_type: str | None,
) -> ValidationFinding | None:
    """What the catalogue of checks says of a message between two releases; None when not known."""
    if not good_version or not bad_version:
        return None
    told = _call("validation", good_version, bad_version, message, frames, error_type)
    return told if isinstance(told, ValidationFinding) and told.finding != "unknown" else None


def _call(name: str, *values: object) -> object:
    function = getattr(_facts, name, None)
    return None if function is None else function(*values)
