"""What to do with an input, from what the store holds: new, known, grown, replaced or to be read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from logscope.errors import SourceError
from logscope.store import identity
from logscope.store.identity import Content, ContentMeter
from logscope.store.ingest_report import IngestStatus
from logscope.store.loading import KnownLog
from logscope.store.reading import FileStamp, ReadLog, is_packed, opened
from logscope.store.recorder import was_abandoned
from logscope.store.records import RunId
from logscope.store.sources import Source
from logscope.store.surroundings import Surroundings
from parsers.lazy_dataclass import dataclass, replace
from parsers.reader import read_blocks
from parsers.records import PARSER_VERSION

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BeginningsAt = Callable[[int, int], Sequence[str]]
"""The ids of the logs of which the first so many bytes of text have this CRC at the end of a line."""


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where in its log a run stands."""

    run_id: RunId
    first_line: int
    last_line: int


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
    lines: int | None = None
    """Of a known log: how many of its lines the input holds; None for all."""
    reads_on: bool = False
    """A grown file can be read on from where an earlier ingest stopped."""
    is_cut: bool = False
    """The input ends inside of a launch of the known log."""
    longer: KnownLog | None = None
    """The log of which the input is the beginning, where it is read by itself."""

    @property
    def keeps_context(self) -> bool:
        """False when another context file or other files by hand have to be applied to the whole log."""
        sha256 = self.surroundings.sha256
        return self.known is not None and (sha256 is None or sha256 == self.known.context_sha256)

    @property
    def is_part(self) -> bool:
        """The input is a copy of the known log's beginning."""
        is_shorter = self.known is not None and self.lines is not None and self.lines < self.known.lines
        return is_shorter or self.is_cut


