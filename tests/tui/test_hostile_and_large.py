"""What must not break a screen: hostile text, thousands of rows, a locked store, a log that is gone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea, Tree

from logscope.store import Store
from logscope.store.records import RunId
from logscope.tui.app import LogScopeApp
from logscope.tui.log_file import BLOCK, LogFile
from logscope.tui.needle import Needle
from logscope.tui.screens.runs import RunsPage
from logscope.tui.widgets.evidence import EvidencePane
from logscope.tui.widgets.line_list import LineList
from logscope.tui.widgets.log_view import LogView
from tests.tui.conftest import SAMPLES, Drive, Holder, press, screen_text, settle, status

HOSTILE = "[/x] [red]no[/red] \x1b[31mred\x1b[0m \u202eleft\u202c \x00 \x07 漢字 " + "w" * 3000


@pytest.fixture
def hostile_store(tmp_path: Path) -> Path:
    """A failing launch whose texts are hostile."""
    text = (SAMPLES / "s03_fail_eagle3_context_len.log").read_text()
    hostile = text.replace("Target model's context_length", f"{HOSTILE} Target model's context_length")
    log = tmp_path / "a[b]\u202ec.log"
    log.write_text(hostile.replace("/srv/models/tiny-llama-spec'", "/srv/[bold]models'", 1))
    store = tmp_path / "hostile.duckdb"
    Store.open(store).ingest([str(log)])
    return store


async def test_hostile_text_is_harmless_on_every_screen(drive: Drive, hostile_store: Path) -> None:
    async with drive(hostile_store, start="runs") as pilot:
        for keys in (
            ["enter"],
            ["enter"],
            ["3"],
            ["4"],
            ["5", "f5"],
            ["1"],
            ["m", "escape"],
            ["f", "escape"],
        ):
            await press(pilot, *keys)
            text = screen_text(pilot)
            assert not any(character in text for character in "\x1b\x00\x07\u202e")

    assert pilot.app.return_code in (None, 0)


async def test_brackets_of_a_message_are_shown_as_they_are(drive: Drive, hostile_store: Path) -> None:
    async with drive(hostile_store, start="runs") as pilot:
        await press(pilot, "3")

        assert "[/x] [red]no[/red]" in screen_text(pilot)


async def test_ten_thousand_runs_are_filtered_and_kept(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        page = pilot.app.screen
        assert isinstance(page, RunsPage)
        many = [
            replace(page.facts[number % 6], run_id=RunId(f"{number:016x}"), path=f"run{number}.log")
            for number in range(10_000)
        ]
        page._show(many)
        listing = page.query_one(LineList)
        await press(pilot, "G")
        assert listing.cursor == 9_999
        assert "run9999.log" in screen_text(pilot)
        await press(pilot, "slash", *"run77", "enter")

        assert len(listing.rows) == 111
        assert "111 of 10,000 rows" in screen_text(pilot)


async def test_a_locked_store_keeps_what_is_shown_and_names_the_holder(
    drive: Drive, store_copy: Path
) -> None:
    async with drive(store_copy, start="runs", patience=0.3) as pilot:
        with Holder(store_copy) as holder:
            await press(pilot, "r")
            text = screen_text(pilot)

    assert str(holder.pid) in text
    assert "6 runs, 1 failed" in text


async def test_logs_are_taken_in_while_the_screen_is_there(drive: Drive, tmp_path: Path) -> None:
    paths = [str(SAMPLES / f"{name}.log") for name in ("s02_ok_eagle3", "s03_fail_eagle3_context_len")]
    async with drive(tmp_path / "new.duckdb", ingest=paths) as pilot:
        await settle(pilot)
        text = " ".join(screen_text(pilot).split())

    assert "max_position_embeddings (2048)" in text


async def test_a_log_that_is_gone_is_said(drive: Drive, tmp_path: Path) -> None:
    log = tmp_path / "gone.log"
    log.write_bytes((SAMPLES / "s03_fail_eagle3_context_len.log").read_bytes())
    store = tmp_path / "gone.duckdb"
    Store.open(store).ingest([str(log)])
    log.unlink()
    async with drive(store) as pilot:
        await press(pilot, "g", "e")
        assert "is not here any more" in pilot.app.screen.query_one(EvidencePane).shown_text


def test_any_line_of_a_large_log_is_found(tmp_path: Path) -> None:
    lines = [f"line {number} {'x' * (number % 97)}" for number in range(1, 60_001)]
    lines[31_000] = "y" * (3 * BLOCK)
    path = tmp_path / "large.log"
    path.write_text("\n".join(lines))

    log = LogFile(path)
    log.count()

    assert log.lines == 60_000
    for number in (1, 2, 30_999, 31_000, 31_002, 45_678, 59_999, 60_000):
        assert log.line(number) == lines[number - 1]
    assert set(log.line(31_001)) == {"y"}
    assert log.line(60_001) == ""
    assert log.find(Needle("line 45678 "), 1, 1) == 45_678
    assert log.find(Needle("line 123 "), 60_000, -1) == 123
    assert log.find(Needle("line 123 "), 124, 1) is None


def test_lower_case_finds_any_case_and_a_capital_is_exact(tmp_path: Path) -> None:
    lines = ["Error one", "error two", "ERROR three", "none", "Ünix", "x" * BLOCK, "an eRRor at the end"]
    path = tmp_path / "cases.log"
    path.write_text("\n".join(lines))
    log = LogFile(path)
    log.count()

    def hits(text: str) -> list[int]:
        return [number for part in log.matching(Needle(text), Needle(text).is_in) for number in part]

    assert hits("error") == [1, 2, 3, 7]
    assert hits("Error") == [1]
    assert hits("ERROR") == [3]
    assert hits("nix") == [5]
    assert hits("Ü") == [5]
    assert log.find(Needle("error"), 3, 1) == 7
    assert log.find(Needle("error"), 7, -1) == 3
    assert log.find(Needle("Error"), 7, -1) == 1
    assert log.find(Needle("Error"), 1, 1) is None


def test_a_growing_log_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / "growing.log"
    path.write_text("one\ntwo\nthr")
    log = LogFile(path)
    log.count()
    assert (log.lines, log.line(3)) == (3, "thr")

    with path.open("a") as file:
        file.write("ee\nfour\n")

    assert log.grow()
    log.count()
    assert [log.line(number) for number in range(1, log.lines + 1)] == ["one", "two", "three", "four"]


async def test_the_log_view_follows_a_growing_log(drive: Drive, tmp_path: Path) -> None:
    log = tmp_path / "s03.log"
    log.write_bytes((SAMPLES / "s03_fail_eagle3_context_len.log").read_bytes())
    store = tmp_path / "grow.duckdb"
    Store.open(store).ingest([str(log)])
    async with drive(store) as pilot:
        await press(pilot, "g", "e", "enter")
        view = pilot.app.screen.query_one(LogView)
        before = view.count
        with log.open("a") as file:
            file.write("[2026-11-30 17:25:00] appended\n")
        await press(pilot, "r", "G")

        assert view.count == before + 1
        assert "appended" in screen_text(pilot)


async def test_no_color_and_ansi_themes_change_no_word(
    drive: Drive, sample_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with drive(sample_store, start="runs") as pilot:
        assert isinstance(pilot.app.screen, RunsPage)
        plain = screen_text(pilot)
        pilot.app.theme = "ansi-dark"
        await settle(pilot)
        assert screen_text(pilot) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    async with drive(sample_store, start="runs") as pilot:
        assert screen_text(pilot) == plain


async def test_the_theme_is_remembered_per_store(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        pilot.app.theme = "nord"
        await settle(pilot)
    async with drive(sample_store, start="runs") as pilot:
        assert isinstance(pilot.app, LogScopeApp)
        assert pilot.app.theme == "nord"


SHORT = "[/x] [red]no[/red] \x1b[31mred\x1b[0m \u202eleft\u202c \x00\x07\x9b 漢字"


def is_harmless(pilot: Pilot[None]) -> bool:
    """True when nothing that steers a terminal or turns the text is on the screen."""
    return not any(character in screen_text(pilot) for character in "\x1b\x00\x07\x9b\u202e")


async def test_hostile_text_is_harmless_in_the_tree_the_editor_the_results_and_the_history(
    drive: Drive, sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    saved = tmp_path / "config" / "logscope" / "queries"
    saved.mkdir(parents=True)
    (saved / "[b]a\x1b[31m.sql").write_text(f"-- {SHORT}\nselect 1")
    cell = SHORT.replace("\x00", "").replace("'", "''")
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "5")
        editor = pilot.app.screen.query_one(TextArea)
        for sql in (
            f"select '{cell}' as \"[b]\x1b[31mname[/b]\"",
            f"-- {SHORT}\nselect nothing [/x] from it",
        ):
            editor.text = sql
            await press(pilot, "f5")
            assert is_harmless(pilot)
        await press(pilot, "f8")
        assert is_harmless(pilot)
        await press(pilot, "enter")
        assert is_harmless(pilot) and "[/x]" in screen_text(pilot)
        await press(pilot, "ctrl+e")
        pilot.app.screen.query_one(Input).value = str(tmp_path / "[red]" / f"{SHORT[:20]}.csv")
        assert is_harmless(pilot)
        await press(pilot, "enter")
        assert is_harmless(pilot)
        for query in pilot.app.screen.query_one(Tree).root.children[0].children:
            assert "\x1b" not in str(query.label)


@pytest.mark.parametrize("start", ["runs", "diff"])
async def test_hostile_text_is_harmless_in_the_inputs_the_palette_and_what_is_said(
    drive: Drive, sample_store: Path, start: str
) -> None:
    async with drive(sample_store, start=start) as pilot:
        await press(pilot, "slash")
        pilot.app.screen.query_one("#find", Input).value = SHORT
        await settle(pilot)
        assert is_harmless(pilot)
        await press(pilot, "enter")
        assert is_harmless(pilot) and "[red]no[/red]" in screen_text(pilot) + status(pilot)
        await press(pilot, "escape", "ctrl+p")
        pilot.app.screen.query_one(Input).value = SHORT
        await settle(pilot)
        assert is_harmless(pilot)
        await press(pilot, "escape")
        assert isinstance(pilot.app, LogScopeApp)
        pilot.app.show_runs(SHORT)
        pilot.app.say(SHORT)
        await settle(pilot)
        assert is_harmless(pilot)
        pilot.app.copy_text(SHORT)
        assert pilot.app.clipboard == SHORT
        await press(pilot, "1", "m")
        pilot.app.screen.query_one(Input).value = SHORT
        await settle(pilot)
        assert is_harmless(pilot)
