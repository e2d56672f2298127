"""How the tests read a log: all runs and the rows of its blocks."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass, field
from pathlib import Path

from parsers import LogReader
from parsers.records import BatchBlock, ParsedLog, RequestBlock, Run

TRICKY = Path(__file__).parent / "data" / "tricky_lines"


@dataclass(frozen=True)
class BatchRow:
    """One row of a batch block, with what tests look at."""

    ordinal: int
    line: int
    rank: str
    kind: int
    running_req: int
    gen_throughput: float
    other: str


@dataclass
class Reading:
    """A log as read."""

    log: ParsedLog
    batches: list[BatchRow] = field(default_factory=list)
    requests: list[tuple[int, int, str, str, int]] = field(default_factory=list)
    """(run, line, method, path, status)."""

    @property
    def run(self) -> Run:
        assert len(self.log.runs) == 1, [run.label for run in self.log.runs]
        return self.log.runs[0]


def read(data: bytes | str | Path, block: int = 1 << 20, hot: bool = True, salt: bytes = b"s") -> Reading:
    """Read a log in blocks of the given size."""
    if isinstance(data, Path):
        data = data.read_bytes()
    elif isinstance(data, str):
        data = data.encode()
    blocks: list[BatchBlock] = []
    requests: list[RequestBlock] = []
    reader = LogReader(salt, blocks.append, requests.append, hot)
    stream = io.BytesIO(data)
    while part := stream.read(block):
        reader.feed(part)
    reading = Reading(reader.result())
    for batch_block in blocks:
        reading.batches.extend(_batch_rows(batch_block))
    for request_block in requests:
        reading.requests.extend(_request_rows(request_block))
    reading.batches.sort(key=lambda row: (row.line, row.ordinal))
    reading.requests.sort()
    return reading


def lines_of(block: BatchBlock) -> list[int]:
    """Line numbers of a block's rows."""
    return [line for part in block.parts for line in part.columns["line"].tolist()]


def _batch_rows(block: BatchBlock) -> list[BatchRow]:
    rows = []
    for part in block.parts:
        names = list(part.columns)
        for row in zip(*(part.columns[name].tolist() for name in names), strict=True):
            values = dict(zip(names, row, strict=True))
            rows.append(
                BatchRow(
                    block.ordinal,
                    values["line"],
                    block.ranks[values["rank"]],
                    part.kind,
                    values.get("running_req", -1),
                    values.get("gen_throughput", math.nan),
                    values.get("other", ""),
                )
            )
    return rows


def _request_rows(block: RequestBlock) -> list[tuple[int, int, str, str, int]]:
    columns = block.columns
    return [
        (block.ordinal, int(line), *block.tails[int(tail)])
        for line, tail in zip(columns["line"], columns["tail"], strict=True)
    ]
