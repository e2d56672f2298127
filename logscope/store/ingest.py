"""Takes logs into the store: finds what is new, reads it, and writes it in short turns.

Logs are read without the store's lock. What was read is written in groups, one transaction a log, so
that other writers and readers wait for tenths of a second and a kill leaves whole logs only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from logscope.errors import LogScopeError, NotALaunchLog
from logscope.store import reader_state
from logscope.store.batch_rows import BatchRows
from logscope.store.changes import run_changes
from logscope.store.connection import Database, run_transaction
from logscope.store.elder import knowledge_beside, plan_beside
from logscope.store.headline import Headline, newest_failure
from logscope.store.identity import run_id
from logscope.store.ingest_report import IngestedPath, IngestReport, IngestStatus
from logscope.store.interrupts import interrupts_wait
from logscope.store.leftovers import remove_leftovers
from logscope.store.loading import KnownLog, LogToWrite, StaleKnowledge, write_logs, write_source
from logscope.store.planning import Knowledge, Plan, RunPlace, content_of
from logscope.store.reading import OnBytes, ReadLog, is_packed, read, stamp_of, with_kept_contexts
from logscope.store.rebuild import stored_run
from logscope.store.records import StoredRun
from logscope.store.sources import Source, find_sources
from logscope.store.surroundings import GivenFiles, gather
from logscope.store.throughput import MOST_EXACT
from parsers.lazy_dataclass import dataclass, replace
from parsers.records import PARSER_VERSION

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from logscope.store.read_ahead import ReadAhead
    from parsers.log import LogReader

GROUP_LOGS, GROUP_BYTES, GROUP_SECONDS = 64, 1 << 26, 0.7
"""A group of logs is written when it is this large, or when its first log has waited this long."""

_WHOLE = (IngestStatus.NEW, IngestStatus.REPLACED)
"""What is read from its begin to its end."""

_WRITER_MEMORY = 64
"""MB for DuckDB while rows of a usual log go in."""

MOST_RETRIES = 3
"""How often a log is read again because what the store holds of it is not what was expected."""

Progress = Callable[[str, int, int], None]
"""Called with (path, its number from 1, how many there are) before each input is read."""
OnDone = Callable[[IngestedPath], None]
"""Hears of each input as soon as it is in the store, or cannot be: in the order of the inputs."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A log that was read and not written yet."""

    number: int
    source: Source
    plan: Plan
    log: ReadLog
    log_id: str


