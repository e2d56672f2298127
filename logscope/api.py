"""The Python API, for notebooks and scripts: the store's history as pandas DataFrames and typed records.

    import logscope
    history = logscope.open("logs.duckdb")
    history.runs()[["started_at", "outcome", "root_message"]]
    history.diff("last-failed").causes[0].title

The only module that imports pandas (0.6 s).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logscope.config import default_store_path
from logscope.store import Store
from logscope.store.ingest_report import IngestReport
from logscope.store.records import RunFacts, StoredRun

if TYPE_CHECKING:
    import pandas as pd

    from logscope.explain.records import Explanation

EVERYTHING = 2**31


class History:
    """One store. A run is named by its id, a prefix of one, a path (``PATH#2``), ``last``, ``last-failed``
    ..."""

    def __init__(self, path: str | Path | None = None) -> None:
        """The store at `path` (default: ``LOGSCOPE_DB``, else the user's data directory)."""
        self.store = Store.open(path if path is not None else default_store_path())

    def ingest(
        self,
        *paths: str | Path,
        config_files: Mapping[str, Path] | None = None,
        env_file: Path | None = None,
    ) -> IngestReport:
        """Takes in files, folders and globs; what cannot be read is told in the report."""
        return self.store.ingest(paths, config_files=config_files, env_file=env_file)

    def facts(self) -> Sequence[RunFacts]:
        """Every run as a typed record, newest first."""
        return self.store.facts()

    def load(self, run: str) -> StoredRun:
        """One run with everything that is known of it. Raises RunNotFound."""
        return self.store.load(run)

    def runs(self) -> pd.DataFrame:
        """One row a run, newest first, with the index ``run_id``: the columns of the table ``runs``."""
        frame = self.sql("SELECT * FROM runs ORDER BY order_at DESC NULLS LAST, run_no DESC")
        return frame.set_index("run_id")

    def args(self, run: str) -> pd.DataFrame:
        """The server arguments of a run in the printed order, with the index ``name``."""
        frame = self.sql(
            "SELECT name, text, value, number, raw, is_literal FROM server_args WHERE run_id = ? ORDER BY "
            "position",
            [self._id(run)],
        )
        return frame.set_index("name")

    def batches(self, run: str) -> pd.DataFrame:
        """The Prefill and Decode lines of a run, in line order."""
        return self.sql(
            "SELECT * EXCLUDE (run_no) FROM batches WHERE run_id = ? ORDER BY line", [self._id(run)]
        )

    def requests(self, run: str) -> pd.DataFrame:
        """The access log of a run, in line order."""
        return self.sql(
            "SELECT * EXCLUDE (run_no) FROM requests WHERE run_id = ? ORDER BY line", [self._id(run)]
        )

    def errors(self, run: str | None = None) -> pd.DataFrame:
        """Errors and warnings: of one run, or over all runs (one row a fingerprint, the last seen first)."""
        if run is None:
            return self.sql("SELECT * FROM error_history ORDER BY last_at DESC NULLS LAST, fingerprint")
        return self.sql(
            "SELECT * EXCLUDE (run_no, name, seconds, figures) FROM events "
            "WHERE run_id = ? AND kind <> 'milestone' ORDER BY line",
            [self._id(run)],
        )

    def diff(self, good: str, bad: str | None = None) -> Explanation:
        """What changed from `good` to `bad`, with ranked causes; with one run, its baseline is found."""
        from logscope.compare import compare
        from logscope.explain import explain

        with self.store.reading():
            failing = self.store.load(bad if bad is not None else good)
            base = self.store.load(good) if bad is not None else None
            return explain(compare(self.store, failing, base), self.store)

    def sql(self, query: str, parameters: Sequence[Any] = ()) -> pd.DataFrame:
        """The rows of a read-only query. Whole numbers with gaps become ``Int64``, times ``datetime64``."""
        import pandas as pd

        result = self.store.query(query, parameters, limit=EVERYTHING)
        columns = list(zip(*result.rows, strict=True)) or [()] * len(result.columns)
        series = {
            number: pd.Series(list(values), dtype=_PANDAS_TYPES.get(kind.partition("(")[0], "object"))
            for number, (values, kind) in enumerate(zip(columns, result.types, strict=True))
        }
        frame = pd.DataFrame(series)
        frame.columns = pd.Index(result.columns)
        return frame

    def _id(self, run: str) -> str:
        return self.store.load(run).run_id


_PANDAS_TYPES = {
    "TINYINT": "Int64",
    "SMALLINT": "Int64",
    "INTEGER": "Int64",
    "BIGINT": "Int64",
    "HUGEINT": "float64",
    "FLOAT": "float64",
    "DOUBLE": "float64",
    "DECIMAL": "float64",
    "BOOLEAN": "boolean",
    "TIMESTAMP": "datetime64[us]",
    "VARCHAR": "object",
}
"""DuckDB's type -> pandas' own that keeps gaps; what is not here stays as Python values."""
