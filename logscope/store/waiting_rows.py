"""Rows of one table that wait to be written: groups of narrow columns, the older ones in a file.

A row waits in about 40 bytes; DuckDB sees it once, when it goes into its table.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from logscope.errors import StoreError

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection

    Array = np.ndarray[Any, Any]
    Columns = dict[str, Array]

ROW_GROUP = 122_880
"""Rows that DuckDB packs together; smaller inserts cost more and pack worse."""
MOST_HELD = 1 << 24
"""Bytes of whole groups that wait in memory before the file beside the store takes them."""

_SQL_NAMES = {"ordinal": "run_no", "at": "logged_at", "rank": "rank_no", "kind": "kind_no"}
_FLAGS = ("cuda_graph", "after_idle", "is_decode")


class Spool:
    """A file of this process beside the store; it is gone after `remove`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._path: Path | None = None
        self.held = 0
        """Bytes of whole groups in memory, over all tables."""

    def __getstate__(self) -> tuple[Path, str | None, int]:
        if self._file is not None:
            self._file.flush()
        return self._folder, None if self._path is None else str(self._path), self.held

    def __setstate__(self, state: tuple[Path, str | None, int]) -> None:
        """In another process: the same file, which now is this one's to remove."""
        self._folder, path, self.held = state
        self._path = None if path is None else Path(path)
        self._file = None if self._path is None else self._path.open("r+b")

    def write(self, columns: Columns) -> int:
        """Appends the columns; gives where they begin. Raises StoreError when the disk does not take them."""
        try:
            return self._append(columns)
        except OSError as error:
            raise StoreError(
                f"{self._folder}: rows cannot wait there: {error.strerror or error}", "the store is as it was"
            ) from error

    def _append(self, columns: Columns) -> int:
        import numpy as np

        if self._file is None:
            prefix = f".logscope-{os.getpid()}-"
            handle, name = tempfile.mkstemp(prefix=prefix, suffix=".rows", dir=self._folder)
            self._file, self._path = os.fdopen(handle, "w+b"), Path(name)
        start = self._file.seek(0, os.SEEK_END)
        for column in columns.values():
            np.save(self._file, column, allow_pickle=True)
        return start

    def read(self, start: int, names: tuple[str, ...]) -> Columns:
        """The columns that `write` put there."""
        import numpy as np

        assert self._file is not None
        self._file.seek(start)
        return {name: np.load(self._file, allow_pickle=True) for name in names}

    def remove(self) -> None:
        if self._file is not None and self._path is not None:
            self._file.close()
            self._path.unlink(missing_ok=True)
            self._file = self._path = None
        self.held = 0


class WaitingTable:
    """The rows of one table."""

    def __init__(self, name: str, spool: Spool | None) -> None:
        """Without a spool all rows wait in memory."""
        self.name = name
        self._spool = spool
        self._parts: list[Columns] = []
        self._rows = 0
        self._groups: list[Columns | tuple[int, tuple[str, ...]]] = []

    def add(self, columns: Columns) -> None:
        """Takes rows; a column may be left out where no row has a value in it."""
        rows = len(columns["line"])
        if not rows:
            return
        self._parts.append({name: _narrow(column) for name, column in columns.items()})
        self._rows += rows
        if self._rows >= ROW_GROUP:
            self._close_group()

    def clear(self) -> None:
        self._parts.clear()
        self._groups.clear()
        self._rows = 0

    def insert(
        self, connection: DuckDBPyConnection, numbers: Array, coded: str, codes: dict[int, list[int]]
    ) -> None:
        """Puts all rows into the table.

        `numbers` gives the run_no of each ordinal (-1: leave its rows out); `codes` the stored codes of the
        column `coded` for the runs in which they differ.
        """
        self._close_group()
        for group in self._groups:
            if isinstance(group, tuple):
                assert self._spool is not None
                group = self._spool.read(*group)
            _insert(connection, self.name, _settled(group, numbers, coded, codes))

    def _close_group(self) -> None:
        if not self._parts:
            return
        columns = _joined(self._parts)
        self._parts, self._rows = [], 0
        if self._spool is None:
            self._groups.append(columns)
            return
        self._spool.held += sum(column.nbytes for column in columns.values())
        if self._spool.held <= MOST_HELD:
            self._groups.append(columns)
        else:
            self._groups.append((self._spool.write(columns), tuple(columns)))


def _narrow(column: Array) -> Array:
    """Whole numbers in the fewest bytes that hold them all."""
    import numpy as np

    if column.dtype != np.int64 or not len(column):
        return column
    low, high = int(column.min()), int(column.max())
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return column.astype(kind)
    return column


def _joined(parts: list[Columns]) -> Columns:
    import numpy as np

    names = dict.fromkeys(name for part in parts for name in part)
    kinds = {name: part[name].dtype for part in parts for name in part}
    return {
        name: np.concatenate(
            [part[name] if name in part else _missing(kinds[name], len(part["line"])) for part in parts]
        )
        for name in names
    }


def _missing(kind: np.dtype[Any], rows: int) -> Array:
    import numpy as np

    missing: Any = {"f": float("nan"), "O": "", "M": np.datetime64("NaT")}.get(kind.kind, -1)
    return np.full(rows, missing, dtype=kind)


def _settled(columns: Columns, numbers: Array, coded: str, codes: dict[int, list[int]]) -> Columns:
    """The rows of stored runs, with stored codes."""
    import numpy as np

    settled = dict(columns)
    if codes and coded in settled:
        own = settled[coded].astype(np.int32)
        for ordinal, places in codes.items():
            rows = settled["ordinal"] == ordinal
            own[rows] = np.array(places, dtype=np.int32)[own[rows]]
        settled[coded] = own
    settled["ordinal"] = numbers[settled["ordinal"]]
    kept = settled["ordinal"] >= 0
    return settled if kept.all() else {name: column[kept] for name, column in settled.items()}


def _insert(connection: DuckDBPyConnection, table: str, columns: Columns) -> None:
    if not len(columns["line"]):
        return
    names = ", ".join(_SQL_NAMES.get(name, name) for name in columns)
    values = ", ".join(_value(name, column) for name, column in columns.items())
    new_rows = columns  # found by its name: a registered view would be kept, rows and all, until the commit
    connection.execute(f"INSERT INTO {table} ({names}) SELECT {values} FROM new_rows")
    del new_rows


def _value(name: str, column: Array) -> str:
    """How a column is read; what costs time is asked for only where a value is missing."""
    quoted = f'"{name}"'
    if column.dtype.kind == "O":
        return f"nullif({quoted}, '')"
    if column.dtype.kind != "i":
        return quoted
    has_missing = bool((column == -1).any())
    if name in _FLAGS:
        return f"CASE {quoted} WHEN 1 THEN true WHEN 0 THEN false END" if has_missing else f"{quoted} = 1"
    return f"nullif({quoted}, -1)" if has_missing else quoted
