"""Feeds a block of whole lines: regular lines to the hot lane, the others to the careful lane, in order.

Quiet lines, which hold nothing, are only counted. Each launch is told of its regular and quiet lines before
the next careful line is read, so that both lanes see the same launch at the same line. Where a launch is not
certain yet, or a record is still open, these lines go through the careful lane too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.blocks import OnBatches, OnRequests
from parsers.careful import CarefulReader
from parsers.hot.columns import ColumnMaker
from parsers.hot.eye import ReaderEye
from parsers.hot.lane import HotBlock, HotLane
from parsers.hot.quiet import may_stand_bare, quiet_lines
from parsers.hot.streams import Quiet, Stream, find_streams
from parsers.hot.words import Mask, Places, low_mask, word
from parsers.inner_lines import MOST_LINES
from parsers.launches import RunBuilder
from parsers.sources import Source
from parsers.whole_tracebacks import HEADER_END, WholeTraceback

_EPOCH = datetime(1970, 1, 1)
_ACTOR = " pid="
_LEAST_SHARE = 0.1
"""Share of a block that must be no regular lines for quiet ones to be looked for."""
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
            quiet = self._find_quiet(found, block, careful)
            work = _BlockWork(self.lane, found, block, first_line + count, careful, take_line, quiet)
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

    def _find_quiet(self, found: HotBlock, block: bytes, careful: CarefulReader) -> Quiet:
        left = ~(found.is_batch | found.is_request)
        with_libraries = not careful.knows_its_servers
        if int((found.ends - found.starts)[left].sum()) < _LEAST_SHARE * (found.stop - int(found.starts[0])):
            nothing = np.zeros(left.size, dtype=np.bool_)
            return Quiet(nothing, nothing, nothing, nothing, with_libraries)
        is_own = self.own_heads(found)
        bare = may_stand_bare(careful.carriers)
        left &= quiet_lines(with_libraries).find(block, found, is_own, bare)
        return Quiet(left, left & (found.ends > found.starts), left & is_own, is_own, with_libraries)

    def own_heads(self, found: HotBlock) -> Mask:
        """True for lines whose head tells no more than a time and a rank."""
        heads = self.lane.heads
        plain = [text == b"]" or bool(rank) for text, rank in zip(heads.tags.texts, heads.ranks, strict=True)]
        own: Mask = found.heads.has_head & np.array([*plain, False], dtype=np.bool_)[found.heads.tags]
        return own


class _Span(NamedTuple):
    """A stream's rows from one line up to another."""

    stream: Stream
    rows: Places
    told: Places
    """Those of quiet lines that hold a character."""
    own: Places
    """Those with SGLang's own head."""
    headed: Places
    """Those of both kinds."""


class _Whole(NamedTuple):
    """Where the parts of a whole traceback stand in the block, in bytes, and what its header's head tells."""

    exception: int
    """Its row."""
    begin: int
    body: int
    """Behind the head."""
    inner: int
    end: int
    """Where the exception line begins."""
    stop: int
    """Where the line behind it begins."""
    filled: int
    """The first row behind it that is not empty."""
    at: int
    tag: int
    is_headed: bool


