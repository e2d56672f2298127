#!/usr/bin/env python3
"""Other ways to read the same log, each run as a process of its own: ``python benchmarks/peers.py NAME LOG``.

Each gives the number of regular lines that it read, so that a peer which skips lines is seen. `sglang` takes
the place of an SGLang package as a third word.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

HEAD = (
    r"^(?:sglang-1  \| )?\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: ([^\]]+))?\] (?:(Decode|Prefill) batch, (.*)"
    r'|INFO:     ([\d.]+):(\d+) - "(\w+) (\S+) HTTP/1\.1" (\d+))'
)
DECODE = (
    r"#running-req: (\d+), #token: (\d+), token usage: ([\d.]+), cuda graph: (\w+), "
    r"gen throughput \(token/s\): ([\d.]+), #queue-req: (\d+)"
)
PREFILL = (
    r"#new-seq: (\d+), #new-token: (\d+), #cached-token: (\d+), token usage: ([\d.]+), "
    r"#running-req: (\d+), #queue-req: (\d+)"
)


def line_by_line(engine: ModuleType, path: str) -> int:
    """The plain way: three patterns, one line at a time, values converted."""
    head, decode, prefill = (engine.compile(pattern.encode()) for pattern in (HEAD, DECODE, PREFILL))
    lines = 0
    rows: list[tuple[Any, ...]] = []
    with open(path, "rb") as log:  # noqa: PTH123 - as in a short script
        for line in log:
            found = head.match(line)
            if found is None:
                continue
            lines += 1
            if found[3] == b"Decode":
                one = decode.match(found[4])
                counts = (int(one[1]), int(one[2]), int(one[6]))
                rows.append((*counts, float(one[3]), one[4] == b"True", float(one[5])))
            elif found[3]:
                one = prefill.match(found[4])
                rows.append((int(one[1]), int(one[2]), int(one[3]), float(one[4]), int(one[5]), int(one[6])))
            else:
                rows.append((found[7], found[8], int(found[9])))
            if len(rows) >= 100_000:
                rows.clear()
    return lines


def with_re(path: str) -> int:
    import re

    return line_by_line(re, path)


def with_regex(path: str) -> int:
    import regex

    return line_by_line(regex, path)


def with_duckdb(path: str) -> int:
    """DuckDB alone: one row a line, fields by ``regexp_extract`` (its line numbers drift at ``\\r``)."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.execute(
        """
        CREATE TABLE lines AS
        SELECT regexp_extract(
            line, ?, ['at', 'rank', 'kind', 'rest', 'client', 'port', 'verb', 'path', 'status']) AS f
        FROM read_csv(?, columns = {'line': 'VARCHAR'}, delim = '\x01', quote = '', escape = '',
                      header = false, ignore_errors = true, max_line_size = 4000000)
        """,
        [HEAD, path],
    )
    connection.execute(
        "CREATE TABLE decode AS SELECT regexp_extract(f.rest, ?, ['a', 'b', 'c', 'd', 'e', 'g']) AS v "
        "FROM lines WHERE f.kind = 'Decode'",
        [DECODE],
    )
    connection.execute(
        "CREATE TABLE prefill AS SELECT regexp_extract(f.rest, ?, ['a', 'b', 'c', 'd', 'e', 'g']) AS v "
        "FROM lines WHERE f.kind = 'Prefill'",
        [PREFILL],
    )
    found = connection.execute("SELECT count(*) FROM lines WHERE f.kind <> '' OR f.status <> ''").fetchone()
    return 0 if found is None else int(found[0])


def with_polars(path: str) -> int:
    """polars: the three kinds of line extracted and cast."""
    polars: Any = importlib.import_module("polars")
    lines = polars.scan_csv(
        path, has_header=False, separator="\x01", quote_char=None, new_columns=["line"],
        encoding="utf8-lossy", truncate_ragged_lines=True, ignore_errors=True,
    )  # fmt: skip
    text = polars.col("line")
    count = 0
    for kind, pattern in (("Decode batch", DECODE), ("Prefill batch", PREFILL)):
        part = lines.filter(text.str.contains(kind, literal=True)).select(
            text.str.extract(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", 1)
            .str.to_datetime("%Y-%m-%d %H:%M:%S")
            .alias("at"),
            text.str.extract_groups(pattern).struct.unnest(),
        )
        frame = part.with_columns(polars.exclude("at").cast(polars.Float64, strict=False)).collect()
        count += frame.height
    access = lines.filter(text.str.contains("HTTP/1.1", literal=True)).select(
        text.str.extract_groups(r'"(\w+) (\S+) HTTP/1\.1" (\d+)').struct.unnest()
    )
    return count + int(access.collect().height)


def with_sglang(path: str) -> int:
    """SGLang's own log parser (polars), decode lines only, from a wheel or from the folder that holds the
    package."""
    sys.path.insert(0, f"{sys.argv[3]}/sglang/srt/debug_utils")  # this file alone, not the package
    parser: Any = importlib.import_module("log_parser")
    with open(path, encoding="utf-8", errors="replace") as log:  # noqa: PTH123 - as in a short script
        frame = parser.parse(log.read())
    return int(frame["gen_throughput"].count())


PEERS: dict[str, Callable[[str], int]] = {
    "re": with_re,
    "regex": with_regex,
    "duckdb": with_duckdb,
    "polars": with_polars,
    "sglang": with_sglang,
}


def parse_only(path: str) -> int:
    """LogScope's parsers without a store."""
    from pathlib import Path

    from parsers.log import LogReader
    from parsers.reader import open_log, read_blocks
    from parsers.records import BatchBlock, RequestBlock

    count = 0

    def take(block: BatchBlock | RequestBlock) -> None:
        nonlocal count
        parts = block.parts if isinstance(block, BatchBlock) else (block,)
        count += sum(len(part.columns["line"]) for part in parts)

    reader = LogReader(b"", take, take)
    with open_log(Path(path)) as stream:
        for block in read_blocks(stream):
            reader.feed(block)
    reader.result()
    return count


PEERS["parse"] = parse_only

if __name__ == "__main__":
    sys.stdout.write(f"{PEERS[sys.argv[1]](sys.argv[2])}\n")
