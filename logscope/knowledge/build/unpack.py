"""Gives the facts of every release back out of a packed file, so that one release can be added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from logscope.knowledge.build.arguments import ArgumentTable, Declared, RetiredFlag
from logscope.knowledge.build.facts import EnvUse, Site, Template
from logscope.knowledge.build.guards import Atom
from logscope.knowledge.build.release import ReleaseFacts
from logscope.knowledge.catalogue import Catalogue


def read_facts(path: Path) -> dict[str, ReleaseFacts]:
    """Version -> facts of all releases in a packed file."""
    catalogue = Catalogue(path)
    releases = [ReleaseFacts(version, ArgumentTable()) for version in catalogue.releases]
    for at, release in enumerate(releases):
        _arguments(release, at, catalogue.arguments)
        _environment(release, at, catalogue.environment)
    _sites(catalogue, releases)
    return {release.version: release for release in releases}


def value_at(changes: list[list[Any]], at: int) -> Any:
    """The value that holds at release index `at`."""
    held = None
    for since, value in changes:
        if since > at:
            break
        held = value
    return held


def _arguments(release: ReleaseFacts, at: int, table: dict[str, Any]) -> None:
    for name, held in table["fields"].items():
        default = value_at(held["default"], at)
        if default is None:
            continue
        told = {key: value_at(changes, at) for key, changes in held.items()}
        release.arguments.declared[name] = Declared(
            name, default, told["type"], tuple(told["flags"] or ()), tuple(told.get("choices") or ())
        )
        written = told.get("written") or ""
        if "r" in written:
            release.resolved[name] = "n" in written
        if "l" in written:
            release.runtime.add(name)
    for flag, changes in table["retired"].items():
        told = value_at(changes, at)
        if told is not None:
            release.arguments.retired.append(RetiredFlag(flag, told[0], told[1]))


def _environment(release: ReleaseFacts, at: int, table: dict[str, Any]) -> None:
    for name, changes in table["uses"].items():
        uses = value_at(changes, at)
        if uses is not None:
            release.env[name] = [EnvUse(name, action, default, kind) for action, default, kind in uses]
    release.renamed_env = {old: (new, how) for old, new, how in value_at(table["renamed"], at) or ()}


def _sites(catalogue: Catalogue, releases: list[ReleaseFacts]) -> None:
    templates = [_template(catalogue, at) for at in range(catalogue.templates)]
    known: dict[tuple[int, int], tuple[Site, ...]] = {}
    for at, path in enumerate(catalogue.paths):
        for number, release in enumerate(releases):
            state = catalogue.state_at(at, number)
            if state is None:
                continue
            if (at, state) not in known:
                known[at, state] = tuple(
                    _site(catalogue, place, templates) for place in catalogue.places_in(at, number)
                )
            release.files[path] = known[at, state]


def _site(catalogue: Catalogue, place: Any, templates: list[Template]) -> Site:
    held = catalogue.site(place.row)
    atoms = tuple(
        Atom(one.kind, one.name, one.operator, one.value, one.is_enough, one.default, one.is_early)
        for one in held.atoms
    )
    return Site(
        held.function, held.kind, held.type, held.guard, atoms,
        tuple(templates[one] for one in held.templates),
        held.flags, place.line, place.last_line - place.line, place.body,
    )  # fmt: skip


def _template(catalogue: Catalogue, at: int) -> Template:
    wording = catalogue.wording(at)
    words = tuple(sorted(catalogue.word_hashes(at)))
    anchors = catalogue.anchors_of(at)
    pieces = tuple((size, held, anchor) for (size, held), anchor in zip(wording.pieces, anchors, strict=True))
    return Template(pieces, wording.starts, wording.ends, words)
