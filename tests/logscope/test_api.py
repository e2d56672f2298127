"""The Python API: DataFrames with the store's own values."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest

import logscope
from logscope.api import History
from logscope.errors import QueryError, RunNotFound
from tests.logscope.store.launches import START, launch_log, write_log


@pytest.fixture
def history(tmp_path: Path) -> History:
    opened = logscope.open(str(tmp_path / "s.duckdb"))
    write_log(tmp_path / "good.log", launch_log(decode=10, stopped=True))
    write_log(
        tmp_path / "bad.log",
        launch_log(START + timedelta(hours=1), ready=False, error="ValueError: no room", tp_size=2),
    )
    opened.ingest(tmp_path / "good.log", tmp_path / "bad.log")
    return opened


def test_runs_come_newest_first_with_typed_columns(history: History) -> None:
    runs = history.runs()

    assert list(runs["outcome"]) == ["failed", "ready"]
    assert runs["started_at"].dtype.kind == "M"
    assert list(runs["tp_size"]) == [2, 1]
    assert runs["ready_seconds"].isna().tolist() == [True, False]


def test_args_and_batches_of_a_run(history: History) -> None:
    args = history.args("last-failed")
    batches = history.batches("last-ready")

    assert args.loc["tp_size", "number"] == 2
    assert args.index[0] == "model_path"
    assert len(batches[batches["kind"] == "decode"]) == 10
    assert batches["gen_throughput"].max() == 109.5


def test_errors_over_all_runs_and_of_one(history: History) -> None:
    over_all, of_one = history.errors(), history.errors("last-failed")

    assert "no room" in set(over_all["message"])
    assert "ValueError" in set(of_one["type"])


def test_diff_finds_the_baseline_and_explains(history: History) -> None:
    explanation = history.diff("last-failed")

    assert explanation.diff.good is not None
    assert explanation.diff.good.path.endswith("good.log")
    assert [change.name for change in explanation.diff.args if not change.is_noise] == ["tp_size"]


def test_sql_gives_a_frame_and_refuses_to_write(history: History) -> None:
    frame = history.sql("SELECT run_id, tp_size FROM runs WHERE tp_size = ?", [2])

    assert isinstance(frame, pd.DataFrame)
    assert frame["tp_size"].tolist() == [2]
    with pytest.raises(QueryError):
        history.sql("DELETE FROM runs")


def test_an_empty_result_keeps_its_columns(history: History) -> None:
    frame = history.sql("SELECT run_id, started_at FROM runs WHERE false")

    assert list(frame.columns) == ["run_id", "started_at"]
    assert frame.empty


def test_an_unknown_run_is_said(history: History) -> None:
    with pytest.raises(RunNotFound, match=r"nothing\.log"):
        history.load("nothing.log")
