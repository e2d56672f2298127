"""What the screens ask: each call opens the store, asks one thing and closes it. Runs in workers only.

Raises LogScopeError (a locked store, a run that is gone, a bad query); nothing else is caught here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from logscope.config import state_dir
from logscope.errors import LogScopeError, SourceError
from logscope.tui.excerpt import Excerpt
from logscope.tui.log_file import size_of
from logscope.tui.logs import Logs
from logscope.tui.rows import Place
from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:  # the records cost as much as the first paint; every question imports what it needs
    from logscope.explain.records import Explanation
    from logscope.store import Store
    from logscope.store.headline import Headline
    from logscope.store.queries import Started
    from logscope.store.records import ErrorHistory, RunFacts, RunId, Series, StoredRun
    from logscope.tui.throughput_view import ThroughputView

POINTS = 120
"""Points of a plotted series: more than a terminal has columns for."""
MOST_WATCHED = 500
"""Logs that are looked at for growth: the newest."""
SMALL_LOG = 1 << 25
"""Bytes up to which lines are simply counted."""

_SOURCES = (
    "SELECT path, file_size FROM sources WHERE is_current AND file_size IS NOT NULL "
    "ORDER BY seen_at DESC, path"
)
_ENDS = (
    "SELECT l.bytes_read, l.lines FROM sources s JOIN logs l USING (log_id) "
    "WHERE s.path = ? AND s.is_current AND NOT coalesce(l.newest_first, false)"
)


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


class Service:
    """Questions about the store at `path`."""

    def __init__(self, path: Path, patience: float = 3.0) -> None:
        self.path = path
        self.patience = patience
        """Seconds to wait for a lock before the old data stay and the holder is named."""
        self.logs = Logs(self._known_end)

    def runs(self) -> Sequence[RunFacts]:
        """Every run, newest first; () for a store that is not there yet."""
        return self._store().facts() if self.path.exists() else ()

    def explanation(self, bad: str, good: str | None = None) -> Explanation:
        """The diff of `bad` with `good` (None: its baseline), explained."""
        from logscope.compare import compare
        from logscope.explain import explain

        store = self._store()
        with store.reading():  # opening it costs more than each of the questions
            failing = store.load(bad)
            return explain(compare(store, failing, store.load(good) if good else None), store)

    def headline(self, bad: str) -> Headline:
        """How `bad` ended, for as long as it is not explained."""
        return self._store().headline(bad)

    def errors(self) -> Sequence[ErrorHistory]:
        """Every error and warning over all runs."""
        return self._store().error_history() if self.path.exists() else ()

    def error_place(self, error: ErrorHistory) -> tuple[Place, StoredRun]:
        """The newest log line with this error, and its run."""
        stored = self._store().load(error.last_run)
        return Place("last", stored.path, error.last_line), stored

    def error_end(self, error: ErrorHistory) -> tuple[str, ...]:
        """What made an error go away, as far as later good runs of the same setup tell."""
        from logscope.explain.bearing import what_bears

        seen = self._store().seen_before(error.fingerprint, None)  # type: ignore[arg-type]
        run = self._store().load(error.last_run).run if seen.fixed_by else None
        if run is not None and run.root_error is not None and run.root_error.fingerprint == error.fingerprint:
            seen = what_bears(seen, run)
        if seen.fixed_in is None:
            nothing = "no good run of a setup with it came after: nothing has ended it yet"
            return (nothing,) if error.ended_runs else ()
        if not seen.fixed_by:
            return (f"went away in run {seen.fixed_in}, without a change that bears on it",)
        words = (f"  {word}" for word in seen.fixed_by)
        return (f"went away in run {seen.fixed_in}, which differs in:", *words)

    def throughput(self, reference: str, metrics: Sequence[str]) -> ThroughputView:
        """The figures of a run and of its baseline."""
        from logscope.compare.metrics import metric_changes
        from logscope.compare.peers import peers_of
        from logscope.tui.throughput_view import ThroughputView

        store = self._store()
        with store.reading():
            run = store.load(reference)
            base = store.baseline(run.run_id).run_id
            other = store.load(base) if base is not None else None
            mine = tuple(store.series(run.run_id, metric, POINTS) for metric in metrics)
            theirs = tuple(store.series(other.run_id, metric, POINTS) for metric in metrics) if other else ()
            usual = store.usual(run.run_id)
            judged = metric_changes(run, other, peers_of(store, run, other)) if other is not None else ()
            moved = frozenset(row.metric for row in judged if row.is_significant)
            return ThroughputView(run, other, mine, theirs, usual, _buckets(store, usual.runs), moved)

    def series(self, run_id: RunId, points: int) -> Series:
        """Decode tokens/s of a run over time."""
        return self._store().series(run_id, "gen_throughput", points)

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

    def query(self, sql: str, limit: int, started: Started | None = None) -> QueryAnswer:
        """The rows of a read-only query; `started` hears how to stop it. Raises QueryError."""
        began = monotonic()
        result = self._store().query(sql, limit=limit, started=started)
        return QueryAnswer(result.columns, result.rows, result.is_cut, monotonic() - began)

    def row_count(self, sql: str, started: Started | None = None) -> int:
        """Rows that the query gives when nothing cuts it. Raises QueryError."""
        counted = self._store().query(f"SELECT count(*) FROM ({sql.rstrip().rstrip(';')}\n)", started=started)
        return int(counted.rows[0][0])

    def export_query(self, sql: str, path: str, started: Started | None = None) -> int:
        """Writes the whole result to a file; its ending says how. Gives the number of rows."""
        return self._store().export_query(sql, Path(path).expanduser(), started=started)

    # -- logs and their growth --------------------------------------------------------------------

    def changed_logs(self) -> tuple[str, ...]:
        """Of the newest logs those that are longer now than when the store took them in."""
        if not self.path.exists():
            return ()
        rows = self._store().query(_SOURCES, limit=MOST_WATCHED).rows
        return tuple(path for path, size in rows if size_of(path) > size)

    def running_logs(self) -> tuple[str, ...]:
        """The logs of runs that are still being written, as far as the store knows."""
        if not self.path.exists():
            return ()
        return tuple(run.path for run in self.runs()[:MOST_WATCHED] if run.outcome == "running")

    def excerpts(self, places: Sequence[Place], around: int) -> tuple[Excerpt, ...]:
        """The lines around each place, read from the logs; a log that is gone is said, not hidden."""
        return self.logs.excerpts(places, around)

    def _known_end(self, path: str) -> tuple[int, int] | None:
        """Bytes and lines that the store has of a large log: then its end need not be counted up to."""
        if size_of(path) < SMALL_LOG or not self.path.exists():
            return None
        try:
            rows = self._store().query(_ENDS, [str(Path(path).absolute())], limit=1).rows
        except LogScopeError:  # a locked store is no reason not to show a log
            return None
        return (int(rows[0][0]), int(rows[0][1])) if rows else None

    def _store(self) -> Store:
        from logscope.store import Store

        return Store.open(self.path, read_only=True, patience=self.patience)

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


def _buckets(store: Store, runs: Sequence[RunId]) -> tuple[tuple[int, float, float, float], ...]:
    """(running requests, lowest, middle and highest median) over these runs."""
    rows = store.query(
        "SELECT running, min(median), median(median), max(median) FROM throughput_buckets "
        "WHERE list_contains(?, run_id) GROUP BY running ORDER BY running",
        [list(runs)],
    ).rows
    return tuple((int(row[0]), float(row[1]), float(row[2]), float(row[3])) for row in rows)


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SourceError(f"{path}: cannot be written: {error.strerror}") from error
    return path
