"""Rows of both lanes as one block in line order, in the names and types that a reader gives out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.hot.lane import BatchRows, HotLane, RequestRows
from parsers.hot.words import Places
from parsers.records import BatchBlock, RequestBlock
from parsers.rules.batches import BATCH_COLUMNS

_GIVEN = ("line", "at", "rank", "kind")


class ColumnMaker:
    """Makes blocks; columns that no line of a block has share one array of missing values."""

    def __init__(self) -> None:
        self._missing: dict[str, NDArray[Any]] = {}

    def batches(
        self,
        lane: HotLane,
        rows: BatchRows,
        first_line: int,
        chosen: Places,
        careful: BatchBlock | None,
        ordinal: int,
    ) -> BatchBlock:
        """The chosen rows and those of the careful lane as a block of one run.

        `first_line` is the number of row 0's line.
        """
        lines = rows.rows[chosen] + first_line
        hot_places, careful_places = _places(lines, careful.columns["line"] if careful else None)
        count = hot_places.size + careful_places.size
        place_of = np.full(rows.rows.size, -1, dtype=np.int64)
        place_of[chosen] = hot_places
        names = list(dict.fromkeys(lane.heads.ranks[tag] or "" for tag in _present(rows.tags[chosen])))
        columns: dict[str, NDArray[Any]] = {
            "line": np.empty(count, dtype=np.int64),
            "at": np.empty(count, dtype="datetime64[us]"),
            "kind": np.empty(count, dtype=np.int8),
            "rank": np.empty(count, dtype=np.int32),
        }
        columns["line"][hot_places] = lines
        columns["at"][hot_places] = rows.at[chosen].view("datetime64[us]")
        columns["kind"][hot_places] = rows.kinds[chosen]
        columns["rank"][hot_places] = _codes_of(rows.tags[chosen], lane.heads.ranks, names)
        if careful is not None:
            names = list(dict.fromkeys((*names, *careful.ranks)))
            codes = np.array([names.index(rank) for rank in careful.ranks], dtype=np.int32)
            columns["rank"][careful_places] = codes[careful.columns["rank"]]
            for name in ("line", "at", "kind"):
                columns[name][careful_places] = careful.columns[name]
        for name, kind in BATCH_COLUMNS.items():
            if name in _GIVEN:
                continue
            parts = [(place_of[places], values[name]) for places, values in rows.groups if name in values]
            if careful is not None:
                parts.append((careful_places, careful.columns[name]))
            columns[name] = self._column(kind, parts, count)
        return BatchBlock(ordinal, {name: columns[name] for name in BATCH_COLUMNS}, tuple(names))

    def _column(self, kind: str, parts: list[tuple[Places, NDArray[Any]]], count: int) -> NDArray[Any]:
        absent = self._absent(kind, count)
        column: NDArray[Any] | None = None
        for places, values in parts:
            if not values.size or (values.size < 1000 and _is_missing(values, absent[:1])):
                continue
            if column is None:
                column = absent.copy()
            if places.min() < 0:
                kept = places >= 0
                places, values = places[kept], values[kept]
            column[places] = values
        return absent if column is None else column

    def _absent(self, kind: str, count: int) -> NDArray[Any]:
        held = self._missing.get(kind)
        if held is None or held.size < count:
            missing: Any = "" if kind == "object" else float("nan") if kind == "float64" else -1
            held = np.full(count + count // 4, missing, dtype=kind)
            held.flags.writeable = False
            self._missing[kind] = held
        return held[:count]

    def requests(
        self, lane: HotLane, rows: RequestRows, first_line: int, chosen: Places, ordinal: int
    ) -> RequestBlock:
        """The chosen rows as a block of one run."""
        texts = [(tail.method, tail.path, tail.status) for tail in lane.access.lines]
        distinct = list(dict.fromkeys(texts))
        place = {tail: code for code, tail in enumerate(distinct)}
        codes = np.array([place[text] for text in texts], dtype=np.int32)
        columns: dict[str, NDArray[Any]] = {
            "line": rows.rows[chosen] + first_line,
            "at": rows.at[chosen].view("datetime64[us]"),
            "tail": codes[rows.tails[chosen]],
        }
        return RequestBlock(ordinal, columns, tuple(distinct))


def _places(lines: Places, careful_lines: NDArray[Any] | None) -> tuple[Places, Places]:
    """Places of both lanes' rows when they stand in line order together."""
    if careful_lines is None:
        return np.arange(lines.size), np.empty(0, dtype=np.int64)
    order = np.argsort(careful_lines, kind="stable")
    careful = np.empty(careful_lines.size, dtype=np.int64)
    careful[order] = np.searchsorted(lines, careful_lines[order]) + np.arange(order.size)
    is_hot = np.ones(lines.size + careful.size, dtype=np.bool_)
    is_hot[careful] = False
    return np.flatnonzero(is_hot), careful


def _is_missing(values: NDArray[Any], missing: NDArray[Any]) -> bool:
    if values.dtype.kind == "f":
        return bool(np.isnan(values).all())
    return bool((values == missing[0]).all())


def _present(tags: NDArray[np.int32]) -> list[int]:
    present: list[int] = np.flatnonzero(np.bincount(tags)).tolist()
    return present


def _codes_of(tags: NDArray[np.int32], ranks: list[str | None], names: list[str]) -> NDArray[np.int32]:
    codes = np.zeros(len(ranks), dtype=np.int32)
    for tag in _present(tags):
        codes[tag] = names.index(ranks[tag] or "")
    return codes[tags]
