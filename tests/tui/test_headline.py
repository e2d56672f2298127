"""What failed stands on the Diff screen before why: from the last ingest at once, else from one query."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Event

from logscope.explain.records import Explanation
from logscope.store import Store
from logscope.tui.app import LogScopeApp
from logscope.tui.headline import NOT_WORKED_OUT, WORKING, headline_rows, kept_headline
from logscope.tui.screens.diff import DiffPage
from logscope.tui.service import Service
from logscope.tui.widgets.line import Line
from tests.tui.conftest import SAMPLES, Drive, Holder, listing, press, screen_text, settle, status

LOG = SAMPLES / "s03_fail_eagle3_context_len.log"


def take_in(store: Path, state: Path, *logs: Path) -> None:
    """`logscope ingest` as a process of its own."""
    words = [sys.executable, "-m", "logscope", "ingest", "--db", str(store), *map(str, logs)]
    subprocess.run(words, check=True, env={**os.environ, "XDG_STATE_HOME": str(state)}, capture_output=True)


async def test_an_ingest_leaves_what_failed_for_the_next_start(drive: Drive, tmp_path: Path) -> None:
    store = tmp_path / "new.duckdb"
    take_in(store, tmp_path / "state", LOG)
    with Holder(store) as holder:
        async with drive(store, patience=0.1) as pilot:
            page = pilot.app.screen
            assert isinstance(page, DiffPage) and page.explanation is None
            assert [row.text for row in listing(pilot).rows][-1] == NOT_WORKED_OUT
            assert "max_position_embeddings" in screen_text(pilot)
            assert page.query_one("#verdict", Line).text.startswith("failed: ValueError")
            assert str(holder.pid) in status(pilot)
            await press(pilot, "y")
            assert "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN" in pilot.app.clipboard


async def test_what_is_kept_of_another_store_is_not_shown(drive: Drive, tmp_path: Path) -> None:
    store, state = tmp_path / "new.duckdb", tmp_path / "state"
    take_in(store, state, LOG)
    Store.open(store).mark("last-failed", "skip", "")
    with Holder(store):
        async with drive(store, patience=0.1) as pilot:
            assert not listing(pilot).rows
    assert kept_headline(store) is None


async def test_a_spoiled_headline_is_forgotten(drive: Drive, tmp_path: Path) -> None:
    store, state = tmp_path / "new.duckdb", tmp_path / "state"
    take_in(store, state, LOG)
    (file,) = state.rglob("headline-*.json")
    whole = file.read_text()
    for spoiled in ("{", "[]", whole.replace('"run": [', '"run": [[],'), whole.replace('"root"', '"rot"')):
        file.write_text(spoiled)
        async with drive(store) as pilot:
            assert "cause:1" in [row.key for row in listing(pilot).rows]


class Slow(Service):
    """Explains only when it may."""

    may = Event()

    def explanation(self, bad: str, good: str | None = None) -> Explanation:
        self.may.wait(60)
        return super().explanation(bad, good)


async def test_what_failed_is_painted_while_the_causes_are_looked_for(
    sample_store: Path, tmp_path: Path
) -> None:
    store = Path(shutil.copy(sample_store, tmp_path / "slow.duckdb"))
    app = LogScopeApp(store)
    app.service = Slow(store)
    Slow.may.clear()
    async with app.run_test(size=(120, 40)) as pilot:
        while WORKING not in screen_text(pilot):
            await pilot.pause(0.01)
        root = next(row for row in listing(pilot).rows if row.key == "root")
        assert "max_position_embeddings" in root.text
        await pilot.press("escape")
        await pilot.pause()
        assert NOT_WORKED_OUT in screen_text(pilot)
        await pilot.press("r")
        Slow.may.set()
        await settle(pilot)
        assert WORKING not in screen_text(pilot) and NOT_WORKED_OUT not in screen_text(pilot)
        explained = next(row for row in listing(pilot).rows if row.key == "root")
        assert (explained.text, explained.place) == (root.text, root.place)


def test_a_run_without_an_error_says_why_it_is_taken_as_failed(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "killed.duckdb")
    report = store.ingest([str(SAMPLES / "r16_killed_sigkill_midload.log")])
    headline = store.headline("last")
    assert headline.root is None and report.newest_failure == headline
    rows = headline_rows(headline)
    assert rows[1].text.startswith("none: ended by SIGKILL") and rows[1].place is None


def test_an_ingest_of_nothing_new_or_nothing_failed_has_no_failure(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "good.duckdb")
    assert store.ingest([str(SAMPLES / "s01_ok_no_spec.log")]).newest_failure is None
    assert store.ingest([str(LOG)]).newest_failure == store.headline("last-failed")
    assert store.ingest([str(LOG)]).newest_failure is None
