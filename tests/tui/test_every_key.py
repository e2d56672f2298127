"""Each key of each screen and pane, at each size: pressed on real runs it does what its row says.

A binding without a row here makes the first test fail.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import DataTable, Input

from logscope.tui.app import LogScopeApp
from logscope.tui.keymap import bindings_of, known_actions
from logscope.tui.screens import dialogs
from logscope.tui.widgets.evidence import EvidencePane
from logscope.tui.widgets.log_view import LogView
from tests.tui.conftest import Drive, listing, press, settle, status

SIZES = [(60, 16), (80, 24), (120, 40)]

Told = Callable[[Pilot[None]], object]


@dataclass(frozen=True)
class Key:
    """A key that is pressed after `before`; what `told` says is another thing after it than before."""

    action: str
    keys: tuple[str, ...]
    told: Told
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


def where(pilot: Pilot[None]) -> object:
    return type(pilot.app.screen).__name__


def cursor(pilot: Pilot[None]) -> object:
    return listing(pilot).cursor


def sideways(pilot: Pilot[None]) -> object:
    return listing(pilot).scroll_offset.x


def rows(pilot: Pilot[None]) -> object:
    return tuple(row.key for row in listing(pilot).rows)


def said(pilot: Pilot[None]) -> object:
    return status(pilot)


def top(pilot: Pilot[None]) -> object:
    from logscope.tui.widgets.line import Line

    return pilot.app.screen.query_one("#top", Line).text


def copied(pilot: Pilot[None]) -> object:
    return pilot.app.clipboard


def focus(pilot: Pilot[None]) -> object:
    return type(pilot.app.focused).__name__


def classes(pilot: Pilot[None]) -> object:
    return frozenset(pilot.app.screen.classes)


def log(pilot: Pilot[None]) -> LogView:
    return pilot.app.screen.query_one(LogView)


def line(pilot: Pilot[None]) -> object:
    return log(pilot).cursor


def pane(pilot: Pilot[None]) -> object:
    return pilot.app.screen.query_one(EvidencePane).scroll_offset.y


def plot(pilot: Pilot[None]) -> object:
    from logscope.tui.screens.throughput import ThroughputPage

    page = pilot.app.screen
    assert isinstance(page, ThroughputPage)
    return page._metric, page._by_running


def asked_pages(pilot: Pilot[None]) -> object:
    return (Path.cwd() / "asked").read_text() if (Path.cwd() / "asked").exists() else ""


def reports(pilot: Pilot[None]) -> object:
    return len(list(Path.cwd().glob("logscope-*.md")))


def stopped(pilot: Pilot[None]) -> object:
    return pilot.app._exit


def answered(pilot: Pilot[None]) -> object:
    return pilot.app.screen.query_one(DataTable).row_count


def answers(pilot: Pilot[None]) -> object:
    assert isinstance(pilot.app, LogScopeApp)
    page = pilot.app.pages[-1]
    return page._jobs, page.stack_updates, id(page.main_list.rows) if page.main_list is not None else 0


def help_scroll(pilot: Pilot[None]) -> object:
    return pilot.app.screen.query_one("#keys-of-all").scroll_offset.y


def find_field(pilot: Pilot[None]) -> object:
    found = pilot.app.screen.query("#find")
    return bool(found) and found.first(Input).display


EVERYWHERE = (
    Key("app.help", ("question_mark",), where, after=("escape",)),
    Key("app.help", ("f1",), where, after=("escape",)),
    Key("app.palette", ("ctrl+p",), where, after=("escape",)),
    Key("app.palette", ("colon",), where, after=("escape",)),
    Key("app.report", ("p",), reports),
    Key("page.copy", ("y",), copied, before=("Y",)),
    Key("page.copy_row", ("Y",), copied, before=("y",)),
    Key("page.zoom", ("z",), classes, after=("z",)),
)
LIST = (
    Key("list.down", ("j",), cursor, before=("g",)),
    Key("list.down", ("down",), cursor, before=("g",)),
    Key("list.up", ("k",), cursor, before=("G",)),
    Key("list.up", ("up",), cursor, before=("G",)),
    Key("list.top", ("g",), cursor, before=("G",)),
    Key("list.top", ("home",), cursor, before=("G",)),
    Key("list.bottom", ("G",), cursor, before=("g",)),
    Key("list.bottom", ("end",), cursor, before=("g",)),
    Key("list.half_down", ("ctrl+d",), cursor, before=("g",)),
    Key("list.half_down", ("pagedown",), cursor, before=("g",)),
    Key("list.half_up", ("ctrl+u",), cursor, before=("G",)),
    Key("list.half_up", ("pageup",), cursor, before=("G",)),
)
PLACES = (
    Place(
        "runs",
        "runs",
        (),
        (
            *LIST,
            *EVERYWHERE,
            Key("page.find", ("slash",), find_field, after=("escape",)),
            Key("page.escape", ("escape",), find_field, before=("slash",)),
            Key("page.next_pane", ("tab",), focus, after=("shift+tab",)),
            Key("page.previous_pane", ("shift+tab",), focus, before=("tab",)),
            Key("page.reload", ("r",), answers),
            Key("list.mark", ("space",), said, after=("space",)),
            Key("list.open", ("enter",), where, after=("q",)),
            Key("runs.diff", ("d",), where, after=("q",)),
            Key("runs.throughput", ("t",), where, after=("q",)),
            Key("runs.baseline", ("b",), said),
            Key("runs.mark", ("m",), where, after=("escape",)),
            Key("runs.quick", ("f",), where, after=("escape",)),
            Key("runs.sort", ("s",), rows),
            Key("runs.reverse", ("S",), rows),
            Key("app.diff", ("2",), where, after=("q",)),
            Key("app.errors", ("3",), where, after=("q",)),
            Key("app.throughput", ("4",), where, after=("q",)),
            Key("app.sql", ("5",), where, after=("f1", "escape", "escape")),
            Key("app.runs", ("1",), where, before=("3",)),
            Key("app.back", ("q",), where, before=("3",)),
        ),
    ),
    Place(
        "diff",
        "diff",
        (),
        (
            *LIST,
            *EVERYWHERE,
            Key("page.next_hit", ("n",), cursor, before=("g", "slash", *"position", "enter")),
            Key("page.previous_hit", ("N",), cursor),
            Key("page.escape", ("escape",), classes, before=("escape", "z")),
            Key("diff.next", ("right_square_bracket",), cursor, before=("g",)),
            Key("diff.previous", ("left_square_bracket",), cursor, before=("G",)),
            Key("diff.next_error", ("e",), cursor, before=("g",)),
            Key("diff.previous_error", ("E",), cursor, before=("G",)),
            Key("diff.unchanged", ("u",), rows),
            Key("diff.next_warning", ("w",), cursor, before=("g",)),
            Key("diff.previous_warning", ("W",), cursor, before=("G",)),
            Key("diff.volatile", ("v",), rows, after=("u",)),
            Key("diff.more", ("right_curly_bracket",), said),
            Key("diff.less", ("left_curly_bracket",), said),
            Key("list.right", ("l",), sideways, before=("g", "e"), after=("h",)),
            Key("list.right", ("right",), sideways, after=("h",)),
            Key("list.left", ("h",), sideways, before=("l",)),
            Key("list.left", ("left",), sideways, before=("l",)),
            Key("diff.open", ("o",), asked_pages, before=("g", "e")),
            Key("diff.swap", ("x",), top, after=("x",)),
            Key("diff.baseline", ("b",), where),
        ),
    ),
    Place(
        "the pane beside the diff",
        "diff",
        ("g", "e", "right_curly_bracket", "right_curly_bracket", "right_curly_bracket", "tab"),
        (
            Key("evidence.down", ("j",), pane, before=("g",)),
            Key("evidence.down", ("down",), pane, before=("g",)),
            Key("evidence.up", ("k",), pane, before=("g", "j", "j")),
            Key("evidence.up", ("up",), pane, before=("g", "j", "j")),
            Key("evidence.top", ("g",), pane, before=("g", "j", "j")),
            Key("evidence.top", ("home",), pane, before=("g", "j", "j")),
            Key("evidence.bottom", ("G",), pane, before=("g",)),
            Key("evidence.bottom", ("end",), pane, before=("g",)),
            Key("evidence.page_down", ("ctrl+d",), pane, before=("g",)),
            Key("evidence.page_down", ("pagedown",), pane, before=("g",)),
            Key("evidence.page_up", ("ctrl+u",), pane, before=("G",)),
            Key("evidence.page_up", ("pageup",), pane, before=("G",)),
            Key("evidence.wrap", ("ctrl+w",), lambda pilot: pilot.app.screen.query_one(EvidencePane).wraps),
        ),
    ),
    Place(
        "errors",
        "runs",
        ("3",),
        (
            Key("page.find", ("slash",), find_field, after=("escape",)),
            Key("errors.sort", ("s",), top),
            Key("errors.reverse", ("S",), rows),
            Key("errors.benign", ("u",), rows),
            Key("errors.quick", ("f",), rows),
            Key("errors.diff", ("d",), where, after=("q",)),
            Key("list.open", ("enter",), where, after=("q",)),
        ),
    ),
    Place(
        "throughput",
        "runs",
        ("slash", *"p02", "enter", "t"),
        (
            Key("throughput.metric", ("s",), plot),
            Key("throughput.metric_back", ("S",), plot),
            Key("throughput.axis", ("v",), plot),
        ),
    ),
    Place(
        "sql",
        "runs",
        ("5",),
        (
            Key("sql.run", ("f5",), answered),
            Key("sql.run", ("ctrl+j",), said, before=("x",)),
            Key("sql.history", ("f8",), where, after=("f8",)),
            Key("sql.export", ("ctrl+e",), where, after=("escape",)),
            Key("page.next_pane", ("tab",), focus),
            Key("page.previous_pane", ("shift+tab",), focus),
        ),
    ),
    Place(
        "log",
        "diff",
        ("g", "e", "enter"),
        (
            Key("log.down", ("j",), line),
            Key("log.down", ("down",), line),
            Key("log.up", ("k",), line),
            Key("log.up", ("up",), line),
            Key("log.top", ("g",), line),
            Key("log.bottom", ("G",), line),
            Key("log.top", ("home",), line),
            Key("log.bottom", ("end",), line),
            Key("log.half_up", ("ctrl+u",), line),
            Key("log.half_down", ("ctrl+d",), line),
            Key("log.half_up", ("pageup",), line),
            Key("log.half_down", ("pagedown",), line),
            Key("log.right", ("l",), lambda pilot: log(pilot).scroll_offset.x, after=("h",)),
            Key("log.right", ("right",), lambda pilot: log(pilot).scroll_offset.x),
            Key("log.left", ("h",), lambda pilot: log(pilot).scroll_offset.x, after=("l",)),
            Key("log.left", ("left",), lambda pilot: log(pilot).scroll_offset.x),
            Key("log.wrap", ("ctrl+w",), lambda pilot: log(pilot).wraps, after=("ctrl+w",)),
            Key("logpage.next_error", ("e",), line, before=("g",)),
            Key("logpage.previous_error", ("E",), line, before=("G",)),
            Key("logpage.next_warning", ("w",), line, before=("g",)),
            Key("logpage.previous_warning", ("W",), line, before=("G",)),
            Key("logpage.filter", ("f",), where, after=("escape",)),
            Key("logpage.follow", ("F",), line, before=("g",)),
            Key("logpage.open", ("o",), asked_pages),
            Key("page.find", ("slash",), find_field, before=("g",), after=(*"weight", "enter")),
            Key("page.next_hit", ("n",), line),
            Key("page.previous_hit", ("N",), line),
            *(key for key in EVERYWHERE if key.action != "page.zoom"),
        ),
    ),
    Place(
        "help",
        "diff",
        ("question_mark",),
        (
            Key("help.down", ("j",), help_scroll),
            Key("help.down", ("down",), help_scroll),
            Key("help.up", ("k",), help_scroll),
            Key("help.up", ("up",), help_scroll),
            Key("help.close", ("escape",), where, after=("f1",)),
            Key("help.close", ("q",), where, after=("f1",)),
            Key("help.close", ("f1",), where, after=("f1",)),
            Key("help.close", ("question_mark",), where),
            Key("app.quit", ("ctrl+q",), stopped),
        ),
    ),
)


def test_every_binding_is_pressed_by_a_row() -> None:
    pressed = {(key.action, key.keys[0]) for place in PLACES for key in place.rows}

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
async def test_each_key_does_something(
    drive: Drive, sample_store: Path, pager: None, place: Place, size: tuple[int, int]
) -> None:
    async with drive(sample_store, size, place.start) as pilot:
        await press(pilot, *place.way)
        for key in place.rows:
            await press(pilot, *key.before)
            before = key.told(pilot)
            await pilot.press(*key.keys)
            if key.action == "app.quit":
                await pilot.pause()
            else:
                await settle(pilot)
            assert key.told(pilot) != before, f"{key.action}: {key.keys}"
            await press(pilot, *key.after)
