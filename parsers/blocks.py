"""Rows of batch and access lines on their way out: gathered per run, given out as blocks of columns.

Memory stays bounded: a full block leaves through the callback, or is dropped when there is none.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from parsers.records import BatchBlock, BatchPart, RequestBlock
from parsers.rules.access import AccessLine
from parsers.rules.batches import BATCH_COLUMNS, DECODE, PREFILL, BatchLine
from parsers.times import is_dated

if TYPE_CHECKING:
    import numpy as np

BLOCK_ROWS = 50_000
"""Rows of a full block."""

MAX_TAILS = 5_000
"""Distinct (method, path, status) of one block; a block with more is given out early."""

NO_TIME = -(2**63)
"""The integer that numpy reads as NaT."""

OnBatches = Callable[[BatchBlock], None]
OnRequests = Callable[[RequestBlock], None]

_EPOCH = datetime(1970, 1, 1)
_MISSING: dict[str, int | float] = {
    name: (float("nan") if kind == "float64" else -1)
    for name, kind in BATCH_COLUMNS.items()
    if name not in ("line", "at", "rank", "other")
}


def microseconds(at: datetime | None) -> int:
    """A time as numpy's integer; ``NO_TIME`` when no full date was printed."""
    if at is None or not is_dated(at):
        return NO_TIME
    delta = at - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


class BatchRows:
    """Batch rows of one run that were not given out yet."""

    def __init__(self) -> None:
        self._clear()

    def __len__(self) -> int:
        return len(self._kinds)

    def add(self, line: int, at: datetime | None, rank: str, batch: BatchLine) -> None:
        values: dict[str, Any] = dict(batch.values())
        values["line"], values["at"] = line, microseconds(at)
        values["rank"] = self._ranks.setdefault(rank, len(self._ranks))
        for name in values.keys() - self._columns.keys():
            kind = "d" if BATCH_COLUMNS[name] == "float64" else "q"
            self._columns[name] = array(kind, [_MISSING.get(name, 0)]) * len(self._kinds)
        for name, column in self._columns.items():
            column.append(values.get(name, _MISSING.get(name, 0)))
        self._kinds.append(batch.kind)
        self._other.append(batch.other())

    def take(self, ordinal: int) -> BatchBlock:
        """The rows as a block; none are left."""
        import numpy as np  # 0.1 s, and a failed launch has no rows

        columns: dict[str, np.ndarray] = {
            name: np.array(self._columns[name], dtype=np.int64).view("datetime64[us]")
            if name == "at"
            else np.array(self._columns[name], dtype=kind)
            for name, kind in BATCH_COLUMNS.items()
            if name in self._columns
        }
        columns["other"] = np.array(self._other, dtype=object)
        kinds = np.array(self._kinds, dtype=np.int8)
        parts = (_part(kind, columns, np.flatnonzero(kinds == kind)) for kind in (PREFILL, DECODE))
        block = BatchBlock(ordinal, tuple(part for part in parts if part is not None), tuple(self._ranks))
        self._clear()
        return block

    def drop(self) -> None:
        """Forget the rows."""
        self._clear()

    def _clear(self) -> None:
        self._columns: dict[str, Any] = {}
        """One array for each column in which a row has a value."""
        self._kinds = array("b")
        self._other: list[str] = []
        self._ranks: dict[str, int] = {}


def _part(kind: int, columns: dict[str, np.ndarray], rows: np.ndarray) -> BatchPart | None:
    """The rows in line order, without columns in which they have no value."""
    if not len(rows):
        return None
    import numpy as np

    rows = rows[np.argsort(columns["line"][rows], kind="stable")]
    own = {name: column[rows] for name, column in columns.items()}
    return BatchPart(kind, {name: column for name, column in own.items() if _is_said(name, column)})


def _is_said(name: str, column: np.ndarray) -> bool:
    """True for a column in which some line has a value."""
    if name in ("line", "at", "rank"):
        return True
    if name == "other":
        return any(column.tolist())
    missing = _MISSING[name]
    return bool((column == column).any()) if missing != missing else bool((column != missing).any())


class RequestRows:
    """Access rows of one run that were not given out yet."""

    def __init__(self) -> None:
        self._clear()

    def __len__(self) -> int:
        return len(self._line)

    @property
    def is_full(self) -> bool:
        return len(self._line) >= BLOCK_ROWS or len(self._tails) >= MAX_TAILS

    def add(self, line: int, at: datetime | None, access: AccessLine) -> None:
        self._line.append(line)
        self._at.append(microseconds(at))
        tail = (access.method, access.path, access.status)
        self._tail.append(self._tails.setdefault(tail, len(self._tails)))

    def take(self, ordinal: int, after: int = 0) -> RequestBlock | None:
        """The rows as a block, those after a line; none are left. None when there was none."""
        import numpy as np  # see BatchRows.take

        columns: dict[str, np.ndarray] = {
            "line": np.array(self._line, dtype=np.int64),
            "at": np.array(self._at, dtype=np.int64).view("datetime64[us]"),
            "tail": np.array(self._tail, dtype=np.int32),
        }
        if after:
            is_new = columns["line"] > after
            columns = {name: column[is_new] for name, column in columns.items()}
        tails = tuple(self._tails)
        self._clear()
        return RequestBlock(ordinal, columns, tails) if len(columns["line"]) else None

    def drop(self) -> None:
        """Forget the rows."""
        self._clear()

    def _clear(self) -> None:
        self._line = array("q")
        self._at = array("q")
        self._tail = array("l")
        self._tails: dict[tuple[str, str, int], int] = {}
