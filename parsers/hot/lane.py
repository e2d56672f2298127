"""The hot lane itself: one block of bytes in, columns of its regular lines and a mask of the others out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from parsers.hot import templates
from parsers.hot.access import KEY as ACCESS_KEY
from parsers.hot.access import AccessTaker
from parsers.hot.heads import HeadLines, HeadTaker
from parsers.hot.templates import Column, Template
from parsers.hot.words import Buffer, Mask, Places, Text, word
from parsers.lazy_dataclass import dataclass, field
from parsers.rules.access import AccessLine

BATCH_KEYS = (b"Decode b", b"Prefill ", b"Mixed ba")
_MOST_TEMPLATES = 48
_MOST_TRIALS = 8
"""Lines of one kind and block that are shown to the careful parser; each costs some ten microseconds."""
_MOST_PREFIX_TRIALS = 512
"""Refused lines of a file after which no more prefixes are looked for."""
_MOST_LINES = 120_000
_SHORTEST = 40
"""Bytes of a regular line, at least."""
_NEEDLE = b"[20"
"""Begin of a record's time."""
_FAR = 300
"""Bytes of a line in which it must stand."""
_MANY = 1000
"""Lines that are looked at one by one."""


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
class BatchGroup:
    """Batch lines that passed one template, in line order."""

    kind: int
    rows: Places
    """Index of each line in the block."""
    values: dict[str, Column]


@dataclass(slots=True)
class RequestRows:
    """Access lines of a block, in line order."""

    rows: Places
    tails: NDArray[np.int32]
    """Code into ``HotLane.access.tails.texts``."""


@dataclass(slots=True)
class HotBlock:
    """A block's lines, cut, with what was taken from them."""

    text: Text
    """The block's bytes, until the next block is taken."""
    starts: Places
    ends: Places
    """Without the line's end and one ``\\r`` before it."""
    stop: int
    """Behind the last line."""
    heads: HeadLines
    batches: list[BatchGroup]
    requests: RequestRows
    is_batch: Mask
    """Lines in ``batches``."""
    is_request: Mask
    """Lines in ``requests``."""


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

    def take(self, block: bytes, eye: CarefulEye, start: int = 0, stop: int | None = None) -> HotBlock:
        """Take what can be taken exactly from whole lines, which begin at `start` and end at `stop`.

        Of very many lines only the first are looked at: each costs some 200 bytes of memory meanwhile.
        """
        text = self.buffer.text(block, stop)
        starts, ends, stop = _cut(text, block, self.buffer.line_ends(_MOST_LINES), start)
        heads = self._heads(block, text, starts, ends, eye)
        is_read = self._is_read(heads, lambda rank: rank is not None)
        taken: list[BatchGroup] = []
        for key in BATCH_KEYS:
            places = np.flatnonzero((heads.first == word(key)) & is_read)
            if places.size:
                taken += self._batches(key, block, text, places, heads, ends, eye)
        is_read = self._is_read(heads, lambda rank: rank == "")
        places = np.flatnonzero((heads.first == word(ACCESS_KEY)) & is_read)
        requests = self._requests(block, text, places, heads, ends, eye)
        is_batch, is_request = np.zeros((2, starts.size), dtype=np.bool_)
        for group in taken:
            is_batch[group.rows] = True
        is_request[requests.rows] = True
        return HotBlock(text, starts, ends, stop, heads, taken, requests, is_batch, is_request)

    def _is_read(self, heads: HeadLines, is_right: Callable[[str | None], bool]) -> Mask:
        """Lines with a head and a right rank."""
        right = [is_right(rank) for rank in self.heads.ranks]
        is_read: Mask = heads.tags >= 0
        if not all(right):
            is_read &= np.array([*right, False], dtype=np.bool_)[heads.tags]
        is_read &= heads.has_head
        return is_read

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
        learned: list[int] = []
        trials = 0
        tried = unknown[ends[unknown] - starts[unknown] >= _SHORTEST]
        if tried.size > _MANY:
            tried = np.intersect1d(tried, _rows_with_times(text, starts, int(ends[-1])))
        while tried.size:
            row, tried = int(tried[0]), tried[1:]
            line = block[starts[row] : min(ends[row], starts[row] + 4000)]
            if line.find(_NEEDLE, 0, _FAR) < 0:
                continue
            carried = eye.prefix(line)
            if carried is None or not self.heads.add_prefix(*carried):
                self.refused += 1
                trials += 1
                if trials >= _MOST_TRIALS or self.refused >= _MOST_PREFIX_TRIALS:
                    break
                continue
            learned.append(row)
            unknown = unknown[prefixes[unknown] < 0]
            prefixes[unknown] = self.heads.find_prefixes(text, starts[unknown])
            tried = tried[prefixes[tried] < 0]
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
    ) -> list[BatchGroup]:
        """Run all lines of one kind against the templates of that kind, and learn new ones."""
        known = self.templates.setdefault(key, [])
        taken: list[BatchGroup] = []
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
        return RequestRows(places, codes[kept])


def _cut(text: Text, block: bytes, stops: Places, start: int) -> tuple[Places, Places, int]:
    """Begin and end of each line behind `start`, and where the last one's line end stands behind."""
    stops = stops[np.searchsorted(stops, start) :][:_MOST_LINES]
    starts = np.empty_like(stops)
    if not stops.size:
        return starts, stops, len(block)
    starts[0] = start
    np.add(stops[:-1], 1, out=starts[1:])
    stop = int(stops[-1]) + 1
    if block.find(b"\r", start, stop) >= 0:
        stops = stops - ((text.raw[np.maximum(stops - 1, 0)] == 13) & (stops > starts))
    return starts, stops, stop


def _rows_with_times(text: Text, starts: Places, stop: int) -> Places:
    """Lines in which `_NEEDLE` stands."""
    brackets = np.flatnonzero(text.raw[:stop] == _NEEDLE[0])
    brackets = brackets[(text.raw[brackets + 1] == _NEEDLE[1]) & (text.raw[brackets + 2] == _NEEDLE[2])]
    rows: Places = np.searchsorted(starts, brackets, "right") - 1
    return rows


def _run(
    template: Template, text: Text, places: Places, heads: HeadLines, ends: Places, taken: list[BatchGroup]
) -> Places:
    """Take the lines that pass one template; the places of the others."""
    passed, values = templates.run(template, text, heads.bodies[places], ends[places])
    if passed.all():
        taken.append(BatchGroup(template.kind, places, values))
        return places[:0]
    if passed.any():
        kept = {name: column[passed] for name, column in values.items()}
        taken.append(BatchGroup(template.kind, places[passed], kept))
        return places[~passed]
    return places
