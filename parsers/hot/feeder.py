"""Feeds a block of whole lines: regular lines to the hot lane, the others to the careful lane, in order.

Each launch is told of its regular lines before the next careful line is read, so that both lanes see the
same launch at the same line. Where a launch is not certain yet, or a record is still open, regular lines go
through the careful lane too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from parsers.blocks import OnBatches, OnRequests
from parsers.careful import CarefulReader
from parsers.hot.columns import ColumnMaker
from parsers.hot.eye import ReaderEye
from parsers.hot.heads import Prefix
from parsers.hot.lane import HotBlock, HotLane
from parsers.hot.words import Mask, Places
from parsers.launches import RunBuilder
from parsers.sources import Source

_EPOCH = datetime(1970, 1, 1)
_ACTOR = " pid="
TakeLine = Callable[[int, bytes], None]
"""Takes a physical line (number, bytes without its end) through the careful lane."""


class HotFeeder:
    """One reader's hot lane; picklable."""

    def __init__(self) -> None:
        self.lane = HotLane()
        self._met: set[tuple[int, int]] = set()
        """(prefix, rank text) that went through the careful lane once, as every new one does."""

    def feed(
        self,
        block: bytes,
        start: int,
        stop: int,
        first_line: int,
        careful: CarefulReader,
        take_line: TakeLine,
        on_batches: OnBatches | None,
        on_requests: OnRequests | None,
    ) -> int:
        """Read the whole lines from `start` to `stop` of a block; the number of lines."""
        count = 0
        while start < stop:
            found = self.lane.take(block, ReaderEye(careful.carriers), start, stop)
            self._leave_first_of_each_rank(found)
            work = _BlockWork(self.lane, found, block, first_line + count, careful, take_line)
            work.run()
            work.give(on_batches, on_requests)
            count += found.starts.size
            start = found.stop
        return count

    def _leave_first_of_each_rank(self, found: HotBlock) -> None:
        heads = found.heads
        if len(self._met) == len(self.lane.heads.prefixes) * len(self.lane.heads.ranks):
            return
        for group in found.batches:
            pairs = heads.prefixes[group.rows] * (1 << 10)
            pairs += heads.tags[group.rows]
            for pair in np.flatnonzero(np.bincount(pairs)).tolist():
                key = (pair >> 10, pair & 0x3FF)
                if key not in self._met:
                    self._met.add(key)
                    found.is_batch[group.rows[int(np.argmax(pairs == pair))]] = False


@dataclass(slots=True)
class _Stream:
    """The regular lines of one block that stand behind one prefix, as indexes of lines in the block."""

    prefix: Prefix
    rows: Places
    batch_rows: Places
    """Those of them that are batch lines."""
    work_rows: Places
    """Those of them that are served requests."""
    ranks: set[str]


_Span: TypeAlias = tuple[_Stream, int, int]
"""A stream's rows from one place up to another."""


