"""Each key does what the key table says."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from logscope.tui.page import Page
from logscope.tui.screens.dialogs import MarkDialog, QueryHistory, QuickFilter
from logscope.tui.screens.diff import DiffPage
from logscope.tui.screens.errors import ErrorsPage
from logscope.tui.screens.help import HelpPage
from logscope.tui.screens.log import LogPage
from logscope.tui.screens.runs import RunsPage
from logscope.tui.screens.sql import SqlPage
from logscope.tui.screens.throughput import ThroughputPage
from logscope.tui.widgets.evidence import EvidencePane
from logscope.tui.widgets.line import Line
from logscope.tui.widgets.log_view import LogView
from tests.tui.conftest import Drive, listing, press, screen_text, status


@pytest.mark.parametrize("key", ["question_mark", "f1"])
async def test_help_shows_the_keys_of_the_focused_pane(drive: Drive, sample_store: Path, key: str) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, key)
        assert isinstance(pilot.app.screen, HelpPage)
        assert "this list" in screen_text(pilot)

        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, DiffPage)


@pytest.mark.parametrize("key", ["ctrl+p", "colon"])
async def test_the_palette_has_every_action_with_its_key(drive: Drive, sample_store: Path, key: str) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, key, *"Swap")

        assert "Swap sides (x)" in screen_text(pilot)


async def test_q_goes_back_and_leaves_on_the_first_screen(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "q")
        assert isinstance(pilot.app.screen, RunsPage)

        await pilot.press("q")
        await pilot.pause()
        assert not pilot.app.is_running or pilot.app._exit


async def test_escape_never_leaves(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "escape", "escape", "escape")

        assert isinstance(pilot.app.screen, RunsPage)
        assert not pilot.app._exit


@pytest.mark.parametrize(
    ("key", "page"),
    [("1", RunsPage), ("2", DiffPage), ("3", ErrorsPage), ("4", ThroughputPage), ("5", SqlPage)],
)
async def test_digits_go_to_the_screens(drive: Drive, sample_store: Path, key: str, page: type[Page]) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, key)

        assert isinstance(pilot.app.screen, page)


async def test_the_cursor_moves_as_in_vim(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        rows = len(listing(pilot).rows)
        await press(pilot, "g")
        assert listing(pilot).cursor == 0
        await press(pilot, "j", "j", "k")
        assert listing(pilot).cursor == 1
        await press(pilot, "G")
        assert listing(pilot).cursor == rows - 1
        await press(pilot, "ctrl+u")
        assert listing(pilot).cursor < rows - 1
        await press(pilot, "ctrl+d")
        assert listing(pilot).cursor == rows - 1


async def test_slash_filters_the_runs_and_escape_clears_it(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        everything = len(listing(pilot).rows)
        await press(pilot, "slash", *"s03")
        assert [row.sign for row in listing(pilot).rows] == ["!"]

        await press(pilot, "escape")
        assert len(listing(pilot).rows) == everything


async def test_letters_typed_into_a_field_do_nothing_else(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "slash", "q", "1", "m")

        assert isinstance(pilot.app.screen, RunsPage)
        assert pilot.app.screen.query_one("#find", Input).value == "q1m"


async def test_n_goes_from_hit_to_hit_in_a_diff(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "g", "slash", *"position", "enter")
        first = listing(pilot).cursor
        await press(pilot, "n")
        second = listing(pilot).cursor
        await press(pilot, "N")

        assert second != first
        assert listing(pilot).cursor == first


async def test_brackets_go_from_difference_to_difference(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "g", "right_square_bracket")
        first = listing(pilot).row
        await press(pilot, "right_square_bracket", "left_square_bracket")

        assert first is not None and first.is_difference
        assert listing(pilot).row == first


async def test_e_goes_to_errors_and_w_to_warnings(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "g", "e")
        assert listing(pilot).row is not None and listing(pilot).row.sign == "!"  # type: ignore[union-attr]
        await press(pilot, "E")
        assert listing(pilot).row is not None and listing(pilot).row.sign == "!"  # type: ignore[union-attr]
        await press(pilot, "u", "w")
        row = listing(pilot).row
        assert row is not None and ":warning" in row.key
        await press(pilot, "W")
        row = listing(pilot).row
        assert row is not None and ":warning" in row.key


async def test_braces_give_more_and_less_context(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "g", "e")
        before = pilot.app.screen.query_one(EvidencePane).shown_text.count("\n")
        await press(pilot, "right_curly_bracket")
        more = pilot.app.screen.query_one(EvidencePane).shown_text.count("\n")
        await press(pilot, "left_curly_bracket")

        assert more > before
        assert pilot.app.screen.query_one(EvidencePane).shown_text.count("\n") == before


@pytest.mark.parametrize("key", ["u", "v"])
async def test_hidden_rows_come_and_go(drive: Drive, sample_store: Path, key: str) -> None:
    async with drive(sample_store) as pilot:
        before = len(listing(pilot).rows)
        await press(pilot, key)
        more = len(listing(pilot).rows)
        await press(pilot, key)

        assert more > before
        assert len(listing(pilot).rows) == before


async def test_x_swaps_the_sides(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        page = pilot.app.screen
        assert isinstance(page, DiffPage)
        before = page.explanation
        await press(pilot, "x")

        assert before is not None and before.diff.good is not None and page.explanation is not None
        assert page.explanation.diff.bad.run_id == before.diff.good.run_id


async def test_two_marked_runs_are_compared(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "slash", *"p0", "enter", "g", "space", "j", "space", "d")
        page = pilot.app.screen

        assert isinstance(page, DiffPage) and page.explanation is not None
        assert page.explanation.diff.good is not None
        assert page.explanation.diff.bad.path.endswith("p02_perf_regress_max_running.log")
        assert page.explanation.diff.good.path.endswith("p01_perf_base.log")


async def test_b_takes_a_run_as_baseline(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "slash", *"s01", "enter", "b", "escape", "slash", *"s03", "enter", "d")
        page = pilot.app.screen

        assert isinstance(page, DiffPage) and page.explanation is not None
        assert page.explanation.diff.good is not None
        assert page.explanation.diff.good.path.endswith("s01_ok_no_spec.log")


async def test_runs_sort_by_every_column_and_back(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        order = [row.key for row in listing(pilot).rows]
        await press(pilot, "s")
        assert next(row.sign for row in listing(pilot).rows) == "!"
        await press(pilot, "s", "s", "s", "s", "s", "S")

        assert [row.key for row in listing(pilot).rows] == order[::-1]


async def test_f_offers_what_there_is_to_filter_by(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "f")
        assert isinstance(pilot.app.screen, QuickFilter)
        await press(pilot, "down", "down", "enter")

        assert [row.sign for row in listing(pilot).rows] == ["!"]


async def test_m_marks_a_run_and_keeps_why(drive: Drive, store_copy: Path) -> None:
    async with drive(store_copy, start="runs") as pilot:
        await press(pilot, "slash", *"s03", "enter", "m")
        assert isinstance(pilot.app.screen, MarkDialog)
        await press(pilot, "tab", *"known draft", "enter", "down", "enter")
        page = pilot.app.screen

        assert isinstance(page, RunsPage)
        marked = next(run for run in page.facts if run.path.endswith("s03_fail_eagle3_context_len.log"))
        assert (marked.mark, marked.note) == ("bad", "known draft")


async def test_y_copies_the_whole_value(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "j", "y")

        assert pilot.app.clipboard == "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1"


async def test_capital_y_copies_the_row_as_markdown(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "Y")

        assert pilot.app.clipboard.startswith("- `!` 1. ")


async def test_p_writes_the_report_of_the_view(drive: Drive, sample_store: Path, tmp_path: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "p")

    (report,) = tmp_path.glob("logscope-diff-*.md")
    assert "max_position_embeddings" in report.read_text()


async def test_z_enlarges_the_pane_and_back(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        before = listing(pilot).size.width
        await press(pilot, "z")
        wide = listing(pilot).size.width
        await press(pilot, "z")

        assert wide > before
        assert listing(pilot).size.width == before


async def test_r_reads_again_and_keeps_the_selected_row(drive: Drive, store_copy: Path) -> None:
    from logscope.store import Store
    from tests.tui.conftest import SAMPLES

    async with drive(store_copy, start="runs") as pilot:
        await press(pilot, "j", "j")
        selected = listing(pilot).row
        Store.open(store_copy).ingest([str(SAMPLES / "t01_ok_eagle3_good_draft.log")])
        await press(pilot, "r")

        assert len(listing(pilot).rows) == 7
        assert selected is not None and listing(pilot).row is not None
        assert listing(pilot).row.key == selected.key  # type: ignore[union-attr]


async def test_o_opens_the_line_in_the_pager(
    drive: Drive, sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import nullcontext

    from textual.app import App

    script = tmp_path / "pager"
    script.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\n')
    script.chmod(0o755)
    monkeypatch.setenv("PAGER", str(script))
    monkeypatch.setattr(App, "suspend", lambda self: nullcontext())  # a headless terminal cannot be left
    async with drive(sample_store) as pilot:
        await press(pilot, "o")

    number, path = (tmp_path / "asked").read_text().split()
    assert path.endswith("s03_fail_eagle3_context_len.log")
    assert "context_length" in Path(path).read_text().split("\n")[int(number[1:]) - 1]


async def test_the_log_goes_from_error_to_error(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "g", "e", "enter")
        page = pilot.app.screen
        assert isinstance(page, LogPage)
        view = page.query_one(LogView)
        at = view.cursor
        await press(pilot, "e")
        assert view.cursor > at
        await press(pilot, "E")
        assert view.cursor == at
        await press(pilot, "g", "w")
        assert view.marked[view.cursor] == "warning"
        await press(pilot, "G", "W")
        assert view.marked[view.cursor] == "warning"


async def test_the_log_is_searched_from_the_cursor(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "enter", "g", "slash", *"Load weight", "enter")
        view = pilot.app.screen.query_one(LogView)
        first = view.cursor
        assert "Load weight begin" in view.line_text(first)
        await press(pilot, "n")
        assert "Load weight end" in view.line_text(view.cursor)
        await press(pilot, "N")

        assert view.cursor == first


async def test_a_search_goes_on_from_the_other_end_and_says_so(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "enter", "g", "slash", *"Load weight", "enter")
        view, status = pilot.app.screen.query_one(LogView), pilot.app.screen.query_one("#status", Line)
        first = view.cursor
        assert status.text == ""
        await press(pilot, "N")
        assert "Load weight end" in view.line_text(view.cursor) and view.cursor > first
        assert status.text == "top reached: went on from the end"
        await press(pilot, "n")
        assert view.cursor == first
        assert status.text == "end reached: went on from the top"
        await press(pilot, "slash", *"nowhere at all", "enter")

        assert view.cursor == first
        assert status.text.startswith("no line holds '")


async def test_the_file_of_what_was_copied_is_shown_whole(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "j", "y")
        status = pilot.app.screen.query_one("#status", Line)
        shown = "".join("".join(part.text for part in status.render_line(y)) for y in range(status.size.height))

        assert len(status.text) > 80 and shown.replace(" ", "").endswith("copied.txt)")


async def test_a_run_that_got_ready_is_not_called_bad(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "slash", *"s02", "enter", "d")

        top = pilot.app.screen.query_one("#top", Line).text
        assert "run: s02_ok_eagle3.log" in top and "bad:" not in top


async def test_the_log_is_filtered_by_text(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "enter", "f", "tab", *"Load weight", "enter")
        view = pilot.app.screen.query_one(LogView)

        assert view.count == 2
        await press(pilot, "f", "enter")
        assert view.count == Path(view.path).read_bytes().count(b"\n")


async def test_f5_runs_the_query_and_f8_has_it_again(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "5")
        editor = pilot.app.screen.query_one(TextArea)
        editor.text = "select 41 + 1 as answer"
        await press(pilot, "f5")
        assert "42" in screen_text(pilot)
        editor.text = ""
        await press(pilot, "f8")
        assert isinstance(pilot.app.screen, QueryHistory)
        await press(pilot, "enter")

        assert editor.text == "select 41 + 1 as answer"


async def test_ctrl_e_writes_the_whole_result(drive: Drive, sample_store: Path, tmp_path: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "5", "ctrl+j", "ctrl+e", "enter")

    assert "ready" in (tmp_path / "query.csv").read_text()


async def test_a_wrong_query_is_one_line(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "5")
        pilot.app.screen.query_one(TextArea).text = "select nothing from nowhere"
        await press(pilot, "f5")

        assert "nowhere" in status(pilot)
