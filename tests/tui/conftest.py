"""A real store with the sample logs, made once, and the app driven by a pilot on a copy of it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from logscope.store import Store
from logscope.tui.app import LogScopeApp

SAMPLES = Path(__file__).parents[2] / "sample_logs"

Drive = Callable[..., AbstractAsyncContextManager[Pilot[None]]]


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the EAGLE3 story and the throughput pair."""
    path = tmp_path_factory.mktemp("tui") / "samples.duckdb"
    names = ("s01", "s02", "s03", "s04", "p01", "p02")
    logs = [str(log) for log in sorted(SAMPLES.glob("*.log")) if log.name.startswith(names)]
    Store.open(path).ingest(logs)
    return path


@pytest.fixture
def store_copy(sample_store: Path, tmp_path: Path) -> Path:
    """A store that a test may write to."""
    return Path(shutil.copy(sample_store, tmp_path / "samples.duckdb"))


@pytest.fixture
def drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Drive:
    """Runs the app at a size and waits until nothing is asked any more."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.chdir(tmp_path)

    @asynccontextmanager
    async def run(
        store: Path, size: tuple[int, int] = (120, 40), start: str = "diff", **more: object
    ) -> AsyncIterator[Pilot[None]]:
        app = LogScopeApp(store, start=start, **more)  # type: ignore[arg-type]
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            yield pilot

    return run


async def settle(pilot: Pilot[None]) -> None:
    """Waits for all workers and the messages that they posted, timers included."""
    for _ in range(200):
        await pilot.pause()
        if not any(not worker.is_finished for worker in pilot.app.workers):
            break
        await pilot.pause(0.02)
    await pilot.pause(0.2)
    for _ in range(200):
        if not any(not worker.is_finished for worker in pilot.app.workers):
            break
        await pilot.pause(0.02)
    await pilot.pause()


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Presses keys, waiting after each."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def screen_text(pilot: Pilot[None]) -> str:
    """What stands on the screen, as lines of text."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)
