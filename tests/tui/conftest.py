"""A real store with the sample logs, made once, and the app driven by a pilot on a copy of it."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from time import monotonic

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from logscope.store import Store
from logscope.tui.app import LogScopeApp
from logscope.tui.widgets.line import Line
from logscope.tui.widgets.line_list import LineList

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
        store: Path,
        size: tuple[int, int] = (120, 40),
        start: str = "diff",
        patience: float = 3.0,
        **more: object,
    ) -> AsyncIterator[Pilot[None]]:
        app = LogScopeApp(store, start=start, **more)  # type: ignore[arg-type]
        app.service.patience = patience
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            yield pilot

    return run


PATIENCE = 60.0
"""Seconds after which an app that does not come to rest is at fault."""


class Holder:
    """Another process that keeps the store open for writing."""

    def __init__(self, store: Path) -> None:
        code = (
            "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pid = self._process.pid

    def __enter__(self) -> Holder:
        assert self._process.stdout is not None and self._process.stdout.readline() == "held\n"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate("")


async def settle(pilot: Pilot[None]) -> None:
    """Waits until no worker runs, no message waits and no one-shot timer (a filter's pause) is due."""
    app = pilot.app
    until = monotonic() + PATIENCE
    while monotonic() < until:
        if _is_busy(app):
            await asyncio.sleep(
                0.005
            )  # a pilot's pause asks every widget: many of them cost more than the app
            continue
        await pilot.pause()
        if not _is_busy(app):
            await pilot.pause()  # what the last worker posted may have asked again
            if not _is_busy(app):
                return
    raise AssertionError("the app does not come to rest")


def _is_busy(app: App[None]) -> bool:
    if any(not worker.is_finished for worker in app.workers):
        return True
    return any(
        timer._repeat == 0 and timer._task is not None and not timer._task.done()
        for page in app.screen_stack
        for timer in page._timers
        if timer.name is not None and timer.name.startswith("pause")
    )


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Presses keys, waiting after each."""
    for key in keys:
        await pilot.press(key)
        if not (
            isinstance(pilot.app.focused, Input | TextArea) and len(key) == 1
        ):  # words are typed in one go
            await settle(pilot)
    await settle(pilot)


def screen_text(pilot: Pilot[None]) -> str:
    """What stands on the screen, as lines of text."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


def listing(pilot: Pilot[None]) -> LineList:
    """The main list of the screen."""
    return pilot.app.screen.query(LineList).first()


def status(pilot: Pilot[None]) -> str:
    """What the status line says."""
    return pilot.app.screen.query_one("#status", Line).text