class Ingest:
    """One call of ``ingest``."""

    def __init__(
        self,
        database: Database,
        given: GivenFiles,
        reparse: bool = False,
        progress: Progress | None = None,
        on_bytes: OnBytes | None = None,
        jobs: int = 1,
        on_done: OnDone | None = None,
        by_itself: bool = False,
    ) -> None:
        self._by_itself = by_itself
        self._on_bytes = on_bytes
        self._on_done = on_done
        self._told = 0
        self._jobs = jobs
        self._ahead: ReadAhead | None = None
        self._looked_ahead = 0
        self._database = database
        self._given = given
        self._reparse = reparse
        self._progress = progress
        self._folder = database.path.parent if database.path is not None else None
        self._knowledge: Knowledge
        self._elder: Knowledge | None = None
        self._waiting: list[_Waiting] = []
        self._retries: dict[int, int] = {}
        self._waiting_since = 0.0
        self._done: dict[int, IngestedPath] = {}
        self._newest_failure: Headline | None = None

    def run(self, words: Sequence[str | Path]) -> IngestReport:
        """Takes in everything that the words name. Only trouble with the store itself is raised."""
        sources, wrong = find_sources(words)
        unfound = tuple(
            IngestedPath(word, IngestStatus.FAILED, message=error.message, hint=error.hint)
            for word, error in wrong
        )
        if self._folder is not None:
            remove_leftovers(self._folder)
        with self._database.writing(creates=True) as connection:  # fails early where it may not be written
            self._knowledge = Knowledge(connection, self._database.beginnings_at)
        self._elder = knowledge_beside(self._database)
        if self._on_done is not None:
            for path in unfound:
                self._on_done(path)
        try:
            if self._jobs > 1 and len(sources) > 1:
                from logscope.store.read_ahead import ReadAhead  # loads multiprocessing

                with ReadAhead(min(self._jobs, len(sources))) as self._ahead:
                    self._take_all(sources)
            else:
                self._take_all(sources)
        except KeyboardInterrupt:
            self._write_group()  # what was read whole is kept
            self._tell_done(len(sources))
            raise
        finally:
            for waiting in self._waiting:
                waiting.log.rows.discard()
        done = (self._done[number] for number in sorted(self._done))
        return IngestReport((*unfound, *done), self._newest_failure)

    def _take_all(self, sources: Sequence[Source]) -> None:
        for number, source in enumerate(sources):
            if self._progress is not None:
                self._progress(source.word, number + 1, len(sources))
            self._look_ahead(sources, number)
            self._take(number, source)
            if self._is_due():
                self._write_group()
            self._tell_done()
        self._write_group()
        self._tell_done()

    def _tell_done(self, up_to: int = 0) -> None:
        """Tells of the inputs that are done; beyond one that is not, only up to a number."""
        while self._told in self._done or self._told < up_to:
            if self._on_done is not None and self._told in self._done:
                self._on_done(self._done[self._told])
            self._told += 1

    def _look_ahead(self, sources: Sequence[Source], number: int) -> None:
        """Lets other processes begin with the next inputs that have to be read as a whole."""
        self._looked_ahead = max(self._looked_ahead, number)
        while self._ahead is not None and self._ahead.has_room and self._looked_ahead < len(sources):
            source, place = sources[self._looked_ahead], self._looked_ahead
            self._looked_ahead += 1
            try:
                plan = self._plan(source)
                if plan.status in _WHOLE and not is_packed(source):
                    self._ahead.begin(
                        place,
                        source,
                        plan.stamp,
                        plan.surroundings,
                        self._knowledge.salt,
                        self._folder,
                        self._database.path is not None,
                    )
            except LogScopeError:
                continue  # told when its turn comes

    def _plan(self, source: Source) -> Plan:
        stamp = stamp_of(source)
        plan = self._knowledge.plan(source, stamp, gather(source.path, self._given), self._reparse)
        return self._knowledge.by_itself(plan, source) if self._by_itself else plan

    def _look_up(self) -> None:
        with self._database.reading() as connection:
            self._knowledge = Knowledge(connection, self._database.beginnings_at)

    def _take(self, number: int, source: Source) -> None:
        """Reads one input; what is read waits for the next group."""
        try:
            plan = self._plan(source)
            ahead = self._read_ahead(number, plan)
            if plan.status is IngestStatus.KNOWN:
                self._note_known(number, source, plan)
                return
            log = ahead or self._read(source, plan)
        except LogScopeError as error:
            passed_over = isinstance(error, NotALaunchLog) and not source.is_expected_to_be_a_log
            status = IngestStatus.SKIPPED if passed_over else IngestStatus.FAILED
            self._done[number] = IngestedPath(source.word, status, message=error.message, hint=error.hint)
            return
        plan = self._settled(plan, source, log)
        if plan.status is IngestStatus.KNOWN:
            log.rows.discard()
            self._note_known(number, source, plan)
            return
        beside = self._beside(source, log, plan)
        if beside is not None and beside.longer is not None:
            plan = replace(plan, longer=beside.longer)
        log_id = self._id_for(log, plan, beside)
        log = self._with_kept_contexts(source, log, plan)
        if any(waiting.log_id == log_id for waiting in self._waiting):
            self._write_group()  # a log that grew between two of the paths
        if not self._waiting:
            self._waiting_since = time.monotonic()
        self._waiting.append(_Waiting(number, source, plan, log, log_id))
        self._knowledge.expect(source, log, log_id)

    def _settled(self, plan: Plan, source: Source, log: ReadLog) -> Plan:
        settled = self._knowledge.settled(plan, source, log, self._reparse)
        return self._knowledge.by_itself(settled, source) if self._by_itself else settled

    def _beside(self, source: Source, log: ReadLog, plan: Plan) -> Plan | None:
        """What the store on disk knows of a log that is new to one in memory."""
        if self._elder is None or plan.known is not None:
            return None
        return plan_beside(self._elder, source, log, plan)

    def _id_for(self, log: ReadLog, plan: Plan, beside: Plan | None) -> str:
        """In memory, a log has the id that it has in the store on disk."""
        if self._elder is None or plan.known is not None:
            return self._knowledge.id_for(log, plan.known)
        return self._knowledge.id_for(log, beside.known if beside is not None else None, self._elder)

    def _with_kept_contexts(self, source: Source, log: ReadLog, plan: Plan) -> ReadLog:
        """A copy under another name, without a context file of its own, leaves the runs what they had."""
        known = plan.known
        if self._by_itself and known is not None and not self._knowledge.is_home(source, known):
            return log
        if known is None or known.context_sha256 is None or plan.surroundings.sha256 is not None:
            return log
        with self._database.reading() as connection:
            kept = _stored(connection, known.log_id)
        contexts = {ordinal: run.context for ordinal, run in kept.items() if run.context is not None}
        return with_kept_contexts(log, contexts, known.context_sha256)

    def _read_ahead(self, number: int, plan: Plan) -> ReadLog | None:
        """The log as another process read it, unless it proved to continue or repeat a known one."""
        if self._ahead is None or not self._ahead.is_reading(number):
            return None
        log = self._ahead.finish(number)
        if plan.status in _WHOLE and log.stamp == plan.stamp:
            return log
        log.rows.discard()
        return None

    def _read(self, source: Source, plan: Plan) -> ReadLog:
        reader = None
        if plan.status is IngestStatus.GROWN and plan.known is not None and plan.keeps_context:
            reader = None if self._reparse or not plan.reads_on else self._kept_reader(plan.known)
        rows = BatchRows(self._folder, continues=reader is not None)
        start = content_of(plan.known) if plan.known is not None else None
        watch = [known.text_size for known in (*plan.candidates, *(self._elder.logs if self._elder else ()))]
        keep_state = self._database.path is not None and not is_packed(source)
        try:
            salt, on_bytes = self._knowledge.salt, self._on_bytes
            how = (salt, rows, reader, start, watch, keep_state, on_bytes)
            return read(source, plan.stamp, plan.surroundings, *how)
        except BaseException:
            rows.discard()
            raise

    def _kept_reader(self, known: KnownLog) -> LogReader | None:
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT state FROM reader_states WHERE log_id = ? AND parser_version = ?",
                [known.log_id, PARSER_VERSION],
            ).fetchone()
        return None if row is None else reader_state.unpack(row[0])

    def _note_known(self, number: int, source: Source, plan: Plan) -> None:
        """A log that is in the store already, perhaps under another path."""
        assert plan.known is not None
        self._write_group()  # the log may be one that waits
        log_id, stamp = plan.known.log_id, plan.stamp
        lines = plan.known.lines if plan.lines is None else plan.lines
        if not self._knowledge.lies_at(source, stamp, log_id):
            with self._database.writing() as connection:
                run_transaction(
                    connection,
                    lambda: write_source(connection, source.path, stamp.size, stamp.mtime_ns, log_id, lines),
                )
            self._knowledge.expect_path(source, stamp, log_id, lines)
        runs = self._knowledge.runs_of(log_id, plan.lines)
        self._done[number] = IngestedPath(source.word, IngestStatus.KNOWN, runs)

    def _is_due(self) -> bool:
        return bool(self._waiting) and (
            len(self._waiting) >= GROUP_LOGS
            or sum(waiting.log.new_bytes for waiting in self._waiting) >= GROUP_BYTES
            or time.monotonic() - self._waiting_since >= GROUP_SECONDS
        )

    def _write_group(self) -> None:
        """Writes what waits: all in one transaction, or one by one where a log's knowledge is stale."""
        if not self._waiting:
            return
        group, self._waiting = self._waiting, []
        stale: list[_Waiting] = []
        try:
            with self._database.writing() as connection, interrupts_wait():
                connection.execute("SET threads = 1")  # cheaper, and the rows pack better
                if self._database.path is not None:
                    connection.execute(f"SET memory_limit = '{_WRITER_MEMORY}MB'")
                if not self._write(connection, group):
                    stale = [each for each in group if not self._write(connection, [each])]
                if self._database.path is not None:
                    self._newest_failure = newest_failure(connection)
        finally:
            for waiting in group:
                waiting.log.rows.discard()
        for waiting in stale:
            self._retries[waiting.number] = self._retries.get(waiting.number, 0) + 1
            if self._retries[waiting.number] > MOST_RETRIES:
                self._done[waiting.number] = IngestedPath(
                    waiting.source.word,
                    IngestStatus.FAILED,
                    message=f"{waiting.source.path}: changes while it is read",
                    hint="take it in again when it rests",
                )
                continue
            self._look_up()
            self._take(waiting.number, waiting.source)
            self._write_group()

    def _write(self, connection: DuckDBPyConnection, group: Sequence[_Waiting]) -> bool:
        """Writes logs in one transaction; False when another process wrote one of them meanwhile."""
        before: dict[str, dict[int, StoredRun]] = {}

        def work() -> None:
            for each in group:
                if each.plan.status is IngestStatus.REREAD:
                    before[each.log_id] = _stored(connection, each.log_id)
            write_logs(
                connection,
                [
                    LogToWrite(each.log, each.log_id, each.plan.known, self._name_of(each.source))
                    for each in group
                ],
                _summary_memory(group) if self._database.path is not None else None,
            )

        try:
            run_transaction(connection, work)
        except StaleKnowledge:
            return False
        for each in group:
            self._note_written(each, before.get(each.log_id, {}))
        return True

    def _note_written(self, waiting: _Waiting, before: Mapping[int, StoredRun]) -> None:
        runs = waiting.log.parsed.runs
        ids = tuple(run_id(waiting.log_id, run.ordinal) for run in runs)
        places = (RunPlace(each, run.first_line, run.last_line) for each, run in zip(ids, runs, strict=True))
        self._knowledge.wrote(waiting.log_id, tuple(places))
        changes = (
            text
            for run, context in zip(runs, waiting.log.contexts, strict=True)
            if run.ordinal in before
            for text in run_changes(before[run.ordinal], run, context)
        )
        longer = waiting.plan.longer
        self._done[waiting.number] = IngestedPath(
            waiting.source.word,
            waiting.plan.status,
            ids,
            new_bytes=waiting.log.new_bytes,
            changes=tuple(changes),
            notes=waiting.log.parsed.notes,
            beginning_of="" if longer is None else self._holder_of(longer).name_of(longer),
            longer_runs=() if longer is None else self._knowledge.runs_of(longer.log_id),
        )

    def _holder_of(self, log: KnownLog) -> Knowledge:
        """Who knows of this log: the store on disk where the one in memory does not hold it."""
        return self._knowledge if self._elder is None or self._knowledge.runs_of(log.log_id) else self._elder

    def _name_of(self, source: Source) -> str:
        """Absolute in a store on disk; as given in memory, where nothing outlives the command."""
        return source.word if self._database.path is None else source.path


def _summary_memory(group: Sequence[_Waiting]) -> int:
    """MB that DuckDB may hold while it sorts the figures of the runs."""
    lines = sum(waiting.log.parsed.lines for waiting in group)
    return _WRITER_MEMORY + 64 * min(lines, 2 * MOST_EXACT) // 1_000_000


def _stored(connection: DuckDBPyConnection, log_id: str) -> dict[int, StoredRun]:
    rows = connection.execute("SELECT ordinal, run_no FROM runs WHERE log_id = ?", [log_id]).fetchall()
    return {ordinal: stored_run(connection, run_no) for ordinal, run_no in rows}