@dataclass(slots=True)
class _BlockWork:
    """One block on its way through both lanes."""

    lane: HotLane
    found: HotBlock
    block: bytes
    first_line: int
    careful: CarefulReader
    take_line: TakeLine
    quiet: Quiet
    owners: list[RunBuilder] = field(default_factory=list)
    owner_of: NDArray[np.int16] = field(init=False)
    """Place among the owners of the launch that was told of a line; -1 where none was."""
    streams: list[Stream] = field(init=False)

    def __post_init__(self) -> None:
        self.owner_of = np.full(self.found.starts.size, -1, dtype=np.int16)
        self.streams = find_streams(self.lane, self.found, self.quiet)

    def run(self) -> None:
        """Read all lines, in their order."""
        count = self.found.starts.size
        position = 0
        is_taken = self.found.is_batch | self.found.is_request | self.quiet.is_quiet
        rows = np.flatnonzero(~is_taken)
        stops = self._inner_stops(rows)
        wholes = self._find_wholes(rows, stops)
        for row, inner_stop in zip(rows.tolist(), stops.tolist(), strict=True):
            if row < position:
                continue
            if row > position:
                self._note_taken(position, row)
            taken = 0
            if row in wholes:
                taken = self._take_whole(row, wholes[row])
            elif inner_stop > row:
                taken = self._take_inner(row, inner_stop)
            position = row + taken
            if taken:
                continue
            self._take_careful(row)
            position += 1
            while self.careful.is_inside_record and position < count:
                self._take_careful(position)
                position += 1
        self._note_taken(position, count)

    def _inner_stops(self, rows: Places) -> Places:
        """Where the lines that begin with two blanks end, for each of them; the row itself for others."""
        if not rows.size or not may_stand_bare(self.careful.carriers):
            return rows
        is_inner = (self.found.text.at(self.found.starts[rows]) & low_mask(2)) == word(b"  ")
        goes_on = is_inner[:-1] & is_inner[1:] & (rows[1:] == rows[:-1] + 1)
        lasts = np.flatnonzero(np.append(~goes_on, True))
        stops = rows[lasts[lasts.searchsorted(np.arange(rows.size))]] + 1
        return np.where(is_inner, stops, rows)

    def _find_wholes(self, rows: Places, stops: Places) -> dict[int, _Whole]:
        """The whole tracebacks by the row of their header."""
        if not rows.size or stops is rows:
            return {}
        found, count = self.found, self.found.starts.size
        exceptions, following = np.append(stops[1:], 0), np.append(rows[1:], 0)
        is_header = found.text.at(np.maximum(found.ends[rows] - 8, 0)) == word(HEADER_END[-8:])
        is_header &= (following == rows + 1) & (exceptions > following) & (exceptions + 1 < count)
        behind = np.searchsorted(rows, exceptions)
        is_header &= rows[np.minimum(behind, rows.size - 1)] == exceptions
        headers, exceptions = rows[is_header], exceptions[is_header]
        filled = np.append(np.flatnonzero(~self.quiet.is_quiet | self.quiet.is_told), count)
        starts, heads = found.starts, found.heads
        columns = (
            headers, exceptions, starts[headers], heads.bodies[headers], starts[headers + 1],
            starts[exceptions], starts[exceptions + 1], filled[np.searchsorted(filled, exceptions + 1)],
            heads.at[headers], heads.tags[headers], self.quiet.is_own[headers],
        )  # fmt: skip
        return {
            each[0]: _Whole(*each[1:]) for each in zip(*(column.tolist() for column in columns), strict=True)
        }

    def _take_whole(self, row: int, whole: _Whole) -> int:
        """Take a traceback and the empty lines behind it; the number of lines that were taken."""
        is_headed, block = whole.is_headed, self.block
        body = whole.body if is_headed else whole.begin
        traceback = WholeTraceback(
            block[body : whole.inner - 1],
            is_headed,
            _time(whole.at) if is_headed else None,
            self.lane.heads.ranks[whole.tag] or "" if is_headed else "",
            block[whole.begin : body],
            block[whole.inner : whole.end - 1],
            block[whole.end : whole.stop - 1],
        )
        return self.careful.take_whole(self.first_line + row, traceback, whole.filled - whole.exception - 1)

    def _take_inner(self, row: int, stop: int) -> int:
        """Take lines of a traceback; the number of those that were taken."""
        stop = min(stop, row + MOST_LINES)
        starts = self.found.starts
        end = int(starts[stop]) if stop < starts.size else self.found.stop
        return self.careful.take_inner(self.first_line + row, self.block[starts[row] : end - 1])

    def _take_careful(self, row: int) -> None:
        starts = self.found.starts
        stop = int(starts[row + 1]) if row + 1 < starts.size else self.found.stop
        self.take_line(self.first_line + row, self.block[starts[row] : stop - 1])

    def _note_taken(self, first: int, stop: int) -> None:
        """Tell the launches of the taken lines from row `first` up to row `stop`."""
        spans = self._spans(first, stop)
        while spans and not all(map(self._is_settled, spans)):
            row = min(int(span.rows[0]) for span in spans)
            self._take_careful(row)
            while row + 1 < stop and self.careful.is_inside_record:
                row += 1
                self._take_careful(row)
            first = row + 1
            spans = self._spans(first, stop)
        for span in sorted(spans, key=lambda span: int(span.rows[-1])) if len(spans) > 1 else spans:
            self._note_span(span)

    def _spans(self, first: int, stop: int) -> list[_Span]:
        spans = []
        for stream in self.streams:
            rows = _within(stream.rows, first, stop)
            if rows.size:
                told, own = _within(stream.told_rows, first, stop), _within(stream.own_rows, first, stop)
                headed = _within(stream.headed_rows, first, stop) if told.size and own.size else own[:0]
                spans.append(_Span(stream, rows, told, own, headed))
        return spans

    def _source(self, stream: Stream, number: int) -> Source:
        return self.careful.sources.of(stream.label, number, stream.carriers)

    def _is_settled(self, span: _Span) -> bool:
        """True when it is certain to which launch these rows belong, and one by one they tell no more."""
        stream, rows, told, own, headed = span
        source = self._source(stream, self.first_line + int(rows[0]))
        if told.size and not self._is_passed_over(stream, source.current, int(told[0])):
            return False
        if own.size > headed.size and not source.current.is_settled:
            return False
        if _ACTOR not in stream.label:
            return True
        ranks = {self.lane.heads.ranks[tag] for tag in np.unique(self.found.heads.tags[own]).tolist()}
        return all(source.rank_owner.get(rank) == stream.label for rank in ranks if rank)

    def _is_passed_over(self, stream: Stream, builder: RunBuilder, row: int) -> bool:
        """True when quiet lines from `row` on change nothing of their launch but its counts."""
        if builder.has_ended or builder.died_early or (stream.ranks and not builder.ordinal):
            return False
        if not (self.quiet.with_libraries or builder.is_known):
            return False
        is_headed = bool(self.quiet.is_headed[row])
        return builder.failures.may_pass_over(stream.label, self.first_line + row, is_headed)

    def _note_span(self, span: _Span) -> None:
        stream, rows, told, own, headed = span
        first, last = int(rows[0]), int(rows[-1])
        first_line, last_line = self.first_line + first, self.first_line + last
        source = self._source(stream, first_line)
        builder = source.current
        builder.count_lines(rows.size, first_line, last_line, stream.carriers, told.size - headed.size)
        if own.size:
            self._note_own(stream, own, builder)
            source.has_bracket_heads = True
        if told.size:
            self._pass_over(stream, told, headed, builder)
        source.orphan_head = None
        self.careful.sources.note(source)
        if own.size > headed.size:
            self._note_regular(stream, first, last, own.size - headed.size, builder)
            if len(self.streams) == 1:
                self.owner_of[first : last + 1] = len(self.owners) - 1
            else:
                self.owner_of[rows] = len(self.owners) - 1

    def _note_own(self, stream: Stream, own: Places, builder: RunBuilder) -> None:
        """Note the times and ranks of lines with SGLang's own head."""
        at = self.found.heads.at
        builder.see_time(_time(at[own[0]]), True)
        builder.see_time(_time(at[own[-1]]), True)
        if not stream.ranks <= builder.ranks.keys():
            self._note_ranks(own, builder)

    def _note_regular(self, stream: Stream, first: int, last: int, count: int, builder: RunBuilder) -> None:
        """Note the batch and access lines, and that their rows are this launch's."""
        batches = _within(stream.batch_rows, first, last + 1)
        if batches.size:
            begin, end = int(batches[0]), int(batches[-1])
            at = _time(self.found.heads.at[end])
            builder.see_batches(batches.size, self.first_line + begin, self.first_line + end, at)
        builder.request_lines += count - batches.size
        works = _within(stream.work_rows, first, last + 1)
        if works.size:
            builder.last_good_request_line = self.first_line + int(works[-1])
        if not self.owners or self.owners[-1] is not builder:
            self.owners.append(builder)

    def _note_ranks(self, own: Places, builder: RunBuilder) -> None:
        present, first = np.unique(self.found.heads.tags[own], return_index=True)
        for place, tag in sorted(zip(first.tolist(), present.tolist(), strict=True)):
            builder.see_rank(self.lane.heads.ranks[tag] or "", self.first_line + int(own[place]))

    def _pass_over(self, stream: Stream, told: Places, headed: Places, builder: RunBuilder) -> None:
        before_head = int(told.searchsorted(headed[0])) if headed.size else told.size
        at = _time(self.found.heads.at[headed[-1]]) if headed.size else None
        last = self.first_line + int(told[-1])
        builder.failures.pass_over(stream.label, told.size, before_head, last, at)

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


def _within(rows: Places, first: int, stop: int) -> Places:
    """The rows from `first` up to `stop`."""
    return rows[rows.searchsorted(first) : rows.searchsorted(stop)]


def _time(at: int | np.int64) -> datetime:
    return _EPOCH + timedelta(microseconds=int(at))
