"""Batch and request rows of one log on their way from the parser to the store.

They wait in memory, and beyond a bound in a DuckDB file beside the store, so that the store's lock is
held only for the copy and a huge log does not fill the memory.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsers.records import BatchBlock, RequestBlock
from parsers.rules.batches import BATCH_COLUMNS, DECODE

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection

    Columns = dict[str, np.ndarray[Any, Any]]

ROW_GROUP = 122_880
"""Rows that DuckDB packs together; smaller inserts cost more and pack worse."""
IN_MEMORY = 1_000_000
"""Rows that wait in memory (about 100 MB at most) before a file beside the store takes them."""

_PLACE = ("line", "at", "rank", "kind", "other")
_COUNTS = tuple(name for name, kind in BATCH_COLUMNS.items() if kind == "int64" and name not in _PLACE)


_PAUSE_SEEN, _DECODE_SEEN = 1, 2


@dataclass(frozen=True, slots=True)
class _Block:
    """Rows with one run and one set of codes."""

    table: str
    ordinal: int
    columns: Columns
    codes: tuple[Any, ...]
    rows: int


class BatchRows:
    """Callbacks for the log reader, and the rows that they gathered."""

    def __init__(self, folder: Path | None = None, continues: bool = False) -> None:
        """`folder` is where a big log's rows wait (the store's); None keeps all in memory."""
        self._folder = folder
        self._at_start = _DECODE_SEEN if continues else _PAUSE_SEEN
        self._waiting: list[_Block] = []
        self._rows = 0
        self._spilled: Path | None = None
        self._last_seen: dict[tuple[int, str], int] = {}

    def add_batches(self, block: BatchBlock) -> None:
        """Takes prefill and decode rows; columns without any value are dropped at once."""
        columns = {name: column for name, column in block.columns.items() if _says_something(name, column)}
        rows = len(block.columns["line"])
        if rows:
            columns["after_idle"] = self._after_idle(block)
            self._add(_Block("batches", block.ordinal, columns, block.ranks, rows))

    def add_requests(self, block: RequestBlock) -> None:
        """Takes access-log rows."""
        rows = len(block.columns["line"])
        if rows:
            self._add(_Block("requests", block.ordinal, dict(block.columns), block.tails, rows))

    def discard(self) -> None:
        """Forgets all rows and removes the file beside the store."""
        self._waiting.clear()
        if self._spilled is not None:
            self._spilled.unlink(missing_ok=True)
            self._spilled.with_name(self._spilled.name + ".wal").unlink(missing_ok=True)
            self._spilled = None

    def insert(self, connection: DuckDBPyConnection, runs: Mapping[int, tuple[int, str]]) -> None:
        """Copies the rows of all runs (ordinal -> run_no, run_id) into the store's tables."""
        if self._spilled is None:
            for block in _gathered(self._waiting):
                _insert(connection, "", block, runs.get(block.ordinal))
            return
        self._spill()
        place = str(self._spilled).replace("'", "''")
        connection.execute(f"ATTACH '{place}' AS waiting (READ_ONLY)")
        for table in ("batches", "requests"):
            for ordinal, (run_no, run_id) in runs.items():
                connection.execute(
                    f"INSERT INTO {table} SELECT * REPLACE (? AS run_no, ? AS run_id) "
                    f"FROM waiting.{table} WHERE run_no = ?",
                    [run_no, run_id, ordinal],
                )

    def _after_idle(self, block: BatchBlock) -> np.ndarray[Any, Any]:
        """Which decode lines follow a pause: a prefill that met no running request came since the one before.

        A run read on from where an earlier ingest stopped begins as if a decode line stood there.
        """
        import numpy as np

        kind, running = block.columns["kind"], block.columns["running_req"]
        weight = np.where(kind == DECODE, _DECODE_SEEN, np.where(running == 0, _PAUSE_SEEN, 0))
        after = np.zeros(len(kind), dtype=np.int8)
        for code in np.unique(block.columns["rank"]):
            rows = np.flatnonzero((block.columns["rank"] == code) & (weight > 0))
            if not len(rows):
                continue
            key = (block.ordinal, block.ranks[code] if block.ranks else "")
            before = np.concatenate(([self._last_seen.get(key, self._at_start)], weight[rows[:-1]]))
            after[rows] = (weight[rows] == _DECODE_SEEN) & (before == _PAUSE_SEEN)
            self._last_seen[key] = int(weight[rows[-1]])
        return after

    def _add(self, block: _Block) -> None:
        self._waiting.append(block)
        self._rows += block.rows
        if self._folder is not None and self._rows >= IN_MEMORY:
            self._spill()

    def _spill(self) -> None:
        """Moves what waits in memory to the file beside the store."""
        import duckdb

        if self._spilled is None:
            assert self._folder is not None
            handle, name = tempfile.mkstemp(
                prefix=f".logscope-{os.getpid()}-", suffix=".waiting", dir=self._folder
            )
            os.close(handle)
            self._spilled = Path(name)
            self._spilled.unlink()
            fresh = True
        else:
            fresh = False
        connection = duckdb.connect(str(self._spilled), config={"threads": 1})
        try:
            if fresh:
                _create_waiting_tables(connection)
            for block in _gathered(self._waiting):
                _insert(connection, "", block, (block.ordinal, ""))
        finally:
            connection.close()
        self._waiting.clear()
        self._rows = 0


