"""Which differences between a failure and the next good run are told as its fix."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from logscope.store import Store
from tests.logscope.store.launches import START, launch_log, write_log

BUSY = "OSError: [Errno 98] error while attempting to bind on address ('127.0.0.1', 30000): address already in use"
TOO_LONG = (
    "ValueError: User-specified context_length (16384) is greater than the derived context_length (4096). "
    "To allow overriding this maximum, set the env var SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1"
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "s.duckdb")


def take(store: Store, folder: Path, name: str, text: str) -> None:
    store.ingest([write_log(folder / f"{name}.log", text)])


def told(store: Store, *words: str) -> str:
    command = [sys.executable, "-m", "logscope", *words, "--db", str(store.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def failed(error: str, hours: int, **arguments: Any) -> str:
    return launch_log(START + timedelta(hours=hours), ready=False, error=error, **arguments)


def good(hours: int, **arguments: Any) -> str:
    return launch_log(START + timedelta(hours=hours), decode=3, **arguments)


def test_a_busy_port_is_not_fixed_by_an_argument_of_the_model(store: Store, tmp_path: Path) -> None:
    take(store, tmp_path, "first", failed(BUSY, 0))
    take(store, tmp_path, "good", good(1, context_length=4096, log_level="info"))
    take(store, tmp_path, "again", failed(BUSY, 2))

    causes = json.loads(told(store, "explain", "last", "--format", "json"))["causes"]

    seen = causes[0]["seen_before"]
    assert seen["runs"] == 1
    assert seen["fixed_by"] == []
    assert seen["fixed_in"] == store.load(str(tmp_path / "good.log")).run_id
    assert "without a change that bears on it" in told(store, "explain", "last")
    history = told(store, "history", "error", "already in use")
    assert "context_length" not in history
    assert "without a change that bears on it" in history


def test_a_busy_port_is_fixed_by_another_port(store: Store, tmp_path: Path) -> None:
    take(store, tmp_path, "first", failed(BUSY, 0))
    take(store, tmp_path, "good", good(1, port=30001, context_length=4096))

    history = told(store, "history", "error", "already in use")

    assert "port: 30000 -> 30001" in history
    assert "context_length" not in history


def test_of_many_changes_the_one_that_the_failure_hangs_on_is_told(store: Store, tmp_path: Path) -> None:
    take(store, tmp_path, "first", failed(TOO_LONG, 0, context_length=16384))
    take(store, tmp_path, "good", good(1, schedule_policy="lpm", max_queued_requests=7))

    history = told(store, "history", "error", "derived context_length")

    assert "context_length: 16384 -> None" in history
    assert "schedule_policy" not in history


def test_of_an_unknown_failure_all_changes_are_told_but_those_of_the_logging(
    store: Store, tmp_path: Path
) -> None:
    take(store, tmp_path, "first", failed("ValueError: nobody knows this one", 0))
    take(store, tmp_path, "good", good(1, schedule_policy="lpm", log_requests=True))

    history = told(store, "history", "error", "nobody knows")

    assert "schedule_policy: None -> lpm" in history
    assert "log_requests" not in history


def test_a_failure_that_went_away_without_any_change_says_so(store: Store, tmp_path: Path) -> None:
    take(store, tmp_path, "first", failed("ValueError: nobody knows this one", 0))
    take(store, tmp_path, "good", good(1))

    history = told(store, "history", "error", "nobody knows")

    good_run = store.load(str(tmp_path / "good.log")).run_id
    assert f"gone in {good_run[:12]} without a change that bears on it" in history
