"""Logs that say little or nothing: launches where the recorded command says so."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from logscope.store import Store
from logscope.store.command_line import launches_server

SAMPLES = Path(__file__).parents[3] / "sample_logs"
LAUNCH = ["python", "-m", "sglang.launch_server", "--model-path", "/m"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.duckdb")


def imports(log: Path, lines: int = 7) -> Path:
    """The lines that a real launch prints while it imports."""
    whole = (SAMPLES / "r15_ok_again.log").read_bytes().split(b"\n")
    log.write_bytes(b"".join(line + b"\n" for line in whole[:lines]))
    return log


def recorded(log: Path, **end: object) -> Path:
    held = {"schema": "logscope.context/1", "argv": LAUNCH, "start_time": "2026-02-03T12:00:00+00:00", **end}
    log.with_suffix(".context.json").write_text(json.dumps(held))
    return log


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ({"exit_signal": "SIGKILL"}, "killed"),
        ({"exit_signal": "SIGTERM"}, "killed"),
        ({"exit_code": 3}, "failed"),
        ({"exit_code": 0, "end_time": "2026-02-03T12:00:09+00:00"}, "unknown"),
        ({}, "running"),
    ],
)
@pytest.mark.parametrize("lines", [0, 1, 7])
def test_a_recorded_launch_is_one_however_little_it_printed(
    store: Store, tmp_path: Path, lines: int, end: dict[str, object], outcome: str
) -> None:
    log = recorded(imports(tmp_path / "a.log", lines), **end)

    first = store.ingest([log])
    again = store.ingest([log])

    assert [first.paths[0].status.value, again.paths[0].status.value] == ["new", "known"]
    stored = store.load(str(log))
    assert stored.run.outcome == outcome
    assert stored.run.coverage.lines == lines
    assert stored.context is not None
    assert stored.context.argv == tuple(LAUNCH)


def test_a_launch_that_had_printed_nothing_yet_grows(store: Store, tmp_path: Path) -> None:
    log = recorded(imports(tmp_path / "a.log", 0))
    first = store.ingest([log])

    shutil.copy(SAMPLES / "r15_ok_again.log", log)
    second = store.ingest([log])

    assert second.paths[0].status.value == "grown"
    assert second.runs == first.runs
    assert store.load(str(log)).run.ready


def test_silent_launches_are_told_apart_by_their_starts_and_other_empty_files_are_none_of_them(
    store: Store, tmp_path: Path
) -> None:
    one = recorded(imports(tmp_path / "one.log", 0), exit_code=1)
    two = recorded(imports(tmp_path / "two.log", 0), exit_code=1, start_time="2026-02-03T13:00:00+00:00")
    other = imports(tmp_path / "other.log", 0)

    report = store.ingest([one, two, other])

    assert [path.status.value for path in report.paths] == ["new", "new", "failed"]
    assert len(store.facts()) == 2


def test_the_imports_of_a_launch_alone_are_one_of_unknown_outcome(store: Store, tmp_path: Path) -> None:
    log = imports(tmp_path / "a.log")

    store.ingest([log])

    stored = store.load(str(log))
    assert stored.run.outcome == "unknown"
    assert stored.sglang_version == "0.5.4.post3"


@pytest.mark.parametrize(
    ("words", "is_one"),
    [
        (LAUNCH, True),
        (["nohup", "/opt/bin/sglang", "serve", "--model", "/m"], True),
        (["sh", "-c", "exec python3 -u /opt/sglang/launch_server.py --tp 2"], True),
        (["python", "-m", "sglang.bench_serving", "--port", "1"], False),
        (["./train.sh", "sglang"], False),
        ([], False),
    ],
)
def test_what_command_runs_a_server(words: list[str], is_one: bool) -> None:
    assert launches_server(words) is is_one
