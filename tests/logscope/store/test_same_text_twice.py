"""Launches that print the very same text are told apart by when they began, as their context files say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from logscope.store import Store

SAMPLES = Path(__file__).parents[3] / "sample_logs"
TIMELESS = SAMPLES / "r02_fail_unknown_flag.log"
WITH_ARGS = SAMPLES / "s03_fail_eagle3_context_len.log"
NOON, ONE = "2026-02-03T12:00:00.250+00:00", "2026-02-03T13:00:00+00:00"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.duckdb")


def launch(log: Path, start: str | None, port: str = "1", text: Path = TIMELESS) -> Path:
    """A log as it was recorded; without a start, without a context file."""
    log.parent.mkdir(exist_ok=True)
    shutil.copy(text, log)
    beside = log.with_suffix(".context.json")
    beside.unlink(missing_ok=True)
    if start is not None:
        argv = ["python", "-m", "sglang.launch_server", "--model-path", "/m", "--port", port]
        held = {"schema": "logscope.context/1", "argv": argv, "start_time": start, "exit_code": 2}
        beside.write_text(json.dumps(held))
    return log


def port_of(store: Store, log: Path) -> str:
    context = store.load(str(log)).context
    assert context is not None
    assert context.argv is not None
    return context.argv[-1]


@pytest.mark.parametrize("text", [TIMELESS, WITH_ARGS], ids=["without times", "replayed"])
@pytest.mark.parametrize("at_once", [True, False])
def test_two_launches_with_the_same_text_are_two_runs(
    store: Store, tmp_path: Path, text: Path, at_once: bool
) -> None:
    one = launch(tmp_path / "rr" / "one.log", NOON, "1", text)
    if not at_once:
        store.ingest([one])
    two = launch(tmp_path / "rr" / "two.log", ONE, "2", text)

    store.ingest([tmp_path / "rr"])
    again = store.ingest([tmp_path / "rr"])

    assert [path.status.value for path in again.paths] == ["known", "known"]
    assert len(store.facts()) == 2
    assert [port_of(store, one), port_of(store, two)] == ["1", "2"]
    assert Store.in_memory(beside=store.path).ingest([two]).runs == (store.load(str(two)).run_id,)


def test_the_same_name_recorded_again_keeps_the_launch_before(store: Store, tmp_path: Path) -> None:
    log = launch(tmp_path / "rr" / "one.log", NOON, "1")
    first = store.ingest([log]).runs

    launch(log, ONE, "2")
    second = store.ingest([log])

    assert second.paths[0].status.value == "replaced"
    assert first != second.runs
    assert port_of(store, log) == "2"
    assert len(store.facts()) == 2


def test_a_copy_is_the_launch_of_its_context_file_else_the_newest(store: Store, tmp_path: Path) -> None:
    one = launch(tmp_path / "one.log", NOON, "1")
    two = launch(tmp_path / "two.log", ONE, "2")
    runs = store.ingest([two, one]).runs

    copy = launch(tmp_path / "copy.log", NOON, "1")
    bare = launch(tmp_path / "bare.log", None)
    report = store.ingest([copy, bare])

    assert [path.status.value for path in report.paths] == ["known", "known"]
    assert report.runs == (runs[1], runs[0])
    assert len(store.facts()) == 2


def test_a_context_file_that_comes_later_is_that_of_the_known_launch(store: Store, tmp_path: Path) -> None:
    first = store.ingest([launch(tmp_path / "one.log", None)]).runs

    second = store.ingest([launch(tmp_path / "one.log", NOON)])
    third = store.ingest([launch(tmp_path / "two.log", ONE)])

    assert second.paths[0].status.value == "reread"
    assert second.runs == first
    assert third.paths[0].status.value == "new"


def test_a_second_launch_in_the_same_file_brings_its_own_context(store: Store, tmp_path: Path) -> None:
    log = launch(tmp_path / "one.log", NOON, text=WITH_ARGS)
    first = store.ingest([log]).runs

    launch(log, ONE, "2", text=WITH_ARGS)
    log.write_bytes(WITH_ARGS.read_bytes() + (SAMPLES / "s02_ok_eagle3.log").read_bytes())
    grown = store.ingest([log])

    assert grown.paths[0].status.value == "grown"
    assert grown.runs[:1] == first
    assert len(store.facts()) == 2
