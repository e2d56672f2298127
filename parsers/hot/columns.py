"""Rows of the hot lane as blocks, in the names and types that a reader gives out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.hot.lane import BatchGroup, HotBlock, HotLane
from parsers.hot.words import Mask
from parsers.records import BatchBlock, BatchPart, RequestBlock

_EMPTY = BatchBlock(0, (), ())


class ColumnMaker:
    """Makes the blocks of one block of bytes; `first_line` is the number of its first line."""

    def __init__(self, lane: HotLane, found: HotBlock, first_line: int) -> None:
        self._lane = lane
        self._found = found
        self._first_line = first_line

    def batches(self, is_own: Mask, waiting: BatchBlock | None, ordinal: int) -> BatchBlock | None:
        """One run's own batch lines, with the rows of the careful lane that waited.

        None when there is none.
        """
        waiting = waiting or _EMPTY
        groups = [_chosen(group, is_own) for group in self._found.batches]
        groups = [group for group in groups if group.rows.size]
        if not groups and not waiting.parts:
            return None
        heads, ranks = self._found.heads, self._lane.heads.ranks
        present = [_present(heads.tags[group.rows]) for group in groups]
        tags = sorted({tag for own in present for tag in own})
        names = list(dict.fromkeys([*waiting.ranks, *(ranks[tag] or "" for tag in tags)]))
        codes = np.zeros(len(ranks), dtype=np.int32)
        codes[tags] = [names.index(ranks[tag] or "") for tag in tags]
        parts = [self._part(group, codes) for group in groups]
        return BatchBlock(ordinal, (*waiting.parts, *parts), tuple(names))

    def _part(self, group: BatchGroup, codes: NDArray[np.int32]) -> BatchPart:
        heads = self._found.heads
        columns: dict[str, NDArray[Any]] = {
            "line": group.rows + self._first_line,
            "at": heads.at[group.rows].view("datetime64[us]"),
            "rank": codes[heads.tags[group.rows]],
            **group.values,
        }
        return BatchPart(group.kind, columns)

    def requests(self, is_own: Mask, ordinal: int) -> RequestBlock | None:
        """One run's own access lines. None when there is none."""
        rows, tails = self._found.requests.rows, self._found.requests.tails
        chosen = is_own[rows]
        if not chosen.all():
            rows, tails = rows[chosen], tails[chosen]
        if not rows.size:
            return None
        texts = [(tail.method, tail.path, tail.status) for tail in self._lane.access.lines]
        place = {tail: code for code, tail in enumerate(dict.fromkeys(texts))}
        codes = np.array([place[text] for text in texts], dtype=np.int32)
        columns: dict[str, NDArray[Any]] = {
            "line": rows + self._first_line,
            "at": self._found.heads.at[rows].view("datetime64[us]"),
            "tail": codes[tails],
        }
        return RequestBlock(ordinal, columns, tuple(place))


def _chosen(group: BatchGroup, is_own: Mask) -> BatchGroup:
    chosen = is_own[group.rows]
    if chosen.all():
        return group
    values = {name: column[chosen] for name, column in group.values.items()}
    return BatchGroup(group.kind, group.rows[chosen], values)


def _present(tags: NDArray[np.int32]) -> list[int]:
    present: list[int] = np.flatnonzero(np.bincount(tags)).tolist()
    return present
