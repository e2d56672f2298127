"""Arguments and variables of many releases as lists of changes: a value holds until the next one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from logscope.knowledge.build.release import ReleaseFacts
from logscope.knowledge.build.renames import find_renames

GONE = None
"""The value at a release in which the thing does not exist."""


def argument_table(facts: Sequence[ReleaseFacts]) -> dict[str, Any]:
    """``fields``: per argument and attribute the changes [release index, value]; ``retired``; ``renames``."""
    names = sorted({name for one in facts for name in one.arguments.declared})
    fields = {name: _argument(name, facts) for name in names}
    retired: dict[str, list[list[Any]]] = {}
    for flag in sorted({one.flag for held in facts for one in held.arguments.retired}):
        retired[flag] = _changes([_retired(flag, held) for held in facts])
    return {"fields": fields, "retired": retired, "renames": find_renames(facts)}


def _retired(flag: str, facts: ReleaseFacts) -> list[str] | None:
    for one in facts.arguments.retired:
        if one.flag == flag:
            return [one.name, one.points_to]
    return None


def _argument(name: str, facts: Sequence[ReleaseFacts]) -> dict[str, list[list[Any]]]:
    declared = [one.arguments.declared.get(name) for one in facts]
    held: dict[str, list[list[Any]]] = {
        "default": _changes([one.default if one else GONE for one in declared]),
        "type": _changes([one.type if one else GONE for one in declared]),
        "flags": _changes([list(one.flags) if one else GONE for one in declared]),
        "choices": _changes([list(one.choices) if one else GONE for one in declared]),
        "written": _changes(
            [_written(name, one) if name in one.arguments.declared else GONE for one in facts]
        ),
    }
    for attribute in ("choices", "written"):
        if not any(value for _, value in held[attribute]):
            del held[attribute]
    return held


def _written(name: str, facts: ReleaseFacts) -> str:
    """``r``: resolved at start; ``n``: where it was None; ``l``: written later, in another process."""
    at_start = "" if name not in facts.resolved else "rn" if facts.resolved[name] else "r"
    return at_start + ("l" if name in facts.runtime else "")


def environment_table(facts: Sequence[ReleaseFacts]) -> dict[str, Any]:
    """``uses``: per variable the changes [release index, [[action, default, kind], ...]]; ``renamed``."""
    names = sorted({name for one in facts for name in one.env})
    uses = {
        name: _changes(
            [
                [[use.action, use.default, use.kind] for use in one.env[name]] if name in one.env else GONE
                for one in facts
            ]
        )
        for name in names
    }
    renamed = _changes([[[old, *to] for old, to in sorted(one.renamed_env.items())] for one in facts])
    return {"uses": uses, "renamed": renamed}


def _changes(values: Sequence[Any]) -> list[list[Any]]:
    kept: list[list[Any]] = []
    last: Any = GONE
    for at, value in enumerate(values):
        if value != last:
            kept.append([at, value])
            last = value
    return kept
