"""A log's bytes in, its launches out: `LogReader` joins all other modules of the package.

Reading never fails on content, only on I/O. Every physical line is counted in exactly one launch or as a
line outside of any.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, BinaryIO

from parsers.blocks import BLOCK_ROWS, OnBatches, OnRequests
from parsers.careful import CarefulReader
from parsers.launches import RunBuilder
from parsers.order import is_newest_first, oldest_first
from parsers.reader import ByteDecoder, LineCutter, read_blocks
from parsers.records import Outcome, ParsedLog, Run
from parsers.runs import build_run

if TYPE_CHECKING:
    from parsers.hot.feeder import HotFeeder

_PROBE_LINES = 200
_PROBE_BYTES = 1 << 18
"""What is read before the order of the lines and the doubtful carriers are decided."""
_PROBE_STEP = 1 << 14
HOT_BYTES = 1 << 18
"""Blocks from this size on go to the hot lane first; smaller ones do not pay for it."""
MAX_REVERSED_BYTES = 1 << 28
"""A newest-first file is held whole to be turned round; beyond this size it is read as it stands."""


class LogReader:
    """Reads one log, in blocks of any size; picklable at any point (without its callbacks).

    ``on_batches`` and ``on_requests`` get the rows of batch and access lines as blocks; without them the
    rows are counted and dropped. Blocks of one run can overlap in their lines, since two lanes make them: the
    column ``line`` has the order. ``salt`` goes into the masks of secrets.
    """

    def __init__(
        self,
        salt: bytes = b"",
        on_batches: OnBatches | None = None,
        on_requests: OnRequests | None = None,
        hot: bool = True,
    ) -> None:
        self.on_batches = on_batches
        self.on_requests = on_requests
        self.hot = hot
        self.size = 0
        self._decoder = ByteDecoder()
        self._cutter = LineCutter()
        self._careful = CarefulReader(salt)
        self._number = 0
        self._probe: list[tuple[int, bytes]] | None = []
        self._probe_bytes = 0
        self._newest_first = False
        self._feeder: HotFeeder | None = None
        self._given_line = 0
        """Last unfinished line whose rows `result` has given out already."""

    def feed(self, block: bytes) -> None:
        """Read on; the block may end anywhere."""
        self.size += len(block)
        self._take(self._decoder.feed(block))

    def expect_launch(self) -> None:
        """From now on the text is of a launch, however little it says: its command was recorded."""
        self._careful.is_of_launch = True

    def result(self) -> ParsedLog:
        """All launches as far as they were read; more may be fed afterwards."""
        self._give_rows(full_only=False)
        twin = self._copy()
        twin._take(twin._decoder.finish())
        open_line = twin._cutter.open_line
        if open_line is not None:
            twin._take_lines([open_line])
        if twin._probe is not None:
            twin._end_probe(is_whole=True)
        twin._careful.finish()
        twin.on_batches, twin.on_requests = self.on_batches, self.on_requests
        if self._given_line < twin._number:
            twin._careful.chosen_builders()  # numbers a run that is only likely, so that its rows can go
            twin._give_rows(full_only=False, after=self._given_line)
            is_last_open = open_line is not None and twin._careful.last_row_line != twin._number
            self._given_line = twin._number - is_last_open
        return twin._parsed(is_torn=open_line is not None)

    def forget_open_line(self) -> int:
        """Rows that `result` gave of an unfinished last line come again once it is complete.

        Gives the last line whose rows do not come again: whoever keeps rows drops the later ones.
        """
        self._given_line = min(self._given_line, self._number)
        return self._given_line

    def _copy(self) -> LogReader:
        twin: LogReader = pickle.loads(pickle.dumps(self, pickle.HIGHEST_PROTOCOL))
        return twin

    def __getstate__(self) -> dict[str, object]:
        state = dict(self.__dict__)
        state["on_batches"] = state["on_requests"] = None
        return state

    def _take(self, data: bytes) -> None:
        while self.hot and len(data) >= HOT_BYTES:
            size = len(data) if self._probe is None else _PROBE_STEP
            stop = data.rfind(b"\n", 0, size) + 1 or data.find(b"\n", size) + 1
            if not stop:
                break
            if self._probe is None:
                self._take_hot(data, stop)
            else:
                self._take_lines(self._cutter.feed(data[:stop]))
            data = data[stop:]
        if data:
            self._take_lines(self._cutter.feed(data))

    def _take_hot(self, data: bytes, stop: int) -> None:
        """Take the whole lines of a large block; the first goes on with the line that is open."""
        start = data.index(b"\n") + 1
        self._take_lines(self._cutter.feed(data[:start]))
        if start == stop:
            return
        if self._feeder is None:
            from parsers.hot.feeder import HotFeeder  # loads numpy, 0.1 s

            self._feeder = HotFeeder()
        self._number += self._feeder.feed(
            data,
            start,
            stop,
            self._number + 1,
            self._careful,
            self._take_careful,
            self.on_batches,
            self.on_requests,
        )
        self._give_rows(full_only=True)

    def _take_careful(self, number: int, raw: bytes) -> None:
        self._careful.take(number, self._cutter.limit(raw), number > self._given_line)

    def _take_lines(self, lines: list[bytes]) -> None:
        for raw in lines:
            self._number += 1
            if self._probe is None:
                self._careful.take(self._number, raw, self._number > self._given_line)
                continue
            self._probe.append((self._number, raw))
            self._probe_bytes += len(raw)
            if self._newest_first:
                if self._probe_bytes > MAX_REVERSED_BYTES:
                    self._end_probe(is_whole=False)
            elif len(self._probe) >= _PROBE_LINES or self._probe_bytes >= _PROBE_BYTES:
                self._newest_first = is_newest_first([one for _, one in self._probe])
                if not self._newest_first:
                    self._end_probe(is_whole=False)
        self._give_rows(full_only=True)

    def _end_probe(self, is_whole: bool) -> None:
        held, self._probe = self._probe or [], None
        if is_whole and not self._newest_first:
            self._newest_first = is_newest_first([raw for _, raw in held])
        if self._newest_first and is_whole:
            held = oldest_first(held)
        elif self._newest_first:
            self._newest_first = False
            self._careful.notes.append("newest first, but too large to be turned round: read as it stands")
        self._careful.prove_carriers([raw for _, raw in held[:_PROBE_LINES]])
        for number, raw in held:
            self._careful.take(number, raw, number > self._given_line)

    def _give_rows(self, full_only: bool, after: int = 0) -> None:
        """Give rows out; ``after``: rows up to this line were given by an earlier result."""
        for builder in self._careful.touched_builders():
            if len(builder.batches) and (not full_only or len(builder.batches) >= BLOCK_ROWS):
                self._give_batches(builder)
            if len(builder.requests) and (not full_only or builder.requests.is_full):
                self._give_requests(builder, after)

    def _give_batches(self, builder: RunBuilder) -> None:
        if self.on_batches is None:
            builder.batches.drop()
        else:
            self.on_batches(builder.batches.take(builder.ordinal))

    def _give_requests(self, builder: RunBuilder, after: int) -> None:
        if not builder.ordinal and self.on_requests is not None and not builder.requests.is_full:
            return  # an access line alone makes no run yet
        if self.on_requests is None or not builder.ordinal:
            builder.requests.drop()
        else:
            block = builder.requests.take(builder.ordinal, after)
            if block is not None:
                self.on_requests(block)

    def _parsed(self, is_torn: bool) -> ParsedLog:
        runs = self._runs(is_torn)
        notes = list(self._careful.notes)
        if self._cutter.shortened:
            notes.append(
                f"{self._cutter.shortened} lines longer than 1 MB were read at their begin and end only"
            )
        outside = self._number - sum(run.coverage.lines for run in runs)
        if runs and outside:
            notes.append(f"{outside} lines stand outside of every launch")
        repeated = sum(builder.repeated for builder in self._careful.chosen_builders())
        if repeated:
            notes.append(f"the carrier folded {repeated} repeats into single lines")
        return ParsedLog(
            runs=runs,
            lines=self._number,
            size=self.size,
            is_sglang=bool(runs),
            encoding=self._decoder.encoding,
            newest_first=self._newest_first,
            notes=tuple(notes),
        )

    def _runs(self, is_torn: bool) -> tuple[Run, ...]:
        chosen = self._careful.chosen_builders()
        last_line = max((builder.last_line for builder in chosen), default=0)
        runs = ((one, build_run(one, is_torn and one.last_line == last_line)) for one in chosen)
        is_given = self._careful.is_of_launch
        return tuple(
            run for builder, run in runs if is_given or builder.is_certain or _says_something(builder, run)
        )


def _says_something(builder: RunBuilder, run: Run) -> bool:
    """False for a text that only names SGLang: a list of versions, a help text, an installation."""
    shown = builder.likeness.has_command or builder.request_lines > 0 or bool(run.milestones)
    is_at_imports = builder.likeness.is_server and builder.first_own_at is not None
    return shown or is_at_imports or run.outcome is not Outcome.UNKNOWN


def read_log(
    stream: BinaryIO,
    salt: bytes = b"",
    on_batches: OnBatches | None = None,
    on_requests: OnRequests | None = None,
    hot: bool = True,
) -> ParsedLog:
    """Read a whole log from a stream of bytes."""
    reader = LogReader(salt, on_batches, on_requests, hot)
    for block in read_blocks(stream):
        reader.feed(block)
    return reader.result()
