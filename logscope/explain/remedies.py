"""Ways out, concrete: a flag, variable or key with its value, what it assumes and what it risks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from logscope.compare.records import ArgumentChange, Change, ValueChange
from logscope.compare.values import show
from logscope.explain.records import Remedy
from logscope.knowledge.records import AtlasRemedy, Gate
from parsers.lazy_dataclass import replace
from parsers.lazy_pattern import lazy_re
from parsers.records import Json

_DURABILITY = {
    "durable": "lasting",
    "quick": "quick",
    "workaround": "workaround",
    "last resort": "last resort",
}
_TO_TYPE = lazy_re(
    r"--[a-z][\w-]+(?:[ =](?=[\d/A-Z])[\w./]+)?|\b[A-Z][A-Z0-9_]{4,}=\S+|pip install \S+|ulimit -n \d+"
)
_TAKES_AWAY = lazy_re(r"(?:drop|remove|leave out|without|unset)\b", re.IGNORECASE)
_TURNED = lazy_re(
    r"(?<![\w-])--[a-z][\w-]+|\b[A-Z][A-Z0-9_]{4,}(?==)|(?<=unset )[A-Z][A-Z0-9_]+|^[a-z][\w.]+(?= = )"
)
_MARK = lazy_re(r"\{(\w+)\}")


def from_rule(remedy: AtlasRemedy, values: Mapping[str, str]) -> Remedy:
    """One way out of a rule."""
    action = fill(remedy.action, values)
    apply = fill(remedy.apply, values)
    if not apply:
        found = _TO_TYPE.search(action)
        apply = found.group(0).rstrip(".,;)") if found else ""
        if apply and _TAKES_AWAY.match(action):
            apply = f"drop {apply}"
    return Remedy(
        action=action[:1].upper() + action[1:],
        apply=apply,
        durability=_DURABILITY.get(remedy.kind, "quick"),
        assumes=fill(remedy.assumes, values),
        risks="" if remedy.trade_off == "none" else fill(remedy.trade_off, values),
    )


def fill(template: str, values: Mapping[str, str]) -> str:
    """`template` with its ``{marks}`` replaced; an unknown mark becomes its own word."""
    text = _MARK.sub(lambda found: values.get(found.group(1), found.group(1)), template)
    return text.replace("{{", "{").replace("}}", "}")


def merged(remedies: Sequence[Remedy]) -> list[Remedy]:
    """Each way out once: of those that turn the same flags, variables or keys the first stays."""
    kept: dict[object, Remedy] = {}
    for remedy in remedies:
        key = effect(remedy)
        held = kept.get(key)
        if held is None:
            kept[key] = remedy
        elif remedy.worked_before and not held.worked_before:
            kept[key] = replace(held, worked_before=remedy.worked_before)
    return list(kept.values())


def effect(remedy: Remedy) -> object:
    """What it turns, and whether it takes it away; its own words where it turns nothing that has a name."""
    turned = frozenset(_TURNED.findall(remedy.apply))
    if not turned or remedy.apply.startswith("pip "):
        return remedy.apply or remedy.action
    return turned, _TAKES_AWAY.match(remedy.apply) is not None


def flag_of(name: str) -> str:
    """``tp_size`` -> ``--tp-size``."""
    return "--" + name.replace("_", "-")


def flag_with(name: str, value: Json) -> str:
    """What to type for a value: ``--tp-size 2``; switches stand alone; None and False mean 'leave it out'."""
    if value is None or value is False:
        return f"drop {flag_of(name)}"
    if value is True:
        return flag_of(name)
    if isinstance(value, list):
        return " ".join([flag_of(name), *(show(item) for item in value)])
    return f"{flag_of(name)} {show(value)}"


def back_to_good(row: ArgumentChange) -> list[Remedy]:
    """Back to what the good run had."""
    if row.change is Change.REMOVED:
        action = f"Give {flag_of(row.name)} {show(row.good)} again, as in the good run"
    elif row.good is None or row.good is False or row.change is Change.ADDED:
        action = f"Leave out {flag_of(row.name)}, as in the good run"
    else:
        action = f"Set {flag_of(row.name)} back to {show(row.good)}, as in the good run"
    value = None if row.change is Change.ADDED else row.good
    return [
        Remedy(action, flag_with(row.name, value), "quick", "what the new value was meant for is not needed")
    ]


def env_back(row: ValueChange) -> list[Remedy]:
    """Back to the good run's environment."""
    if row.good is None:
        return [
            Remedy(
                f"Unset {row.name}, as in the good run", f"unset {row.name}", "quick", "nothing else reads it"
            )
        ]
    action = f"Set {row.name}={row.good}, as in the good run"
    return [Remedy(action, f"{row.name}={row.good}", "quick", "nothing else needs the new value")]


def config_back(row: ValueChange) -> list[Remedy]:
    """Back to the good run's config.json."""
    where = "the draft's config.json" if row.role == "draft" else "config.json"
    if row.good is None:
        action, apply = f"Take {row.name} out of {where}", f"drop {row.name}"
    else:
        action, apply = (
            f"Set {row.name} back to {show(row.good)} in {where}",
            f"{row.name} = {show(row.good)}",
        )
    return [
        Remedy(action, apply, "lasting", "the weights are still those of the good run", "hidden in a file")
    ]


def version_back(row: ValueChange) -> list[Remedy]:
    """Back to the good run's release."""
    name = row.name
    action = f"Go back to {name} {row.good}"
    apply = (
        f"pip install {name}=={row.good}" if row.good and " " not in str(row.good) and " " not in name else ""
    )
    return [Remedy(action, apply, "quick", "the older release still runs on this host", "defers the upgrade")]


_CHECK_OFF = "the check then does not fire"


def is_off_switch(remedy: Remedy) -> bool:
    """True for what `from_gate` makes."""
    return remedy.action.endswith(_CHECK_OFF)


def from_gate(gate: Gate) -> Remedy | None:
    """Switches a check off by the variable or argument that gates it."""
    if gate.avoid is None:
        return None
    apply = f"{gate.name}={gate.avoid}" if gate.kind == "env" else flag_with(gate.name, gate.avoid)
    return Remedy(
        f"Set {apply}: {_CHECK_OFF}",
        apply,
        "quick",
        "what the check guards against does not happen here",
        "the check was added or switched on for a reason",
    )
