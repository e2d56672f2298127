"""Target, draft and arguments of a planned launch held against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from logscope.compare.facts import RunFacts
from logscope.compare.mismatches import broken_rules, same_break
from logscope.explain.fitting import Fit
from logscope.explain.records import Remedy
from logscope.explain.remedies import from_rule
from logscope.explain.rule_values import NEUTRAL, side_values
from logscope.knowledge.records import ConfigRule
from logscope.record.checking import Finding, Planned, Severity
from logscope.store.records import StoredRun
from parsers.lazy_dataclass import dataclass
from parsers.records import Json


@dataclass(frozen=True, slots=True)
class _Precedent:
    """A good run that broke a rule with the same values, and under what conditions it did."""

    path: str
    version: str | None
    why_on: str
    """Why its check was switched off; '' when it was not."""


def rule_findings(plan: Planned, good: Sequence[StoredRun]) -> Iterator[Finding]:
    """Rules that do not hold. A good run that broke one too counts under the same conditions only."""
    yield from _unread_configs(plan)
    run = plan.as_run()
    held = [(one, rule, left, right) for one in good for rule, left, right in broken_rules(one)]
    for rule, left, right in broken_rules(run):
        if _is_later(rule.since, plan.version):
            continue
        same = same_break(rule, left, right)
        precedents = [
            _Precedent(one.path, one.sglang_version, _why_off(rule, RunFacts(one)))
            for one, broken, *values in held
            if same_break(broken, *values) == same
        ]
        yield _finding(rule, left, right, run, precedents)


def _why_off(rule: ConfigRule, facts: RunFacts) -> str:
    return facts.why_on(rule.unless_env) if rule.unless_env else ""


def _finding(
    rule: ConfigRule,
    left: Json,
    right: Json,
    plan: StoredRun,
    precedents: Sequence[_Precedent],
) -> Finding:
    fit, why_off = Fit(plan), _why_off(rule, RunFacts(plan))
    values = {**NEUTRAL, **side_values(left, right)}
    severity = Severity.FAILS if rule.severity == "fatal" else Severity.NOTE
    sides = ((rule.left, left), (rule.right, right))
    evidence = [f"{name} = {value}" for name, value in sides if name != str(value)]
    if why_off:
        severity = Severity.NOTE
        evidence.append(f"{why_off}: it only warns")
    elif severity is Severity.FAILS:
        severity, said = _by_precedent(plan.sglang_version, precedents)
        evidence += [said] if said else []
    return Finding(
        rule.id,
        "arg" if rule.subject.startswith("args.") or "." not in rule.subject else "config",
        rule.subject.removeprefix("args."),
        severity,
        rule.text.format(left=left, right=right),
        (*evidence, rule.reason),
        tuple(fit.fitted(from_rule(remedy, values) for remedy in rule.remedies if fit.holds(remedy.needs))),
    )


def _by_precedent(version: str | None, precedents: Sequence[_Precedent]) -> tuple[Severity, str]:
    """How much a rule says where good runs had the same values, and the sentence for it."""
    tried = [one for one in precedents if not one.why_on]
    same = next((one for one in tried if version is not None and one.version == version), None)
    if same is not None:
        return Severity.NOTE, f"a good run with the same values and release got ready ({same.path})"
    if tried:
        said = f"a good run with the same values got ready with {_release(tried[0].version)}"
        return Severity.RISK, f"{said}, another release may check more ({tried[0].path})"
    if precedents:
        one = precedents[0]
        return Severity.FAILS, f"a good run with the same values got ready as there {one.why_on} ({one.path})"
    return Severity.FAILS, ""


def _release(version: str | None) -> str:
    return f"SGLang {version}" if version else "a release that is not known"


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
