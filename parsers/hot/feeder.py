"""Feeds a block of whole lines: regular lines to the hot lane, the others to the careful lane, in order.

Each launch is told of its regular lines before the next careful line is read, so that both lanes see the
same launch at the same line. Where a launch is not certain yet, or a record is still open, regular lines go
through the careful lane too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

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
_MOST_LINES = 120_000
"""Lines that are read at once; each costs some 300 bytes of memory meanwhile."""

TakeLine = Callable[[int, bytes], None]
"""Takes a physical line (number, bytes without its end) through the careful lane."""


class HotFeeder:
    """One reader's hot lane; picklable."""

    def __init__(self) -> None:
        self.lane = HotLane()
        self._met: set[tuple[int, int]] = set()
        """(prefix, rank text) that went through the careful lane once, as every new one does."""
        self._maker = ColumnMaker()

    def __getstate__(self) -> tuple[HotLane, set[tuple[int, int]]]:
        return self.lane, self._met

    def __setstate__(self, state: tuple[HotLane, set[tuple[int, int]]]) -> None:
        self.lane, self._met = state
        self._maker = ColumnMaker()

    def feed(
        self,
        block: bytes,
        first_line: int,
        careful: CarefulReader,
        take_line: TakeLine,
        on_batches: OnBatches | None,
        on_requests: OnRequests | None,
    ) -> int:
        """Read a block that ends at a line's end; the number of its lines."""
        lines = block.count(b"\n")
        if lines > _MOST_LINES:  # mostly empty lines: a block's memory grows with its lines
            middle = block.rfind(b"\n", 0, len(block) // 2) + 1 or block.index(b"\n") + 1
            if middle < len(block):
                for part in (block[:middle], block[middle:]):
                    first_line += self.feed(part, first_line, careful, take_line, on_batches, on_requests)
                return lines
        found = self.lane.take(block, ReaderEye(careful.carriers))
        self._leave_first_of_each_rank(found)
        work = _BlockWork(self.lane, found, block, first_line, careful, take_line)
        work.run()
        work.give(self._maker, on_batches, on_requests)
        return found.starts.size

    def _leave_first_of_each_rank(self, found: HotBlock) -> None:
        batches = found.batches
        pairs = batches.prefixes.astype(np.int64) * (1 << 20) + batches.tags
        present = np.unique(pairs) if pairs.size and (pairs != pairs[0]).any() else pairs[:1]
        for pair in present.tolist():
            key = (pair >> 20, pair & 0xFFFFF)
            if key not in self._met:
                self._met.add(key)
                found.taken[batches.rows[int(np.argmax(pairs == pair))]] = False


@dataclass(slots=True)
class _Stream:
    """The regular lines of one block that stand behind one prefix."""

    prefix: Prefix
    rows: Places
    """Index of each line in the block."""
    before: NDArray[np.int64]
    """For each line of the block, how many of these rows stand before it."""
    is_batch: Mask
    batches_before: NDArray[np.int64]
    """For each row, how many of the rows before it are batch lines."""
    batch_rows: Places
    """The places of the batch lines among the rows."""
    last_work: NDArray[np.int64]
    """For each row, the place of the last served request up to it; -1 for none."""
    ranks: set[str]


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
    owner_of: NDArray[np.int32] = field(init=False)
    streams: list[_Stream] = field(init=False)

    def __post_init__(self) -> None:
        self.owner_of = np.full(self.found.starts.size, -1, dtype=np.int32)
        self.streams = _streams(self.lane, self.found)

    def run(self) -> None:
        """Read all lines, in their order."""
        count = self.found.starts.size
        position = 0
        rows = np.flatnonzero(~self.found.taken)
        stops = np.append(self.found.starts[1:], len(self.block)) - 1
        begins, ends = self.found.starts[rows].tolist(), stops[rows].tolist()
        for row, begin, end in zip(rows.tolist(), begins, ends, strict=True):
            if row < position:
                continue
            if row > position:
                self._note_regular(position, row)
            self.take_line(self.first_line + row, self.block[begin:end])
            position = row + 1
            while self.careful.is_inside_record and position < count:
                self._take_careful(position)
                position += 1
        self._note_regular(position, count)

    def _take_careful(self, row: int) -> None:
        starts = self.found.starts
        stop = int(starts[row + 1]) if row + 1 < starts.size else len(self.block)
        self.take_line(self.first_line + row, self.block[starts[row] : stop - 1])

    def _note_regular(self, first: int, stop: int) -> None:
        """Tell the launches of the regular lines from row `first` up to row `stop`."""
        spans = self._spans(first, stop)
        while spans and not all(self._is_settled(stream, low, high) for stream, low, high in spans):
            row = min(int(stream.rows[low]) for stream, low, _ in spans)
            self._take_careful(row)
            while row + 1 < stop and self.careful.is_inside_record:
                row += 1
                self._take_careful(row)
            first = row + 1
            spans = self._spans(first, stop)
        for stream, low, high in sorted(spans, key=lambda span: int(span[0].rows[span[2] - 1])):
            self._note_span(stream, low, high)

    def _spans(self, first: int, stop: int) -> list[tuple[_Stream, int, int]]:
        spans = [(stream, int(stream.before[first]), int(stream.before[stop])) for stream in self.streams]
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
        tags = self.found.heads.tags[stream.rows[low:high][stream.is_batch[low:high]]]
        ranks = {self.lane.heads.ranks[tag] for tag in np.unique(tags).tolist()}
        return all(source.rank_owner.get(rank) == label for rank in ranks if rank)

    def _note_span(self, stream: _Stream, low: int, high: int) -> None:
        rows, first_line = stream.rows, self.first_line
        source = self._source(stream, first_line + int(rows[low]))
        builder = source.current
        names = stream.prefix.carriers
        builder.count_lines(high - low, first_line + int(rows[low]), first_line + int(rows[high - 1]), names)
        at = self.found.heads.at
        builder.see_time(_time(at[rows[low]]), True)
        builder.see_time(_time(at[rows[high - 1]]), True)
        first_batch, stop_batch = int(stream.batches_before[low]), int(stream.batches_before[high])
        if stop_batch > first_batch:
            last = int(stream.batch_rows[stop_batch - 1])
            builder.see_batches(
                stop_batch - first_batch,
                first_line + int(rows[stream.batch_rows[first_batch]]),
                first_line + int(rows[last]),
                _time(at[rows[last]]),
            )
        self._note_ranks(stream, low, high, builder)
        builder.request_lines += high - low - (stop_batch - first_batch)
        last_work = int(stream.last_work[high - 1])
        if last_work >= low:
            builder.last_good_request_line = first_line + int(rows[last_work])
        source.has_bracket_heads = True
        source.orphan_head = None
        self.careful.sources.note(source)
        if not self.owners or self.owners[-1] is not builder:
            self.owners.append(builder)
        self.owner_of[rows[low:high]] = len(self.owners) - 1

    def _note_ranks(self, stream: _Stream, low: int, high: int, builder: RunBuilder) -> None:
        if stream.ranks <= builder.ranks.keys():
            return
        rows = stream.rows[low:high][stream.is_batch[low:high]]
        tags = self.found.heads.tags[rows]
        present, first = np.unique(tags, return_index=True)
        for place, tag in sorted(zip(first.tolist(), present.tolist(), strict=True)):
            builder.see_rank(self.lane.heads.ranks[tag] or "", self.first_line + int(rows[place]))

    def give(self, maker: ColumnMaker, on_batches: OnBatches | None, on_requests: OnRequests | None) -> None:
        """Give out the rows that the launches were told of, behind those that wait in the launches."""
        distinct = {id(builder): builder for builder in self.owners}
        for key, builder in distinct.items():
            is_own = np.array([id(owner) == key for owner in self.owners] + [False], dtype=np.bool_)
            if on_batches is not None:
                rows = self.found.batches
                chosen = np.flatnonzero(is_own[self.owner_of[rows.rows]])
                if chosen.size:
                    waiting = builder.batches.take(builder.ordinal) if len(builder.batches) else None
                    on_batches(
                        maker.batches(self.lane, rows, self.first_line, chosen, waiting, builder.ordinal)
                    )
            if on_requests is not None:
                requests = self.found.requests
                chosen = np.flatnonzero(is_own[self.owner_of[requests.rows]])
                if chosen.size:
                    held = builder.requests.take(builder.ordinal) if len(builder.requests) else None
                    if held is not None:
                        on_requests(held)
                    on_requests(maker.requests(self.lane, requests, self.first_line, chosen, builder.ordinal))


def _time(at: np.int64) -> datetime:
    return _EPOCH + timedelta(microseconds=int(at))


def _streams(lane: HotLane, found: HotBlock) -> list[_Stream]:
    """The block's regular lines by prefix, batch and access lines together in line order."""
    is_batch: Mask = np.zeros(found.starts.size, dtype=np.bool_)
    is_batch[found.batches.rows] = True
    is_work: Mask = np.zeros(found.starts.size, dtype=np.bool_)
    if found.requests.rows.size:
        works = np.array([line.is_work for line in lane.access.lines], dtype=np.bool_)
        is_work[found.requests.rows] = works[found.requests.tails]
    taken = np.flatnonzero(found.taken)
    prefixes = found.heads.prefixes[taken]
    present = np.flatnonzero(np.bincount(prefixes)).tolist()
    if len(present) == 1:
        return [_stream(lane, found, lane.heads.prefixes[present[0]], taken, is_batch, is_work)]
    return [
        _stream(lane, found, lane.heads.prefixes[index], taken[prefixes == index], is_batch, is_work)
        for index in present
    ]


def _stream(
    lane: HotLane, found: HotBlock, prefix: Prefix, rows: Places, is_batch: Mask, is_work: Mask
) -> _Stream:
    is_here: Mask = np.zeros(found.starts.size, dtype=np.bool_)
    is_here[rows] = True
    own_batch = is_batch[rows]
    batch_rows = np.flatnonzero(own_batch)
    tags = found.heads.tags[rows[batch_rows]]
    names = {lane.heads.ranks[tag] or "" for tag in np.flatnonzero(np.bincount(tags)).tolist()}
    return _Stream(
        prefix,
        rows,
        np.concatenate([[0], np.cumsum(is_here)]),
        own_batch,
        np.concatenate([[0], np.cumsum(own_batch)]),
        batch_rows,
        np.maximum.accumulate(np.where(is_work[rows], np.arange(rows.size), -1)),
        names - {""},
    )
