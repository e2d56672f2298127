"""What the screens ask: each call opens the store, asks one thing and closes it. Runs in workers only.

Raises LogScopeError (a locked store, a run that is gone, a bad query); nothing else is caught here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from logscope.config import state_dir
from logscope.errors import SourceError
from logscope.store.records import ErrorHistory, RunFacts, StoredRun
from logscope.tui.log_file import LogFile
from logscope.tui.rows import Place
from logscope.tui.widgets.evidence import Excerpt

if TYPE_CHECKING:
    from logscope.explain.records import Explanation
    from logscope.store import Store
    from logscope.tui.throughput_view import ThroughputView

ENDED_BADLY = ("failed", "hung", "killed")
"""Outcomes that the Diff screen opens on."""
POINTS = 120
"""Points of a plotted series: more than a terminal has columns for."""


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A query with a name."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class TableColumns:
    """A table or view and its columns (name, type)."""

    name: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SchemaTree:
    """What the SQL screen's tree shows."""

    tables: tuple[TableColumns, ...]
    saved: tuple[SavedQuery, ...]


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """Rows of a query, cut at a limit."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    is_cut: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What came of taking logs in."""

    summary: str
    newest_failed: str | None
    """Run id of the newest run among them that ended badly."""


class Service:
    """Questions about the store at `path`."""

    def __init__(self, path: Path, patience: float = 3.0) -> None:
        self.path = path
        self.patience = patience
        """Seconds to wait for a lock before the old data stay and the holder is named."""

    def runs(self) -> Sequence[RunFacts]:
        """Every run, newest first; () for a store that is not there yet."""
        return self._store().facts() if self.path.exists() else ()

    def explanation(self, bad: str, good: str | None = None) -> Explanation:
        """The diff of `bad` with `good` (None: its baseline), explained."""
        from logscope.compare import compare
        from logscope.explain import explain

        store = self._store()
        failing = store.load(bad)
        return explain(compare(store, failing, store.load(good) if good else None), store)

    def errors(self) -> Sequence[ErrorHistory]:
        """Every error and warning over all runs."""
        return self._store().error_history() if self.path.exists() else ()

    def error_place(self, error: ErrorHistory) -> tuple[Place, StoredRun]:
        """The newest log line with this error, and its run."""
        stored = self._store().load(error.last_run)
        return Place("last", stored.path, error.last_line), stored

    def throughput(self, reference: str, metrics: Sequence[str]) -> ThroughputView:
        """The figures of a run and of its baseline."""
        from logscope.tui.throughput_view import ThroughputView

        store = self._store()
        with store.reading():
            run = store.load(reference)
            base = store.baseline(run.run_id).run_id
            other = store.load(base) if base is not None else None
            mine = tuple(store.series(run.run_id, metric, POINTS) for metric in metrics)
            theirs = tuple(store.series(other.run_id, metric, POINTS) for metric in metrics) if other else ()
            return ThroughputView(run, other, mine, theirs, store.usual(run.run_id))

    def mark(self, run_id: str, verdict: str, note: str) -> None:
        """A person's word on a run."""
        from logscope.store import Store

        Store.open(self.path).mark(run_id, verdict, note)

    # -- SQL --------------------------------------------------------------------------------------

    def schema(self) -> SchemaTree:
        """Tables, views and saved queries."""
        from logscope.store.saved_queries import saved_queries

        tables = self._store().columns_of_tables() if self.path.exists() else ()
        saved = tuple(SavedQuery(query.name, query.sql) for query in saved_queries())
        return SchemaTree(tuple(TableColumns(name, columns) for name, columns in tables), saved)

    def query(self, sql: str, limit: int) -> QueryAnswer:
        """The rows of a read-only query. Raises QueryError."""
        began = monotonic()
        result = self._store().query(sql, limit=limit)
        return QueryAnswer(result.columns, result.rows, result.is_cut, monotonic() - began)

    def export_query(self, sql: str, path: str) -> int:
        """Writes the whole result to a file; its ending says how. Gives the number of rows."""
        return self._store().export_query(sql, Path(path))

    # -- taking in --------------------------------------------------------------------------------

    def ingest(self, paths: Sequence[str], say: Callable[[str], None]) -> TakenIn:
        """Takes the paths in; `say` hears how far it is."""
        from logscope.store import Store

        def progress(path: str, number: int, count: int) -> None:
            say(f"taking in {number} of {count}: {path.rsplit('/', 1)[-1]}")

        store = Store.open(self.path)
        report = store.ingest(paths, progress=progress)
        taken = set(report.runs)
        wanted = [run for run in self.runs() if run.run_id in taken and run.outcome in ENDED_BADLY]
        trouble = f"; {report.failed[0].path}: {report.failed[0].message}" if report.failed else ""
        summary = f"{len(taken)} run(s) of {len(report.paths)} log(s) are in the store{trouble}"
        return TakenIn(summary, wanted[0].run_id if wanted else None)

    def _store(self) -> Store:
        from logscope.store import Store

        return Store.open(self.path, read_only=True, patience=self.patience)

    # -- logs -------------------------------------------------------------------------------------

    def excerpts(self, places: Sequence[Place], around: int) -> tuple[Excerpt, ...]:
        """The lines around each place, read from the logs; a log that is gone is said, not hidden."""
        return tuple(_excerpt(place, around) for place in places)

    # -- writing for the user ---------------------------------------------------------------------

    def markdown(self, explanation: Explanation) -> str:
        """The report that ``logscope diff --format markdown`` gives."""
        from logscope.report.markdown import diff_markdown

        return diff_markdown(explanation)

    def write_copy(self, text: str) -> Path:
        """The copied text in a file, for terminals that do not take it. Raises SourceError."""
        return _write(state_dir() / "copied.txt", text)

    def write_report(self, name: str, text: str) -> Path:
        """A report in the working folder, ``logscope-diff-20261130-1722.md``. Raises SourceError."""
        stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
        return _write(Path.cwd() / f"logscope-{name}-{stamp}.md", text)


def _excerpt(place: Place, around: int) -> Excerpt:
    name = place.path.rsplit("/", 1)[-1]
    title = f"{place.run}  {name}:{place.line}"
    try:
        log = LogFile(Path(place.path))
    except SourceError:
        kept = (place.text,) if place.text else ()
        return Excerpt(title, place.line, kept, place.line, f"{place.path} is not here any more")
    try:
        log.count_to(place.line + around)
        first = max(1, place.line - around)
        last = min(place.line + around, max(log.lines, 1))
        return Excerpt(title, first, tuple(log.line(n) for n in range(first, last + 1)), place.line)
    finally:
        log.close()


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SourceError(f"{path}: cannot be written: {error.strerror}") from error
    return path
