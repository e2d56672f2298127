"""Words that name no log: one line says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from logscope.cli.main import main

_LOG = Path(__file__).parents[3] / "sample_logs" / "r08_crash_missing_shard.log"


def test_an_empty_word_is_not_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_bytes(_LOG.read_bytes())
    monkeypatch.chdir(tmp_path)

    assert main(["show", ""]) == 2
    assert "an empty path" in capsys.readouterr().err


def test_a_name_that_is_no_text_is_told_and_its_neighbours_are_taken_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        (tmp_path / os.fsdecode(b"bad\xff.log")).write_bytes(_LOG.read_bytes())
    except OSError:
        pytest.skip("this file system takes no such name")
    (tmp_path / "fine.log").write_bytes(_LOG.read_bytes())

    code = main(["ingest", str(tmp_path), "--db", str(tmp_path / "s.duckdb")])

    said = capsys.readouterr()
    assert code == 2
    assert "1 failed, 1 new" in said.out
    assert len(said.err.splitlines()) == 1
    assert "its name is not UTF-8" in said.err


def test_watching_a_folder_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(tmp_path)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"logscope: {tmp_path}: cannot be read: Is a directory (watch follows one log file)"
    ]


def test_ingest_shows_a_path_that_would_move_the_cursor_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = tmp_path / "a\x1b[31m\n.log"
    strange.write_bytes(_LOG.read_bytes())

    assert main(["ingest", str(strange), "--db", str(tmp_path / "s.duckdb")]) == 0

    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "a\\x1b[31m .log" in out
