"""Target, draft and arguments of a planned launch held against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from logscope.compare.facts import RunFacts
from logscope.compare.mismatches import broken_rules
from logscope.explain.records import Remedy
from logscope.knowledge.records import AtlasRemedy, ConfigRule
from logscope.record.checking import Finding, Planned, Severity
from logscope.store.records import StoredRun
from parsers.records import Json

_ON = ("1", "true", "yes", "y", "on")
_DURABILITY = {"durable": "lasting"}


def rule_findings(plan: Planned, good: Sequence[StoredRun]) -> Iterator[Finding]:
    """Rules that do not hold. One that did not hold in a good run of the setup either is only a note."""
    yield from _unread_configs(plan)
    run = plan.as_run()
    tolerated = {(rule.id, str(left), str(right)) for one in good for rule, left, right in broken_rules(one)}
    facts = RunFacts(run)
    for rule, left, right in broken_rules(run):
        if _is_later(rule.since, plan.version):
            continue
        is_off = bool(rule.unless_env) and (facts.env(rule.unless_env or "") or "").lower() in _ON
        is_tolerated = (rule.id, str(left), str(right)) in tolerated
        yield _finding(rule, left, right, is_off, is_tolerated)


def _finding(rule: ConfigRule, left: Json, right: Json, is_off: bool, is_tolerated: bool) -> Finding:
    severity = Severity.FAILS if rule.severity == "fatal" else Severity.NOTE
    sides = ((rule.left, left), (rule.right, right))
    evidence = [f"{name} = {value}" for name, value in sides if name != str(value)]
    if is_off:
        severity = Severity.NOTE
        evidence.append(f"{rule.unless_env} is set: it only warns")
    if is_tolerated:
        severity = Severity.NOTE
        evidence.append("a good run of this setup had the same and got ready")
    return Finding(
        rule.id,
        "arg" if rule.subject.startswith("args.") or "." not in rule.subject else "config",
        rule.subject.removeprefix("args."),
        severity,
        rule.text.format(left=left, right=right),
        (*evidence, rule.reason),
        tuple(_remedy(remedy, left, right) for remedy in rule.remedies),
    )


def _remedy(remedy: AtlasRemedy, left: Json, right: Json) -> Remedy:
    durability = _DURABILITY.get(remedy.kind, remedy.kind)
    action, apply, assumes, costs = (
        text.format(left=left, right=right)
        for text in (remedy.action, remedy.apply, remedy.assumes, remedy.trade_off)
    )
    return Remedy(action, apply, durability, assumes, costs)


def _unread_configs(plan: Planned) -> Iterator[Finding]:
    """A config.json that is no JSON object."""
    for role, config in plan.context.model_configs.items():
        if not isinstance(config, dict):
            yield Finding(
                "config-unreadable",
                "config",
                f"{role}.config.json",
                Severity.FAILS,
                f"config.json of the {role} model is no JSON object: the model cannot be read",
                (str(config)[:120],),
                (
                    Remedy(
                        "Fetch the file again.", "", "lasting", "the copy was interrupted or edited by hand"
                    ),
                ),
            )


def _is_later(since: str | None, version: str | None) -> bool:
    """True when the rule came with a later release than the planned one."""
    if not since or not version:
        return False
    from packaging.version import InvalidVersion, Version  # 15 ms

    try:
        return Version(since) > Version(version)
    except InvalidVersion:
        return False
