"""Mouse, wire, key map, memory, cancelling, packed logs: what the screens do beside their keys."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import DataTable, TextArea, Tree

from logscope.errors import UsageError
from logscope.store import Store
from logscope.tui.app import LogScopeApp
from logscope.tui.keymap import known_actions, read_keymap
from logscope.tui.screens.diff import DiffPage
from logscope.tui.screens.log import LogPage
from logscope.tui.screens.runs import RunsPage
from logscope.tui.screens.sql import SqlPage
from logscope.tui.screens.throughput import ThroughputPage
from logscope.tui.sparkline import sparkline
from logscope.tui.widgets.line import KeyBar
from logscope.tui.widgets.line_list import LineList
from logscope.tui.widgets.log_view import LogView
from tests.tui.conftest import SAMPLES, Drive, listing, press, screen_text, settle, status

SIZES = [(60, 16), (80, 24), (120, 40)]


@pytest.mark.parametrize("size", SIZES)
async def test_the_footer_has_at_most_seven_entries(
    drive: Drive, sample_store: Path, size: tuple[int, int]
) -> None:
    async with drive(sample_store, size, "runs") as pilot:
        for keys in (["1"], ["2"], ["3"], ["4"], ["5"], ["f5"], ["tab"], ["1"], ["enter"], ["e"], ["enter"]):
            await press(pilot, *keys)
            assert 1 <= len(pilot.app.screen.query_one(KeyBar).shown) <= 7


async def test_a_click_selects_and_a_double_click_opens(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await pilot.click(LineList, offset=(5, 3))
        await settle(pilot)
        assert listing(pilot).cursor == 3
        assert isinstance(pilot.app.screen, RunsPage)

        await pilot.double_click(LineList, offset=(5, 2))
        await settle(pilot)
        assert isinstance(pilot.app.screen, DiffPage)


async def test_the_wheel_scrolls_the_log(drive: Drive, sample_store: Path) -> None:
    from textual.events import MouseScrollUp

    async with drive(sample_store, (80, 24)) as pilot:
        await press(pilot, "enter", "G")
        view = pilot.app.screen.query_one(LogView)
        before, cursor = view.scroll_offset.y, view.cursor
        for _ in range(5):
            view.post_message(MouseScrollUp(view, 5, 5, 0, -1, 0, False, False, False, 5, 5))
        await settle(pilot)

        assert view.scroll_offset.y < before
        assert view.cursor == cursor


async def test_a_step_of_the_cursor_draws_two_lines_and_not_the_screen(
    drive: Drive, sample_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with drive(sample_store, (80, 24)) as pilot:
        drawn: list[int] = []
        original = LineList.render_line

        def render_line(self: LineList, y: int) -> Strip:
            drawn.append(y)
            return original(self, y)

        monkeypatch.setattr(LineList, "render_line", render_line)
        await press(pilot, "j")

        assert 0 < len(drawn) <= 4


def test_a_key_map_is_read_and_a_wrong_one_is_one_clear_line(tmp_path: Path) -> None:
    assert read_keymap(tmp_path) == {}
    (tmp_path / "keys.json").write_text('{"diff.next": "ctrl+n"}')
    assert read_keymap(tmp_path) == {"diff.next": "ctrl+n"}

    (tmp_path / "keys.json").write_text('{"diff.nxt": "ctrl+n"}')
    with pytest.raises(UsageError, match="no such action") as wrong:
        read_keymap(tmp_path)
    assert "diff.next" in wrong.value.hint
    (tmp_path / "keys.json").write_text("{")
    with pytest.raises(UsageError, match="no JSON"):
        read_keymap(tmp_path)


async def test_a_remapped_key_acts_and_help_shows_it(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, keymap={"diff.unchanged": "ctrl+n"}) as pilot:
        before = len(listing(pilot).rows)
        await press(pilot, "u")
        assert len(listing(pilot).rows) == before
        await press(pilot, "ctrl+n")
        assert len(listing(pilot).rows) > before
        await press(pilot, "question_mark")
        assert "ctrl+n" in screen_text(pilot)


def test_the_page_on_the_terminal_ui_lists_every_action() -> None:
    text = (SAMPLES.parent / "docs" / "tui.md").read_text()

    missing = [name for name in known_actions() if f"`{name}`" not in text]
    assert not missing


async def test_filter_and_sort_are_remembered_per_store(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "s", "S", "slash", *"outcome:ready", "enter")
        rows = [row.key for row in listing(pilot).rows]
        assert len(rows) == 5
    async with drive(sample_store, start="runs") as pilot:
        assert [row.key for row in listing(pilot).rows] == rows
        await press(pilot, "escape")
        assert len(listing(pilot).rows) == 6


async def test_the_highlighted_run_has_its_rates_beside_it(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "slash", *"p01", "enter")
        text = screen_text(pilot)

    assert "decode tok/s over" in text
    assert "▇" in text or "█" in text


def test_a_sparkline_goes_from_nought_to_the_highest() -> None:
    assert sparkline([0.0, 50.0, None, 100.0], 10) == "▁▅ █"
    assert sparkline([1.0] * 30, 5) == "█████"
    assert sparkline([], 5) == ""


async def test_t_opens_the_throughput_of_the_run_and_v_turns_the_axis(
    drive: Drive, sample_store: Path
) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "slash", *"p02", "enter", "t")
        assert isinstance(pilot.app.screen, ThroughputPage)
        assert "p02_perf" in screen_text(pilot)
        await press(pilot, "v")
        assert "per running requests" in screen_text(pilot)
        await press(pilot, "s")
        assert "prefill tok/s over seconds" in screen_text(pilot)


async def test_both_excerpts_stand_side_by_side_on_a_wide_screen(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, (200, 50)) as pilot:
        lines = screen_text(pilot).split("\n")

    assert any("bad  s03" in line and "good  s02" in line for line in lines)


async def test_the_tree_is_reached_by_tab_where_it_has_no_room(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, (80, 24), "runs") as pilot:
        await press(pilot, "5", "shift+tab")
        assert isinstance(pilot.app.focused, Tree)
        assert "saved queries" in screen_text(pilot)
        await press(pilot, "tab")
        assert isinstance(pilot.app.focused, TextArea)


async def test_a_cut_result_says_how_many_rows_there_are(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "5")
        pilot.app.screen.query_one(TextArea).text = "select * from range(12431)"
        await press(pilot, "f5")

        assert "2,000 of 12,431 rows" in status(pilot)
        assert pilot.app.screen.query_one(DataTable).row_count == 2000


async def test_escape_stops_a_query(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "5")
        assert isinstance(pilot.app.screen, SqlPage)
        pilot.app.screen.query_one(
            TextArea
        ).text = "select sum(a.range * b.range) from range(10000000) a, range(10000000) b"
        await pilot.press("f5")
        await pilot.pause()
        await press(pilot, "escape")  # comes to rest only because the query ends

        assert "stopped" in status(pilot)


async def test_wrapped_lines_show_their_ends(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, (80, 24)) as pilot:
        await press(pilot, "enter")
        view = pilot.app.screen.query_one(LogView)
        assert "SGLANG_ALLOW_OVERWRITE" not in screen_text(pilot)
        await press(pilot, "ctrl+w")
        assert "SGLANG_ALLOW_OVERWRITE" in screen_text(pilot).replace("\n", "").replace(" ", "")
        await press(pilot, "g", "G", "k", "k")
        assert view.cursor == view.count - 2


async def test_the_log_is_filtered_by_rank_and_level(drive: Drive, tmp_path: Path) -> None:
    log = tmp_path / "ranks.log"
    lines = "".join(f"[2026-11-30 17:24:28 TP{number % 2}] a word\n" for number in range(10))
    log.write_bytes((SAMPLES / "s03_fail_eagle3_context_len.log").read_bytes() + lines.encode())
    store = tmp_path / "ranks.duckdb"
    Store.open(store).ingest([str(log)])
    async with drive(store) as pilot:
        await press(pilot, "g", "e", "enter")
        view = pilot.app.screen.query_one(LogView)
        await press(pilot, "f", "down", "enter")
        assert 0 < view.count < 20
        assert all(view.marked[view._number(index) or 0] == "error" for index in range(view.count))
        await press(pilot, "f", "tab", *"rank:TP0", "enter")
        assert view.count == 5
        assert all(" TP0]" in view.line_text(view._number(index) or 0) for index in range(view.count))


async def test_the_end_of_a_log_goes_along_as_it_grows(drive: Drive, tmp_path: Path) -> None:
    log = tmp_path / "s03.log"
    log.write_bytes((SAMPLES / "s03_fail_eagle3_context_len.log").read_bytes())
    store = tmp_path / "grow.duckdb"
    Store.open(store).ingest([str(log)])
    async with drive(store) as pilot:
        await press(pilot, "g", "e", "enter", "F")
        page = pilot.app.screen
        assert isinstance(page, LogPage)
        with log.open("a") as file:
            file.write("[2026-11-30 17:25:00] appended\n")
        page._follow()
        await settle(pilot)
        view = page.query_one(LogView)

        assert view.cursor == view.count
        assert "appended" in view.line_text(view.cursor)


async def test_a_packed_log_opens_at_its_line_and_leaves_nothing_behind(
    drive: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    log = tmp_path / "s03.log.gz"
    log.write_bytes(gzip.compress((SAMPLES / "s03_fail_eagle3_context_len.log").read_bytes()))
    store = tmp_path / "packed.duckdb"
    Store.open(store).ingest([str(log)])
    async with drive(store) as pilot:
        await press(pilot, "g", "e", "enter")
        assert "Target model's context_length (4096)" in screen_text(pilot)
        assert len(list(scratch.iterdir())) == 1

    assert not list(scratch.iterdir())


async def test_a_grown_log_is_taken_in_again_on_r(drive: Drive, tmp_path: Path) -> None:
    whole = (SAMPLES / "s03_fail_eagle3_context_len.log").read_bytes()
    log = tmp_path / "s03.log"
    log.write_bytes(whole[: whole.index(b"Traceback")])
    store = tmp_path / "grow.duckdb"
    Store.open(store).ingest([str(log)])
    async with drive(store, start="runs") as pilot:
        page = pilot.app.screen
        assert isinstance(page, RunsPage)
        assert page.facts[0].outcome != "failed"
        log.write_bytes(whole)
        await press(pilot, "r")

        assert page.facts[0].outcome == "failed"


async def test_taking_in_can_be_stopped_and_says_what_could_not_be_read(drive: Drive, tmp_path: Path) -> None:
    async with drive(tmp_path / "new.duckdb", start="runs", ingest=[str(tmp_path / "none.log")]) as pilot:
        assert "none.log" in status(pilot)
    app = LogScopeApp(tmp_path / "other.duckdb", start="runs", ingest=[str(SAMPLES)])
    async with app.run_test() as pilot:
        await press(pilot, "escape")

        assert not app.intake.is_busy
        assert "stopped" in status(pilot)


async def test_a_store_without_a_failed_run_opens_on_the_runs(drive: Drive, tmp_path: Path) -> None:
    store = tmp_path / "good.duckdb"
    Store.open(store).ingest([str(SAMPLES / "s01_ok_no_spec.log")])
    async with drive(store) as pilot:
        assert isinstance(pilot.app.screen, RunsPage)
        told = [notice.message for notice in pilot.app._notifications]
        assert told == ["no run of the store failed: these are all runs"]


async def test_the_errors_say_what_made_them_go_away(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "3")

        assert "went away in run" in screen_text(pilot)


async def test_copies_go_to_the_terminal_and_to_a_file(
    drive: Drive, sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    monkeypatch.setattr(App, "copy_to_clipboard", lambda self, text: copied.append(text))
    async with drive(sample_store) as pilot:
        await press(pilot, "j", "y")

    files = list((tmp_path / "state").rglob("copied.txt"))
    assert copied == [files[0].read_text()]


async def test_the_light_theme_changes_no_word(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        dark = screen_text(pilot)
        pilot.app.theme = "textual-light"
        await settle(pilot)

        assert screen_text(pilot) == dark


@pytest.mark.parametrize("size", SIZES)
async def test_every_screen_of_an_empty_store_says_what_to_do(
    drive: Drive, tmp_path: Path, size: tuple[int, int]
) -> None:
    async with drive(tmp_path / "none.duckdb", size, "runs") as pilot:
        for key in "12345":
            await press(pilot, key)
            text = screen_text(pilot)
            assert "Traceback" not in text
            assert "logscope" in text or key == "5"


async def test_a_spoiled_memory_is_forgotten(drive: Drive, sample_store: Path, tmp_path: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "s")
    (file,) = (tmp_path / "state").rglob("triage-*.json")
    file.write_text(json.dumps(["no", "object"]))
    async with drive(sample_store, start="runs") as pilot:
        assert len(listing(pilot).rows) == 6


@pytest.mark.parametrize("keys", [("z",), ("tab", "z")], ids=["list", "evidence"])
async def test_an_enlarged_pane_is_remembered(
    drive: Drive, sample_store: Path, keys: tuple[str, ...]
) -> None:
    async def wide(pilot: Pilot[None]) -> list[str]:
        panes = pilot.app.screen.query("#panes > *")
        return [str(pane.id) for pane in panes if pane.region.width == pilot.app.size.width]

    wanted = ["list"] if len(keys) == 1 else ["evidence"]
    async with drive(sample_store) as pilot:
        assert await wide(pilot) == []
        await press(pilot, *keys)
        assert await wide(pilot) == wanted
    async with drive(sample_store) as pilot:
        assert await wide(pilot) == wanted
        assert pilot.app.focused is not None and pilot.app.focused.id == wanted[0]
        await press(pilot, "escape")
    async with drive(sample_store) as pilot:
        assert await wide(pilot) == []


@pytest.mark.parametrize(
    ("text", "count"), [("eagle3", 3), ("EAGLE3", 3), ("Eagle3", 0), ("OUTCOME:Failed", 1)]
)
async def test_a_filter_with_a_capital_is_exact(
    drive: Drive, sample_store: Path, text: str, count: int
) -> None:
    async with drive(sample_store, start="runs") as pilot:
        page = pilot.app.screen
        assert isinstance(page, RunsPage)
        page.find(text)
        assert len(listing(pilot).rows) == count
