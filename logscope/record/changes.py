"""What differs between two launch commands, as single changes that can be applied one by one.

Knows nothing of how a launch is tried.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from logscope.compare.command_line import argument_name
from logscope.record.command_line import Option, parse_command
from parsers.lazy_dataclass import dataclass, field

_MASKED = re.compile(r"\*{3}[0-9a-f]{4}")


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """A launch command as its parts: program words, options, variables."""

    prefix: tuple[str, ...]
    options: tuple[Option, ...]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LaunchChange:
    """One option or variable that differs between the good and the bad launch."""

    kind: str
    """``arg``, ``env`` or ``program``."""
    name: str
    """Argument name (``tp_size``), variable name, or ``program``."""
    good: tuple[str, ...] | None
    """Words as the good launch has them (for a variable: its value); None where it has none."""
    bad: tuple[str, ...] | None
    weight: float = 0.0
    """0 to 1: how likely this change is the cause, as far as is known."""
    group: str = ""
    """Changes of one group are tried together first (``speculative``)."""

    def text(self) -> str:
        """``--tp-size: 1 -> 3`` in words a person can read."""
        if self.kind == "env":
            return f"{self.name}: {_value(self.good)} -> {_value(self.bad)}"
        if self.good is None:
            return f"{' '.join(self.bad or ())} added"
        if self.bad is None:
            return f"{' '.join(self.good)} removed"
        return f"{' '.join(self.good)} -> {' '.join(self.bad)}"


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """All changes between two launches, and what cannot be tried."""

    good: LaunchSpec
    changes: tuple[LaunchChange, ...]
    notes: tuple[str, ...] = ()
    order: tuple[str, ...] = field(default=())
    """Argument names in the order in which the bad launch has them, for building command lines."""

    def apply(self, chosen: frozenset[int]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Command line and variables of the good launch with the chosen changes (indices) made."""
        picked = [change for index, change in enumerate(self.changes) if index in chosen]
        prefix = self.good.prefix
        env = dict(self.good.env)
        replaced = {change.name: change.bad for change in picked if change.kind == "arg"}
        for change in picked:
            if change.kind == "program" and change.bad is not None:
                prefix = change.bad
            elif change.kind == "env" and change.bad is None:
                env.pop(change.name, None)
            elif change.kind == "env" and change.bad is not None:
                env[change.name] = change.bad[0]
        words = list(prefix)
        for name, option in keyed_options(self.good.options).items():
            words += replaced.pop(name, option) or ()
        for name in self.order:
            words += replaced.pop(name, None) or ()
        return tuple(words), env


def spec_of(words: Sequence[str], env: Mapping[str, str]) -> LaunchSpec:
    """The parts of a command line; variables set in front of it win over `env`."""
    command = parse_command(words)
    return LaunchSpec(command.prefix, command.options, {**env, **command.assignments})


def changes_between(good: LaunchSpec, bad: LaunchSpec, fixed: LaunchSpec | None = None) -> ChangeSet:
    """The changes from `good` to `bad`. `fixed` is a command that every try uses: its program replaces
    theirs, and an option or variable of it that neither or not the bad launch has holds in every try."""
    notes: list[str] = []
    good_options, bad_options = keyed_options(good.options), keyed_options(bad.options)
    good_env, bad_env = dict(good.env), dict(bad.env)
    prefix = good.prefix
    if fixed is not None:
        prefix = fixed.prefix
        for name, words in keyed_options(fixed.options).items():
            if bad_options.get(name) != words:
                good_options[name] = bad_options[name] = words
        for name, value in fixed.env.items():
            if bad_env.get(name) != value:
                good_env[name] = bad_env[name] = value
    changes = _program_change(good, bad) if fixed is None else []
    changes += _option_changes(good_options, bad_options, notes)
    changes += _env_changes(good_env, bad_env, notes)
    base = LaunchSpec(prefix, tuple(_as_option(words) for words in good_options.values()), good_env)
    return ChangeSet(base, tuple(changes), tuple(notes), tuple(bad_options))


def keyed_options(options: Sequence[Option]) -> dict[str, tuple[str, ...]]:
    """Argument name -> its words; a flag that is given again gets ``name#2``."""
    held: dict[str, tuple[str, ...]] = {}
    for option in options:
        name = argument_name(option.flag, {}) if option.flag else "words"
        key, count = name, 1
        while key in held:
            count += 1
            key = f"{name}#{count}"
        held[key] = option.words()
    return held


def group_of(name: str) -> str:
    """The family of an argument (``speculative`` of ``speculative_num_steps``); its own name without one."""
    for family in _FAMILIES:
        if name.startswith(family):
            return family.rstrip("_")
    return name


_FAMILIES = (
    "speculative_",
    "disaggregation_",
    "hicache_",
    "enable_hicache",
    "lora_",
    "cuda_graph_",
    "ep_",
    "eplb_",
    "kv_events_",
    "mamba_",
    "dsa_",
    "nsa_",
    "encoder_",
    "quantization",
)
"""First words of arguments that hang together: half of such a set is mostly refused."""


def _program_change(good: LaunchSpec, bad: LaunchSpec) -> list[LaunchChange]:
    if good.prefix == bad.prefix:
        return []
    return [LaunchChange("program", "program", good.prefix, bad.prefix, group="program")]


def _option_changes(
    good: Mapping[str, tuple[str, ...]], bad: Mapping[str, tuple[str, ...]], notes: list[str]
) -> list[LaunchChange]:
    changes = []
    for name in dict.fromkeys((*bad, *good)):
        left, right = good.get(name), bad.get(name)
        if _same(left, right):
            continue
        if _is_masked(left) or _is_masked(right):
            notes.append(f"{name}: a masked secret differs; it is not tried")
            continue
        changes.append(LaunchChange("arg", name, left, right, group=group_of(name)))
    return changes


def _env_changes(good: Mapping[str, str], bad: Mapping[str, str], notes: list[str]) -> list[LaunchChange]:
    changes = []
    for name in sorted({*good, *bad}):
        left, right = good.get(name), bad.get(name)
        if left == right:
            continue
        if _MASKED.fullmatch(left or "") or _MASKED.fullmatch(right or ""):
            notes.append(f"{name}: a masked secret differs; this shell's own value is used")
            continue
        changes.append(
            LaunchChange(
                "env",
                name,
                None if left is None else (left,),
                None if right is None else (right,),
                group=f"env {name}",
            )
        )
    return changes


def _same(left: tuple[str, ...] | None, right: tuple[str, ...] | None) -> bool:
    """Equal but for the spelling of the flag (``--tp 2``, ``--tp-size=2``)."""
    if left is None or right is None:
        return left is right
    return _values(left) == _values(right)


def _values(words: tuple[str, ...]) -> tuple[str, ...]:
    flag, equals, value = words[0].partition("=")
    if not flag.startswith("-"):
        return words
    return ((value,) if equals else ()) + words[1:]


def _as_option(words: tuple[str, ...]) -> Option:
    flag, equals, value = words[0].partition("=")
    if not flag.startswith("-"):
        return Option("", words)
    return Option(flag, (value,), True) if equals else Option(flag, words[1:])


def _is_masked(words: tuple[str, ...] | None) -> bool:
    return words is not None and any(_MASKED.fullmatch(value) for value in _values(words))


def _value(words: tuple[str, ...] | None) -> str:
    return "(unset)" if words is None else " ".join(words) or "(empty)"
