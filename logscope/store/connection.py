"""Short connections to one store: who may open it, how long others wait, and what is said when they can't.

DuckDB lets one process write or many read, never both. So every question opens, asks and closes;
a lock held elsewhere is tried again with jitter for some seconds, then the holder is named. Nothing
outside this package may import duckdb.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from logscope.errors import StoreError, StoreLocked
from logscope.notices import tell
from logscope.store import schema
from parsers.lazy_pattern import lazy_re

if TYPE_CHECKING:  # duckdb costs 0.13 s to import
    from duckdb import DuckDBPyConnection

LOCK_PATIENCE = 15.0
"""Seconds for which a held lock is tried again; a writer holds it for tenths of a second."""
LOCK_SILENCE = 1.0
"""Seconds of waiting after which it is told who is waited for."""

_HOLDER = lazy_re(r"\(PID (\d+)\)")
_IN_PROCESS: dict[Path, threading.RLock] = {}
_IN_PROCESS_GUARD = threading.Lock()


class Database:
    """One store file, or one store in memory (`path` None)."""

    def __init__(self, path: Path | None, read_only: bool = False, patience: float = LOCK_PATIENCE) -> None:
        self.path = path
        self.read_only = read_only
        self.patience = patience
        self._held: DuckDBPyConnection | None = None
        self._held_writes = False
        self._depth = 0
        self._is_ours = False
        self.memory: dict[tuple[str, ...], Any] = {}
        """Answers that hold while the connection is open: nobody else writes meanwhile."""
        self._turn = _turn_of(path)
        self.beside: Database | None = None
        """For a store in memory: the one on disk, whose ids the logs have."""
        self.is_copy = False
        """This store in memory began as a copy of the one beside it."""

    def exists(self) -> bool:
        """True when there is something to read."""
        return self.path is None or (self.path.exists() and self.path.stat().st_size > 0)

    @contextmanager
    def reading(self) -> Iterator[DuckDBPyConnection]:
        """A connection for questions. Nested uses share it, so wrap several questions in one."""
        with self._turn:
            self._depth += 1
            try:
                yield self._connection(writes=False)
            except Exception as error:
                self._translate(error)
            finally:
                self._depth -= 1
                self._release()

    @contextmanager
    def writing(self, creates: bool = False) -> Iterator[DuckDBPyConnection]:
        """A connection that may write; `creates` makes the store when it is missing. Not a transaction."""
        if self.read_only:
            raise StoreError(f"{self.path}: opened for reading only")
        with self._turn:
            if self._held is not None and not self._held_writes:
                self._close()
            self.memory.clear()
            self._depth += 1
            try:
                if not creates and not self.exists():
                    raise _missing(self.path)
                yield self._connection(writes=True)
            except Exception as error:
                self._translate(error)
            finally:
                self._depth -= 1
                if self.path is not None:
                    self._close()
                self._release()

    @contextmanager
    def alone(self) -> Iterator[DuckDBPyConnection]:
        """A connection without a store of its own, to which this one is attached as ``old`` and locked."""
        from logscope.store.engine import engine as duckdb

        with self._turn:
            self._close()
            connection = _silent(duckdb.connect(":memory:", config=dict(_SETTINGS)))
            try:
                place = str(self.path).replace("'", "''")
                self._patiently(lambda: connection.execute(f"ATTACH '{place}' AS old"))
                yield connection
            except Exception as error:
                self._translate(error)
            finally:
                connection.close()

    def beginnings_at(self, size: int, crc32: int) -> list[str]:
        """Ids of the logs whose first `size` bytes of text end a line and have this CRC."""
        with self.reading() as connection:
            rows = connection.execute(
                "SELECT log_id FROM beginnings WHERE size = ? AND crc32 = ?", [size, crc32]
            ).fetchall()
        own = [str(row[0]) for row in rows]
        return own + self.beside.beginnings_at(size, crc32) if self.is_copy and self.beside else own

    def close(self) -> None:
        """Lets go of a store in memory; a file is never held between calls."""
        self._close()

    def _connection(self, writes: bool) -> DuckDBPyConnection:
        if self._held is None or (writes and not self._held_writes):
            self._held, self._held_writes = self._open(writes), writes or self.path is None
        return self._held

    def _release(self) -> None:
        if self._depth == 0 and self.path is not None:
            self._close()

    def _close(self) -> None:
        self.memory.clear()
        if self._held is not None:
            held, self._held, self._held_writes = self._held, None, False
            held.close()

    def _open(self, writes: bool) -> DuckDBPyConnection:
        from logscope.store.engine import engine as duckdb

        if self.path is None:
            connection = _silent(duckdb.connect(":memory:", config=dict(_SETTINGS)))
            schema.create(connection, is_kept=False)
            return connection
        if not self.exists():
            if not writes:
                raise StoreError(
                    f"{self.path}: no store there", "take in logs with 'logscope ingest PATH...'"
                )
            self._create(self.path)
        connection = self._connect(read_only=not writes)
        if self._is_ours and writes:
            return connection
        try:
            version = schema.version_of(connection, self.path)
        except BaseException:
            connection.close()
            raise
        self._is_ours = True
        if version == schema.VERSION:
            return connection
        connection.close()
        self._migrate()
        return self._connect(read_only=not writes)

    def _create(self, path: Path) -> None:
        """Builds the new store beside its place and links it there, so that nobody sees half of one."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._build(path)
        except OSError as error:
            raise StoreError(f"{path}: no store can be made there: {error.strerror or error}") from error

    def _build(self, path: Path) -> None:
        from logscope.store.engine import engine as duckdb

        half = path.with_name(f".{path.name}.new-{os.getpid()}-{threading.get_ident()}")
        try:
            connection = duckdb.connect(":memory:")
            try:
                place = str(half).replace("'", "''")
                connection.execute(f"ATTACH '{place}' AS fresh (STORAGE_VERSION '{schema.STORAGE_VERSION}')")
                connection.execute("USE fresh")
                schema.create(connection)
                connection.execute("CHECKPOINT fresh")
            finally:
                connection.close()
            if path.exists() and path.stat().st_size == 0:
                half.replace(path)
            else:
                _link(half, path)
        finally:
            remove_database(half)

    def _migrate(self) -> None:
        """Brings an older store forward; also for readers, who could not use it otherwise."""
        connection = self._connect(read_only=False)
        try:
            schema.migrate(connection, self.path)
        finally:
            connection.close()

    def _connect(self, read_only: bool) -> DuckDBPyConnection:
        from logscope.store.engine import engine as duckdb

        return self._patiently(
            lambda: _silent(duckdb.connect(str(self.path), read_only=read_only, config=dict(_SETTINGS)))
        )

    def _patiently(self, attempt: Callable[[], DuckDBPyConnection]) -> DuckDBPyConnection:
        """Tries again while another process holds the lock. Raises StoreLocked at last."""
        from logscope.store.engine import engine as duckdb

        began = time.monotonic()
        pause = 0.01
        has_told = False
        while True:
            try:
                return attempt()
            except duckdb.Error as error:
                if not _is_lock(error):
                    raise
                waited = time.monotonic() - began
                if waited >= self.patience:
                    raise _locked(self.path, error) from None
                if waited >= LOCK_SILENCE and not has_told:
                    has_told = True
                    who = _holder(error)
                    tell(f"{self.path}: {who} holds the store; waiting up to {self.patience:.0f} s")
            import random  # with its hashes 3 ms

            time.sleep(pause * (0.5 + random.random()))
            pause = min(pause * 1.5, 0.2)

    def _translate(self, error: Exception) -> NoReturn:
        """DuckDB's errors about the file become StoreError; all others go on as they are."""
        from logscope.store.engine import engine as duckdb

        text = " ".join(str(error).split())
        if type(error) is RuntimeError and text == "Query interrupted":
            raise KeyboardInterrupt from error  # what DuckDB makes of Ctrl-C while it works
        if not isinstance(error, duckdb.Error):
            raise error
        if "not a valid DuckDB database" in text or "sqlite_scanner" in text:  # wanted for SQLite's
            raise StoreError(
                f"{self.path}: not a LogScope store (no DuckDB file)", "give another --db"
            ) from error
        about_file = (duckdb.IOException, duckdb.FatalException, duckdb.TransactionException)
        if isinstance(error, about_file):
            raise StoreError(f"{self.path}: {_plain(text)}", "the store keeps what it had") from error
        raise error


