"""Packs the facts of many releases: one row a distinct site, one entry a distinct state of a file.

Sites are numbered within their file; a file's state in a release is the list of its sites with lines.
Releases that share a state share the entry, so a new release costs what it changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

from logscope.knowledge.build.facts import Site, Template
from logscope.knowledge.build.guards import Atom
from logscope.knowledge.build.release import ReleaseFacts
from logscope.knowledge.build.tables import argument_table, environment_table
from logscope.knowledge.pack_format import json_bytes, packed_numbers, write_pack
from logscope.knowledge.versions import version_key

_T = TypeVar("_T")
KINDS = ("raise", "assert", "exit", "error", "warning", "info")
_NEVER = 0xFFFF

Row = tuple[str, str, str, int, tuple[Atom, ...], tuple[Template, ...], str]
"""function, kind, type, guard, atoms, templates, flags: what makes a site the same site."""


def write_facts(
    path: Path, releases: Mapping[str, ReleaseFacts], more: Mapping[str, str] | None = None
) -> None:
    """Packs `releases` (version -> facts) into one file; `more` is kept in its own words beside them."""
    order = sorted(releases, key=lambda version: (version_key(version) or (0, 0, 0, 0, 0, 0, ""), version))
    facts = [releases[version] for version in order]
    sections = {
        "meta": json_bytes({"releases": order, **(more or {})}),
        "arguments": json_bytes(argument_table(facts)),
        "environment": json_bytes(environment_table(facts)),
    }
    sections.update(_Sites(facts).sections())
    write_pack(path, sections)


class _Sites:
    """Numbers paths, functions, types, atoms, templates and sites, and writes them as columns."""

    def __init__(self, facts: Sequence[ReleaseFacts]) -> None:
        self.facts = facts
        self.paths = sorted({path for one in facts for path in one.files})
        self.rows: list[Row] = []
        self.first_row: list[int] = []
        self.states: list[list[tuple[Site, ...]]] = []
        """Per path its distinct states, oldest first."""
        self.spans: list[list[int]] = []
        """Per path: release index and state (or _NEVER) at each change."""
        self.number: list[dict[Row, int]] = []
        for path in self.paths:
            self._path(path)

    def _path(self, path: str) -> None:
        states: dict[tuple[Site, ...], int] = {}
        spans: list[int] = []
        for at, one in enumerate(self.facts):
            held = one.files.get(path)
            state = _NEVER if held is None else states.setdefault(held, len(states))
            if (spans[-1] if spans else _NEVER) != state:
                spans += [at, state]
        numbers: dict[Row, int] = {}
        for held in reversed(states):  # the newest first: its sites are then numbered as they stand
            for site in held:
                numbers.setdefault(_row(site), len(numbers))
        self.first_row.append(len(self.rows))
        self.rows += numbers
        self.states.append(list(states))
        self.spans.append(spans)
        self.number.append(numbers)

    def sections(self) -> dict[str, bytes]:
        templates = sorted({t for row in self.rows for t in row[5]})
        functions = sorted({row[0] for row in self.rows})
        types = sorted({row[2] for row in self.rows})
        atoms = sorted({atom for row in self.rows for atom in row[4]})
        flags = sorted({row[6] for row in self.rows})
        held = {
            "paths": "\n".join(self.paths).encode(),
            "functions": "\n".join(functions).encode(),
            "types": "\n".join(types).encode(),
            "flags": "\n".join(flags).encode(),
            "atoms": "\n".join(map(_atom_line, atoms)).encode(),
            "path.rows.I": packed_numbers("I", self.first_row),
        }
        held.update(self._site_columns(functions, types, atoms, templates, flags))
        held.update(_template_columns(templates))
        held.update(self._state_columns())
        return held

    def _site_columns(
        self,
        functions: list[str],
        types: list[str],
        atoms: list[Atom],
        templates: list[Template],
        flags: list[str],
    ) -> dict[str, bytes]:
        function_at, type_at = _numbered(functions), _numbered(types)
        atom_at, template_at, flag_at = _numbered(atoms), _numbered(templates), _numbered(flags)
        rows = self.rows
        return {
            "site.function.H": packed_numbers("H", [function_at[row[0]] for row in rows]),
            "site.kind.B": packed_numbers("B", [KINDS.index(row[1]) for row in rows]),
            "site.type.H": packed_numbers("H", [type_at[row[2]] for row in rows]),
            "site.guard.I": packed_numbers("I", [row[3] for row in rows]),
            "site.flags.B": packed_numbers("B", [flag_at[row[6]] for row in rows]),
            "site.atoms.n.B": packed_numbers("B", [len(row[4]) for row in rows]),
            "site.atoms.H": packed_numbers("H", [atom_at[atom] for row in rows for atom in row[4]]),
            "site.templates.n.B": packed_numbers("B", [len(row[5]) for row in rows]),
            "site.templates.H": packed_numbers("H", [template_at[t] for row in rows for t in row[5]]),
        }

    def _state_columns(self) -> dict[str, bytes]:
        counts: list[int] = []
        sites: list[int] = []
        lines: list[int] = []
        spans: list[int] = []
        bodies: list[int] = []
        body_hashes: list[int] = []
        body_counts: list[int] = []
        for states, numbers in zip(self.states, self.number, strict=True):
            body_at: dict[tuple[str, int], int] = {}
            for held in states:
                own = [numbers[_row(site)] for site in held]
                counts.append(len(held))
                sites += _deltas(own)
                lines += _deltas([site.line for site in held])
                spans += [min(site.span, 255) for site in held]
                bodies += [body_at.setdefault((site.function, site.body), len(body_at)) for site in held]
            body_hashes += [body for _, body in body_at]
            body_counts.append(len(body_at))
        return {
            "path.spans.n.H": packed_numbers("H", [len(one) for one in self.spans]),
            "path.spans.H": packed_numbers("H", list(chain.from_iterable(self.spans))),
            "path.states.n.H": packed_numbers("H", [len(one) for one in self.states]),
            "path.bodies.n.H": packed_numbers("H", body_counts),
            "state.n.H": packed_numbers("H", counts),
            "state.sites.h": packed_numbers("h", sites),
            "state.lines.h": packed_numbers("h", lines),
            "state.spans.B": packed_numbers("B", spans),
            "state.bodies.H": packed_numbers("H", bodies),
            "bodies.I": packed_numbers("I", body_hashes),
        }


def _row(site: Site) -> Row:
    return site.function, site.kind, site.type, site.guard, site.atoms, site.templates, site.flags


def _atom_line(atom: Atom) -> str:
    marks = ("e" if atom.is_enough else "") + ("r" if atom.is_early else "")
    fields = (atom.kind, atom.name, atom.operator, atom.value, marks, atom.default)
    return "\t".join(one.replace("\t", " ").replace("\n", " ") for one in fields)


def _template_columns(templates: list[Template]) -> dict[str, bytes]:
    vocabulary = sorted({word for one in templates for word in one.words})
    word_at = _numbered(vocabulary)
    pieces = [piece for one in templates for piece in one.pieces]
    index = sorted((anchor, at) for at, (_, _, anchor) in enumerate(pieces) if anchor)
    return {
        "template.ends.B": packed_numbers("B", [one.starts | one.ends << 1 for one in templates]),
        "template.pieces.n.B": packed_numbers("B", [len(one.pieces) for one in templates]),
        "template.words.n.H": packed_numbers("H", [len(one.words) for one in templates]),
        "template.words.H": packed_numbers("H", [word_at[word] for one in templates for word in one.words]),
        "piece.length.H": packed_numbers("H", [size for size, _, _ in pieces]),
        "piece.high.I": packed_numbers("I", [held >> 8 for _, held, _ in pieces]),
        "piece.low.B": packed_numbers("B", [held & 0xFF for _, held, _ in pieces]),
        "index.anchor.I": packed_numbers("I", [anchor for anchor, _ in index]),
        "index.piece.I": packed_numbers("I", [at for _, at in index]),
        "vocabulary.I": packed_numbers("I", _deltas(vocabulary)),
    }


def _numbered(values: Sequence[_T]) -> dict[_T, int]:
    return {value: at for at, value in enumerate(values)}


def _deltas(values: list[int]) -> list[int]:
    return [value - before for before, value in zip([0, *values], values, strict=False)]
