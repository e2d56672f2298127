"""Tells which decode lines follow a pause: their throughput counts the time in which nothing ran.

A pause is a prefill line that met no running request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parsers.records import BatchBlock
from parsers.rules.batches import DECODE

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


class Pauses:
    """What was seen last of each rank, from block to block."""

    def __init__(self, continues: bool = False) -> None:
        """A run read on from where an earlier ingest stopped begins as if a decode line stood there."""
        self._at_start = not continues
        self._is_open: dict[tuple[int, str], bool] = {}
        """True while a pause was seen and no decode line since."""

    def add(self, block: BatchBlock) -> list[Array | None]:
        """For each part of decode lines, which follow a pause (1) and which do not (0)."""
        import numpy as np

        marks = [
            np.zeros(len(part.columns["line"]), dtype=np.int8) if part.kind == DECODE else None
            for part in block.parts
        ]
        for code, rank in enumerate(block.ranks or ("",)):
            self._mark(block, code, (block.ordinal, rank), marks)
        return marks

    def _mark(
        self, block: BatchBlock, code: int, key: tuple[int, str], marks: list[Array | None]
    ) -> None:
        """Marks the first decode line of a rank behind each pause."""
        import numpy as np

        rows = [_rows_of(part.columns["rank"], code, len(block.ranks) == 1) for part in block.parts]
        decode, pauses = [], [np.empty(0, dtype=np.int64)]
        for part, own, mark in zip(block.parts, rows, marks, strict=True):
            line = part.columns["line"] if own is None else part.columns["line"][own]
            if mark is not None:
                decode.append((line, own, mark))
            elif "running_req" in part.columns:
                running = part.columns["running_req"] if own is None else part.columns["running_req"][own]
                pauses.append(line[running == 0])
        pause = np.sort(np.concatenate(pauses))
        lines = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *(line for line, _, _ in decode)]))
        is_open = self._is_open.get(key, self._at_start)
        if not lines.size:
            if pause.size:
                self._is_open[key] = True
            return
        follow = np.searchsorted(lines, pause)
        after = lines[np.unique(follow[follow < lines.size])]
        if is_open:
            after = np.union1d(after, lines[:1])
        for line, own, mark in decode:
            found = np.searchsorted(line, after)
            found = found[line.take(found, mode="clip") == after] if line.size else found[:0]
            mark[found if own is None else own[found]] = 1
        self._is_open[key] = bool(pause.size and pause[-1] > lines[-1])


def _rows_of(ranks: Array, code: int, is_only_rank: bool) -> Array | None:
    """The rows of a rank; None for all."""
    import numpy as np

    return None if is_only_rank else np.flatnonzero(ranks == code)
