"""`Store`: everything that other rooms may ask of a store. Each call opens it, asks, and closes it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from logscope.store.connection import LOCK_PATIENCE, Database
from logscope.store.ingest_report import IngestReport
from logscope.store.queries import ROW_LIMIT, QueryResult, user_query
from logscope.store.records import RunFacts, RunId, StoredRun
from logscope.store.surroundings import GivenFiles


class Store:
    """One store on disk or in memory. Raises StoreError and StoreLocked where the file cannot be used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, path: str | Path, read_only: bool = False, patience: float = LOCK_PATIENCE) -> Store:
        """The store at `path`; touched first when it is asked. `patience`: seconds to wait for a lock."""
        return cls(Database(Path(path).expanduser().absolute(), read_only, patience))

    @classmethod
    def in_memory(cls) -> Store:
        """An empty store that is gone with this object. Its secret masks have no salt: same bytes, same masks."""
        return cls(Database(None))

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
        progress: Any = None,
        jobs: int = 1,
    ) -> IngestReport:
        """Takes in files, folders, globs and ``-``. What cannot be read is told in the report."""
        from logscope.store.ingest import Ingest

        given = GivenFiles(config_files or {}, env_file)
        return Ingest(self._database, given, reparse, progress).run(paths)

    def load(self, reference: str) -> StoredRun:
        """The run that `reference` names (id, unique prefix, path, ``PATH#2``, ``last``,
        ``last-failed``, ``last-ready``). Raises RunNotFound."""
        from logscope.store.rebuild import stored_run
        from logscope.store.references import find_run

        with self._database.reading() as connection:
            return stored_run(connection, find_run(connection, reference))

    def facts(self) -> Sequence[RunFacts]:
        """Every run, newest first."""
        from logscope.store.facts import all_facts

        with self._database.reading() as connection:
            return all_facts(connection)

    def query(self, sql: str, parameters: Sequence[Any] = (), limit: int = ROW_LIMIT) -> QueryResult:
        """The rows of a read-only query that can reach nothing but the store. Raises QueryError."""
        return user_query(self._database, sql, parameters, limit)
