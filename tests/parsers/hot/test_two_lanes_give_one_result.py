"""The careful lane alone against both lanes together: one result, field by field and line by line."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import parsers.log
from parsers.log import LogReader
from parsers.records import BatchBlock, ParsedLog, RequestBlock
from parsers.rules.batches import BATCH_COLUMNS
from tests.parsers.hot.log_kinds import KINDS

_EVAL_DATA = os.environ.get("LOGSCOPE_EVAL_DATA")
_SAMPLE_LOGS = Path(__file__).parents[3] / "sample_logs"


class _Gathered:
    """A read log with all its rows, comparable."""

    def __init__(self, hot: bool) -> None:
        self.batches: list[tuple[Any, ...]] = []
        self.requests: list[tuple[Any, ...]] = []
        self.parsed: ParsedLog | None = None
        self.reader = LogReader(b"salt", self._add_batches, self._add_requests, hot)

    def resume(self) -> None:
        """Go on with a pickled copy of the reader, as a store does with a growing file."""
        self.reader = pickle.loads(pickle.dumps(self.reader))
        self.reader.on_batches, self.reader.on_requests = self._add_batches, self._add_requests

    def finish(self) -> _Gathered:
        self.parsed = self.reader.result()
        self.batches.sort(key=lambda row: row[1])
        self.requests.sort(key=lambda row: row[1])
        return self

    def _add_batches(self, block: BatchBlock) -> None:
        for part in block.parts:
            names = list(part.columns)
            assert {"line", "at", "rank"} <= set(names) <= set(BATCH_COLUMNS)
            lines = part.columns["line"].tolist()
            assert lines == sorted(lines)
            for row in zip(*[part.columns[name].tolist() for name in names], strict=True):
                values = dict(zip(names, row, strict=True))
                values["rank"] = block.ranks[values["rank"]]
                said = {name: value for name, value in values.items() if value == value and value not in (-1, "")}
                self.batches.append((block.ordinal, values["line"], part.kind, tuple(sorted(said.items()))))

    def _add_requests(self, block: RequestBlock) -> None:
        columns = [block.columns[name].tolist() for name in ("line", "at", "tail")]
        for line, at, tail in zip(*columns, strict=True):
            self.requests.append((block.ordinal, line, at, block.tails[tail]))


def _read(text: bytes, hot: bool, block_size: int) -> _Gathered:
    gathered = _Gathered(hot)
    for start in range(0, len(text), block_size):
        gathered.reader.feed(text[start : start + block_size])
    return gathered.finish()


def _assert_same(careful: _Gathered, both: _Gathered) -> None:
    assert both.batches == careful.batches
    assert both.requests == careful.requests
    assert both.parsed is not None and careful.parsed is not None
    for one, other in zip(both.parsed.runs, careful.parsed.runs, strict=True):
        for name in one.__slots__:
            assert getattr(one, name) == getattr(other, name), name
    assert both.parsed == careful.parsed


@pytest.fixture(autouse=True)
def small_blocks_go_hot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hot lane normally starts where a block is large; here it must see every block."""
    monkeypatch.setattr(parsers.log, "HOT_BYTES", 1)
    monkeypatch.setattr(parsers.log, "_PROBE_LINES", 5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_made_up_logs_read_the_same_in_both_ways(kind: str, seed: int) -> None:
    text = KINDS[kind](seed)

    careful = _read(text, False, 1 << 20)
    both = _read(text, True, 20_011 if seed == 1 else 1 << 20)

    _assert_same(careful, both)
    if kind != "time only":
        assert careful.batches
        assert careful.requests


@pytest.mark.parametrize("kind", ["plain", "ranks", "dirty", "docker", "launches", "two ray actors"])
def test_a_log_that_grows_reads_the_same(kind: str) -> None:
    text = KINDS[kind](5)
    grown = _Gathered(True)
    lines = text.splitlines(keepends=True)
    for start in range(0, len(lines), 150):
        grown.reader.feed(b"".join(lines[start : start + 150]))
        grown.reader.result()
        grown.resume()

    _assert_same(_read(text, False, 1 << 20), grown.finish())


def _sample_logs() -> Iterator[Path]:
    for path in sorted(_SAMPLE_LOGS.rglob("*")):
        if path.is_file() and path.suffix not in (".md", ".json"):
            yield path


@pytest.mark.parametrize("path", list(_sample_logs()), ids=lambda path: path.name)
def test_sample_logs_read_the_same_in_both_ways(path: Path) -> None:
    text = path.read_bytes()

    _assert_same(_read(text, False, 1 << 20), _read(text, True, 5_003))


@pytest.mark.skipif(not _EVAL_DATA, reason="LOGSCOPE_EVAL_DATA names no folder of real logs")
@pytest.mark.parametrize("folder", ["real_runs", "public_logs", "tricky_lines"])
def test_real_logs_read_the_same_in_both_ways(folder: str) -> None:
    logs = sorted(Path(_EVAL_DATA or "", folder).rglob("*.log"))
    assert logs or folder == "tricky_lines"

    for path in logs:
        text = path.read_bytes()
        try:
            _assert_same(_read(text, False, 1 << 20), _read(text, True, 200_003))
        except AssertionError as difference:
            raise AssertionError(f"{path}: {difference}") from difference
