"""Batch and access rows of one log on their way from the parser to the store.

They wait as narrow columns, in memory and beyond a bound in a file beside the store, so that the store's
lock is held only while they are put in and a huge log does not fill the memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logscope.store.columns import TableRows
from logscope.store.pauses import Pauses
from logscope.store.waiting_rows import Spool, WaitingTable
from parsers.records import BatchBlock, RequestBlock
from parsers.rules.batches import DECODE

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection

    from logscope.store.waiting_rows import Columns

    Array = np.ndarray[Any, Any]

_PLACE = ("ordinal", "line", "at", "rank")
_DECODE_COLUMNS = (
    "running_req", "queue_req", "token", "token_usage", "gen_throughput", "accept_len", "accept_rate",
    "cuda_graph", "after_idle",
)  # fmt: skip
_PREFILL_COLUMNS = (
    "new_seq", "new_token", "cached_token", "running_req", "queue_req", "pending_token", "token_usage",
    "input_throughput", "cuda_graph",
)  # fmt: skip


class BatchRows:
    """Callbacks for the log reader, and the rows that they gathered."""

    def __init__(self, folder: Path | None = None, continues: bool = False) -> None:
        """`folder` is where a big log's rows wait (the store's); None keeps all in memory."""
        self._continues = continues
        self._pauses = Pauses(continues)
        self._spool = Spool(folder) if folder is not None else None
        self._decode = WaitingTable("decode_lines", self._spool)
        self._prefill = WaitingTable("prefill_lines", self._spool)
        self._extras = WaitingTable("batch_extras", self._spool)
        self._access = WaitingTable("access_lines", self._spool)
        self._ranks: dict[int, dict[Any, int]] = {}
        self._kinds: dict[int, dict[Any, int]] = {}

    def add_batches(self, block: BatchBlock) -> None:
        """Takes prefill and decode rows."""
        import numpy as np

        codes = _codes(self._ranks.setdefault(block.ordinal, {}), block.ranks or ("",))
        pauses = self._pauses.add(block)
        for part, after_idle in zip(block.parts, pauses, strict=True):
            place: Columns = {
                "ordinal": np.full(len(part.columns["line"]), block.ordinal, dtype=np.int32),
                "line": part.columns["line"],
                "at": part.columns["at"],
                "rank": codes[part.columns["rank"]],
            }
            values = {name: column for name, column in part.columns.items() if name not in _PLACE}
            if part.kind == DECODE:
                usual, table = _DECODE_COLUMNS, self._decode
                assert after_idle is not None
                values["after_idle"] = after_idle
            else:
                usual, table = _PREFILL_COLUMNS, self._prefill
            table.add(place | {name: column for name, column in values.items() if name in usual})
            rare = {name: column for name, column in values.items() if name not in usual}
            if rare:
                self._add_extras(place, rare, part.kind == DECODE)

    def _add_extras(self, place: Columns, rare: Columns, is_decode: bool) -> None:
        """What the narrow table of these rows has no column for, of the lines that print it."""
        import numpy as np

        line = place["line"]
        has_any = np.zeros(len(line), dtype=np.bool_)
        for column in rare.values():
            has_any |= ~_is_missing(column)
        has_any[1:] &= line[1:] != line[:-1]  # of two records glued to one line, only the first has extras
        kept: Columns = {
            "ordinal": place["ordinal"],
            "line": line,
            "is_decode": np.full(len(line), is_decode, dtype=np.int8),
        }
        chosen = np.flatnonzero(has_any)
        self._extras.add({name: column.take(chosen) for name, column in {**kept, **rare}.items()})

    def add_requests(self, block: RequestBlock) -> None:
        """Takes access-log rows."""
        import numpy as np

        rows = len(block.columns["line"])
        if not rows:
            return
        codes = _codes(self._kinds.setdefault(block.ordinal, {}), block.tails)
        self._access.add(
            {
                "ordinal": np.full(rows, block.ordinal, dtype=np.int32),
                "line": block.columns["line"],
                "at": block.columns["at"],
                "kind": codes[block.columns["tail"]],
            }
        )

    def discard(self) -> None:
        """Forgets all rows and removes the file beside the store."""
        for table in (self._decode, self._prefill, self._extras, self._access):
            table.clear()
        if self._spool is not None:
            self._spool.remove()

    def insert(self, connection: DuckDBPyConnection, runs: Mapping[int, tuple[int, str]]) -> None:
        """Puts the rows of all runs (ordinal -> run_no, run_id) into the store's tables."""
        import numpy as np

        highest = max((*runs, *self._ranks, *self._kinds), default=0)
        numbers = np.full(highest + 1, -1, dtype=np.int32)
        for ordinal, (run_no, _) in runs.items():
            numbers[ordinal] = run_no
        ranks = self._stored_codes(connection, "batch_ranks", "rank_no:i rank:s", self._ranks, numbers)
        kinds = self._stored_codes(
            connection, "access_kinds", "kind_no:i method:s path:s status:i", self._kinds, numbers
        )
        connection.execute("SET pandas_analyze_sample = 0")
        for table in (self._decode, self._prefill, self._extras):
            table.insert(connection, numbers, "rank", ranks)
        self._access.insert(connection, numbers, "kind", kinds)

    def _stored_codes(
        self,
        connection: DuckDBPyConnection,
        table: str,
        columns: str,
        codes: Mapping[int, dict[Any, int]],
        numbers: Array,
    ) -> dict[int, list[int]]:
        """Writes new texts and gives, for each run whose codes differ in the store, code -> stored code."""
        names = [word.split(":")[0] for word in columns.split()]
        new_rows = TableRows(table, f"run_no:i {columns}")
        changed: dict[int, list[int]] = {}
        for ordinal, own in codes.items():
            run_no = int(numbers[ordinal])
            if run_no < 0:
                continue
            known: dict[Any, int] = {}
            if self._continues:
                rows = connection.execute(
                    f"SELECT {', '.join(names)} FROM {table} WHERE run_no = ?", [run_no]
                ).fetchall()
                known = {row[1] if len(row) == 2 else tuple(row[1:]): int(row[0]) for row in rows}
            places = []
            for text in own:
                if text not in known:
                    known[text] = len(known)
                    new_rows.add(run_no, known[text], *((text,) if isinstance(text, str) else text))
                places.append(known[text])
            if places != list(range(len(places))):
                changed[ordinal] = places
        new_rows.insert(connection)
        return changed


def _codes(known: dict[Any, int], texts: tuple[Any, ...]) -> Array:
    """The run's code of each of a block's texts."""
    import numpy as np

    return np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int32)


def _is_missing(column: Array) -> Array:
    import numpy as np

    if column.dtype.kind == "f":
        return np.isnan(column)
    missing: Array = column == ("" if column.dtype.kind == "O" else -1)
    return missing