class Knowledge:
    """What the store holds, as of one moment."""

    def __init__(self, connection: DuckDBPyConnection, beginnings_at: BeginningsAt) -> None:
        salt = connection.execute("SELECT value FROM meta WHERE key = 'salt'").fetchone()
        self.salt = bytes.fromhex(salt[0]) if salt is not None else b""
        logs = connection.execute(
            "SELECT log_id, content_key, bytes_read, crc32, tail_sha256, parser_version, context_sha256, "
            "coalesce(text_size, bytes_read), coalesce(text_crc32, crc32), encoding, lines, "
            "log_id IN (SELECT log_id FROM runs WHERE ordinal = 1 AND server_args_complete) FROM logs"
        ).fetchall()
        sources = connection.execute(
            "SELECT path, log_id, file_size, file_mtime_ns, lines FROM sources WHERE is_current"
        ).fetchall()
        self._runs: dict[str, tuple[RunPlace, ...]] = {}
        self._homes: set[tuple[str, str]] = set()
        """(path, log) where a run of the log is named by that path."""
        self._starts: dict[str, datetime] = {}
        """When the launch of a log began by its context file: of two with the same text, which one it is."""
        for log_id, path, start, run, *lines in connection.execute(
            "SELECT log_id, path, context_start, run_id, first_line, last_line FROM runs ORDER BY ordinal"
        ).fetchall():
            self._runs[log_id] = (*self._runs.get(log_id, ()), RunPlace(RunId(run), *lines))
            self._homes.add((path, log_id))
            if start is not None:
                self._starts[log_id] = start
        self._logs: dict[str, KnownLog] = {}
        self._by_key: dict[str, list[str]] = {}
        self._without_args: set[str] = set()
        """Short logs without an args line: when they have grown, they have another key."""
        for *row, has_args in logs:
            self._add(KnownLog(*row), has_args)
        self._unended = {
            str(log_id)
            for (log_id,) in connection.execute(
                "SELECT log_id FROM runs "
                "WHERE outcome = 'running' AND context_start IS NOT NULL AND context_end IS NULL"
            ).fetchall()
        }
        """Logs with a launch whose recording has begun and not ended."""
        self._at_path = {str(row[0]): (str(row[1]), FileStamp(row[2], row[3]), row[4]) for row in sources}
        self._beginnings_at = beginnings_at
        self._new_beginnings: dict[tuple[int, int], list[str]] = {}

    @property
    def logs(self) -> tuple[KnownLog, ...]:
        """Every log."""
        return tuple(self._logs.values())

    def plan(self, source: Source, stamp: FileStamp, surroundings: Surroundings, reparse: bool) -> Plan:
        """What to do; parses nothing, and reads no more of the file than what tells it from known logs."""
        here, here_stamp, lines = self._here(source)
        if here is not None and self._is_other_launch(here, stamp, surroundings, here):
            here = None
        packed = is_packed(source)
        if here is not None and here_stamp == stamp and (packed or here.size <= (stamp.size or 0)):
            is_cut = self._is_cut(here, lines)
            known = Plan(IngestStatus.KNOWN, here, stamp, surroundings, lines=lines, is_cut=is_cut)
            return self._again(known, reparse)
        if packed:
            return Plan(IngestStatus.NEW, None, stamp, surroundings, self.logs)
        with opened(source) as stream:
            head = identity.head_of(stream.read(2 * identity.HEAD))
        alike = self._of_this_launch(self._alike(head, here), stamp, surroundings, here)
        plan = self._continued(source, stamp, surroundings, alike)
        if plan is None and (alike or not identity.has_args(head)):
            content, crc_at, lines = _measured(source, [known.text_size for known in alike])
            plan = self._same_text(
                Plan(IngestStatus.NEW, None, stamp, surroundings), source, content, crc_at, head, alike, lines
            )
        if plan is None:
            return Plan(self._fresh(source), None, stamp, surroundings)
        return self._again(plan, reparse)

    def _continued(
        self, source: Source, stamp: FileStamp, surroundings: Surroundings, alike: Iterable[KnownLog]
    ) -> Plan | None:
        """The plan for a file that begins with all bytes of a known log."""
        size = stamp.size or 0
        for known in alike:
            if known.size <= size and identity.begins_with(Path(source.path), content_of(known)):
                status = IngestStatus.GROWN if known.size < size else IngestStatus.KNOWN
                reads_on = known.encoding.startswith("utf-8")  # no other decoder's state is kept
                return Plan(status, known, stamp, surroundings, lines=known.lines, reads_on=reads_on)
        return None

    def _same_text(
        self,
        plan: Plan,
        source: Source,
        content: Content,
        crc_at: dict[int, int],
        head: bytes,
        candidates: Iterable[KnownLog],
        lines: int,
    ) -> Plan | None:
        """The plan for a text that repeats or continues a known one, or is its beginning."""
        here = self._here(source)[0]
        candidates = self._of_this_launch(candidates, plan.stamp, plan.surroundings, here)
        longer = self._of_this_launch(self._longer_ones(content, head), plan.stamp, plan.surroundings, here)
        found = self._recognised(source, crc_at, head, candidates, longer)
        if found is None:
            return None
        status = IngestStatus.GROWN if found.text_size < content.text_size else IngestStatus.KNOWN
        is_cut = found.text_size > content.text_size and (
            lines >= found.lines or self._is_cut(found, lines)  # in its last line, or before
        )
        return replace(plan, status=status, known=found, lines=min(lines, found.lines), is_cut=is_cut)

    def _is_cut(self, known: KnownLog, lines: int | None) -> bool:
        """True when the log's first so many lines end inside of one of its launches."""
        runs = self._runs.get(known.log_id, ())
        return lines is not None and any(run.first_line <= lines < run.last_line for run in runs)

    def settled(self, plan: Plan, source: Source, log: ReadLog, reparse: bool) -> Plan:
        """The plan for a packed or piped input, now that its bytes are known."""
        if plan.known is not None:
            return plan
        lines = log.parsed.lines
        found = self._same_text(plan, source, log.content, log.crc_at, log.head, plan.candidates, lines)
        return replace(plan, status=self._fresh(source)) if found is None else self._again(found, reparse)

    def by_itself(self, plan: Plan, source: Source) -> Plan:
        """The plan for reading what lies at this path, and nothing that the store holds beyond it: neither
        the rest of a longer log, nor what was recorded beside another copy."""
        if plan.known is None:
            return plan
        if plan.is_cut:
            return replace(
                plan, status=self._fresh(source), known=None, lines=None, is_cut=False, longer=plan.known
            )
        if plan.status is IngestStatus.GROWN and not self.is_home(source, plan.known):
            return replace(plan, status=self._fresh(source), known=None, lines=None)  # two texts, two answers
        is_bare = plan.surroundings.sha256 is None and plan.known.context_sha256 is not None
        if plan.status is IngestStatus.KNOWN and not plan.is_part and is_bare:
            return plan if self.is_home(source, plan.known) else replace(plan, status=IngestStatus.REREAD)
        return plan

    def is_home(self, source: Source, known: KnownLog) -> bool:
        """True when the log's runs are named by this path."""
        return (source.path, known.log_id) in self._homes

    def name_of(self, known: KnownLog) -> str:
        """A path under which the log lies; the id of its first run where it has none."""
        paths = sorted(path for path, (log_id, *_) in self._at_path.items() if log_id == known.log_id)
        home = next((path for path in paths if (path, known.log_id) in self._homes), None)
        return home or next(iter(paths), "") or next(map(str, self.runs_of(known.log_id)), "")

    def id_for(self, log: ReadLog, known: KnownLog | None, others: Knowledge | None = None) -> str:
        """The id under which the log is, or will be, in the store, and which no log of `others` has."""
        if known is not None:
            return known.log_id
        taken = self._logs.keys() | (others._logs.keys() if others is not None else set())
        ids = (identity.log_id(log.content, number) for number in count())
        return next(each for each in ids if each not in taken)

    def expect(self, source: Source, log: ReadLog, log_id: str) -> None:
        """Takes note of a log that is about to be written, so that its copies are recognised."""
        content, lines = log.content, log.parsed.lines
        known = KnownLog(
            log_id, content.key, content.size, content.crc32, content.tail_sha256, PARSER_VERSION,
            log.context_sha256, content.text_size, content.text_crc32, log.parsed.encoding, lines,
        )  # fmt: skip
        self._add(known, any(run.server_args_complete for run in log.parsed.runs[:1]))
        starts = [context.start_time for context in log.contexts if context is not None]
        self._starts.update((log_id, start) for start in starts if start is not None)
        for place in content.line_sums:
            self._new_beginnings.setdefault(place, []).append(log_id)
        self.expect_path(source, log.stamp, log_id, lines)

    def expect_path(self, source: Source, stamp: FileStamp, log_id: str, lines: int) -> None:
        """Takes note that the log's first lines lie under this path."""
        if not source.is_stream:
            self._at_path[source.path] = (log_id, stamp, lines)

    def runs_of(self, log_id: str, lines: int | None = None) -> tuple[RunId, ...]:
        """The runs of a log that the store holds; of its first so many lines where that is asked for."""
        runs = self._runs.get(log_id, ())
        return tuple(run.run_id for run in runs if lines is None or run.first_line <= lines)

    def wrote(self, log_id: str, runs: Sequence[RunPlace]) -> None:
        """Takes note of a log's runs, now that they are written."""
        self._runs[log_id] = tuple(runs)

    def lies_at(self, source: Source, stamp: FileStamp, log_id: str) -> bool:
        """True when the store has this path with just this stamp (standard input has none)."""
        return source.is_stream or self._at_path.get(source.path, ())[:2] == (log_id, stamp)

    def _add(self, log: KnownLog, has_args: bool) -> None:
        before = self._logs.get(log.log_id)
        if before is not None:
            self._by_key[before.content_key].remove(log.log_id)
        self._logs[log.log_id] = log
        self._by_key.setdefault(log.content_key, []).append(log.log_id)
        if has_args or log.text_size > identity.HEAD:
            self._without_args.discard(log.log_id)
        else:
            self._without_args.add(log.log_id)

    def _here(self, source: Source) -> tuple[KnownLog | None, FileStamp | None, int | None]:
        if source.is_stream or source.path not in self._at_path:
            return None, None, None
        log_id, stamp, lines = self._at_path[source.path]
        return self._logs.get(log_id), stamp, lines

    def _alike(self, head: bytes, here: KnownLog | None) -> list[KnownLog]:
        """Logs that this may be or continue: of the same head, those whose whole text it begins with, and
        the one that lay here."""
        own = [] if here is None else [here]
        ids = dict.fromkeys(self._by_key.get(identity.content_key(head), ()))
        short = [self._logs[log_id] for log_id in self._without_args] + own
        sums = identity.crc_at_sizes(head, [log.text_size for log in short])
        begun = [log for log in short if sums.get(log.text_size) == log.text_crc32]
        ids |= {log.log_id: None for log in begun if identity.is_telling(head[: log.text_size])}
        ids |= {log.log_id: None for log in own}
        return [self._logs[log_id] for log_id in ids]

    def _recognised(
        self,
        source: Source,
        crc_at: dict[int, int],
        head: bytes,
        candidates: Iterable[KnownLog],
        longer: Iterable[KnownLog],
    ) -> KnownLog | None:
        """The log that this text repeats or continues, or of which it is the beginning."""
        here = self._here(source)[0]
        for known in candidates:
            if crc_at.get(known.text_size) == known.text_crc32 and (
                known is here or identity.is_telling(head[: known.text_size])
            ):
                return known
        is_telling = identity.is_telling(head)
        return next((known for known in longer if known is here or is_telling), None)

    def _longer_ones(self, content: Content, head: bytes) -> list[KnownLog]:
        """Known logs that begin with this text."""
        same_key = self._by_key.get(content.key, ())
        if identity.has_args(head) and not same_key:
            return []  # all that begins so has the same key
        if content.summed_all and content.line_sums:  # a line without its end cannot be compared
            place = content.line_sums[-1]
            ids = {*self._beginnings_at(*place), *self._new_beginnings.get(place, ())}
            found = [self._logs[log_id] for log_id in ids if log_id in self._logs]
        else:
            found = [self._logs[log_id] for log_id in same_key]
            found = [log for log in found if self._file_begins_with(log, content)]
        return [log for log in found if log.text_size > content.text_size]

    def _of_this_launch(
        self,
        logs: Iterable[KnownLog],
        stamp: FileStamp,
        surroundings: Surroundings,
        here: KnownLog | None,
    ) -> list[KnownLog]:
        """Without those that another launch wrote; the largest first, of the same size the one that lay here,
        the one that began at this very time, and the newest."""
        start = _start_of(surroundings)
        own = [log for log in logs if not self._is_other_launch(log, stamp, surroundings, here)]
        own.sort(key=lambda log: self._starts.get(log.log_id, datetime.min), reverse=True)
        return sorted(
            own, key=lambda log: (-log.size, log is not here, self._starts.get(log.log_id, start) != start)
        )

    def _is_other_launch(
        self, log: KnownLog, stamp: FileStamp, surroundings: Surroundings, here: KnownLog | None = None
    ) -> bool:
        """True when both starts are known and differ, be the text the same: a failure in the arguments prints
        no time. A file that grew has a second launch, with a context of its own."""
        start, known = _start_of(surroundings), self._starts.get(log.log_id)
        if not log.text_size and log is not here:
            return start is None or start != known  # nothing but the start tells one empty log from another
        has_grown = log is here and log.log_id not in self._without_args and (stamp.size or 0) > log.size
        return start is not None and known is not None and start != known and not has_grown

    def _file_begins_with(self, log: KnownLog, content: Content) -> bool:
        """True when a file that is known to hold the log begins with this content."""
        paths = [Path(path) for path, (log_id, *_) in self._at_path.items() if log_id == log.log_id]
        try:
            return any(
                path.is_file() and path.stat().st_size > content.size and identity.begins_with(path, content)
                for path in paths
            )
        except OSError:
            return False

    def _fresh(self, source: Source) -> IngestStatus:
        return IngestStatus.NEW if self._here(source)[0] is None else IngestStatus.REPLACED

    def _again(self, plan: Plan, reparse: bool) -> Plan:
        """A known log is read again when that is asked for, when its context has changed, or when nobody will
        write the end of a launch that seemed to run."""
        if plan.status is not IngestStatus.KNOWN or plan.known is None or plan.is_part:
            return plan
        is_over = plan.known.log_id in self._unended and was_abandoned(
            plan.surroundings.context, plan.stamp.time, datetime.now()
        )
        again = reparse or is_over or not plan.keeps_context
        return replace(plan, status=IngestStatus.REREAD) if again else plan


def content_of(known: KnownLog) -> Content:
    """Identity of the bytes that the store has taken in of this log."""
    return Content(
        known.content_key, known.size, known.crc32, known.tail_sha256, known.text_size, known.text_crc32
    )


def _measured(source: Source, watch: Sequence[int]) -> tuple[Content, dict[int, int], int]:
    """Content, CRC after each of the sizes of text, and number of lines of a plain file."""
    meter = ContentMeter(watch)
    lines = 0
    last = b"\n"
    try:
        with opened(source) as stream:
            for block in read_blocks(stream):
                meter.feed(block)
                lines += block.count(b"\n")
                last = block[-1:]
    except OSError as error:
        raise SourceError(f"{source.word}: cannot be read: {error.strerror or error}") from error
    return meter.content(), meter.crc_at, lines + (last != b"\n")


def _start_of(surroundings: Surroundings) -> datetime | None:
    return None if surroundings.context is None else surroundings.context.start_time
