"""Writes one log that was read into the tables, in one transaction: all of it or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from logscope.store import throughput
from logscope.store.columns import TableRows
from logscope.store.identity import run_id
from logscope.store.marks import put_marks_back
from logscope.store.reading import ReadLog
from logscope.store.run_rows import Place, RunTables, zone_of
from parsers.lazy_dataclass import dataclass
from parsers.records import PARSER_VERSION

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SMALL_TABLES = (
    "runs", "server_args", "env", "model_configs", "model_files", "packages", "host_facts", "events",
    "tracebacks",
    "stages",
)  # fmt: skip
"""Tables whose rows of a run are written anew when its log has grown."""
BATCH_TABLES = (
    "decode_lines", "prefill_lines", "batch_extras", "batch_ranks", "access_lines", "access_kinds",
    "throughput_buckets",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class KnownLog:
    """A log as the store holds it."""

    log_id: str
    content_key: str
    size: int
    crc32: int
    tail_sha256: str
    parser_version: int
    context_sha256: str | None
    text_size: int
    text_crc32: int
    encoding: str
    lines: int


class StaleKnowledge(Exception):
    """Another process wrote this log since it was looked up; look again."""


@dataclass(frozen=True, slots=True)
class LogToWrite:
    """A log that was read, and where it goes."""

    log: ReadLog
    log_id: str
    known: KnownLog | None
    """The log as it was in the store when it was looked up; None for a new one."""
    path: str
    """Path for its runs, where the log has none in the store yet."""


def write_logs(
    connection: DuckDBPyConnection, logs: Sequence[LogToWrite], summary_memory: int | None = None
) -> None:
    """Writes new logs, or the newer states of known ones, with one statement a table.

    `summary_memory`: MB that DuckDB may hold from when the runs' figures are sorted; None leaves its limit.
    Call it inside a transaction. Raises StaleKnowledge when the store does not hold what a log's `known`
    says.
    """
    zone = _zone(connection)
    tables = RunTables()
    places = [_old_places(connection, each.log_id) for each in logs]
    rooms = [_make_room(connection, each) for each in logs]
    numbers_of = [numbers for numbers, _ in rooms]
    old_runs = [run_no for _, old in rooms for run_no in old]
    for each, numbers, old_places in zip(logs, numbers_of, places, strict=True):
        _add_runs(tables, each, numbers, old_places, zone)
    _delete(connection, old_runs, with_batches=False)
    for numbers, each in zip(numbers_of, logs, strict=True):
        ids = {number: (run_no, str(run_id(each.log_id, number))) for number, run_no in numbers.items()}
        each.log.rows.insert(connection, ids)
    for table in tables.all():
        table.insert(connection)
    run_nos = [run_no for numbers in numbers_of for run_no in numbers.values()]
    put_marks_back(connection, run_nos)
    if summary_memory is not None:
        connection.execute(f"SET memory_limit = '{summary_memory}MB'")
    throughput.summarise(connection, run_nos, old_runs)
    for each in logs:
        _write_log_row(connection, each.log, each.log_id, each.known)
        if not each.log.source.is_stream:
            stamp, lines = each.log.stamp, each.log.parsed.lines
            write_source(connection, each.log.source.path, stamp.size, stamp.mtime_ns, each.log_id, lines)
    _write_beginnings(connection, logs)


def _make_room(connection: DuckDBPyConnection, each: LogToWrite) -> tuple[dict[int, int], list[int]]:
    """Ordinal -> run_no of the log's runs, and the old ones of them, with the batch rows gone that come
    again."""
    _must_be_as_known(connection, each.log_id, each.known)
    if each.known is None:
        numbers: dict[int, int] = {}
    else:
        rows = connection.execute(
            "SELECT ordinal, run_no FROM runs WHERE log_id = ?", [each.log_id]
        ).fetchall()
        numbers = {int(ordinal): int(run_no) for ordinal, run_no in rows}
    if each.log.kept_lines is not None:
        _delete_later_lines(connection, list(numbers.values()), each.log.kept_lines)
    elif numbers:
        _delete(connection, list(numbers.values()), with_batches=True)
    old = list(numbers.values())
    for run in each.log.parsed.runs:
        if run.ordinal not in numbers:
            numbers[run.ordinal] = _next_number(connection)
    return numbers, old


def write_source(
    connection: DuckDBPyConnection,
    path: str,
    size: int | None,
    mtime_ns: int | None,
    log_id: str,
    lines: int,
) -> None:
    """Notes that the first `lines` of the log lie under this path; another log there before is no longer
    current."""
    now = _now()
    connection.execute(
        "UPDATE sources SET is_current = false WHERE path = ? AND log_id <> ? AND is_current", [path, log_id]
    )
    seen = connection.execute(
        "UPDATE sources SET file_size = ?, file_mtime_ns = ?, is_current = true, seen_at = ?, lines = ? "
        "WHERE path = ? AND log_id = ? RETURNING path",
        [size, mtime_ns, now, lines, path, log_id],
    ).fetchall()
    if not seen:
        connection.execute(
            "INSERT INTO sources (path, log_id, file_size, file_mtime_ns, is_current, added_at, seen_at, "
            "lines) VALUES (?, ?, ?, ?, true, ?, ?, ?)",
            [path, log_id, size, mtime_ns, now, now, lines],
        )


def delete_runs(connection: DuckDBPyConnection, run_nos: Sequence[int]) -> None:
    """Removes the runs from every table but notes; logs without a run left go, too."""
    _delete(connection, run_nos, with_batches=True)
    connection.execute("DELETE FROM logs WHERE log_id NOT IN (SELECT log_id FROM runs)")
    connection.execute("DELETE FROM sources WHERE log_id NOT IN (SELECT log_id FROM logs)")
    for table in ("reader_states", "beginnings"):
        connection.execute(f"DELETE FROM {table} WHERE log_id NOT IN (SELECT log_id FROM logs)")


def _must_be_as_known(connection: DuckDBPyConnection, log_id: str, known: KnownLog | None) -> None:
    row = connection.execute(
        "SELECT bytes_read, crc32, parser_version, context_sha256 FROM logs WHERE log_id = ?", [log_id]
    ).fetchone()
    expected = (
        None if known is None else (known.size, known.crc32, known.parser_version, known.context_sha256)
    )
    if row != expected:
        raise StaleKnowledge(log_id)


def _delete(connection: DuckDBPyConnection, run_nos: Sequence[int], with_batches: bool) -> None:
    if not run_nos:
        return
    for table in SMALL_TABLES + (BATCH_TABLES if with_batches else ()):
        connection.execute(
            f"DELETE FROM {table} WHERE run_no IN (SELECT unnest(?::INTEGER[]))", [list(run_nos)]
        )


def _delete_later_lines(connection: DuckDBPyConnection, run_nos: Sequence[int], line: int) -> None:
    """Removes the rows of the line that was not complete yet: it is read again."""
    for table in ("decode_lines", "prefill_lines", "batch_extras", "access_lines"):
        connection.execute(
            f"DELETE FROM {table} WHERE line > ? AND run_no IN (SELECT unnest(?::INTEGER[]))",
            [line, list(run_nos)],
        )


def _next_number(connection: DuckDBPyConnection) -> int:
    row = connection.execute("SELECT nextval('run_numbers')").fetchone()
    assert row is not None
    return int(row[0])


def _add_runs(
    tables: RunTables,
    each: LogToWrite,
    numbers: Mapping[int, int],
    old_places: Mapping[int, tuple[str, int]],
    zone: timedelta,
) -> None:
    log = each.log
    for run, context in zip(log.parsed.runs, log.contexts, strict=True):
        own_zone = zone_of(run, context)
        path, last_line = old_places.get(run.ordinal, (each.path, 0))
        place = Place(
            run_no=numbers[run.ordinal],
            run_id=run_id(each.log_id, run.ordinal),
            log_id=each.log_id,
            path=path if run.last_line <= last_line else each.path,  # an older file holds a part of it only
            fallback_time=log.stamp.time,
            zone=zone if own_zone is None else own_zone,
        )
        tables.add(run, context, place)


def _old_places(connection: DuckDBPyConnection, log_id: str) -> dict[int, tuple[str, int]]:
    """Ordinal -> path and last line of the log's runs as they stand in the store."""
    rows = connection.execute(
        "SELECT ordinal, path, last_line FROM runs WHERE log_id = ?", [log_id]
    ).fetchall()
    return {int(ordinal): (str(path), int(last_line)) for ordinal, path, last_line in rows}


