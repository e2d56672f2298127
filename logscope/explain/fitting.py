"""Which ways out fit a run: what it already has, its release does not know or its machine lacks is left out.

What a way out needs beyond that stands with it in the data, as conditions (see docs/causes.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from logscope.compare.command_line import argument_name
from logscope.compare.facts import RunFacts
from logscope.compare.origins import argument_fact, argument_life, env_life, flags_of
from logscope.compare.values import show
from logscope.explain.records import Remedy
from logscope.explain.remedies import from_rule
from logscope.explain.rule_values import rule_values
from logscope.explain.scene import Scene, is_off
from logscope.knowledge.records import AtlasRemedy
from logscope.knowledge.versions import version_key
from logscope.store.records import StoredRun
from parsers.lazy_dataclass import replace
from parsers.lazy_pattern import lazy_re
from parsers.records import Json

_FLAG = lazy_re(r"(?<![\w-])--[a-z][\w-]*")
_SETTINGS = lazy_re(r"(?:[A-Z][A-Z0-9_]{3,}=\S+(?: |\Z))+\Z")
_ROOMY = 0.5
"""A KV pool that was never fuller than this share is no bottleneck."""
_CPU_ENGINE = "SGLANG_USE_CPU_ENGINE"
_ON = ("1", "true")


def offered(
    remedies: Iterable[AtlasRemedy], scene: Scene, groups: Mapping[str, str] | None = None, most: int = 4
) -> list[Remedy]:
    """The ways out of a rule that fit the failing run, with its values filled in."""
    fit, values = Fit(scene.bad, scene.diff.good), rule_values(scene, groups)
    return fit.fitted(from_rule(remedy, values) for remedy in remedies if fit.holds(remedy.needs))[:most]


class Fit:
    """What one failing run says of ways out; `good` is the run it is compared with."""

    def __init__(self, run: StoredRun, good: StoredRun | None = None) -> None:
        self._run, self._good = run, good
        self._facts = RunFacts(run)

    def holds(self, conditions: Sequence[str]) -> bool:
        """Whether all conditions hold; a word of this run (``gpu``, ``!loaded``) or of its arguments."""
        return all(self._holds(condition) for condition in conditions)

    def _holds(self, condition: str) -> bool:
        if condition.startswith("!"):
            return not self._holds(condition[1:])
        if "." in condition:
            return self._facts.holds(condition)
        name, _, choices = condition.partition("=")
        value = self._words.get(name, "")
        return value in choices.split("|") if choices else bool(value)

    @cached_property
    def _words(self) -> Mapping[str, str]:
        """What is known of the run and its machine; '' stands for no or not known."""
        run = self._run.run
        marks = {found.name for found in run.milestones}
        return {
            "cpu": "yes" if self._is_on_cpu() else "",
            "graphless": "yes" if self._has_no_graphs(marks) else "",
            "roomy": "yes" if self._is_roomy() else "",
            "loaded": "yes" if "load-end" in marks else "",
            "ready": "yes" if run.ready else "",
            "carrier": run.carrier,
            **self._of_good_run(),
        }

    def _of_good_run(self) -> Mapping[str, str]:
        """What the good run had otherwise: its release, model and draft."""
        if self._good is None:
            return {}
        version, facts = self._good.sglang_version, RunFacts(self._good)
        others = {"good": "yes", "good_version": version if version != self._run.sglang_version else ""}
        for word, name in (("good_model", "model_path"), ("good_draft", "speculative_draft_model_path")):
            held = facts.value(f"args.{name}")
            others[word] = show(held) if held and held != self._facts.value(f"args.{name}") else ""
        return {word: value or "" for word, value in others.items()}

    def _is_on_cpu(self) -> bool:
        device = self._facts.value("args.device")
        return device == "cpu" or (is_off(device) and (self._facts.env(_CPU_ENGINE) or "").lower() in _ON)

    def _has_no_graphs(self, marks: set[str]) -> bool:
        """No graph was captured although the launch came past it, or none was used."""
        if self._facts.value("args.disable_cuda_graph") is True or self._is_on_cpu():
            return True
        return self._run.throughput.cuda_graph_share == 0

    def _is_roomy(self) -> bool:
        usage = self._run.throughput.token_usage_max
        return usage is not None and usage < _ROOMY

    def fitted(self, remedies: Iterable[Remedy]) -> list[Remedy]:
        """The ways out that change something here, with flags as this release spells them."""
        return [fit for remedy in remedies if (fit := self._fitted(remedy)) is not None]

    def _fitted(self, remedy: Remedy) -> Remedy | None:
        apply = remedy.apply
        if apply.startswith("drop --"):
            return self._spelled(remedy) if self._drops_something(apply) else None
        if apply.startswith("unset "):
            return remedy if self._unsets_something(apply) else None
        if apply.startswith("--"):
            spelled = self._spelled(remedy)
            return spelled if spelled is not None and self._changes_something(spelled.apply) else None
        if _SETTINGS.match(apply):
            return remedy if self._sets_something(apply) else None
        return remedy

    def _spelled(self, remedy: Remedy) -> Remedy | None:
        """The remedy with the flags of this release; None when it has no such flag."""
        known = flags_of(self._run.sglang_version)
        for flag in dict.fromkeys(_FLAG.findall(remedy.apply)) if known else ():
            if flag in known or argument_name(flag, known) in self._facts.arguments:
                continue
            life = argument_life(argument_name(flag, known))
            if life is None or remedy.apply.startswith("drop "):
                continue  # a flag of another program, or one that is refused and has to go
            new = self._name_now(life.name, set(known.values()))
            if new is None:
                return None
            remedy = replace(
                remedy,
                action=_with_flag(remedy.action, flag, new),
                apply=_with_flag(remedy.apply, flag, new),
            )
        return remedy

    def _name_now(self, name: str, known: set[str]) -> str | None:
        """The flag under which the release knows the argument, followed over its renames both ways."""
        for direction in ("renamed_to", "renamed_from"):
            other, seen = name, set[str]()
            while other not in seen:
                seen.add(other)
                life = argument_life(other)
                other = getattr(life, direction, None) or other
                if other in known:
                    return "--" + other.replace("_", "-")
        return None

    def _drops_something(self, apply: str) -> bool:
        """False when none of the flags was given, as far as that is known."""
        return any(self._is_given(flag) for flag in _FLAG.findall(apply))

    def _is_given(self, flag: str) -> bool:
        name = argument_name(flag, flags_of(self._run.sglang_version))
        typed = self._facts.typed
        if typed is not None:
            return name in typed or flag.removeprefix("--").replace("-", "_") in typed
        arguments = self._facts.arguments
        if name in arguments:
            return not is_off(arguments[name])
        # a whole list of arguments without it is of a release that has no such argument
        is_whole = bool(self._run.run.server_args) and self._run.run.server_args_complete
        return not (is_whole and argument_life(name) is not None)

    def _unsets_something(self, apply: str) -> bool:
        context = self._run.context
        if context is None or context.env is None:
            return True
        return any(name in context.env for name in apply.split()[1:])

    def _sets_something(self, apply: str) -> bool:
        pairs = [word.partition("=") for word in apply.split()]
        if all(_is_same_setting(self._facts.env(name), value) for name, _, value in pairs):
            return False
        return all(self._is_read(name) for name, _, _ in pairs)

    def _is_read(self, name: str) -> bool:
        """False for a variable that this release of SGLang does not read, though others do."""
        life, version = env_life(name), self._run.sglang_version
        if life is None or version is None or not name.startswith(("SGLANG_", "SGL_")):
            return True
        return _is_within(version, life.first, life.last)

    def _changes_something(self, apply: str) -> bool:
        """False when every flag has that value already, or a value is no choice of the release."""
        known = flags_of(self._run.sglang_version)
        changes = False
        for flag, values in _pairs(apply):
            name = argument_name(flag, known)
            fact = argument_fact(name, self._run.sglang_version) if known else None
            if fact is not None and fact.choices and not set(values) <= {*fact.choices}:
                return False
            changes |= not _is_held(self._facts.arguments.get(name), values)
        return changes


def _is_within(version: str, first: str, last: str | None) -> bool:
    """Whether a release lies between two others, both included; True where that cannot be told."""
    at, begin, end = version_key(version), version_key(first), version_key(last or version)
    return at is None or begin is None or end is None or begin <= at <= end


def _pairs(apply: str) -> list[tuple[str, tuple[str, ...]]]:
    """``--a 1 --b`` as flags with their values."""
    pairs: list[tuple[str, tuple[str, ...]]] = []
    for word in apply.split():
        if word.startswith("--"):
            flag, sign, value = word.partition("=")
            pairs.append((flag, (value,) if sign else ()))
        elif pairs:
            flag, values = pairs[-1]
            pairs[-1] = (flag, (*values, word))
    return pairs


def _is_same_setting(held: str | None, value: str) -> bool:
    """Equal, or both words for on."""
    return held is not None and (held == value or {held.lower(), value.lower()} <= set(_ON))


def _is_held(held: Json, values: tuple[str, ...]) -> bool:
    if not values:
        return held is True
    return [show(one) for one in (held if isinstance(held, list) else [held])] == list(values)


def _with_flag(text: str, old: str, new: str) -> str:
    return _FLAG.sub(lambda found: new if found.group(0) == old else found.group(0), text)
