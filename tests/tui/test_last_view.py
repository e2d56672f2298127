"""What was shown last stands there at once, and only as long as the store is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from logscope.store import Store
from logscope.tui.app import LogScopeApp
from logscope.tui.screens.diff import DiffPage
from tests.tui.conftest import SAMPLES, Drive, Holder, listing, press, status


@pytest.mark.parametrize("start", ["runs", "diff"])
async def test_the_last_view_is_there_while_the_store_is_locked(
    drive: Drive, store_copy: Path, start: str
) -> None:
    async with drive(store_copy, start=start) as pilot:
        shown = [row.text for row in listing(pilot).rows]

    with Holder(store_copy) as holder:
        async with drive(store_copy, start=start, patience=0.2) as pilot:
            assert [row.text for row in listing(pilot).rows] == shown
            assert str(holder.pid) in status(pilot)
            await press(pilot, "Y")
            assert isinstance(pilot.app, LogScopeApp)
            assert pilot.app.clipboard.startswith("- `")


async def test_a_remedy_of_the_last_view_can_be_copied_before_the_answer_is_there(
    drive: Drive, store_copy: Path
) -> None:
    async with drive(store_copy):
        pass
    with Holder(store_copy):
        async with drive(store_copy, patience=0.2) as pilot:
            page = pilot.app.screen
            await press(pilot, "j", "y")

            assert isinstance(page, DiffPage) and page.explanation is None
            assert pilot.app.clipboard == "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1"


async def test_a_changed_store_shows_nothing_old(drive: Drive, store_copy: Path) -> None:
    async with drive(store_copy, start="runs"):
        pass
    Store.open(store_copy).ingest([str(SAMPLES / "t01_ok_eagle3_good_draft.log")])
    with Holder(store_copy):
        async with drive(store_copy, start="runs", patience=0.2) as pilot:
            assert not listing(pilot).rows
            assert listing(pilot).placeholder.endswith("r reads again")


async def test_a_spoiled_last_view_is_forgotten(drive: Drive, store_copy: Path, tmp_path: Path) -> None:
    async with drive(store_copy, start="runs"):
        pass
    (file,) = (tmp_path / "state").rglob("views-*.json")
    for spoiled in ("{", '{"Runs": {"stamp": 1}}', "[]"):
        file.write_text(spoiled)
        async with drive(store_copy, start="runs") as pilot:
            assert len(listing(pilot).rows) == 6
