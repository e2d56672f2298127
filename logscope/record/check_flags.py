"""Flags and values of a planned command line against what its release of SGLang takes."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Mapping

from logscope import knowledge
from logscope.explain.records import Remedy
from logscope.knowledge.records import ArgumentFact
from logscope.record.checking import Finding, Planned, Severity
from logscope.record.command_line import Option

_LEAST_KNOWN = 10
"""A release of which fewer flags are known is not judged by them."""


def flag_findings(plan: Planned) -> Iterator[Finding]:
    """Unknown, removed and ambiguous flags, and values outside of the choices.

    A release that is newer than all known ones is judged by the newest of them, and nothing is certain then.
    """
    if plan.command.entry is None:
        return
    newest = newest_known(plan.version)
    if newest is None:
        yield from _flag_findings(plan)
        return
    for finding in _flag_findings(dataclasses.replace(plan, version=newest)):
        yield finding if finding.severity is not Severity.FAILS else _softened(finding, plan, newest)


def newest_known(version: str | None) -> str | None:
    """The release by which a newer, unknown one is judged; None for any other."""
    near = knowledge.nearest_release(version) if version is not None else None
    is_newer = near is not None and near != version and _next_release(version or "") is None
    return near if is_newer else None


def _softened(finding: Finding, plan: Planned, newest: str) -> Finding:
    told = f"judged by {newest}, the newest release that is known: {plan.version} is newer and may take it"
    title = f"{finding.title.partition(': ')[0]}: {plan.version} may refuse the launch"
    return dataclasses.replace(
        finding, severity=Severity.RISK, title=title, evidence=(*finding.evidence, told)
    )


def _flag_findings(plan: Planned) -> Iterator[Finding]:
    known = _known_flags(plan.version)
    if len(known) < _LEAST_KNOWN:
        if any(option.flag for option in plan.command.options):
            yield _not_judged(plan)
        return
    for option in plan.command.options:
        if option.flag.startswith("--") and len(option.flag) > 2:
            yield from _judge(plan, option, known)


def flags_are_known(version: str | None) -> bool:
    """True when enough is known of the release to judge a command line by it."""
    return len(_known_flags(version)) >= _LEAST_KNOWN


def _judge(plan: Planned, option: Option, known: Mapping[str, str]) -> Iterator[Finding]:
    name = known.get(option.flag)
    if name is None:
        full = sorted({flag for flag in known if flag.startswith(option.flag)})
        names = {known[flag] for flag in full}
        own_name = option.flag.removeprefix("--").replace("-", "_")
        if not full or (len(names) > 1 and _renamed_to(own_name, plan.version) is not None):
            yield _unknown(plan, option, known)
            return
        if len(full) > 1 and len(names) > 1:
            yield _ambiguous(plan, option, full)
            return
        name = known[full[0]]  # argparse completes a unique beginning
    fact = knowledge.argument_fact(name, plan.version)
    if fact is not None:
        yield from _judge_value(plan, option, fact)


def _judge_value(plan: Planned, option: Option, fact: ArgumentFact) -> Iterator[Finding]:
    given = option.values[-1] if option.values else None
    if given is None:
        return
    if fact.choices and option.values and not set(option.values) <= set(fact.choices):
        near = difflib.get_close_matches(given, fact.choices, 2, 0.6)
        yield Finding(
            "value-not-a-choice",
            "arg",
            fact.name,
            Severity.FAILS,
            f"{option.flag} does not take {given!r} in SGLang {plan.version}",
            (f"choices: {', '.join(fact.choices)}",),
            tuple(
                Remedy(f"Use {choice}.", f"{option.flag} {choice}", "lasting", "that is what was meant")
                for choice in near
            ),
        )
        return
    kind = _number_type(fact)
    if kind is not None and not _is_number(given, kind):
        yield Finding(
            "value-not-a-number",
            "arg",
            fact.name,
            Severity.FAILS,
            f"{option.flag} takes {'a whole number' if kind == 'int' else 'a number'}, not {given!r}",
            (f"declared as {fact.type} in SGLang {plan.version}",),
        )
    elif _is_short_timeout(fact, given):
        yield Finding(
            "short-timeout",
            "arg",
            fact.name,
            Severity.RISK,
            f"{option.flag} {given} is below a tenth of the default {fact.default}: a long step ends it",
            ("first steps compile kernels, and a long prefill is one step",),
            (Remedy("Leave the default.", "", "lasting", "no shorter one is needed"),),
        )


def _is_short_timeout(fact: ArgumentFact, given: str) -> bool:
    if not fact.name.endswith("timeout") or not _is_number(fact.default or "", "float"):
        return False
    return _is_number(given, "float") and 0 < float(given) < float(fact.default or "0") / 10


def _unknown(plan: Planned, option: Option, known: Mapping[str, str]) -> Finding:
    name = option.flag.removeprefix("--").replace("-", "_")
    life = knowledge.argument_life(name)
    evidence = [f"SGLang {plan.version} takes no {option.flag}"]
    remedies = []
    title = f"{option.flag} is unknown to SGLang {plan.version}: the launch is refused"
    renamed = _renamed_to(name, plan.version)
    if life is not None and life.last is not None:
        title = f"{option.flag} was removed from SGLang after {life.last}: {plan.version} refuses the launch"
        evidence.append(f"{name} is in the releases {life.first} to {life.last}")
    elif life is not None:
        title = f"{option.flag} came with SGLang {life.first}: {plan.version} refuses the launch"
        evidence.append(f"{name} is in the releases from {life.first} on")
    if renamed is not None:
        remedies.append(
            Remedy(
                f"Use the new name, {_flag(renamed)}.",
                " ".join((_flag(renamed), *option.values)),
                "lasting",
                "the new argument means the same; look at its default",
            )
        )
    else:
        nearest = difflib.get_close_matches(option.flag, known, 2, 0.8) if life is None else []
        remedies += [
            Remedy(
                f"Did you mean {near}?", " ".join((near, *option.values)), "lasting", "it is a typing error"
            )
            for near in nearest
        ]
    remedies.append(
        Remedy(
            "Leave the flag out.",
            "",
            "quick",
            "what it did is the default now or is not needed",
            "drops what it did",
        )
    )
    return Finding("unknown-flag", "arg", name, Severity.FAILS, title, tuple(evidence), tuple(remedies))


def _ambiguous(plan: Planned, option: Option, full: list[str]) -> Finding:
    return Finding(
        "ambiguous-flag",
        "arg",
        option.flag.removeprefix("--").replace("-", "_"),
        Severity.FAILS,
        f"{option.flag} is the beginning of several flags of SGLang {plan.version}: the launch is refused",
        ("could be " + ", ".join(full[:6]),),
        tuple(Remedy(f"Write {flag}.", flag, "lasting", "that one is meant") for flag in full[:2]),
    )


def _not_judged(plan: Planned) -> Finding:
    why = "its version is not known" if plan.version is None else f"nothing is known of SGLang {plan.version}"
    return Finding(
        "release-unknown",
        "version",
        "sglang",
        Severity.NOTE,
        f"flags not checked: {why}",
        remedies=(
            Remedy("Name the release.", "--sglang-version X.Y.Z", "quick", "it is the one that will run"),
        ),
    )


def _known_flags(version: str | None) -> Mapping[str, str]:
    """Flags of the release. Between two releases with facts, what either of them takes."""
    if version is None:
        return {}
    near = knowledge.nearest_release(version)
    if near == version:
        return knowledge.flags_of(version)
    after = _next_release(version)
    return {**(knowledge.flags_of(after) if after else {}), **knowledge.flags_of(version)}


def _next_release(version: str) -> str | None:
    from packaging.version import InvalidVersion, Version  # 15 ms

    def ordered(text: str) -> Version | None:
        try:
            return Version(text)
        except InvalidVersion:
            return None

    own = ordered(version)
    later = [one for one in knowledge.releases() if own is not None and (at := ordered(one)) and at > own]
    return later[0] if later else None


def _renamed_to(name: str, version: str | None) -> str | None:
    life = knowledge.argument_life(name)
    if life is None or life.renamed_to is None:
        return None
    return life.renamed_to if knowledge.argument_fact(life.renamed_to, version) is not None else None


def _number_type(fact: ArgumentFact) -> str | None:
    plain = (fact.type or "").removeprefix("Optional[").removesuffix("]")
    return plain if plain in ("int", "float") else None


def _is_number(text: str, kind: str) -> bool:
    try:
        int(text) if kind == "int" else float(text)
    except ValueError:
        return False
    return True


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
