"""Contradictions inside one run: config rules held against its arguments and config files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from logscope.compare.facts import RunFacts
from logscope.compare.records import Mismatch
from logscope.compare.values import is_same, show
from logscope.knowledge.config_rules import config_rules
from logscope.knowledge.records import ConfigRule
from logscope.store.records import StoredRun
from parsers.records import Json

_FAMILIES = (
    ("awq", "awq_marlin", "marlin", "moe_wna16", "auto-round"),
    ("gptq", "gptq_marlin", "marlin", "moe_wna16", "auto-round"),
    (
        "fp8",
        "w8a8_fp8",
        "modelopt",
        "modelopt_fp8",
        "mxfp8",
        "compressed-tensors",
        "w4afp8",
        "block_int8",
        "fbgemm_fp8",
    ),
    ("modelopt", "modelopt_fp4", "modelopt_fp8", "modelopt_mixed", "nvfp4", "w4afp8", "fp8", "petit_nvfp4"),
    ("compressed-tensors", "w8a8_int8", "w8a8_fp8", "w4afp8", "quark"),
    ("mxfp4", "quark", "petit_nvfp4"),
    ("modelslim", "w8a8_int8", "ascend"),
)
"""Names under which the same quantized weights are read."""


def mismatches(bad: StoredRun, good: StoredRun | None = None) -> tuple[Mismatch, ...]:
    """What contradicts itself in `bad`; `in_good_too` where `good` had the same and got ready."""
    broken = broken_rules(bad)
    held = broken_rules(good) if good is not None and good.run.ready else []
    before = {same_break(rule, left, right) for rule, left, right in held}
    found = (
        _mismatch(rule, left, right, same_break(rule, left, right) in before, bad)
        for rule, left, right in broken
    )
    return tuple(sorted(found, key=lambda one: -one.relevance))


def same_break(rule: ConfigRule, left: Json, right: Json) -> tuple[str, str, str]:
    """What two runs share that break a rule in the same way."""
    return rule.id, show(left), show(right)


def broken_rules(
    run: StoredRun, rules: Sequence[ConfigRule] | None = None
) -> list[tuple[ConfigRule, Json, Json]]:
    """Each rule that does not hold in `run`, with its two values."""
    facts = RunFacts(run)
    broken = []
    for rule in config_rules() if rules is None else rules:
        if not all(facts.holds(condition) for condition in rule.when):
            continue
        left, right = facts.value(rule.left), facts.value(rule.right)
        if _RELATIONS[rule.relation](left, right) is False:
            broken.append((rule, left, right))
    return broken


def _mismatch(rule: ConfigRule, left: Json, right: Json, in_good_too: bool, run: StoredRun) -> Mismatch:
    why_off = RunFacts(run).why_on(rule.unless_env) if rule.unless_env else ""
    relevance = 0.5 if rule.severity == "fatal" else 0.25
    if in_good_too or why_off:
        relevance *= 0.3
    reason = rule.reason + (f"; {why_off}, with which it should only warn" if why_off else "")
    return Mismatch(
        rule=rule.id,
        subject=rule.subject,
        text=rule.text.format(left=_plain(left), right=_plain(right)),
        reason=reason,
        values=((rule.left, left), (rule.right, right)),
        relevance=relevance,
        in_good_too=in_good_too,
    )


def _plain(value: Json) -> str:
    if isinstance(value, list) and len(value) == 1:
        return show(value[0])
    return show(value)


def _is_number(*values: Json) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _compare(left: Json, right: Json, test: Callable[[float, float], bool]) -> bool | None:
    """None (not judged) unless both are numbers."""
    if not _is_number(left, right):
        return None
    return test(float(left), float(right))  # type: ignore[arg-type]  # just checked


def _divides(left: float, right: float) -> bool:
    return right != 0 and left % right == 0


def _contains(left: Json, right: Json) -> bool | None:
    return None if left is None else str(right).lower() in str(left).lower()


def _contains_not(left: Json, right: Json) -> bool | None:
    held = _contains(left, right)
    return None if held is None else not held


def _equal(left: Json, right: Json) -> bool | None:
    return None if left is None or right is None else is_same(left, right)


def _unequal(left: Json, right: Json) -> bool | None:
    return None if left is None or right is None else not is_same(left, right)


def _same_family(left: Json, right: Json) -> bool | None:
    if not isinstance(left, str) or not isinstance(right, str) or right == "unnamed":
        return None
    one, other = left.lower(), right.lower()
    return one == other or any(one in family and other in family for family in _FAMILIES)


_RELATIONS: Mapping[str, Callable[[Json, Json], bool | None]] = {
    "==": _equal,
    "!=": _unequal,
    ">=": lambda left, right: _compare(left, right, lambda a, b: a >= b),
    "<=": lambda left, right: _compare(left, right, lambda a, b: a <= b),
    "divisible-by": lambda left, right: _compare(left, right, _divides),
    "divides-either": lambda left, right: _compare(
        left, right, lambda a, b: _divides(a, b) or _divides(b, a)
    ),
    "contains": _contains,
    "contains-not": _contains_not,
    "is-set": lambda left, _: left is not None,
    "same-family": _same_family,
}
