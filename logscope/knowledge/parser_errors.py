"""What the command line's parser says: not a check of SGLang's own, but what it accepts is SGLang's fact.

A flag that one release takes and the other does not, a choice that is gone, a switch that now wants a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from logscope.knowledge.arguments import argument_fact, argument_life, flags_of, renamed_arguments
from logscope.knowledge.library import ReleaseView
from logscope.knowledge.records import Gate, ValidationFinding
from parsers.lazy_pattern import lazy_re

_UNRECOGNIZED = lazy_re(r"unrecognized arguments: (.+)", re.DOTALL)
_CHOICE = lazy_re(r"argument ([-\w/ ]+): invalid choice: '?([^'(]*?)'? \(choose from")
_EXPECTED = lazy_re(r"argument ([-\w/ ]+): expected (?:one|at least one) argument")
_KINDS = (None, "argparse", "SystemExit", "ArgumentError")


def parser_finding(
    good: ReleaseView, bad: ReleaseView, message: str, error_type: str | None, notes: tuple[str, ...]
) -> ValidationFinding | None:
    """The finding for an argparse message; None when the message is none."""
    if error_type not in _KINDS:
        return None
    for pattern, judge in ((_UNRECOGNIZED, _unrecognized), (_CHOICE, _choice), (_EXPECTED, _expected)):
        said = pattern.search(message)
        if said is not None:
            return judge(good, bad, said, notes)
    return None


def _unrecognized(
    good: ReleaseView, bad: ReleaseView, said: re.Match[str], notes: tuple[str, ...]
) -> ValidationFinding:
    before, after = flags_of(good.asked), flags_of(bad.asked)
    flags = [word.partition("=")[0] for word in said.group(1).split() if word.startswith("--")]
    dashed = ["--" + flag.lstrip("-").replace("_", "-") for flag in flags]
    gone = [flag for flag in dashed if flag in before and flag not in after]
    if gone:
        name = before[gone[0]]
        newer = next(
            (new for new, old in renamed_arguments(good.asked, bad.asked).items() if old == name), None
        )
        since = _flag_gone_since(gone[0], good, bad)
        told = f" Its place was taken by {newer}." if newer else ""
        return _made(
            "guard-changed", good, bad, [name], since, notes,
            f"{good.version} takes {gone[0]}, {bad.version} does not{_since(since)}.{told}",
        )  # fmt: skip
    if any(flag in after for flag in dashed):
        return _made(
            "unknown", good, bad, [], None, notes,
            f"{bad.version} does take {next(f for f in dashed if f in after)}: another build or program.",
        )  # fmt: skip
    listed = ", ".join(flags) or "these words"
    return _made(
        "unchanged", good, bad, [], None, notes, f"Neither release takes {listed}: the command line changed."
    )


def _choice(
    good: ReleaseView, bad: ReleaseView, said: re.Match[str], notes: tuple[str, ...]
) -> ValidationFinding:
    name, value = _named(said.group(1), bad), said.group(2)
    before = argument_fact(name, good.asked) if name else None
    after = argument_fact(name, bad.asked) if name else None
    if name is None or before is None or after is None or not after.choices:
        return _made(
            "unknown", good, bad, [], None, notes, "What this argument may be is not known for both releases."
        )
    if value in after.choices:
        told = f"{bad.version} does take {value!r} for {name}: this is another build, or another program."
        return _made("unknown", good, bad, [name], None, notes, told)
    if value in before.choices or not before.choices:
        told = f"{good.version} takes {value!r} for {name}, {bad.version} does not."
        return _made("guard-changed", good, bad, [name], None, notes, told)
    told = f"Neither release takes {value!r} for {name}: the command line changed."
    return _made("unchanged", good, bad, [name], None, notes, told)


def _expected(
    good: ReleaseView, bad: ReleaseView, said: re.Match[str], notes: tuple[str, ...]
) -> ValidationFinding:
    name = _named(said.group(1), bad)
    before = argument_fact(name, good.asked) if name else None
    after = argument_fact(name, bad.asked) if name else None
    if name is None or before is None or after is None:
        return _made("unknown", good, bad, [], None, notes, "This argument is not known for both releases.")
    if before.type == "bool" != after.type:
        told = f"{name} is a switch in {good.version} and wants a value in {bad.version}."
        return _made("guard-changed", good, bad, [name], None, notes, told)
    told = f"{name} wants a value in both releases: the command line changed."
    return _made("unchanged", good, bad, [name], None, notes, told)


def _named(told: str, view: ReleaseView) -> str | None:
    """The argument of ``--a/--b`` or ``-m`` as argparse prints it."""
    flags: Mapping[str, str] = flags_of(view.asked)
    return next((flags[flag] for flag in told.split("/") if flag in flags), None)


def _flag_gone_since(flag: str, good: ReleaseView, bad: ReleaseView) -> str | None:
    """The first release after the good one that does not take the flag."""
    if good.catalogue is not bad.catalogue or good.index > bad.index:
        return None
    for at in range(good.index + 1, bad.index + 1):
        version = good.catalogue.releases[at]
        if flag not in flags_of(version):
            return version
    return None


def _since(release: str | None) -> str:
    return f", since {release}" if release else ""


def _made(
    finding: str, good: ReleaseView, bad: ReleaseView, names: list[str], since: str | None,
    notes: tuple[str, ...], explanation: str,
) -> ValidationFinding:  # fmt: skip
    gates: list[Gate] = []
    for name in names:
        before, after = argument_fact(name, good.asked), argument_fact(name, bad.asked)
        life = argument_life(name)
        gates.append(
            Gate(
                name,
                "arg",
                before.default if before else None,
                after.default if after else None,
                None,
                life.defaults if life else (),
            )
        )
    confidence = "none" if finding == "unknown" else "unique template"
    told = (*notes, "the command line's parser said this, not a check of SGLang")
    return ValidationFinding(
        finding, confidence, None, tuple(gates), since, good.asked, bad.asked, explanation, told
    )
