"""The hot lane itself: one block of bytes in, columns of its regular lines and a mask of the others out."""

from __future__ import annotations

from dataclasses import field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from parsers.hot import templates
from parsers.hot.access import KEY as ACCESS_KEY
from parsers.hot.access import AccessTaker
from parsers.hot.heads import HeadLines, HeadTaker
from parsers.hot.templates import Column, Template
from parsers.hot.words import Buffer, Mask, Places, Text, word
from parsers.lazy_dataclass import dataclass
from parsers.rules.access import AccessLine

BATCH_KEYS = (b"Decode b", b"Prefill ", b"Mixed ba")
_MOST_TEMPLATES = 48
_MOST_TRIALS = 8
"""Lines of one kind and block that are shown to the careful parser; each costs some ten microseconds."""
_MOST_PREFIX_TRIALS = 512
"""Refused lines of a file after which no more prefixes are looked for."""
_SHORTEST = 40
"""Bytes of a regular line, at least."""
_NEEDLES = (b"] Decode batch", b"] Prefill batch", b"] INFO:     ")


class CarefulEye(Protocol):
    """What the hot lane asks the careful parser. No question may change the parser's state."""

    def prefix(self, line: bytes) -> tuple[bytes, str, tuple[str, ...]] | None:
        """(carriers' bytes, label, carriers) of a line that is one whole record; None for anything else."""
        ...

    def rank(self, tag: bytes) -> str | None:
        """The rank that a bracket's text, from behind the time to the bracket's end, names."""
        ...

    def template(self, body: bytes) -> Template | None:
        """What a batch line's message teaches; None when it must not be repeated."""
        ...

    def request(self, body: bytes) -> AccessLine | None:
        """The message as an access line."""
        ...


@dataclass(slots=True)
class BatchRows:
    """Batch lines of a block, in line order."""

    rows: Places
    """Index of each line in the block."""
    at: NDArray[np.int64]
    tags: NDArray[np.int32]
    """Code into ``HotLane.heads.ranks``."""
    prefixes: NDArray[np.int32]
    """Index into ``HotLane.heads.prefixes``."""
    kinds: NDArray[np.int8]
    groups: list[tuple[Places, dict[str, Column]]]
    """Values by column, with the places in this block's rows that they belong to."""


@dataclass(slots=True)
class RequestRows:
    """Access lines of a block, in line order."""

    rows: Places
    at: NDArray[np.int64]
    prefixes: NDArray[np.int32]
    tails: NDArray[np.int32]
    """Code into ``HotLane.access.tails.texts``."""


@dataclass(slots=True)
class HotBlock:
    """A block's lines, cut, with what was taken from them."""

    starts: Places
    ends: Places
    """Without the line's end and one ``\\r`` before it."""
    taken: Mask
    heads: HeadLines
    batches: BatchRows
    requests: RequestRows


@dataclass(slots=True)
class _Taken:
    """What one template gave: places in the block's head lines, and their values."""

    places: Places
    kind: int
    values: dict[str, Column]


_State: TypeAlias = tuple[HeadTaker, AccessTaker, dict[bytes, list[Template]], int]


