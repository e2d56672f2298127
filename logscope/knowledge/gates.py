"""Variables and arguments that decide whether a check fires: both defaults, and the value that avoids it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from logscope.knowledge.arguments import argument_fact, argument_life, flags_of
from logscope.knowledge.environment import UNSET, boolean, env_default, env_life, knows, own_setting, plain
from logscope.knowledge.library import ReleaseView
from logscope.knowledge.records import Gate
from logscope.knowledge.site_records import Guarded, SiteFact
from parsers.lazy_dataclass import dataclass

_AVOIDS = {"true": "false", "false": "true"}
_COMPARED = {"==": "!=", "!=": "==", ">": "<=", ">=": "<", "<": ">=", "<=": ">"}


@dataclass(frozen=True, slots=True)
class Flip:
    """A gate whose default made the check silent in the good release and lets it fire in the bad one."""

    gate: Gate
    is_early: bool
    set_by_sglang: str
    """The value that the good release writes into the variable itself; '' if it does not."""


def gates_of(
    site: SiteFact, good_site: SiteFact | None, good: ReleaseView, bad: ReleaseView
) -> tuple[Gate, ...]:
    """The gates of a site, those that alone avoid it first."""
    made: dict[tuple[str, str], tuple[tuple[bool, bool, bool], Gate]] = {}
    before = {(one.kind, one.name): one for one in good_site.atoms} if good_site is not None else {}
    for atom in site.atoms:
        gate = _gate(atom, before.get((atom.kind, atom.name)), good, bad)
        if gate is None:
            continue
        rank = (gate.avoid is not None and atom.is_enough, gate.avoid is not None, atom.operator != "named")
        key = (gate.kind, gate.name)
        if key not in made or rank > made[key][0]:
            made[key] = (rank, gate)
    ranked = sorted(made.values(), key=lambda one: one[0], reverse=True)
    return tuple(gate for _, gate in ranked)


def flips(
    site: SiteFact, good_sites: Sequence[SiteFact], good: ReleaseView, bad: ReleaseView
) -> tuple[Flip, ...]:
    """Gates that stand in both guards and whose defaults differ so that only the bad release fires."""
    found: list[Flip] = []
    for atom in site.atoms:
        if atom.operator in ("named", "uses") or atom.kind not in ("env", "arg"):
            continue
        for other in good_sites:
            for twin in other.atoms:
                if (twin.kind, twin.name) == (atom.kind, atom.name) and twin.operator not in (
                    "named",
                    "uses",
                ):
                    flip = _flip(atom, twin, good, bad)
                    if flip is not None and all(one.gate.name != flip.gate.name for one in found):
                        found.append(flip)
    return tuple(found)


def _flip(atom: Guarded, twin: Guarded, good: ReleaseView, bad: ReleaseView) -> Flip | None:
    gate = _gate(atom, twin, good, bad)
    if gate is None:
        return None
    written = ""
    good_default = gate.good_default
    if atom.kind == "env":
        mine, theirs = own_setting(atom.name, good.version), own_setting(atom.name, bad.version)
        if mine and not theirs:
            written = mine[0]
            good_default = written
    if good_default == gate.bad_default:
        return None
    if _fires(twin, good_default) is False and _fires(atom, gate.bad_default) is True:
        if written:
            gate = Gate(gate.name, gate.kind, written, gate.bad_default, gate.avoid, gate.defaults)
        return Flip(gate, atom.is_early, written)
    return None


def changed_defaults(gates: Sequence[Gate]) -> tuple[Gate, ...]:
    """Gates whose defaults differ at all."""
    return tuple(one for one in gates if one.good_default != one.bad_default)


def _gate(atom: Guarded, twin: Guarded | None, good: ReleaseView, bad: ReleaseView) -> Gate | None:
    if atom.kind == "env":
        life = env_life(atom.name)
        return Gate(
            atom.name, "env", _env_default(twin or atom, good, twin is not None),
            _env_default(atom, bad, True),
            _avoid(atom, _is_flag(atom, bad)), life.defaults if life is not None else (),
        )  # fmt: skip
    if atom.kind == "flag":
        name = flags_of(bad.asked).get(atom.name) or flags_of(good.asked).get(atom.name)
        return None if name is None else _argument_gate(name, None, good, bad)
    return _argument_gate(atom.name, _avoid(atom, False), good, bad)


def _argument_gate(name: str, avoid: str | None, good: ReleaseView, bad: ReleaseView) -> Gate | None:
    before, after = argument_fact(name, good.asked), argument_fact(name, bad.asked)
    if before is None and after is None:
        return None
    life = argument_life(name)
    return Gate(
        name, "arg", before.default if before else None, after.default if after else None, avoid,
        life.defaults if life is not None else (),
    )  # fmt: skip


def _env_default(atom: Guarded, view: ReleaseView, is_own: bool) -> str | None:
    """The default given at the very place, else that of the release; booleans as ``true`` and ``false``."""
    if is_own and atom.default and atom.default != "<computed>":
        told = plain(atom.default)
        meaning = boolean(told) if told.lower() in ("true", "false") else None
        return str(meaning).lower() if meaning is not None else told
    told_there = env_default(atom.name, view.asked)
    if told_there is None and knows(atom.name, view.asked):
        return UNSET
    return told_there


def _is_flag(atom: Guarded, view: ReleaseView) -> bool:
    default = _env_default(atom, view, True)
    return default in ("true", "false") or atom.operator in ("true", "false")


def _avoid(atom: Guarded, is_env_flag: bool) -> str | None:
    """The value that avoids the branch by itself; None where none does, or the polarity is not known."""
    if not atom.is_enough:
        return None
    if atom.operator in _AVOIDS:
        wanted = _AVOIDS[atom.operator]
        return wanted if atom.kind == "env" else wanted.capitalize()
    if atom.operator in ("is", "is not") and atom.value == "None":
        return "any value" if atom.operator == "is" else UNSET
    if atom.operator in ("is", "is not") and atom.value in ("True", "False"):
        flipped = {"True": "False", "False": "True"}[atom.value]
        return flipped if atom.operator == "is" else atom.value
    if not atom.value:
        return None
    if atom.operator == "!=":
        return atom.value
    if atom.operator == "not in":
        return f"one of {atom.value}"
    if atom.operator == "in":
        return f"none of {atom.value}"
    if atom.operator in _COMPARED:
        told = _COMPARED[atom.operator]
        return f"{told} {atom.value}"
    return None


def _fires(atom: Guarded, default: str | None) -> bool | None:
    """Whether the condition holds with `default`; None where that cannot be said."""
    if default is None or default.startswith("<") or " or " in default:
        return None
    if atom.kind == "env":
        return _fires_env(atom, default)
    try:
        value = ast.literal_eval(default)
    except (ValueError, SyntaxError):
        return None
    return _holds(atom, value)


def _fires_env(atom: Guarded, default: str) -> bool | None:
    if atom.operator in ("true", "false"):
        meaning = boolean(default)
        return None if meaning is None else meaning == (atom.operator == "true")
    if atom.operator in ("is", "is not"):
        return (default == UNSET) == (atom.operator == "is")
    value: object = default
    try:
        wanted = ast.literal_eval(atom.value)
        if isinstance(wanted, int | float) and not isinstance(wanted, bool):
            value = float(default)
        elif isinstance(wanted, str):
            value = default.lower() if wanted.islower() else default
    except (ValueError, SyntaxError):
        return None
    return _holds(atom, value)


def _holds(atom: Guarded, value: object) -> bool | None:
    if atom.operator in ("true", "false"):
        return bool(value) == (atom.operator == "true")
    try:
        held = _HOLDS[atom.operator](value, ast.literal_eval(atom.value))
    except (ValueError, SyntaxError, TypeError, KeyError):
        return None
    return bool(held)


_HOLDS: dict[str, Callable[[Any, Any], object]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda value, wanted: value in wanted,
    "not in": lambda value, wanted: value not in wanted,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
