"""Reads packed facts: which sites a release has, where they stand, how they are worded and guarded.

Everything is decompressed when first asked for; nothing here judges.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from logscope.knowledge.pack_format import Pack
from logscope.knowledge.site_records import KINDS, Guarded, Place, SiteFact, Wording

_NEVER = 0xFFFF


class Catalogue:
    """All facts of one file."""

    def __init__(self, path: Path) -> None:
        self.pack = Pack(path)
        self.releases: tuple[str, ...] = tuple(self.pack.json("meta")["releases"])

    @cached_property
    def meta(self) -> dict[str, Any]:
        """What the file says about itself."""
        held: dict[str, Any] = self.pack.json("meta")
        return held

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The table of arguments (see build.tables)."""
        held: dict[str, Any] = self.pack.json("arguments")
        return held

    @cached_property
    def environment(self) -> dict[str, Any]:
        """The table of environment variables."""
        held: dict[str, Any] = self.pack.json("environment")
        return held

    @cached_property
    def paths(self) -> list[str]:
        """Paths below ``sglang/``, sorted."""
        return self.pack.lines("paths")

    @cached_property
    def _first_row(self) -> array[int]:
        return self.pack.numbers("path.rows.I")

    @cached_property
    def functions(self) -> list[str]:
        """Qualified function names."""
        return self.pack.lines("functions")

    @cached_property
    def site_function(self) -> array[int]:
        """Row -> function."""
        return self.pack.numbers("site.function.H")

    @cached_property
    def _types(self) -> list[str]:
        return self.pack.lines("types")

    @cached_property
    def _flags(self) -> list[str]:
        return self.pack.raw("flags").decode().split("\n")

    @cached_property
    def site_kind(self) -> array[int]:
        """Row -> index into KINDS."""
        return self.pack.numbers("site.kind.B")

    @cached_property
    def _site_type(self) -> array[int]:
        return self.pack.numbers("site.type.H")

    @cached_property
    def _site_guard(self) -> array[int]:
        return self.pack.numbers("site.guard.I")

    @cached_property
    def _site_flags(self) -> array[int]:
        return self.pack.numbers("site.flags.B")

    @cached_property
    def _atom_lines(self) -> list[str]:
        return self.pack.lines("atoms")

    @cached_property
    def _site_atoms(self) -> array[int]:
        return self.pack.numbers("site.atoms.H")

    @cached_property
    def _atoms_from(self) -> list[int]:
        return _offsets(self.pack.numbers("site.atoms.n.B"))

    @cached_property
    def _site_templates(self) -> array[int]:
        return self.pack.numbers("site.templates.H")

    @cached_property
    def _templates_from(self) -> list[int]:
        return _offsets(self.pack.numbers("site.templates.n.B"))

    def templates_of(self, row: int) -> array[int]:
        """The templates of a site."""
        return self._site_templates[self._templates_from[row] : self._templates_from[row + 1]]

    def site(self, row: int) -> SiteFact:
        """The site of a row."""
        atoms = self._site_atoms[self._atoms_from[row] : self._atoms_from[row + 1]]
        return SiteFact(
            row, self.paths[self.path_of(row)], self.functions[self.site_function[row]],
            KINDS[self.site_kind[row]], self._types[self._site_type[row]], self._site_guard[row],
            self._flags[self._site_flags[row]], tuple(_guarded(self._atom_lines[at]) for at in atoms),
            tuple(self.templates_of(row)),
        )  # fmt: skip

    def path_of(self, row: int) -> int:
        """Index of the path that a row belongs to."""
        low, high = 0, len(self._first_row)
        while low < high:
            middle = (low + high) // 2
            if self._first_row[middle] <= row:
                low = middle + 1
            else:
                high = middle
        return low - 1

    def path_index(self, path: str) -> int | None:
        """Index of a path, None when no release has it."""
        at = bisect_left(self.paths, path)
        return at if at < len(self.paths) and self.paths[at] == path else None

    # -- wordings ------------------------------------------------------------------------------------

    @cached_property
    def templates(self) -> int:
        """Number of wordings."""
        return len(self._ends)

    @cached_property
    def anchors(self) -> array[int]:
        """Anchors of the pieces that have one, ascending."""
        return self.pack.numbers("index.anchor.I")

    @cached_property
    def _anchored(self) -> array[int]:
        return self.pack.numbers("index.piece.I")

    def anchored(self, at: int) -> int:
        """The template of the piece that the anchor at place `at` belongs to."""
        return _owner(self._pieces_from, self._anchored[at])

    def anchors_of(self, template: int) -> list[int]:
        """The anchor of each piece of a template, 0 where it has none."""
        held = self._anchor_by_piece
        return [held.get(at, 0) for at in range(self._pieces_from[template], self._pieces_from[template + 1])]

    @cached_property
    def _anchor_by_piece(self) -> dict[int, int]:
        return dict(zip(self._anchored, self.anchors, strict=True))

    @cached_property
    def _pieces_from(self) -> list[int]:
        return _offsets(self.pack.numbers("template.pieces.n.B"))

    @cached_property
    def _piece_columns(self) -> tuple[array[int], array[int], array[int]]:
        numbers = self.pack.numbers
        return numbers("piece.length.H"), numbers("piece.high.I"), numbers("piece.low.B")

    @cached_property
    def _ends(self) -> array[int]:
        return self.pack.numbers("template.ends.B")

    def wording(self, template: int) -> Wording:
        """The pieces of a template."""
        sizes, high, low = self._piece_columns
        span = range(self._pieces_from[template], self._pieces_from[template + 1])
        ends = self._ends[template]
        pieces = tuple((sizes[at], high[at] << 8 | low[at]) for at in span)
        return Wording(pieces, bool(ends & 1), bool(ends & 2))

    @cached_property
    def vocabulary(self) -> list[int]:
        """Hash of each word, ascending."""
        return list(accumulate(self.pack.numbers("vocabulary.I")))

    @cached_property
    def _template_words(self) -> array[int]:
        return self.pack.numbers("template.words.H")

    @cached_property
    def _template_words_raw(self) -> bytes:
        return self._template_words.tobytes()

    @cached_property
    def _site_templates_raw(self) -> bytes:
        return self._site_templates.tobytes()

    @cached_property
    def _words_from(self) -> list[int]:
        return _offsets(self.pack.numbers("template.words.n.H"))

    def words(self, template: int) -> array[int]:
        """Words of a template as places in `vocabulary`."""
        return self._template_words[self._words_from[template] : self._words_from[template + 1]]

    def word_hashes(self, template: int) -> frozenset[int]:
        """Words of a template by their hashes, which hold over files."""
        vocabulary = self.vocabulary
        return frozenset(vocabulary[at] for at in self.words(template))

    @cached_property
    def word_counts(self) -> Counter[int]:
        """Number of wordings that hold each word."""
        return Counter(self._template_words)

    def templates_with(self, word: int) -> list[int]:
        """Wordings that hold a word (a place in `vocabulary`)."""
        return [_owner(self._words_from, at) for at in _all_places(self._template_words_raw, word)]

    def rows_with(self, template: int) -> list[int]:
        """All rows that can print a template."""
        return [_owner(self._templates_from, at) for at in _all_places(self._site_templates_raw, template)]

    # -- where sites stand ---------------------------------------------------------------------------

    @cached_property
    def _spans_from(self) -> list[int]:
        return _offsets(self.pack.numbers("path.spans.n.H"))

    @cached_property
    def _spans(self) -> array[int]:
        return self.pack.numbers("path.spans.H")

    @cached_property
    def _states_from(self) -> list[int]:
        return _offsets(self.pack.numbers("path.states.n.H"))

    @cached_property
    def _state_from(self) -> list[int]:
        return _offsets(self.pack.numbers("state.n.H"))

    @cached_property
    def _state_sites(self) -> array[int]:
        return self.pack.numbers("state.sites.h")

    @cached_property
    def _state_places(self) -> tuple[array[int], array[int], array[int]]:
        numbers = self.pack.numbers
        return numbers("state.lines.h"), numbers("state.spans.B"), numbers("state.bodies.H")

    @cached_property
    def _bodies(self) -> array[int]:
        return self.pack.numbers("bodies.I")

    @cached_property
    def _bodies_from(self) -> list[int]:
        return _offsets(self.pack.numbers("path.bodies.n.H"))

    def state_at(self, path: int, release: int) -> int | None:
        """The state of a file in a release (its number over all files), None where the file is not in it."""
        spans = self._spans[self._spans_from[path] : self._spans_from[path + 1]]
        state = _NEVER
        for at in range(0, len(spans), 2):
            if spans[at] > release:
                break
            state = spans[at + 1]
        return None if state == _NEVER else self._states_from[path] + state

    def rows_in(self, path: int, release: int) -> list[int]:
        """The rows of a file in a release, by line."""
        state = self.state_at(path, release)
        return [] if state is None else self._rows_of_state(path, state)

    def _rows_of_state(self, path: int, state: int) -> list[int]:
        first = self._first_row[path]
        deltas = self._state_sites[self._state_from[state] : self._state_from[state + 1]]
        return [first + at for at in accumulate(deltas)]

    def places_in(self, path: int, release: int) -> list[Place]:
        """The sites of a file in a release with their lines."""
        state = self.state_at(path, release)
        if state is None:
            return []
        begin, end = self._state_from[state], self._state_from[state + 1]
        lines, spans, bodies = self._state_places
        base = self._bodies_from[path]
        return [
            Place(row, line, line + spans[at], self._bodies[base + bodies[at]])
            for row, line, at in zip(
                self._rows_of_state(path, state), accumulate(lines[begin:end]), range(begin, end), strict=True
            )
        ]

    def releases_of(self, row: int) -> list[int]:
        """Indexes of the releases that have a row."""
        path = self.path_of(row)
        spans = self._spans[self._spans_from[path] : self._spans_from[path + 1]]
        holds: dict[int, bool] = {}
        found: list[int] = []
        for at in range(0, len(spans), 2):
            state = spans[at + 1]
            if state == _NEVER:
                continue
            if state not in holds:
                holds[state] = row in self._rows_of_state(path, self._states_from[path] + state)
            if holds[state]:
                end = spans[at + 2] if at + 2 < len(spans) else len(self.releases)
                found += range(spans[at], end)
        return found

    def all_rows(self, release: int) -> Iterator[int]:
        """All rows of a release."""
        for path in range(len(self.paths)):
            yield from self.rows_in(path, release)


def _guarded(line: str) -> Guarded:
    kind, name, operator, value, marks, default = line.split("\t")
    return Guarded(kind, name, operator, value, "e" in marks, "r" in marks, default)


def _offsets(counts: Sequence[int]) -> list[int]:
    return [0, *accumulate(counts)]


def _all_places(held: bytes, value: int) -> list[int]:
    """Every place of a value among two-byte numbers; a search of bytes is ten times an array's `index`."""
    wanted = value.to_bytes(2, sys.byteorder)
    found: list[int] = []
    at = held.find(wanted)
    while at >= 0:
        if at % 2 == 0:
            found.append(at // 2)
            at = held.find(wanted, at + 2)
        else:
            at = held.find(wanted, at + 1)
    return found


def _owner(offsets: Sequence[int], at: int) -> int:
    """The row whose slice holds place `at`."""
    low, high = 0, len(offsets) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if offsets[middle] <= at:
            low = middle
        else:
            high = middle - 1
    return low
