"""A folder that cannot be looked into is told, and stops nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.logscope.plain_user import as_plain_user
from tests.logscope.store.launches import launch_log, write_log

ROOT = Path(__file__).parents[3]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_log(folder / "good.log", launch_log())
    for name, mode in (("closed", 0o000), ("listed", 0o444)):
        below = folder / name
        below.mkdir()
        write_log(below / "b.log", launch_log(ready=False, error="RuntimeError: not seen"))
        below.chmod(mode)
    last = folder / "open"
    last.mkdir()
    write_log(last / "bad.log", launch_log(ready=False, error="ValueError: no room", tp_size=2))
    return folder


def _run(logs: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*as_plain_user(), sys.executable, "-m", "logscope", *words],
        capture_output=True,
        text=True,
        cwd=logs.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT), "LOGSCOPE_DB": str(logs.parent / "s.duckdb")},
        timeout=120,
    )


def _told(logs: Path) -> list[str]:
    return [
        f"logscope: {logs}/closed: cannot be listed: Permission denied",
        f"logscope: {logs}/listed/b.log: cannot be read: Permission denied",
    ]


def test_the_other_logs_are_taken_in_and_the_folder_is_a_failed_path(logs: Path) -> None:
    done = _run(logs, "ingest", str(logs), "--format", "json")

    paths = {Path(each["path"]).name: each["status"] for each in json.loads(done.stdout)["paths"]}
    assert done.returncode == 2
    assert paths == {"closed": "failed", "b.log": "failed", "good.log": "new", "bad.log": "new"}
    assert done.stderr.splitlines() == _told(logs)


def test_triage_shows_what_can_be_read(logs: Path) -> None:
    done = _run(logs, "triage", str(logs))

    assert done.returncode == 0
    assert "no room" in done.stdout
    assert done.stderr.splitlines() == _told(logs)


def test_a_baseline_is_found_beside_a_folder_that_cannot_be_read(logs: Path) -> None:
    done = _run(logs, "diff", str(logs / "open" / "bad.log"), "--in", str(logs))

    assert "good.log" in done.stdout
    assert "no room" in done.stdout
    assert done.stderr.splitlines() == _told(logs)


def test_a_folder_that_cannot_be_listed_itself_is_named_alone(logs: Path) -> None:
    done = _run(logs, "ingest", str(logs / "closed"))

    assert done.returncode == 2
    assert done.stderr.splitlines() == _told(logs)[:1]


def test_a_context_file_that_a_pattern_of_the_shell_brought_along_goes_with_its_log(logs: Path) -> None:
    (logs / "good.context.json").write_text('{"argv": ["sglang"]}')
    (logs / "lone.context.json").write_text("{}")

    done = _run(logs, "ingest", *map(str, sorted(logs.glob("*.*"))))

    assert done.returncode == 0
    assert "good.context.json" not in done.stdout
    assert "lone.context.json" in done.stdout
    assert "1 runs from 2 paths: 1 new, 1 skipped" in done.stdout
