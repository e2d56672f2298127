"""What to do with an input, from what the store holds: new, known, grown, replaced or to be read again."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from logscope.store import identity
from logscope.store.identity import Content
from logscope.store.ingest_report import IngestStatus
from logscope.store.loading import KnownLog
from logscope.store.reading import FileStamp, ReadLog, is_packed, opened
from logscope.store.records import RunId
from logscope.store.sources import Source
from logscope.store.surroundings import Surroundings
from parsers.lazy_dataclass import dataclass, replace
from parsers.records import PARSER_VERSION

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with one input."""

    status: IngestStatus
    known: KnownLog | None
    """The log that it repeats, continues or is read again for."""
    stamp: FileStamp
    surroundings: Surroundings
    candidates: tuple[KnownLog, ...] = ()
    """Logs that a packed or piped input may repeat: it can only be compared while it is read."""

    @property
    def keeps_context(self) -> bool:
        """False when another context file or other files by hand have to be applied to the whole log."""
        sha256 = self.surroundings.sha256
        return self.known is not None and (sha256 is None or sha256 == self.known.context_sha256)


class Knowledge:
    """What the store holds, as of one moment."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        salt = connection.execute("SELECT value FROM meta WHERE key = 'salt'").fetchone()
        self.salt = bytes.fromhex(salt[0]) if salt is not None else b""
        logs = connection.execute(
            "SELECT log_id, content_key, bytes_read, crc32, tail_sha256, parser_version, context_sha256 "
            "FROM logs"
        ).fetchall()
        sources = connection.execute(
            "SELECT path, log_id, file_size, file_mtime_ns FROM sources WHERE is_current"
        ).fetchall()
        self._runs: dict[str, tuple[RunId, ...]] = {}
        for log_id, run in connection.execute("SELECT log_id, run_id FROM runs ORDER BY ordinal").fetchall():
            self._runs[log_id] = (*self._runs.get(log_id, ()), RunId(run))
        self._logs = {str(row[0]): KnownLog(*row) for row in logs}
        self._at_path = {str(row[0]): (str(row[1]), FileStamp(row[2], row[3])) for row in sources}

    def plan(self, source: Source, stamp: FileStamp, surroundings: Surroundings, reparse: bool) -> Plan:
        """What to do; reads no more of the file than its head and what tells it from known logs."""
        here, here_stamp = self._here(source)
        if here is not None and here_stamp == stamp:
            return self._again(Plan(IngestStatus.KNOWN, here, stamp, surroundings), reparse)
        if is_packed(source):
            return Plan(IngestStatus.NEW, None, stamp, surroundings, tuple(self._logs.values()))
        with opened(source) as stream:
            key = identity.content_key(stream.read(identity.HEAD))
        alike = [log for log in self._logs.values() if log.content_key == key or log is here]
        size = stamp.size or 0
        for known in _largest_first(alike):
            if known.size <= size and identity.begins_with(Path(source.path), content_of(known)):
                status = IngestStatus.GROWN if known.size < size else IngestStatus.KNOWN
                return self._again(Plan(status, known, stamp, surroundings), reparse)
        return Plan(self._fresh(source), None, stamp, surroundings)

    def settled(self, plan: Plan, source: Source, log: ReadLog, reparse: bool) -> Plan:
        """The plan for a packed or piped input, now that its bytes are known."""
        for known in _largest_first(plan.candidates):
            if log.crc_at.get(known.size) == known.crc32:
                status = IngestStatus.KNOWN if known.size == log.content.size else IngestStatus.GROWN
                return self._again(replace(plan, status=status, known=known), reparse)
        return plan if plan.known is not None else replace(plan, status=self._fresh(source))

    def id_for(self, log: ReadLog, known: KnownLog | None) -> str:
        """The id under which the log is, or will be, in the store."""
        if known is not None:
            return known.log_id
        ids = (identity.log_id(log.content, taken) for taken in count())
        return next(each for each in ids if each not in self._logs)

    def expect(self, source: Source, log: ReadLog, log_id: str) -> None:
        """Takes note of a log that is about to be written, so that its copies are recognised."""
        content = log.content
        self._logs[log_id] = KnownLog(
            log_id, content.key, content.size, content.crc32, content.tail_sha256, PARSER_VERSION,
            log.context_sha256,
        )  # fmt: skip
        self.expect_path(source, log.stamp, log_id)

    def expect_path(self, source: Source, stamp: FileStamp, log_id: str) -> None:
        """Takes note that the log lies under this path."""
        if not source.is_stream:
            self._at_path[source.path] = (log_id, stamp)

    def runs_of(self, log_id: str) -> tuple[RunId, ...]:
        """The runs of a log that the store holds."""
        return self._runs.get(log_id, ())

    def wrote(self, log_id: str, runs: tuple[RunId, ...]) -> None:
        """Takes note of a log's runs, now that they are written."""
        self._runs[log_id] = runs

    def lies_at(self, source: Source, stamp: FileStamp, log_id: str) -> bool:
        """True when the store has this path with just this stamp (a stream has none)."""
        return source.is_stream or self._at_path.get(source.path) == (log_id, stamp)

    def _here(self, source: Source) -> tuple[KnownLog | None, FileStamp | None]:
        if source.is_stream or source.path not in self._at_path:
            return None, None
        log_id, stamp = self._at_path[source.path]
        return self._logs.get(log_id), stamp

    def _fresh(self, source: Source) -> IngestStatus:
        return IngestStatus.NEW if self._here(source)[0] is None else IngestStatus.REPLACED

    def _again(self, plan: Plan, reparse: bool) -> Plan:
        """A known log is read again when that is asked for, or when its context has changed."""
        if plan.status is IngestStatus.KNOWN and (reparse or not plan.keeps_context):
            return replace(plan, status=IngestStatus.REREAD)
        return plan


def content_of(known: KnownLog) -> Content:
    """Identity of the bytes that the store has taken in of this log."""
    return Content(known.content_key, known.size, known.crc32, known.tail_sha256)


def _largest_first(logs: Iterable[KnownLog]) -> list[KnownLog]:
    return sorted(logs, key=lambda log: -log.size)