def _zone(connection: DuckDBPyConnection) -> timedelta:
    """Printed times minus UTC of the newest run that tells it; zero when none does."""
    row = connection.execute(
        "SELECT started_at, context_start FROM runs "
        "WHERE started_at IS NOT NULL AND context_start IS NOT NULL ORDER BY run_no DESC LIMIT 1"
    ).fetchone()
    if row is None:
        return timedelta(0)
    quarters = round((row[0] - row[1]) / timedelta(minutes=15))
    return timedelta(minutes=15 * quarters) if abs(quarters) <= 60 else timedelta(0)


def _write_log_row(connection: DuckDBPyConnection, log: ReadLog, log_id: str, known: KnownLog | None) -> None:
    content, parsed, now = log.content, log.parsed, _now()
    facts = [
        content.key, content.size, content.text_size, content.text_crc32, parsed.lines, content.crc32,
        content.tail_sha256, parsed.encoding,
        parsed.newest_first, list(parsed.notes), PARSER_VERSION, log.context_sha256, now,
    ]  # fmt: skip
    if known is None:
        connection.execute(
            "INSERT INTO logs (content_key, bytes_read, text_size, text_crc32, lines, crc32, tail_sha256, "
            "encoding, newest_first, notes, parser_version, context_sha256, updated_at, log_id, ingested_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [*facts, log_id, now],
        )
    else:
        connection.execute(
            "UPDATE logs SET content_key = ?, bytes_read = ?, text_size = ?, text_crc32 = ?, lines = ?, "
            "crc32 = ?, tail_sha256 = ?, encoding = ?, newest_first = ?, notes = ?, parser_version = ?, "
            "context_sha256 = ?, updated_at = ? WHERE log_id = ?",
            [*facts, log_id],
        )
    if known is not None:
        connection.execute("DELETE FROM reader_states WHERE log_id = ?", [log_id])
    if log.state is not None:
        connection.execute("INSERT INTO reader_states VALUES (?, ?, ?)", [log_id, PARSER_VERSION, log.state])


def _write_beginnings(connection: DuckDBPyConnection, logs: Sequence[LogToWrite]) -> None:
    rows = TableRows("beginnings", "log_id:s size:i crc32:i")
    for each in logs:
        if each.known is not None and each.log.kept_lines is None:  # read as a whole
            connection.execute("DELETE FROM beginnings WHERE log_id = ?", [each.log_id])
        for size, crc in each.log.content.line_sums:
            rows.add(each.log_id, size, crc)
    rows.insert(connection)


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
