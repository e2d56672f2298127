"""Facts about SGLang as data, by release. Knows no particular run.

Every function answers from packed files that are read when first needed; an unknown release is answered
from the nearest lower known one, and where nothing is known the answer is None, empty or ``unknown``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logscope.knowledge.records import ArgumentFact, Life, ValidationFinding
    from parsers.records import Argument, Frame

__all__ = [
    "argument_fact",
    "argument_life",
    "env_default",
    "env_life",
    "flags_of",
    "nearest_release",
    "origins",
    "releases",
    "renamed_arguments",
    "validation",
]


def releases() -> tuple[str, ...]:
    """All releases with facts, oldest first; builds of one's own (``knowledge add``) stand at the end."""
    from logscope.knowledge import library

    return library.releases()


def nearest_release(version: str | None) -> str | None:
    """The release whose facts answer for `version`: itself, else the nearest lower known one."""
    from logscope.knowledge import library

    view = library.view(version)
    return None if view is None else view.version


def argument_fact(name: str, version: str | None) -> ArgumentFact | None:
    """A server argument as `version` declares it; None when that release has no such argument."""
    from logscope.knowledge import arguments

    return arguments.argument_fact(name, version)


def argument_life(name: str) -> Life | None:
    """First and last release of an argument, its defaults over time and its renames."""
    from logscope.knowledge import arguments

    return arguments.argument_life(name)


def renamed_arguments(good_version: str | None, bad_version: str | None) -> Mapping[str, str]:
    """New name -> old name of arguments that were renamed between two releases (either order)."""
    from logscope.knowledge import arguments

    return arguments.renamed_arguments(good_version, bad_version)


def flags_of(version: str | None) -> Mapping[str, str]:
    """Every flag (with aliases and ``--no-x`` forms) of a release -> the argument it sets."""
    from logscope.knowledge import arguments

    return arguments.flags_of(version)


def env_life(name: str) -> Life | None:
    """First and last release that knows an environment variable, and its defaults over time."""
    from logscope.knowledge import environment

    return environment.env_life(name)


def env_default(name: str, version: str | None) -> str | None:
    """What a release takes when the variable is not set; booleans as ``true`` and ``false``; None: unset."""
    from logscope.knowledge import environment

    return environment.env_default(name, version)


def origins(
    arguments: Sequence[Argument], argv: Sequence[str] | None, version: str | None
) -> Mapping[str, str]:
    """Name -> ``user``, ``default``, ``derived`` or ``unknown``: why each printed argument has its value."""
    from logscope.knowledge import provenance

    return provenance.origins(arguments, argv, version)


def validation(
    good_version: str | None,
    bad_version: str | None,
    message: str,
    frames: Sequence[Frame] = (),
    error_type: str | None = None,
) -> ValidationFinding:
    """Whether the check behind a message is new between two releases, or why it fires now."""
    from logscope.knowledge import checks

    return checks.validation(good_version, bad_version, message, frames, error_type)
