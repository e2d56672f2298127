"""One input read through the parsers, ready to be written to the store."""

from __future__ import annotations

import io
import lzma
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from logscope.context import Context
from logscope.errors import NotALaunchLog, SourceError
from logscope.store import reader_state
from logscope.store.batch_rows import BatchRows
from logscope.store.command_line import launches_server
from logscope.store.identity import HEAD, TAIL, Content, ContentMeter
from logscope.store.masking import masked_context
from logscope.store.recorder import was_abandoned
from logscope.store.sources import STDIN, Source
from logscope.store.surroundings import Surroundings, with_local_configs
from parsers.lazy_dataclass import dataclass, replace
from parsers.log import LogReader
from parsers.outcome import refine
from parsers.reader import open_log, read_blocks
from parsers.records import Conclusion, Outcome, ParsedLog, Run

OnBytes = Callable[[int, int | None], None]
"""Hears (bytes read, bytes of the whole or None) while an input is read."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Size and time of a file on disk; None for standard input and pipes."""

    size: int | None
    mtime_ns: int | None

    @property
    def time(self) -> datetime | None:
        """Local time without zone, as logs print it."""
        return None if self.mtime_ns is None else datetime.fromtimestamp(self.mtime_ns / 1e9)


@dataclass(frozen=True, slots=True)
class ReadLog:
    """A log as read now, whole or from where an earlier ingest stopped."""

    source: Source
    stamp: FileStamp
    content: Content
    parsed: ParsedLog
    contexts: tuple[Context | None, ...]
    """One a run."""
    context_sha256: str | None
    rows: BatchRows
    state: bytes | None
    new_bytes: int
    kept_lines: int | None
    """Where only the bytes after an earlier ingest were read: the last line whose rows do not come again."""
    crc_at: dict[int, int]
    """CRC-32 after each of the sizes of text that were asked for, as far as they were reached."""
    head: bytes
    """The begin of the text."""


def stamp_of(source: Source) -> FileStamp:
    """Size and time of the source now. Raises SourceError."""
    if source.path == STDIN:
        return FileStamp(None, None)
    try:
        facts = Path(source.path).stat()
    except OSError as error:
        raise SourceError(f"{source.word}: cannot be read: {error.strerror}") from error
    return FileStamp(facts.st_size, facts.st_mtime_ns) if S_ISREG(facts.st_mode) else FileStamp(None, None)


def is_packed(source: Source) -> bool:
    """True for compressed files, standard input and pipes: they cannot be read on from a position."""
    if source.is_stream:
        return True
    with opened(source) as stream:
        return type(stream).__module__ not in ("_io", "io")


def opened(source: Source) -> BinaryIO:
    """The source's bytes, decompressed. Raises SourceError."""
    try:
        return open_log(source.path)
    except OSError as error:
        raise SourceError(f"{source.word}: cannot be read: {error.strerror or error}") from error