_SETTINGS: tuple[tuple[str, str], ...] = (("autoinstall_known_extensions", "false"),)
"""Settings of every connection: all processes must use the same ones. Nothing is fetched from a network."""


def _silent(connection: DuckDBPyConnection) -> DuckDBPyConnection:
    """On a terminal DuckDB draws the progress of a long query on standard output, where only results stand.

    It is no setting that can be given with the others.
    """
    connection.execute("SET enable_progress_bar = false")
    return connection


def run_transaction(connection: DuckDBPyConnection, work: Callable[[], None]) -> None:
    """Runs `work` wholly or not at all."""
    connection.execute("BEGIN")
    try:
        work()
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise


def _roll_back(connection: DuckDBPyConnection) -> None:
    from logscope.store.engine import engine as duckdb

    try:
        connection.execute("ROLLBACK")
    except duckdb.Error:  # a failed commit has already ended it, or the disk is full: the file is as before
        return


def remove_database(path: Path) -> None:
    """Removes a database file and the log that DuckDB keeps beside it."""
    path.unlink(missing_ok=True)
    path.with_name(path.name + ".wal").unlink(missing_ok=True)


def _turn_of(path: Path | None) -> threading.RLock:
    """One lock a store and process: DuckDB refuses to open a file for reading and writing at once."""
    if path is None:
        return threading.RLock()
    with _IN_PROCESS_GUARD:
        return _IN_PROCESS.setdefault(path.absolute(), threading.RLock())


def _link(half: Path, path: Path) -> None:
    try:
        path.hardlink_to(half)
    except FileExistsError:
        return  # another process was faster; its store is as good
    except OSError:  # a file system without hard links
        if not path.exists():
            half.replace(path)


def _missing(path: Path | None) -> StoreError:
    return StoreError(f"{path}: no store there", "take in logs with 'logscope ingest PATH...'")


def _is_lock(error: Exception) -> bool:
    text = str(error)
    return "Could not set lock" in text or "different configuration" in text


def _locked(path: Path | None, error: Exception) -> StoreLocked:
    return StoreLocked(f"{path}: {_holder(error)} holds the store", "try again when it is done")


def _holder(error: Exception) -> str:
    """Who holds the lock, as far as DuckDB's error and the system tell."""
    holder = _HOLDER.search(str(error))
    if holder is None:
        return "another process"
    pid = holder.group(1)
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        command = " ".join(word.decode(errors="replace") for word in words if word)[:120]
    except OSError:
        command = ""
    return f"process {pid}" + (f" ({command})" if command else "")


def _plain(text: str) -> str:
    text = re.sub(r"^(IO|FATAL|TransactionContext) Error: ", "", text)
    return text if len(text) <= 300 else text[:300] + "…"