@dataclass(slots=True)
class HotLane:
    """Takes regular lines; what it learned of a file is kept, so that it can be pickled and go on."""

    heads: HeadTaker = field(default_factory=HeadTaker)
    access: AccessTaker = field(default_factory=AccessTaker)
    templates: dict[bytes, list[Template]] = field(default_factory=dict)
    refused: int = 0
    buffer: Buffer = field(default_factory=Buffer)

    def __getstate__(self) -> _State:
        return self.heads, self.access, self.templates, self.refused

    def __setstate__(self, state: _State) -> None:
        self.heads, self.access, self.templates, self.refused = state
        self.buffer = Buffer()

    def take(self, block: bytes, eye: CarefulEye) -> HotBlock:
        """Take what can be taken exactly from whole lines; `block` ends at a line's end."""
        text = self.buffer.text(block)
        starts, ends = _cut(text, block, self.buffer.line_ends(len(block)))
        heads = self._heads(block, text, starts, ends, eye)
        first = text.at(heads.bodies)
        ranks = [*self.heads.ranks, None]  # the last one for lines without a known rank text, code -1
        is_read = heads.has_head & np.array([rank is not None for rank in ranks], dtype=np.bool_)[heads.tags]
        taken: list[_Taken] = []
        for key in BATCH_KEYS:
            places = np.flatnonzero((first == word(key)) & is_read)
            if places.size:
                taken += self._batches(key, block, text, places, heads, ends, eye)
        is_read &= np.array([rank == "" for rank in ranks], dtype=np.bool_)[heads.tags]
        places = np.flatnonzero((first == word(ACCESS_KEY)) & is_read)
        requests = self._requests(block, text, places, heads, ends, eye)
        batches = _in_line_order(taken, heads)
        is_taken: Mask = np.zeros(starts.size, dtype=np.bool_)
        is_taken[batches.rows] = True
        is_taken[requests.rows] = True
        return HotBlock(starts, ends, is_taken, heads, batches, requests)

    def _heads(self, block: bytes, text: Text, starts: Places, ends: Places, eye: CarefulEye) -> HeadLines:
        prefixes = self.heads.find_prefixes(text, starts)
        unknown = np.flatnonzero(prefixes < 0)
        learned: list[int] = []
        if unknown.size and self.refused < _MOST_PREFIX_TRIALS:
            learned = self._learn_prefixes(block, text, starts, ends, unknown, prefixes, eye)
        lines = self.heads.take(text, starts, prefixes)
        lines.has_head[learned] = False
        self._learn_tags(text, lines, eye)
        return lines

    def _learn_prefixes(
        self,
        block: bytes,
        text: Text,
        starts: Places,
        ends: Places,
        unknown: Places,
        prefixes: NDArray[np.int32],
        eye: CarefulEye,
    ) -> list[int]:
        """Show unknown lines that may be regular to the careful parser; the rows that taught a prefix."""
        learned = []
        trials = 0
        unknown = unknown[ends[unknown] - starts[unknown] >= _SHORTEST]
        begins, stops = starts[unknown].tolist(), ends[unknown].tolist()
        for row, begin, stop in zip(unknown.tolist(), begins, stops, strict=True):
            line = block[begin : min(stop, begin + 4000)]
            if not any(needle in line for needle in _NEEDLES) or prefixes[row] >= 0:
                continue
            carried = eye.prefix(line)
            if carried is None or not self.heads.add_prefix(*carried):
                self.refused += 1
                trials += 1
                if trials >= _MOST_TRIALS or self.refused >= _MOST_PREFIX_TRIALS:
                    break
                continue
            learned.append(row)
            left = unknown[prefixes[unknown] < 0]
            prefixes[left] = self.heads.find_prefixes(text, starts[left])
        return learned

    def _learn_tags(self, text: Text, lines: HeadLines, eye: CarefulEye) -> None:
        """Learn the rank texts that are new."""
        for _ in range(_MOST_TRIALS * 8):
            unknown = np.flatnonzero(lines.has_head & (lines.tags < 0))
            if not unknown.size:
                return
            first = int(unknown[0])
            start, size = int(lines.tag_starts[first]), int(lines.tag_sizes[first])
            tag = text.raw[start : start + size].tobytes()
            if not self.heads.add_tag(tag, eye.rank(tag)):
                return
            found = self.heads.tags.codes(text, lines.tag_starts[unknown], lines.tag_sizes[unknown])
            lines.tags[unknown] = found

    def _batches(
        self,
        key: bytes,
        block: bytes,
        text: Text,
        places: Places,
        heads: HeadLines,
        ends: Places,
        eye: CarefulEye,
    ) -> list[_Taken]:
        """Run all lines of one kind against the templates of that kind, and learn new ones."""
        known = self.templates.setdefault(key, [])
        taken: list[_Taken] = []
        for template in tuple(known):
            places = _run(template, text, places, heads, ends, taken)
            if not places.size:
                return taken
        trials = 0
        while places.size and trials < _MOST_TRIALS and len(known) < _MOST_TEMPLATES:
            first, places = int(places[0]), places[1:]
            template_or_none = eye.template(block[heads.bodies[first] : ends[first]])
            if template_or_none is None or template_or_none in known:
                trials += 1
                continue
            known.append(template_or_none)
            places = _run(template_or_none, text, places, heads, ends, taken)
        return taken

    def _requests(
        self, block: bytes, text: Text, places: Places, heads: HeadLines, ends: Places, eye: CarefulEye
    ) -> RequestRows:
        stops = ends[places]
        bodies = heads.bodies[places]

        def read(index: int) -> AccessLine | None:
            return eye.request(block[bodies[index] : stops[index]])

        codes = self.access.take(text, bodies, stops, read)
        kept = codes >= 0
        places = places[kept]
        return RequestRows(places, heads.at[places], heads.prefixes[places], codes[kept])


def _cut(text: Text, block: bytes, stops: Places) -> tuple[Places, Places]:
    """Begin and end of each line."""
    starts = np.empty_like(stops)
    if stops.size:
        starts[0] = 0
        starts[1:] = stops[:-1] + 1
    if b"\r" in block:
        stops = stops - ((text.raw[np.maximum(stops - 1, 0)] == 13) & (stops > starts))
    return starts, stops


def _run(
    template: Template, text: Text, places: Places, heads: HeadLines, ends: Places, taken: list[_Taken]
) -> Places:
    """Take the lines that pass one template; the places of the others."""
    passed, values = templates.run(template, text, heads.bodies[places], ends[places])
    if passed.all():
        taken.append(_Taken(places, template.kind, values))
        return places[:0]
    if passed.any():
        kept = {name: column[passed] for name, column in values.items()}
        taken.append(_Taken(places[passed], template.kind, kept))
        return places[~passed]
    return places


def _in_line_order(taken: list[_Taken], heads: HeadLines) -> BatchRows:
    """Put what the templates gave into one order, by line."""
    is_batch: Mask = np.zeros(heads.tags.size, dtype=np.bool_)
    for part in taken:
        is_batch[part.places] = True
    order = np.flatnonzero(is_batch)
    place_of = np.cumsum(is_batch) - 1
    kinds = np.empty(order.size, dtype=np.int8)
    groups = []
    for part in taken:
        at = place_of[part.places]
        kinds[at] = part.kind
        groups.append((at, part.values))
    return BatchRows(
        order, heads.at[order], heads.tags[order], heads.prefixes[order], kinds, groups
    )