def _says_something(name: str, column: np.ndarray[Any, Any]) -> bool:
    import numpy as np

    if name in ("line", "rank", "kind"):
        return True
    if name == "at":
        return not np.isnat(column).all()
    if name == "other":
        return any(column)
    if column.dtype.kind == "f":
        return not np.isnan(column).all()
    return bool((column != -1).any())


def _gathered(blocks: Sequence[_Block]) -> list[_Block]:
    """Neighbouring blocks of one run joined to whole row groups."""
    import numpy as np

    joined: list[_Block] = []
    group: list[_Block] = []

    def close() -> None:
        if not group:
            return
        first = group[0]
        names = dict.fromkeys(name for block in group for name in block.columns)
        columns = {
            name: np.concatenate([block.columns.get(name, _missing(name, block.rows)) for block in group])
            for name in names
        }
        codes = max((block.codes for block in group), key=len)
        joined.append(_Block(first.table, first.ordinal, columns, codes, sum(block.rows for block in group)))
        group.clear()

    for table in ("batches", "requests"):
        for block in blocks:
            if block.table != table:
                continue
            if group and (not _fits(group[-1], block) or sum(each.rows for each in group) >= ROW_GROUP):
                close()
            group.append(block)
        close()
    return joined


def _fits(before: _Block, block: _Block) -> bool:
    short, long = sorted((before.codes, block.codes), key=len)
    return before.ordinal == block.ordinal and long[: len(short)] == short


def _missing(name: str, rows: int) -> np.ndarray[Any, Any]:
    import numpy as np

    if name == "at":
        return np.full(rows, np.datetime64("NaT"), dtype="M8[us]")
    if name == "other":
        return np.full(rows, "", dtype=object)
    kind = BATCH_COLUMNS.get(name, "int64")
    return np.full(rows, np.nan if kind == "float64" else -1, dtype=kind)


def _insert(connection: DuckDBPyConnection, schema: str, block: _Block, run: tuple[int, str] | None) -> None:
    if run is None:
        return
    connection.execute("SET pandas_analyze_sample = 0")
    connection.register("new_rows", block.columns)
    try:
        if block.table == "batches":
            _insert_batches(connection, schema, block, run)
        else:
            _insert_requests(connection, schema, block, run)
    finally:
        connection.unregister("new_rows")


def _insert_batches(connection: DuckDBPyConnection, schema: str, block: _Block, run: tuple[int, str]) -> None:
    names = [name for name in block.columns if name in BATCH_COLUMNS or name == "after_idle"]
    values = ", ".join(_batch_value(name) for name in names)
    connection.execute(
        f"INSERT INTO {schema}batches (run_no, run_id, {', '.join(map(_table_column, names))}) SELECT $no, $id, {values} FROM new_rows",
        {"no": run[0], "id": run[1], "ranks": list(block.codes) or [""]},
    )


def _table_column(name: str) -> str:
    return "logged_at" if name == "at" else name  # AT is a word of DuckDB's own


def _batch_value(name: str) -> str:
    if name == "rank":
        return "($ranks::VARCHAR[])[rank + 1]"
    if name == "kind":
        return f"CASE kind WHEN {DECODE} THEN 'decode' ELSE 'prefill' END"
    if name == "cuda_graph":
        return "CASE cuda_graph WHEN 1 THEN true WHEN 0 THEN false END"
    if name == "other":
        return "nullif(other, '')"
    if name == "after_idle":
        return "after_idle = 1"
    if name == "at":
        return '"at"'
    return f"nullif({name}, -1)" if name in _COUNTS else name


def _insert_requests(
    connection: DuckDBPyConnection, schema: str, block: _Block, run: tuple[int, str]
) -> None:
    connection.execute(
        f"INSERT INTO {schema}requests (run_no, run_id, line, logged_at, method, path, status) "
        "SELECT $no, $id, line, \"at\", ($methods::VARCHAR[])[tail + 1], ($paths::VARCHAR[])[tail + 1], "
        "($codes::INTEGER[])[tail + 1] FROM new_rows",
        {
            "no": run[0], "id": run[1],
            "methods": [tail[0] for tail in block.codes],
            "paths": [tail[1] for tail in block.codes],
            "codes": [tail[2] for tail in block.codes],
        },
    )  # fmt: skip


def _create_waiting_tables(connection: DuckDBPyConnection) -> None:
    from logscope.store import schema

    for sql in schema.table_definitions(("batches", "requests")):
        connection.execute(sql)
