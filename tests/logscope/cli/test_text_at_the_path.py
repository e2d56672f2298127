"""A command that is given a path answers about the text at that path, whatever the store holds beyond it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from logscope.cli.main import main
from logscope.store import Store

SAMPLES = Path(__file__).parents[3] / "sample_logs"
READY = SAMPLES / "s02_ok_eagle3.log"
HUNG = SAMPLES / "r18_hang_scheduler_stopped.log"


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that holds ``a.log`` of the current folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(READY, tmp_path / "a.log")
    path = tmp_path / "store.duckdb"
    assert main(["ingest", "-q", "--db", str(path), "a.log"]) == 0
    return path


def beginning(lines: int = 60) -> str:
    whole = READY.read_bytes().split(b"\n")[:lines]
    Path("pre.log").write_bytes(b"\n".join([*whole, b""]))
    return "pre.log"


def told(db: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[dict[str, object], str]:
    capsys.readouterr()
    main([*words, "--format", "json", "--db", str(db)])
    out, hints = capsys.readouterr()
    return json.loads(out.splitlines()[-1] if words[0] == "watch" else out), hints


@pytest.mark.parametrize("words", [("explain",), ("diff",), ("diff", "a.log")])
@pytest.mark.parametrize("is_stored", [False, True])
def test_the_beginning_of_a_stored_log_is_read_by_itself(
    db: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], is_stored: bool
) -> None:
    part = beginning()
    if is_stored:
        main(["ingest", "-q", "--db", str(db), part])

    answer, hints = told(db, capsys, *words, part)

    bad = answer["bad"]
    assert isinstance(bad, dict)
    assert bad["source"]["path"] == part
    assert bad["outcome"] == "unknown"
    assert bad["run_id"] != Store.open(db, read_only=True).load("a.log").run_id
    assert f"{part} is the beginning of a.log" in hints
    if len(words) == 1:
        assert answer["good"] is None  # the longer log is the same launch
    assert len(Store.open(db, read_only=True).facts()) == 1


def test_show_and_explain_name_the_same_run(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part = beginning()

    shown, hints = told(db, capsys, "show", part)
    explained, _ = told(db, capsys, "explain", part)

    assert f"{part} is the beginning of a.log" in hints
    assert shown["runs"][0]["run_id"] == explained["bad"]["run_id"]  # type: ignore[index]


def test_a_cut_in_the_last_line_is_no_whole_log(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("pre.log").write_bytes(READY.read_bytes()[:-5])

    answer, hints = told(db, capsys, "diff", "pre.log")

    assert answer["bad"]["source"]["path"] == "pre.log"  # type: ignore[index]
    assert "pre.log is the beginning of a.log" in hints


def test_a_longer_log_is_compared_with_its_own_beginning(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, _ = told(db, capsys, "diff", beginning(), "a.log")

    good, bad = answer["good"], answer["bad"]
    assert isinstance(good, dict)
    assert isinstance(bad, dict)
    assert [good["outcome"], bad["outcome"]] == ["unknown", "ready"]
    assert [good["source"]["path"], bad["source"]["path"]] == ["pre.log", "a.log"]


def test_a_copy_without_its_context_is_told_by_its_own_text(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["ingest", "-q", "--db", str(db), str(HUNG)])
    shutil.copy(HUNG, "copy.log")

    shown, _ = told(db, capsys, "show", "copy.log")
    answer, hints = told(db, capsys, "diff", "copy.log")
    stored, _ = told(db, capsys, "diff", str(HUNG))
    watched, _ = told(db, capsys, "watch", "copy.log")

    bad = answer["bad"]
    assert isinstance(bad, dict)
    assert bad["source"]["path"] == "copy.log"
    assert bad["outcome"] == shown["runs"][0]["outcome"] == "killed"  # type: ignore[index]
    assert watched["diff"]["bad"]["outcome"] == "killed"  # type: ignore[index]
    assert stored["bad"]["outcome"] == "hung"  # type: ignore[index]
    assert bad["run_id"] == stored["bad"]["run_id"]  # type: ignore[index]
    assert "beginning" not in hints
