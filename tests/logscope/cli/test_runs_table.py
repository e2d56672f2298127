"""The table of `logscope runs`: whole in a pipe, within the terminal on one."""

from __future__ import annotations

from pathlib import Path

import pytest

from logscope.cli import runs
from logscope.cli.main import main
from tests.logscope.store.launches import launch_log, write_log

_ERROR = "ValueError: there is no room for " + "very " * 12 + "many tokens"


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "s.duckdb"
    monkeypatch.setenv("LOGSCOPE_DB", str(path))
    write_log(tmp_path / "bad.log", launch_log(ready=False, error=_ERROR))
    assert main(["ingest", "-q", str(tmp_path / "bad.log")]) == 0
    return path


@pytest.mark.parametrize("columns", [80, 100])
def test_on_a_terminal_no_line_is_wider_and_the_end_stands_below(
    columns: int, db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_columns", lambda: columns)
    capsys.readouterr()

    assert main(["runs"]) == 0

    _, row, below = capsys.readouterr().out.splitlines()
    assert "failed" in row
    assert below.startswith("    ValueError: there is no room")
    assert max(len(row), len(below)) <= columns


def test_on_a_narrow_terminal_stage_release_and_model_stand_below_too(
    db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_columns", lambda: 40)
    capsys.readouterr()

    assert main(["runs"]) == 0

    head, row, *below = capsys.readouterr().out.splitlines()
    assert head.split() == ["run", "started", "outcome"]
    assert "failed" in row and len(below) == 2
    assert max(map(len, (head, row, *below))) <= 40


def test_in_a_pipe_a_run_is_one_line(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()

    assert main(["runs"]) == 0

    _, row = capsys.readouterr().out.splitlines()
    assert "ValueError: there is no room" in row


@pytest.mark.parametrize("number", ["0", "-1"])
def test_a_limit_of_no_run_is_bad_usage(number: str, db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "-n", number]) == 2
    assert "a number from 1 on" in capsys.readouterr().err


def test_a_long_end_is_seen_to_go_on_and_is_whole_for_programs(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = f"{_ERROR} {_ERROR} {_ERROR}"
    write_log(tmp_path / "longer.log", launch_log(ready=False, error=long))
    assert main(["ingest", "-q", str(tmp_path / "longer.log")]) == 0
    capsys.readouterr()

    assert main(["runs"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert main(["runs", "--format", "csv"]) == 0

    assert sum(row.endswith("…") for row in rows) == 1
    assert sum(row.endswith("many tokens") for row in rows) == 1
    assert long.removeprefix("ValueError: ") in capsys.readouterr().out


def test_prune_keeps_its_columns_for_a_run_without_a_time(
    tmp_path: Path, db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = Path(__file__).parents[3] / "sample_logs" / "r02_fail_unknown_flag.log"  # no line has a time
    (tmp_path / "usage.log").write_bytes(sample.read_bytes())
    assert main(["ingest", "-q", str(tmp_path / "usage.log")]) == 0
    capsys.readouterr()

    assert main(["prune", "--keep", "0", "--dry-run"]) == 0

    *rows, _ = capsys.readouterr().out.splitlines()
    assert len(rows) == 2
    assert len({row.index("failed") for row in rows}) == 1