def read(
    source: Source,
    stamp: FileStamp,
    surroundings: Surroundings,
    salt: bytes,
    rows: BatchRows,
    reader: LogReader | None = None,
    start: Content | None = None,
    watch: Sequence[int] = (),
    keep_state: bool = True,
    on_bytes: OnBytes | None = None,
) -> ReadLog:
    """Reads the source, or what came after `start` when a `reader` that stands there is given.

    `on_bytes` hears now and then how many bytes were read, and of how many (None: packed or piped).
    Raises NotALaunchLog when nothing in it is of an SGLang launch, SourceError when it cannot be read.
    """
    meter = ContentMeter(watch)
    reading = reader or LogReader(salt)
    argv = None if surroundings.context is None else surroundings.context.argv
    if argv and launches_server(argv):
        reading.expect_launch()
    reading.on_batches, reading.on_requests = rows.add_batches, rows.add_requests
    kept_lines = reading.forget_open_line() if reader is not None else None
    try:
        with opened(source) as stream:
            if reader is not None and start is not None:
                _skip_to(stream, start, meter)
            size = stamp.size if isinstance(stream, io.BufferedReader) else None
            for block in read_blocks(stream):
                meter.feed(block)
                reading.feed(block)
                if on_bytes is not None:
                    on_bytes(meter.size, size)
            parsed = reading.result()
            reading.forget_open_line()
    except (OSError, zlib.error, lzma.LZMAError) as error:
        raise SourceError(
            f"{source.word}: cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error
    content = meter.content()
    _must_be_a_launch(source, stamp, parsed, content, meter)
    runs = parsed.runs
    contexts = tuple(
        None if context is None else masked_context(context, salt)
        for context in (
            with_local_configs(each, run)
            for each, run in zip(_contexts(runs, surroundings.context), runs, strict=True)
        )
    )
    is_over = was_abandoned(surroundings.context, stamp.time, datetime.now())
    refined = tuple(_refined(run, context, is_over) for run, context in zip(runs, contexts, strict=True))
    return ReadLog(
        source=source,
        stamp=stamp,
        content=content,
        parsed=replace(parsed, runs=refined),
        contexts=contexts,
        context_sha256=surroundings.sha256,
        rows=rows,
        state=reader_state.pack(reading) if keep_state else None,
        new_bytes=content.size - (start.size if reader is not None and start is not None else 0),
        kept_lines=kept_lines,
        crc_at=meter.crc_at,
        head=meter.head,
    )


def with_kept_contexts(log: ReadLog, kept: Mapping[int, Context], sha256: str | None) -> ReadLog:
    """The log with the contexts (by ordinal) that the store has of its runs, where none lies beside it."""
    runs = log.parsed.runs
    contexts = tuple(kept.get(run.ordinal, context) for run, context in zip(runs, log.contexts, strict=True))
    refined = tuple(_refined(run, context) for run, context in zip(runs, contexts, strict=True))
    return replace(log, parsed=replace(log.parsed, runs=refined), contexts=contexts, context_sha256=sha256)


def _skip_to(stream: BinaryIO, start: Content, meter: ContentMeter) -> None:
    head = stream.read(min(start.size, 2 * HEAD))
    stream.seek(max(0, start.size - TAIL))
    tail = stream.read(min(start.size, TAIL))
    meter.continue_from(head, tail, start)


def _must_be_a_launch(
    source: Source, stamp: FileStamp, parsed: ParsedLog, content: Content, meter: ContentMeter
) -> None:
    if content.size == 0 and stamp.size:
        raise SourceError(f"{source.word}: cannot be read: nothing comes out of this archive")
    if parsed.is_sglang:
        return
    if content.size == 0:
        raise NotALaunchLog(f"{source.word}: empty")
    if b"\0" in meter.head and parsed.encoding.startswith("utf-8"):
        raise NotALaunchLog(f"{source.word}: binary, not a log")
    raise NotALaunchLog(
        f"{source.word}: nothing of an SGLang launch in it", "give the log of 'sglang.launch_server'"
    )


def _contexts(runs: Sequence[Run], context: Context | None) -> tuple[Context | None, ...]:
    """The context goes to the launch that it was written for: the only one, the one of its time, else the
    last."""
    if context is None or not runs:
        return tuple(None for _ in runs)
    chosen = len(runs) - 1
    if len(runs) > 1 and context.start_time is not None:
        starts = [
            (abs((run.started_at - context.start_time).total_seconds()), number)
            for number, run in enumerate(runs)
            if run.started_at is not None
        ]
        nearest = min(starts, default=(None, chosen))
        if nearest[0] is not None and nearest[0] < 600:
            chosen = nearest[1]
    return tuple(context if number == chosen else None for number in range(len(runs)))


def _refined(run: Run, context: Context | None, is_over: bool = False) -> Run:
    """Outcome and reason with what only the surroundings tell: how the process ended, and when.

    `is_over`: the recorder is gone without having written an end.
    """
    if context is None:
        return run
    conclusion = Conclusion(run.outcome, run.ready, run.stage, run.reason, run.root_error, run.events)
    outcome, reason = refine(
        conclusion, context.exit_code, context.exit_signal, context.start_time, context.end_time, run.ended_at
    )
    if outcome is Outcome.RUNNING and context.start_time is not None and context.end_time is None:
        last = "" if run.ended_at is None else f"; last line at {run.ended_at:%Y-%m-%d %H:%M:%S}"
        if is_over:
            outcome = Outcome.KILLED
            reason = f"its recorder was killed, and wrote no end of it; {conclusion.reason}"
        reason += last
    return replace(run, outcome=outcome, reason=reason)