@dataclass(slots=True)
class _BlockWork:
    """One block on its way through both lanes."""

    lane: HotLane
    found: HotBlock
    block: bytes
    first_line: int
    careful: CarefulReader
    take_line: TakeLine
    owners: list[RunBuilder] = field(default_factory=list)
    owner_of: NDArray[np.int16] = field(init=False)
    """Place among the owners of the launch that was told of a line; -1 where none was."""
    streams: list[_Stream] = field(init=False)

    def __post_init__(self) -> None:
        self.owner_of = np.full(self.found.starts.size, -1, dtype=np.int16)
        self.streams = _streams(self.lane, self.found)

    def run(self) -> None:
        """Read all lines, in their order."""
        count = self.found.starts.size
        position = 0
        for row in np.flatnonzero(~(self.found.is_batch | self.found.is_request)).tolist():
            if row < position:
                continue
            if row > position:
                self._note_regular(position, row)
            self._take_careful(row)
            position = row + 1
            while self.careful.is_inside_record and position < count:
                self._take_careful(position)
                position += 1
        self._note_regular(position, count)

    def _take_careful(self, row: int) -> None:
        starts = self.found.starts
        stop = int(starts[row + 1]) if row + 1 < starts.size else self.found.stop
        self.take_line(self.first_line + row, self.block[starts[row] : stop - 1])

    def _note_regular(self, first: int, stop: int) -> None:
        """Tell the launches of the regular lines from row `first` up to row `stop`."""
        spans = self._spans(first, stop)
        while spans and not all(self._is_settled(*span) for span in spans):
            row = min(int(stream.rows[low]) for stream, low, _ in spans)
            self._take_careful(row)
            while row + 1 < stop and self.careful.is_inside_record:
                row += 1
                self._take_careful(row)
            first = row + 1
            spans = self._spans(first, stop)
        for span in sorted(spans, key=lambda span: int(span[0].rows[span[2] - 1])):
            self._note_span(*span)

    def _spans(self, first: int, stop: int) -> list[_Span]:
        spans = [(stream, *_places(stream.rows, first, stop)) for stream in self.streams]
        return [span for span in spans if span[2] > span[1]]

    def _source(self, stream: _Stream, number: int) -> Source:
        return self.careful.sources.of(stream.prefix.label, number, stream.prefix.carriers)

    def _is_settled(self, stream: _Stream, low: int, high: int) -> bool:
        """True when it is certain to which launch these rows belong."""
        source = self._source(stream, self.first_line + int(stream.rows[low]))
        if not source.current.is_settled:
            return False
        label = stream.prefix.label
        if _ACTOR not in label:
            return True
        tags = self.found.heads.tags[self._batch_rows(stream, low, high)]
        ranks = {self.lane.heads.ranks[tag] for tag in np.unique(tags).tolist()}
        return all(source.rank_owner.get(rank) == label for rank in ranks if rank)

    def _batch_rows(self, stream: _Stream, low: int, high: int) -> Places:
        """The batch lines among a stream's rows from place `low` up to `high`."""
        first, stop = _places(stream.batch_rows, int(stream.rows[low]), int(stream.rows[high - 1]) + 1)
        return stream.batch_rows[first:stop]

    def _note_span(self, stream: _Stream, low: int, high: int) -> None:
        first, last = int(stream.rows[low]), int(stream.rows[high - 1])
        first_line, at = self.first_line, self.found.heads.at
        source = self._source(stream, first_line + first)
        builder = source.current
        builder.count_lines(high - low, first_line + first, first_line + last, stream.prefix.carriers)
        builder.see_time(_time(at[first]), True)
        builder.see_time(_time(at[last]), True)
        batches = self._batch_rows(stream, low, high)
        if batches.size:
            last_batch = int(batches[-1])
            builder.see_batches(
                batches.size, first_line + int(batches[0]), first_line + last_batch, _time(at[last_batch])
            )
            if not stream.ranks <= builder.ranks.keys():
                self._note_ranks(batches, builder)
        builder.request_lines += high - low - batches.size
        begin, end = _places(stream.work_rows, first, last + 1)
        if end > begin:
            builder.last_good_request_line = first_line + int(stream.work_rows[end - 1])
        source.has_bracket_heads = True
        source.orphan_head = None
        self.careful.sources.note(source)
        if not self.owners or self.owners[-1] is not builder:
            self.owners.append(builder)
        if len(self.streams) == 1:
            self.owner_of[first : last + 1] = len(self.owners) - 1
        else:
            self.owner_of[stream.rows[low:high]] = len(self.owners) - 1

    def _note_ranks(self, batches: Places, builder: RunBuilder) -> None:
        present, first = np.unique(self.found.heads.tags[batches], return_index=True)
        for place, tag in sorted(zip(first.tolist(), present.tolist(), strict=True)):
            builder.see_rank(self.lane.heads.ranks[tag] or "", self.first_line + int(batches[place]))

    def give(self, on_batches: OnBatches | None, on_requests: OnRequests | None) -> None:
        """Give out the rows that the launches were told of, behind those that wait in the launches."""
        maker = ColumnMaker(self.lane, self.found, self.first_line)
        for builder in {id(builder): builder for builder in self.owners}.values():
            mine = [place for place, owner in enumerate(self.owners) if owner is builder]
            is_own = np.isin(self.owner_of, mine) if len(mine) < len(self.owners) else self.owner_of >= 0
            if on_batches is not None:
                waiting = builder.batches.take(builder.ordinal) if len(builder.batches) else None
                batches = maker.batches(is_own & self.found.is_batch, waiting, builder.ordinal)
                if batches is not None:
                    on_batches(batches)
            if on_requests is not None:
                held = builder.requests.take(builder.ordinal) if len(builder.requests) else None
                requests = maker.requests(is_own & self.found.is_request, builder.ordinal)
                for block in (held, requests):
                    if block is not None:
                        on_requests(block)


def _places(rows: Places, first: int, stop: int) -> tuple[int, int]:
    """Where the rows from `first` up to `stop` begin and end."""
    low, high = np.searchsorted(rows, (first, stop))
    return int(low), int(high)


def _time(at: np.int64) -> datetime:
    return _EPOCH + timedelta(microseconds=int(at))


def _streams(lane: HotLane, found: HotBlock) -> list[_Stream]:
    """The block's regular lines by prefix, batch and access lines together in line order."""
    is_work: Mask = np.zeros(found.starts.size, dtype=np.bool_)
    if found.requests.rows.size:
        works = np.array([line.is_work for line in lane.access.lines], dtype=np.bool_)
        is_work[found.requests.rows] = works[found.requests.tails]
    is_regular = found.is_batch | found.is_request
    prefixes = found.heads.prefixes
    present = np.flatnonzero(np.bincount(prefixes[is_regular])).tolist()
    streams = []
    for index in present:
        is_here = is_regular if len(present) == 1 else is_regular & (prefixes == index)
        batch_rows = np.flatnonzero(is_here & found.is_batch)
        tags = np.flatnonzero(np.bincount(found.heads.tags[batch_rows])).tolist()
        streams.append(
            _Stream(
                lane.heads.prefixes[index],
                np.flatnonzero(is_here),
                batch_rows,
                np.flatnonzero(is_here & is_work),
                {lane.heads.ranks[tag] or "" for tag in tags} - {""},
            )
        )
    return streams
