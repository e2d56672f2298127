"""Reads the next logs in other processes, so that many small logs use more than one core.

Only whole logs are read ahead; what is done with them is decided when their turn comes.
"""

from __future__ import annotations

import multiprocessing
import signal
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from logscope.errors import LogScopeError, SourceError
from logscope.store.batch_rows import BatchRows
from logscope.store.reading import FileStamp, ReadLog, read
from logscope.store.sources import Source
from logscope.store.surroundings import Surroundings

Outcome = tuple[ReadLog | None, LogScopeError | None]


class ReadAhead:
    """A few processes that read logs; use it as a context."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._pool = ProcessPoolExecutor(
            jobs, multiprocessing.get_context("spawn"), initializer=_leave_interrupts_to_the_parent
        )
        self._reading: dict[int, Future[Outcome]] = {}

    def __enter__(self) -> ReadAhead:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        for future in self._reading.values():
            if not future.cancelled() and future.exception() is None:
                left = future.result()[0]
                if left is not None:
                    left.rows.discard()

    @property
    def has_room(self) -> bool:
        """True while another log may be read ahead: a few wait ready, not all."""
        return len(self._reading) < 2 * self.jobs

    def begin(
        self,
        number: int,
        source: Source,
        stamp: FileStamp,
        surroundings: Surroundings,
        salt: bytes,
        folder: Path | None,
        keep_state: bool,
    ) -> None:
        """Begins to read an input; `number` names it."""
        self._reading[number] = self._pool.submit(
            _read_whole, source, stamp, surroundings, salt, folder, keep_state
        )

    def is_reading(self, number: int) -> bool:
        return number in self._reading

    def finish(self, number: int) -> ReadLog:
        """The log, when it is read. Raises what reading it raised."""
        future = self._reading.pop(number)
        try:
            log, error = future.result()
        except BrokenProcessPool as broken:
            raise SourceError("a reading process was killed", "take the rest in with --jobs 1") from broken
        if error is not None:
            raise error
        assert log is not None
        return log


def _read_whole(
    source: Source,
    stamp: FileStamp,
    surroundings: Surroundings,
    salt: bytes,
    folder: Path | None,
    keep_state: bool,
) -> Outcome:
    rows = BatchRows(folder)
    try:
        return read(source, stamp, surroundings, salt, rows, keep_state=keep_state), None
    except LogScopeError as error:
        rows.discard()
        return None, type(error)(error.message, error.hint)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
