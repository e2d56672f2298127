"""Answers about server arguments from the packed facts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from logscope.knowledge import library
from logscope.knowledge.catalogue import Catalogue
from logscope.knowledge.periods import periods
from logscope.knowledge.records import ArgumentFact, Life


def argument_fact(name: str, version: str | None) -> ArgumentFact | None:
    """The argument as the release declares it; None when the release is unknown or has none."""
    view = library.view(version)
    if view is None:
        return None
    held = view.catalogue.arguments["fields"].get(name)
    return None if held is None else _fact(name, held, view.index)


def argument_life(name: str) -> Life | None:
    """From the packaged releases (the user's own builds stand outside of the order of releases)."""
    shipped = library.packaged()
    held = None if shipped is None else shipped.arguments["fields"].get(name)
    if shipped is None or held is None:
        return None
    spans = periods(held["default"], shipped.releases)
    rows = shipped.arguments["renames"]
    to = next((new for old, new, _, _ in rows if old == name), None)
    origin = next((row for row in rows if row[1] == name), None)
    notes = [f"renamed from {origin[0]} in {shipped.releases[origin[2]]} ({origin[3]})"] if origin else []
    notes += _retired_flags(name, shipped)
    return Life(
        name,
        "arg",
        spans[0].first,
        spans[-1].last,
        spans,
        to,
        origin[0] if origin else None,
        "; ".join(notes),
    )


def _retired_flags(name: str, shipped: Catalogue) -> list[str]:
    """What the releases say of flags of this argument that they no longer like."""
    own = f"--{name.replace('_', '-')}"
    notes: list[str] = []
    for flag, changes in shipped.arguments["retired"].items():
        for since, told in changes:
            if told is not None and (flag == own or told[0] == name):
                instead = f", {told[1]} instead" if told[1] else ""
                notes.append(f"{flag} is deprecated since {shipped.releases[since]}{instead}")
                break
    return notes


def renamed_arguments(good_version: str | None, bad_version: str | None) -> Mapping[str, str]:
    """New -> old for names that one release has and the other has under another name, over several steps."""
    good, bad = library.view(good_version), library.view(bad_version)
    if good is None or bad is None:
        return {}
    before, after = _present(good), _present(bad)
    shipped = library.packaged()
    rows = shipped.arguments["renames"] if shipped is not None else []
    forward: dict[str, str] = {old: new for old, new, _, _ in rows}
    found: dict[str, str] = {}
    for start in before | after:
        for step in _chain(start, forward):
            if start in before and start not in after and step in after and step not in before:
                found[step] = start
                break
            if start in after and start not in before and step in before and step not in after:
                found[start] = step
                break
    return dict(sorted(found.items()))


def flags_of(version: str | None) -> Mapping[str, str]:
    """Flags that the release's parser takes -> argument, deprecated ones included."""
    view = library.view(version)
    return {} if view is None else _flags(view.catalogue, view.index)


@cache
def _flags(catalogue: Catalogue, index: int) -> Mapping[str, str]:
    table = catalogue.arguments
    flags: dict[str, str] = {}
    for name, held in table["fields"].items():
        for flag in library.value_at(held["flags"], index) or ():
            flags[flag] = name
    for flag, changes in table["retired"].items():
        told = library.value_at(changes, index)
        if told is not None and told[0]:
            flags.setdefault(flag, told[0])
    return flags


def present(view: library.ReleaseView) -> frozenset[str]:
    """Names of the arguments of a release."""
    return _present(view)


def _present(view: library.ReleaseView) -> frozenset[str]:
    fields = view.catalogue.arguments["fields"]
    return frozenset(
        n for n, held in fields.items() if library.value_at(held["default"], view.index) is not None
    )


def _chain(start: str, forward: Mapping[str, str]) -> list[str]:
    seen: list[str] = []
    now = forward.get(start)
    while now is not None and now not in seen and now != start:
        seen.append(now)
        now = forward.get(now)
    return seen


def _fact(name: str, held: dict[str, Any], index: int) -> ArgumentFact | None:
    default = library.value_at(held["default"], index)
    if default is None:
        return None
    written = library.value_at(held.get("written"), index) or ""
    return ArgumentFact(
        name,
        default,
        library.value_at(held["type"], index),
        tuple(library.value_at(held["flags"], index) or ()),
        tuple(library.value_at(held.get("choices"), index) or ()),
        "r" in written,
    )
