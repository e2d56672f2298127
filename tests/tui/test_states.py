"""Every screen while it reads, while the store is locked, with nothing and with 10,000 rows, at every size."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, TextArea

from logscope.store.records import RunId
from logscope.tui.app import LogScopeApp
from logscope.tui.rows import Row
from logscope.tui.screens.errors import ErrorsPage
from logscope.tui.screens.runs import RunsPage
from tests.tui.conftest import Drive, Holder, listing, press, screen_text, status

SIZES = [(60, 16), (80, 24), (120, 40)]
SCREENS = {"1": "Runs", "3": "Errors", "4": "Throughput", "2": "Diff", "5": "SQL"}
MANY = 10_000

at_every_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


async def until(pilot: Pilot[None], wanted: str) -> None:
    """Waits until the status line says `wanted`."""
    for _ in range(2000):
        if wanted in status(pilot):
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{wanted!r} was never said, but {status(pilot)!r}")


@at_every_size
async def test_what_takes_long_says_so_and_can_be_stopped(
    drive: Drive, store_copy: Path, size: tuple[int, int]
) -> None:
    with Holder(store_copy):
        async with drive(store_copy, size, "runs", patience=0.1) as pilot:
            assert isinstance(pilot.app, LogScopeApp)
            pilot.app.service.patience = 3.0  # the other process is waited for: that is what takes long
            await pilot.press("r")
            for key, name in SCREENS.items():
                await pilot.press(key)
                await until(pilot, "reading…")
                shown = screen_text(pilot)
                assert "(esc stops it)" in shown
                assert name in ("Runs", "SQL") or "reading the" in shown  # runs: the trouble of before
            await pilot.press("escape")
            await pilot.pause()
            assert "stopped; r reads again" in status(pilot)


@at_every_size
async def test_a_locked_store_names_its_holder_on_every_screen(
    drive: Drive, store_copy: Path, size: tuple[int, int]
) -> None:
    with Holder(store_copy) as holder:
        async with drive(store_copy, size, "runs", patience=0.1) as pilot:
            for key in SCREENS:
                await press(pilot, key)

                assert str(holder.pid) in status(pilot)
                assert "Traceback" not in screen_text(pilot)


@at_every_size
async def test_ten_thousand_rows_are_shown_to_their_end(
    drive: Drive, sample_store: Path, size: tuple[int, int]
) -> None:
    async with drive(sample_store, size, "runs") as pilot:
        page = pilot.app.screen
        assert isinstance(page, RunsPage)
        few = page.facts
        many = [
            replace(few[n % len(few)], run_id=RunId(f"{n:016x}"), path=f"run{n}.log") for n in range(MANY)
        ]
        page._show(many)
        await press(pilot, "G")
        assert listing(pilot).cursor == MANY - 1
        assert "run9999" in screen_text(pilot)

        await press(pilot, "3")
        errors = pilot.app.screen
        assert isinstance(errors, ErrorsPage)
        known = errors._errors[0]
        errors._show([replace(known, fingerprint=f"{n:016x}") for n in range(MANY)])
        listing(pilot).action_bottom()
        await pilot.pause()
        assert listing(pilot).cursor == MANY - 1
        assert f"{MANY:,} fingerprints" in screen_text(pilot)

        await press(pilot, "2")
        listing(pilot).show([Row(f"row {n}", key=f"row:{n}") for n in range(MANY)])
        await press(pilot, "G")
        assert f"row {MANY - 1}" in screen_text(pilot)

        await press(pilot, "5")
        pilot.app.screen.query_one(TextArea).text = f"select * from range({MANY})"
        await press(pilot, "f5")
        assert f"2,000 of {MANY:,} rows" in status(pilot)
        assert pilot.app.screen.query_one(DataTable).row_count == 2000
