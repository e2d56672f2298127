"""Rows of batch and access lines on their way out: gathered per run, given out as blocks of columns.

Memory stays bounded: a full block leaves through the callback, or is dropped when there is none.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from parsers.records import BatchBlock, RequestBlock
from parsers.rules.access import AccessLine
from parsers.rules.batches import BATCH_COLUMNS, BatchLine
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
    if name not in ("line", "at", "rank", "kind", "other")
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
        self._columns: dict[str, Any] = {}
        self._other: list[str] = []
        self._ranks: dict[str, int] = {}
        self._clear()

    def __len__(self) -> int:
        return len(self._other)

    def add(self, line: int, at: datetime | None, rank: str, batch: BatchLine) -> None:
        columns = self._columns
        columns["line"].append(line)
        columns["at"].append(microseconds(at))
        columns["rank"].append(self._ranks.setdefault(rank, len(self._ranks)))
        columns["kind"].append(batch.kind)
        values = batch.values()
        for name, missing in _MISSING.items():
            columns[name].append(values.get(name, missing))
        self._other.append(batch.other())

    def take(self, ordinal: int) -> BatchBlock:
        """The rows as a block; none are left."""
        import numpy as np  # 0.1 s, and a failed launch has no rows

        columns: dict[str, np.ndarray] = {}
        for name, kind in BATCH_COLUMNS.items():
            if name == "other":
                columns[name] = np.array(self._other, dtype=object)
            elif name == "at":
                columns[name] = np.array(self._columns[name], dtype=np.int64).view("datetime64[us]")
            else:
                columns[name] = np.array(self._columns[name], dtype=kind)
        block = BatchBlock(ordinal, columns, tuple(self._ranks))
        self._clear()
        return block

    def drop(self) -> None:
        """Forget the rows."""
        self._clear()

    def _clear(self) -> None:
        for name, kind in BATCH_COLUMNS.items():
            if name != "other":
                self._columns[name] = array("d" if kind == "float64" else "q")
        self._other = []
        self._ranks = {}


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
