"""Each key of each screen and pane, at each size: pressed on real runs it does what its row says.

A binding without a row here makes the first test fail.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot

from logscope.tui.keymap import bindings_of, known_actions
from logscope.tui.rows import Row
from logscope.tui.screens import dialogs
from logscope.tui.screens.runs import RunsPage
from logscope.tui.screens.throughput import METRICS
from tests.tui import effects as it
from tests.tui.conftest import Drive, listing, press, settle
from tests.tui.effects import Effect, becomes, next_line, next_marked, next_row, opens, opens_run, steps

SIZES = [(60, 16), (80, 24), (120, 40)]


@dataclass(frozen=True)
class Key:
    """A key that is pressed after `before`, and what it does."""

    action: str
    key: str
    effect: Effect
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    """Keys that lead back to where the next row begins."""


@dataclass(frozen=True)
class Place:
    """Where keys are pressed: the way there, and its keys."""

    name: str
    start: str
    way: tuple[str, ...]
    rows: tuple[Key, ...] = field(default=())


def keys(action: str, names: str, effect: Effect, *before: str, after: tuple[str, ...] = ()) -> list[Key]:
    """A row for each of the keys (apart by blanks) of an action."""
    return [Key(action, name, effect, before, after) for name in names.split()]


def is_error(row: Row) -> bool:
    return row.key == "root" or ":error" in row.key


def holds_position(row: Row) -> bool:
    return row.holds("position")


def next_sort(pilot: Pilot[None], before: list[str], after: list[str]) -> bool:
    """Sorted by outcome, which comes after the time."""
    page = pilot.app.screen
    assert isinstance(page, RunsPage)
    outcomes = [str(page._by_id[key].outcome) for key in after]
    return before != after and sorted(before) == sorted(after) and outcomes == sorted(outcomes)


def by_runs(pilot: Pilot[None], before: str, after: str) -> bool:
    """Sorted by the number of runs, which comes after the runs that ended."""
    counts = [int(row.text.split()[0]) for row in listing(pilot).rows]
    return "by ended runs" in before and "by runs" in after and counts == sorted(counts, reverse=True)


def opened_error(pilot: Pilot[None], before: object, after: tuple[str, int] | None) -> bool:
    """The log stands at the last line with the error of the first row."""
    return before is None and after is not None and after[0].endswith("s03_fail_eagle3_context_len.log")


def opened_line(pilot: Pilot[None], before: object, after: list[str]) -> bool:
    """The pager was given the line of the root error."""
    return before != after and after[0] == "+80" and after[1].endswith("s03_fail_eagle3_context_len.log")


def only_more(pilot: Pilot[None], before: list[str], after: list[str]) -> bool:
    return set(before) < set(after)


def reads_again(pilot: Pilot[None], before: object, after: object) -> bool:
    return before is not after


def full_value(pilot: Pilot[None], before: str, after: str) -> bool:
    """The whole of what the screen says is copied, not what fits on it."""
    return after == it.page(pilot).copied() and before != after and "…" not in after


LIST = (
    *keys("list.down", "j down", steps(it.cursor, 1), "g"),
    *keys("list.up", "k up", steps(it.cursor, -1), "G"),
    *keys("list.top", "g home", becomes(it.cursor, 0), "G"),
    *keys("list.bottom", "G end", becomes(it.cursor, it.last_row), "g"),
    *keys("list.half_down", "ctrl+d pagedown", steps(it.cursor, it.half_list, it.last_row), "g"),
    *keys("list.half_up", "ctrl+u pageup", steps(it.cursor, lambda pilot: -it.half_list(pilot)), "G"),
)
EVERYWHERE = (
    *keys("app.help", "question_mark f1", opens("HelpPage"), after=("escape",)),
    *keys("app.palette", "ctrl+p colon", opens("CommandPalette"), after=("escape",)),
    *keys("app.report", "p", it.writes_report()),
    *keys("page.copy", "y", Effect(it.copied, full_value), "Y"),
    *keys("page.copy_row", "Y", becomes(it.copied, lambda pilot: it.page(pilot).copied_row()), "y"),
)
ZOOM = keys("page.zoom", "z", becomes(it.is_zoomed, True), after=("z",))
PLACES = (
    Place(
        "runs",
        "runs",
        (),
        (
            *LIST,
            *EVERYWHERE,
            *ZOOM,
            *keys("page.find", "slash", becomes(it.find_field, True), after=("escape",)),
            *keys("page.escape", "escape", becomes(it.find_field, False), "slash"),
            *keys("page.next_pane", "tab", becomes(it.focus, "EvidencePane"), after=("shift+tab",)),
            *keys("page.previous_pane", "shift+tab", becomes(it.focus, "LineList"), "tab"),
            *keys("page.reload", "r", Effect(lambda pilot: it.page(pilot).facts, reads_again)),  # type: ignore[attr-defined]
            *keys(
                "list.mark",
                "space",
                becomes(lambda pilot: "▶" in listing(pilot).row.text, True),  # type: ignore[union-attr]
                after=("space",),
            ),
            *keys("list.open", "enter", opens_run("DiffPage"), "g", "j", after=("q",)),
            *keys("runs.diff", "d", opens_run("DiffPage"), after=("q",)),
            *keys("runs.throughput", "t", opens_run("ThroughputPage"), after=("q",)),
            *keys("runs.baseline", "b", becomes(lambda pilot: it.app(pilot)._baseline, it.run)),
            *keys("runs.mark", "m", opens("MarkDialog"), after=("escape",)),
            *keys("runs.quick", "f", opens("QuickFilter"), after=("escape",)),
            *keys("runs.sort", "s", Effect(it.rows, next_sort)),
            *keys("runs.reverse", "S", it.turned_round()),
            *keys("app.diff", "2", opens("DiffPage"), after=("q",)),
            *keys("app.errors", "3", opens("ErrorsPage"), after=("q",)),
            *keys("app.throughput", "4", opens("ThroughputPage"), after=("q",)),
            *keys("app.sql", "5", opens("SqlPage"), after=("escape",)),
            *keys("app.runs", "1", opens("RunsPage"), "3"),
            *keys("app.back", "q", opens("RunsPage"), "3"),
        ),
    ),
    Place(
        "diff",
        "diff",
        (),
        (
            *LIST,
            *EVERYWHERE,
            *ZOOM,
            *keys("page.next_hit", "n", next_row(holds_position, 1), "g", "slash", *"position", "enter"),
            *keys("page.previous_hit", "N", next_row(holds_position, -1)),
            *keys("page.escape", "escape", becomes(it.is_zoomed, False), "escape", "z"),
            *keys("diff.next", "right_square_bracket", next_row(lambda row: row.is_difference, 1), "g"),
            *keys("diff.previous", "left_square_bracket", next_row(lambda row: row.is_difference, -1), "G"),
            *keys("diff.next_error", "e", next_row(is_error, 1), "g"),
            *keys("diff.previous_error", "E", next_row(is_error, -1), "G"),
            *keys("diff.unchanged", "u", Effect(it.rows, only_more)),
            *keys("diff.next_warning", "w", next_row(lambda row: ":warning" in row.key, 1), "g"),
            *keys("diff.previous_warning", "W", next_row(lambda row: ":warning" in row.key, -1), "G"),
            *keys("diff.volatile", "v", Effect(it.rows, only_more), after=("u",)),
            *keys("diff.more", "right_curly_bracket", becomes(it.said, "3 line(s) around the evidence")),
            *keys("diff.less", "left_curly_bracket", becomes(it.said, "2 line(s) around the evidence")),
            *keys("list.right", "l right", steps(it.sideways, 8), "g", "e", after=("h",)),
            *keys("list.left", "h left", steps(it.sideways, -8), "l"),
            *keys("diff.open", "o", Effect(it.asked_pager, opened_line), "g", "e"),
            *keys("diff.swap", "x", it.swaps_sides()),
            *keys("diff.baseline", "b", opens("RunsPage")),
        ),
    ),
    Place(
        "the pane beside the diff",
        "diff",
        ("g", "e", "right_curly_bracket", "right_curly_bracket", "right_curly_bracket", "tab"),
        (
            *keys("evidence.down", "j down", steps(it.pane_at, 1), "g"),
            *keys("evidence.up", "k up", steps(it.pane_at, -1), "g", "j", "j"),
            *keys("evidence.top", "g home", becomes(it.pane_at, 0), "g", "j", "j"),
            *keys(
                "evidence.bottom",
                "G end",
                becomes(it.pane_at, lambda pilot: it.pane(pilot).max_scroll_y),
                "g",
            ),
            *keys(
                "evidence.page_down",
                "ctrl+d pagedown",
                steps(
                    it.pane_at,
                    lambda pilot: it.pane(pilot).size.height,
                    lambda pilot: it.pane(pilot).max_scroll_y,
                ),
                "g",
            ),
            *keys(
                "evidence.page_up",
                "ctrl+u pageup",
                steps(it.pane_at, lambda pilot: -it.pane(pilot).size.height),
                "G",
            ),
            *keys(
                "evidence.wrap",
                "ctrl+w",
                becomes(lambda pilot: it.pane(pilot).virtual_size.width > it.pane(pilot).size.width, True),
            ),
        ),
    ),
    Place(
        "errors",
        "runs",
        ("3",),
        (
            *keys("page.find", "slash", becomes(it.find_field, True), after=("escape",)),
            *keys("errors.sort", "s", Effect(it.top, by_runs), after=("s", "s", "s", "s")),
            *keys("errors.reverse", "S", it.turned_round(), after=("S",)),
            *keys(
                "errors.quick",
                "f",
                Effect(it.rows, lambda pilot, before, after: set(after) < set(before)),
                after=("f",),
            ),
            *keys("errors.diff", "d", opens_run("DiffPage"), "g", after=("q",)),
            *keys("list.open", "enter", Effect(it.log_place, opened_error), "g", after=("q",)),
            *keys("errors.benign", "u", Effect(it.rows, only_more)),
        ),
    ),
    Place(
        "throughput",
        "runs",
        ("slash", *"p02", "enter", "t"),
        (
            *keys("throughput.metric", "s", becomes(it.plot, (1, False))),
            *keys("throughput.metric_back", "S", becomes(it.plot, (len(METRICS) - 1, False)), "S"),
            *keys(
                "throughput.axis", "v", becomes(lambda pilot: it.shows(pilot, "per running requests"), True)
            ),
            *EVERYWHERE,
        ),
    ),
    Place(
        "sql",
        "runs",
        ("5",),
        (
            *keys(
                "sql.run",
                "f5",
                Effect(it.answered, lambda pilot, before, after: after[0] == 2 and "2 rows" in after[1]),
            ),
            *keys(
                "sql.run",
                "ctrl+j",
                Effect(it.said, lambda pilot, before, after: after.startswith("!") and "Parser" in after),
                "x",
            ),
            *keys("sql.history", "f8", opens("QueryHistory"), after=("f8",)),
            *keys("sql.export", "ctrl+e", opens("PathDialog"), after=("escape",)),
            *keys("page.next_pane", "tab", becomes(it.focus, "DataTable")),
            *keys("page.previous_pane", "shift+tab", becomes(it.focus, "TextArea")),
        ),
    ),
    Place(
        "log",
        "diff",
        ("g", "e", "enter"),
        (
            *keys("log.down", "j down", steps(it.line, 1), "g"),
            *keys("log.up", "k up", steps(it.line, -1), "G"),
            *keys("log.top", "g home", becomes(it.line, 1), "G"),
            *keys("log.bottom", "G end", becomes(it.line, lambda pilot: it.log(pilot).count), "g"),
            *keys(
                "log.half_up",
                "ctrl+u pageup",
                steps(it.line, lambda pilot: -(it.log(pilot).size.height // 2)),
                "G",
            ),
            *keys(
                "log.half_down",
                "ctrl+d pagedown",
                steps(it.line, lambda pilot: it.log(pilot).size.height // 2),
                "g",
            ),
            *keys("log.right", "l right", steps(it.log_sideways, 16), after=("h",)),
            *keys("log.left", "h left", steps(it.log_sideways, -16), "l"),
            *keys("log.wrap", "ctrl+w", becomes(lambda pilot: it.log(pilot).wraps, True), after=("ctrl+w",)),
            *keys("logpage.next_error", "e", next_marked("error", 1), "g"),
            *keys("logpage.previous_error", "E", next_marked("error", -1), "G"),
            *keys("logpage.next_warning", "w", next_marked("warning", 1), "g"),
            *keys("logpage.previous_warning", "W", next_marked("warning", -1), "G"),
            *keys("logpage.filter", "f", opens("LogFilter"), after=("escape",)),
            *keys("logpage.follow", "F", becomes(lambda pilot: it.log(pilot).is_at_end, True), "g"),
            *keys("logpage.open", "o", Effect(it.asked_pager, opened_line), "g", "e"),
            *keys("page.find", "slash", becomes(it.find_field, True), "g", after=(*"weight", "enter")),
            *keys(
                "page.next_hit",
                "n",
                next_line(lambda pilot, n: "weight" in it.log(pilot).line_text(n).lower(), 1),
            ),
            *keys(
                "page.previous_hit",
                "N",
                next_line(lambda pilot, n: "weight" in it.log(pilot).line_text(n).lower(), -1),
            ),
            *EVERYWHERE,
        ),
    ),
    Place(
        "help",
        "diff",
        ("question_mark",),
        (
            *keys("help.down", "j down", steps(it.help_at, 3, it.help_end), "g"),
            *keys("help.up", "k up", steps(it.help_at, -3), "G"),
            *keys("help.top", "g home", becomes(it.help_at, 0), "G"),
            *keys("help.bottom", "G end", becomes(it.help_at, it.help_end), "g"),
            *keys("help.half_down", "ctrl+d pagedown", steps(it.help_at, it.help_half, it.help_end), "g"),
            *keys(
                "help.half_up", "ctrl+u pageup", steps(it.help_at, lambda pilot: -it.help_half(pilot)), "G"
            ),
            *keys("help.close", "escape q f1", opens("DiffPage"), after=("f1",)),
            *keys("help.close", "question_mark", opens("DiffPage")),
            *keys("app.quit", "ctrl+q", becomes(lambda pilot: pilot.app._exit, True)),
        ),
    ),
)


def test_every_binding_is_pressed_by_a_row() -> None:
    pressed = {(key.action, key.key) for place in PLACES for key in place.rows}

    bound = {(name, key) for name, keys in known_actions().items() for key in keys.split(",")}
    assert bound == pressed


def test_every_dialog_is_closed_by_a_row() -> None:
    owners = [value for value in vars(dialogs).values() if isinstance(value, type)]
    names = {binding.id for owner in owners for binding in bindings_of(owner) if binding.id}

    assert names == {"dialog.close", "queries.close"}  # escape and f8: in the rows of runs, log and sql


@pytest.fixture
def pager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pager that notes what it was asked; a terminal without a screen cannot be left for it."""
    script = tmp_path / "pager"
    script.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    script.chmod(0o755)
    monkeypatch.setenv("PAGER", str(script))
    monkeypatch.setattr(App, "suspend", lambda self: nullcontext())


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
async def test_each_key_does_what_it_is_there_for(
    drive: Drive, sample_store: Path, pager: None, place: Place, size: tuple[int, int]
) -> None:
    async with drive(sample_store, size, place.start) as pilot:
        await press(pilot, *place.way)
        for key in place.rows:
            await press(pilot, *key.before)
            before = key.effect.read(pilot)
            await pilot.press(key.key)
            if key.action == "app.quit":
                await pilot.pause()
            else:
                await settle(pilot)
            after = key.effect.read(pilot)
            assert key.effect.holds(pilot, before, after), f"{key.action} {key.key}: {before} -> {after}"
            await press(pilot, *key.after)
