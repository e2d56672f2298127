"""`Store`: everything that other rooms may ask of a store. Each call opens it, asks, and closes it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logscope.store.connection import LOCK_PATIENCE, Database
from logscope.store.queries import ROW_LIMIT, QueryResult, Started, export_query, user_query
from logscope.store.records import (
    Baseline,
    Contrast,
    ErrorHistory,
    Mark,
    RunFacts,
    RunId,
    Seen,
    Series,
    SetupSpread,
    StoredRun,
)
from parsers.records import Json

if TYPE_CHECKING:
    from logscope.store.headline import Headline
    from logscope.store.ingest import OnDone, Progress
    from logscope.store.ingest_report import IngestReport
    from logscope.store.overview import TableNote
    from logscope.store.pruning import Pruned, PruneRule
    from logscope.store.reading import OnBytes
    from logscope.store.run_filter import RunFilter
    from logscope.store.surroundings import GivenFiles
    from logscope.store.value_history import ErrorPast, ValueSpan


class Store:
    """One store on disk or in memory. Raises StoreError and StoreLocked where the file cannot be used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, path: str | Path, read_only: bool = False, patience: float = LOCK_PATIENCE) -> Store:
        """The store at `path`; touched first when it is asked. `patience`: seconds to wait for a lock."""
        return cls(Database(Path(path).expanduser().absolute(), read_only, patience))

    @classmethod
    def in_memory(cls, beside: str | Path | None = None) -> Store:
        """An empty store that is gone with this object. Its secret masks have no salt: same bytes, same
        masks. `beside` is a store on disk (which need not exist): logs that it knows have the same ids."""
        database = Database(None)
        if beside is not None:
            database.beside = Database(Path(beside).expanduser().absolute(), read_only=True, patience=0.0)
        return cls(database)

    @classmethod
    def copy_in_memory(cls, path: str | Path) -> Store:
        """A store in memory that knows the runs of the one at `path` (without their batch and access
        rows)."""
        from logscope.store.overlay import copied

        return cls(copied(Path(path).expanduser().absolute()))

    @property
    def path(self) -> Path | None:
        """The file; None in memory."""
        return self._database.path

    def exists(self) -> bool:
        """True when there is a store to read."""
        return self._database.exists()

    def close(self) -> None:
        """Frees a store in memory."""
        self._database.close()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Holds one connection over several questions: opening costs more than most answers.

        Writers wait meanwhile, so never hold it while waiting for a person.
        """
        with self._database.reading():
            yield

    def ingest(
        self,
        paths: Sequence[str | Path],
        *,
        config_files: Mapping[str, Path] | None = None,
        env_file: Path | None = None,
        reparse: bool = False,
        progress: Progress | None = None,
        on_bytes: OnBytes | None = None,
        jobs: int = 1,
        on_done: OnDone | None = None,
        by_itself: bool = False,
    ) -> IngestReport:
        """Takes in files, folders, globs and ``-``. What cannot be read is told in the report.

        `progress` hears which input comes next, `on_bytes` how far it is, `on_done` what is in the store or
        cannot be (also where the call is interrupted afterwards); `jobs` logs are read at a time.
        `by_itself`: a log that is the beginning of a known one is a run of its own, and a copy of one has no
        other context than what lies beside it.
        """
        from logscope.store.ingest import Ingest
        from logscope.store.surroundings import GivenFiles

        given = GivenFiles(config_files or {}, env_file)
        ingest = Ingest(self._database, given, reparse, progress, on_bytes, jobs, on_done, by_itself)
        return ingest.run(paths)

    def load(self, reference: str) -> StoredRun:
        """The run that `reference` names (id, unique prefix, path, ``PATH#2``, ``last``,
        ``last-failed``, ``last-ready``). Raises RunNotFound."""
        from logscope.store.rebuild import stored_run
        from logscope.store.references import find_run

        with self._database.reading() as connection:
            return stored_run(connection, find_run(connection, reference))

    def load_all(self, references: Sequence[str]) -> Sequence[StoredRun]:
        """The runs that the references name, in their order; cheaper than one `load` for each."""
        from logscope.store.rebuild import stored_runs
        from logscope.store.references import find_run

        with self._database.reading() as connection:
            return stored_runs(connection, [find_run(connection, one) for one in references])

    def with_given(self, stored: StoredRun, given: GivenFiles) -> StoredRun:
        """A run of this store with files given by hand in place of what was recorded; nothing is written.

        Raises SourceError for an unreadable file.
        """
        from dataclasses import replace

        from logscope.store.masking import masked_context
        from logscope.store.surroundings import with_given

        context, contents = with_given(stored.context, given)
        if context is None or not contents:
            return stored
        with self._database.reading() as connection:
            salt = connection.execute("SELECT value FROM meta WHERE key = 'salt'").fetchone()
        return replace(stored, context=masked_context(context, bytes.fromhex(salt[0]) if salt else b""))

    def headline(self, reference: str) -> Headline:
        """How the run that `reference` names ended; a tenth of `load`. Raises RunNotFound."""
        from logscope.store.headline import headline_of
        from logscope.store.references import find_run

        with self._database.reading() as connection:
            return headline_of(connection, find_run(connection, reference))

    def facts(self) -> Sequence[RunFacts]:
        """Every run, newest first."""
        from logscope.store.facts import all_facts

        with self._database.reading() as connection:
            return all_facts(connection)

    def query(
        self,
        sql: str,
        parameters: Sequence[Any] = (),
        limit: int = ROW_LIMIT,
        started: Started | None = None,
    ) -> QueryResult:
        """The rows of a read-only query that can reach nothing but the store. Raises QueryError.

        `started` is called with a function that stops the query, callable from another thread.
        """
        return user_query(self._database, sql, parameters, limit, started)

    def export_query(
        self, sql: str, path: Path, file_format: str | None = None, started: Started | None = None
    ) -> int:
        """Writes a query's whole result to a parquet, csv, json or jsonl file; gives the number of rows."""
        return export_query(self._database, sql, path, file_format, started)

    def baseline(self, run_id: RunId) -> Baseline:
        """The last successful comparable run before `run_id`; never raises for lack of one."""
        from logscope.store.baseline import find_baseline

        with self._database.reading() as connection:
            return find_baseline(connection, run_id, self._database.memory)

    def error_history(self) -> Sequence[ErrorHistory]:
        """Every error and warning over all runs, what ended most runs first."""
        from logscope.store.overview import error_history

        with self._database.reading() as connection:
            return error_history(connection)

    def columns_of_tables(self) -> Sequence[tuple[str, tuple[tuple[str, str], ...]]]:
        """(table or view, its (column, type) pairs)."""
        from logscope.store.overview import columns_of_tables

        with self._database.reading() as connection:
            return columns_of_tables(connection)

    def seen_before(self, fingerprint: str, run_id: RunId) -> Seen:
        """What runs before `run_id` say of this fingerprint."""
        from logscope.store.past import seen_before

        with self._database.reading() as connection:
            return seen_before(connection, fingerprint, run_id, self._database.memory)

    def contrast(self, run_id: RunId, kind: str, name: str, value: Json, fingerprint: str) -> Contrast:
        """How often ``kind`` (``arg``, ``env``, ``config`` with name ``draft.KEY``, ``version``) `name`
        had `value` in the failures with `fingerprint` and in the successes of the same setup."""
        from logscope.store.past import contrast

        with self._database.reading() as connection:
            return contrast(connection, run_id, kind, name, value, fingerprint, self._database.memory)

    def usual(self, run_id: RunId, before: bool = True) -> SetupSpread:
        """The spread of the good runs of the same setup, those before `run_id` only by default."""
        from logscope.store.past import usual

        with self._database.reading() as connection:
            return usual(connection, run_id, before, self._database.memory)

    def series(self, run_id: RunId, metric: str, points: int = 240) -> Series:
        """A batch column of the run over time, in at most `points` equal slices. Raises QueryError."""
        from logscope.store.series import thinned_series

        with self._database.reading() as connection:
            return thinned_series(connection, run_id, metric, points)

    def mark(self, reference: str, verdict: str, note: str = "") -> Mark:
        """A person's word on a run: ``good``, ``bad`` or ``skip``. Raises RunNotFound."""
        from logscope.store.connection import run_transaction
        from logscope.store.marks import add_mark
        from logscope.store.references import find_run

        with self._database.writing() as connection:
            number = find_run(connection, reference)
            marks: list[Mark] = []
            run_transaction(connection, lambda: marks.append(add_mark(connection, number, verdict, note)))
            return marks[0]

    def runs(self, wanted: RunFilter | None = None) -> Sequence[RunFacts]:
        """The runs that fit a filter, newest first."""
        from logscope.store.run_filter import RunFilter, filtered_runs

        with self._database.reading() as connection:
            return filtered_runs(connection, wanted or RunFilter())

    def tables(self) -> Sequence[TableNote]:
        """Tables and views with what they mean and how many rows the tables have."""
        from logscope.store.overview import table_notes

        with self._database.reading() as connection:
            return table_notes(connection)

    def prune(self, rule: PruneRule, now: datetime, only_tell: bool = False) -> Pruned:
        """Drops the runs that fit the rule, keeps notes, and compacts the file; `only_tell` drops nothing."""
        from logscope.store.pruning import prune

        return prune(self._database, rule, now, only_tell)

    def argument_history(self, name: str) -> Sequence[ValueSpan]:
        """Spans of equal values of a server argument, by deployment. Raises RunNotFound."""
        from logscope.store.value_history import argument_history

        with self._database.reading() as connection:
            return argument_history(connection, name)

    def env_history(self, name: str) -> Sequence[ValueSpan]:
        """Spans of equal values of an environment variable, by deployment. Raises RunNotFound."""
        from logscope.store.value_history import env_history

        with self._database.reading() as connection:
            return env_history(connection, name)

    def error_past(self, words: str) -> Sequence[ErrorPast]:
        """The errors of this fingerprint or with these words, with the runs they stand in. Raises
        RunNotFound."""
        from logscope.store.value_history import error_history_of

        with self._database.reading() as connection:
            return error_history_of(connection, words)

    def export(
        self, folder: Path, file_format: str, reference: str | None = None
    ) -> Sequence[tuple[Path, int]]:
        """Writes every table (of one run where `reference` names one) to a file each; (file, rows) of
        them."""
        from logscope.store.exporting import export_tables

        return export_tables(self._database, folder, file_format, reference)
