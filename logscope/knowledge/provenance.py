"""Why each printed argument has its value: passed, this release's default, or rewritten at start.

With the command line the answer is exact. Without it the printed value is held against the facts of the
release: a value that a user passed and that equals the default cannot be told from the default then, and
another value of an argument that SGLang may rewrite can be the user's as well as SGLang's: unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from logscope.knowledge import library
from logscope.knowledge.arguments import argument_fact, flags_of
from logscope.knowledge.records import ArgumentFact

if TYPE_CHECKING:
    from parsers.records import Argument

USER, DEFAULT, DERIVED, UNKNOWN = "user", "default", "derived", "unknown"
_MASK = "<redacted>"
"""What SGLang prints in place of a value that may be secret, also where that value is None."""


def origins(
    arguments: Sequence[Argument], argv: Sequence[str] | None, version: str | None
) -> Mapping[str, str]:
    """Name -> origin, for every argument given."""
    passed = None if argv is None else passed_names(argv, version, [one.name for one in arguments])
    return {one.name: _origin(one, passed, version) for one in arguments}


def passed_names(argv: Sequence[str], version: str | None, printed: Sequence[str] = ()) -> frozenset[str]:
    """Arguments that a command line sets: aliases, underscores, ``--no-x``, ``--flag=value``, short forms.

    A flag that the release's facts do not have is taken by its own name; an unambiguous beginning of a
    flag counts as the flag, as argparse has it.
    """
    flags = flags_of(version)
    names = frozenset(printed)
    found: set[str] = set()
    for word in argv:
        if word == "--":
            break
        if word.startswith("-") and len(word) > 1 and not _is_number(word):
            name = _name_of(word.partition("=")[0], flags, names)
            if name is not None:
                found.add(name)
    return frozenset(found)


def _name_of(flag: str, flags: Mapping[str, str], printed: frozenset[str]) -> str | None:
    dashed = "--" + flag[2:].replace("_", "-") if flag.startswith("--") else flag
    for one in (flag, dashed):
        if one in flags:
            return flags[one]
    own = flag.lstrip("-").replace("-", "_")
    if own in printed:
        return own
    if own.startswith("no_") and (own[3:] in printed or f"--{own[3:].replace('_', '-')}" in flags):
        return flags.get(f"--{own[3:].replace('_', '-')}", own[3:])
    if flag.startswith("--"):
        begun = {name for known, name in flags.items() if known.startswith(dashed)}
        if len(begun) == 1:
            return begun.pop()
    return None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _origin(argument: Argument, passed: frozenset[str] | None, version: str | None) -> str:
    if passed is not None and argument.name in passed:
        return USER
    fact = argument_fact(argument.name, version)
    if fact is None:
        # Known release without such an argument: a fork's own, nothing to hold it against.
        return UNKNOWN
    is_default = _equals_default(argument, fact)
    if passed is not None:
        return DEFAULT if is_default or is_default is None else DERIVED
    if is_default is None:
        return UNKNOWN
    if is_default:
        return DEFAULT
    return _without_command_line(argument.name, fact, version)


def _without_command_line(name: str, fact: ArgumentFact, version: str | None) -> str:
    """Who set a value that is no default."""
    if fact.default == "<required>":
        return USER
    if not fact.flags:
        return DERIVED  # no flag sets it
    may_be_rewritten = fact.is_rewritten or (fact.default == "None" and _resolved_later(name, version))
    return UNKNOWN if may_be_rewritten else USER


def _resolved_later(name: str, version: str | None) -> bool:
    view = library.view(version)
    if view is None:
        return False
    held = view.catalogue.arguments["fields"][name].get("written")
    return "l" in (library.value_at(held, view.index) or "")


def _equals_default(argument: Argument, fact: ArgumentFact) -> bool | None:
    """None where nothing can be said: the default is no literal, or SGLang printed a mask for the value."""
    if argument.value == _MASK:
        return None
    if fact.default is None or fact.default.startswith("<"):
        return False if fact.default == "<required>" else None
    if argument.raw == fact.default:
        return True
    try:
        default = ast.literal_eval(fact.default)
    except (ValueError, SyntaxError):
        return None
    return _as_json(default) == argument.value and type(_as_json(default)) is type(argument.value)


def _as_json(value: object) -> object:
    if isinstance(value, tuple | list):
        return [_as_json(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted((_as_json(one) for one in value), key=repr)
    if isinstance(value, dict):
        return {str(key): _as_json(one) for key, one in value.items()}
    return value
