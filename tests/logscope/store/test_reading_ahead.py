"""Several logs read at a time, and what is shown meanwhile."""

from __future__ import annotations

import io
from pathlib import Path

from logscope.cli.progress_line import ProgressLine
from logscope.store import Store
from tests.parsers.hot.log_kinds import KINDS

_TABLES = ("runs", "server_args", "events", "batches", "requests", "logs")


def _logs(folder: Path) -> list[Path]:
    folder.mkdir()
    for seed, kind in enumerate(("plain", "docker", "launches", "dirty", "speculative")):
        (folder / f"{seed}.log").write_bytes(KINDS[kind](seed))
    (folder / "5-copy.log").write_bytes(KINDS["plain"](0))
    (folder / "6-none.log").write_bytes(b"nothing of a launch\n")
    return sorted(folder.iterdir())


def test_two_jobs_give_the_same_store_as_one(tmp_path: Path) -> None:
    logs = _logs(tmp_path / "logs")
    stores = [Store.open(tmp_path / f"{jobs}.duckdb") for jobs in (1, 2)]

    one, two = (store.ingest(logs, jobs=jobs) for store, jobs in zip(stores, (1, 2), strict=True))

    assert [(path.path, path.status, path.runs) for path in one.paths] == [
        (path.path, path.status, path.runs) for path in two.paths
    ]
    for table in _TABLES:
        query = f"SELECT count(*) FROM {table}"
        assert stores[0].query(query).rows == stores[1].query(query).rows
    figures = "SELECT run_id, sum(line), sum(running_req), count(other) FROM batches GROUP BY 1 ORDER BY 1"
    assert stores[0].query(figures).rows == stores[1].query(figures).rows
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".logscope")]


def test_bytes_read_are_told_up_to_the_size_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(KINDS["plain"](1))
    heard: list[tuple[int, int | None]] = []

    Store.open(tmp_path / "s.duckdb").ingest([log], on_bytes=lambda done, size: heard.append((done, size)))

    assert heard[-1] == (log.stat().st_size, log.stat().st_size)


def test_the_progress_line_tells_rate_and_time_left_and_goes_away() -> None:
    times = iter([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])
    out = io.StringIO()
    line = ProgressLine(out, clock=lambda: next(times, 9.0))

    line.begin("/logs/server.log", 1, 2)
    line.advance(4_000_000, 12_000_000)
    line.clear()

    assert "1/2 /logs/server.log  4 MB of 12 MB, 4 MB/s, 2 s left" in out.getvalue()
    assert out.getvalue().endswith("\r\x1b[K")
