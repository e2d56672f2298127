"""The Throughput screen marks what diff marks, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from logscope.compare import compare
from logscope.store import Store
from logscope.tui.rows import Sign
from logscope.tui.screens.throughput import METRICS, _figures
from logscope.tui.service import Service

SAMPLES = Path(__file__).parent.parent.parent / "sample_logs"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("figures") / "store.duckdb"
    names = ("r01", "r03", "r13", "r15", "p01", "p02", "t01", "t02")
    Store.open(path).ingest([str(log) for log in sorted(SAMPLES.glob("*.log")) if log.name.startswith(names)])
    return path


@pytest.mark.parametrize(
    ("name", "moved"),
    [("r13_crash_tokenizer_added_token", set()), ("t02_regress_other_draft", {"accept length"})],
)
def test_the_screen_marks_what_diff_marks(store: Path, name: str, moved: set[str]) -> None:
    run = str(SAMPLES / f"{name}.log")
    view = Service(store).throughput(run, tuple(metric for metric, _ in METRICS))
    history = Store.open(store, read_only=True)
    diff = compare(history, history.load(run), view.other)

    assert view.moved == {row.metric for row in diff.metrics if row.is_significant}
    assert {row.metric for row in diff.metrics if row.is_significant and "decode" in row.metric} == set()
    assert moved <= view.moved
    marked = {row.key for row in _figures(view) if row.sign is Sign.CHANGED}
    assert marked == {f"figure:{name}" for name in moved}
