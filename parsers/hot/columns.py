"""Rows of the hot lane as the blocks that a reader gives out, in the names and types of the careful lane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.hot.lane import BatchRows, HotLane, RequestRows
from parsers.hot.words import Mask
from parsers.records import BatchBlock, RequestBlock
from parsers.rules.batches import BATCH_COLUMNS

_GIVEN = ("line", "at", "rank", "kind")


class ColumnMaker:
    """Makes blocks; columns that no line of a block has share one array of missing values."""

    def __init__(self) -> None:
        self._missing: dict[str, NDArray[Any]] = {}

    def batches(
        self, lane: HotLane, rows: BatchRows, first_line: int, chosen: Mask | None, ordinal: int
    ) -> BatchBlock:
        """The chosen rows (None: all) as a block of one run; `first_line` is the number of row 0's line."""
        count = rows.rows.size
        columns: dict[str, NDArray[Any]] = {
            "line": rows.rows + first_line,
            "at": rows.at.view("datetime64[us]"),
            "kind": rows.kinds,
        }
        for name, kind in BATCH_COLUMNS.items():
            if name not in _GIVEN:
                columns[name] = self._column(name, kind, rows, count)
        tags, ranks = rows.tags, lane.heads.ranks
        if chosen is not None:
            columns = {name: column[chosen] for name, column in columns.items()}
            tags = tags[chosen]
        columns["rank"], names = _ranks(tags, ranks)
        return BatchBlock(ordinal, {name: columns[name] for name in BATCH_COLUMNS}, names)

    def _column(self, name: str, kind: str, rows: BatchRows, count: int) -> NDArray[Any]:
        parts = [(places, values[name]) for places, values in rows.groups if name in values]
        if not parts:
            return self._absent(name, kind, count)
        if len(parts) == 1 and parts[0][0].size == count:
            return parts[0][1].astype(kind, copy=False)
        column = self._absent(name, kind, count).copy()
        for places, values in parts:
            column[places] = values
        return column

    def _absent(self, name: str, kind: str, count: int) -> NDArray[Any]:
        held = self._missing.get(kind)
        if held is None or held.size < count:
            missing: Any = "" if kind == "object" else float("nan") if kind == "float64" else -1
            held = np.full(count + count // 4, missing, dtype=kind)
            held.flags.writeable = False
            self._missing[kind] = held
        return held[:count]

    def requests(
        self,
        lane: HotLane,
        rows: RequestRows,
        first_line: int,
        chosen: Mask | None,
        ordinal: int,
    ) -> RequestBlock:
        """The chosen rows (None: all) as a block of one run."""
        line, at, tails = rows.rows + first_line, rows.at, rows.tails
        if chosen is not None:
            line, at, tails = line[chosen], at[chosen], tails[chosen]
        texts = [(tail.method, tail.path, tail.status) for tail in lane.access.lines]
        distinct = list(dict.fromkeys(texts))
        place = {tail: code for code, tail in enumerate(distinct)}
        codes = np.array([place[text] for text in texts], dtype=np.int32)
        columns: dict[str, NDArray[Any]] = {
            "line": line,
            "at": at.view("datetime64[us]"),
            "tail": codes[tails],
        }
        return RequestBlock(ordinal, columns, tuple(distinct))


def _ranks(tags: NDArray[np.int32], ranks: list[str | None]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Codes of the ranks that occur, and their texts in the order of their codes."""
    present = np.flatnonzero(np.bincount(tags))
    names = list(dict.fromkeys(ranks[code] or "" for code in present.tolist()))
    codes = np.zeros(len(ranks), dtype=np.int32)
    for code in present.tolist():
        codes[code] = names.index(ranks[code] or "")
    return codes[tags], tuple(names)
