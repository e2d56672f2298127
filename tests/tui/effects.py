"""What a key is documented to do, as checks of what is so before it and after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import DataTable, Input

from logscope.tui.app import LogScopeApp
from logscope.tui.page import Page
from logscope.tui.rows import Row
from logscope.tui.screens.diff import DiffPage
from logscope.tui.screens.errors import ErrorsPage
from logscope.tui.screens.log import LogPage
from logscope.tui.screens.runs import RunsPage
from logscope.tui.screens.throughput import ThroughputPage
from logscope.tui.widgets.evidence import EvidencePane
from logscope.tui.widgets.line import Line
from logscope.tui.widgets.log_view import LogView
from tests.tui.conftest import listing, screen_text, status

Read = Callable[[Pilot[None]], Any]


@dataclass(frozen=True)
class Effect:
    """`read` is asked before and after; `holds(pilot, before, after)` says whether the key did its work."""

    read: Read
    holds: Callable[[Pilot[None], Any, Any], object]


def becomes(read: Read, wanted: object) -> Effect:
    """Afterwards it is `wanted`, a value or what `wanted(pilot)` says, and was not before."""

    def holds(pilot: Pilot[None], before: object, after: object) -> bool:
        return before != after and after == (wanted(pilot) if callable(wanted) else wanted)

    return Effect(read, holds)


def steps(read: Read, step: Callable[[Pilot[None]], int] | int, last: Read | None = None) -> Effect:
    """It goes on by `step`, but not below nought and not beyond `last`."""

    def holds(pilot: Pilot[None], before: int, after: int) -> bool:
        wanted = max(0, before + (step(pilot) if callable(step) else step))
        return before != after and after == (min(wanted, last(pilot)) if last is not None else wanted)

    return Effect(read, holds)


def opens(name: str) -> Effect:
    """Another screen stands there."""
    return becomes(where, name)


def opens_run(name: str) -> Effect:
    """Another screen stands there, with the run of the row."""
    return Effect(
        lambda pilot: (where(pilot), run(pilot)),
        lambda pilot, before, after: before[0] != name and after == (name, before[1]),
    )


def next_row(wanted: Callable[[Row], object], step: int) -> Effect:
    """The cursor goes to the next (1) or previous (-1) row that is `wanted`, round the end."""

    def holds(pilot: Pilot[None], before: int, after: int) -> bool:
        rows = listing(pilot).rows
        order = [(before + step * n) % len(rows) for n in range(1, len(rows) + 1)]
        return before != after and after == next(at for at in order if wanted(rows[at]))

    return Effect(cursor, holds)


def next_line(wanted: Callable[[Pilot[None], int], object], step: int) -> Effect:
    """The cursor of the log goes to the nearest line that is `wanted`."""

    def holds(pilot: Pilot[None], before: int, after: int) -> bool:
        numbers = range(before + step, log(pilot).count + 1 if step > 0 else 0, step)
        return after == next(number for number in numbers if wanted(pilot, number))

    return Effect(line, holds)


def next_marked(level: str, step: int) -> Effect:
    """The cursor of the log goes to the nearest line that is marked as an error or a warning."""
    return next_line(lambda pilot, number: log(pilot).marked.get(number) == level, step)


def turned_round() -> Effect:
    """The same rows in the other order; equal ones may keep theirs."""
    return Effect(rows, lambda pilot, before, after: before != after and sorted(before) == sorted(after))


def swaps_sides() -> Effect:
    """The failing run and its baseline change places."""

    def sides(pilot: Pilot[None]) -> tuple[str | None, str | None]:
        screen = page(pilot)
        assert isinstance(screen, DiffPage) and screen.explanation is not None
        diff = screen.explanation.diff
        return diff.bad.path, diff.good.path if diff.good is not None else None

    return Effect(sides, lambda pilot, before, after: after == before[::-1])


# -- what is so -------------------------------------------------------------------------------------


def app(pilot: Pilot[None]) -> LogScopeApp:
    assert isinstance(pilot.app, LogScopeApp)
    return pilot.app


def page(pilot: Pilot[None]) -> Page:
    return app(pilot).pages[-1]


def where(pilot: Pilot[None]) -> str:
    return type(pilot.app.screen).__name__


def run(pilot: Pilot[None]) -> str:
    """The run that a screen is about: of the run list and the errors, that of the row."""
    screen = page(pilot)
    if isinstance(screen, RunsPage):
        assert listing(pilot).row is not None
        return listing(pilot).row.key  # type: ignore[union-attr]
    if isinstance(screen, ErrorsPage):
        return screen._by_key[listing(pilot).row.key].last_run  # type: ignore[union-attr]
    if isinstance(screen, ThroughputPage):
        return screen._run
    assert isinstance(screen, DiffPage)
    return screen.bad


def cursor(pilot: Pilot[None]) -> int:
    return listing(pilot).cursor


def last_row(pilot: Pilot[None]) -> int:
    return len(listing(pilot).rows) - 1


def half_list(pilot: Pilot[None]) -> int:
    return max(1, listing(pilot).size.height // 2)


def rows(pilot: Pilot[None]) -> Sequence[str]:
    return [row.key for row in listing(pilot).rows]


def said(pilot: Pilot[None]) -> str:
    return status(pilot)


def top(pilot: Pilot[None]) -> str:
    return pilot.app.screen.query_one("#top", Line).text


def copied(pilot: Pilot[None]) -> str:
    return pilot.app.clipboard


def focus(pilot: Pilot[None]) -> str:
    """The focused widget, when it can be seen."""
    focused = pilot.app.focused
    assert focused is not None and focused.region.area
    return type(focused).__name__


def is_zoomed(pilot: Pilot[None]) -> bool:
    """True when one pane has the whole width."""
    screen = pilot.app.screen
    wide = [widget for widget in screen.query("#panes > *") if widget.region.width == pilot.app.size.width]
    return screen.has_class("-zoomed") and (len(wide) == 1 or not screen.query("#panes"))


def log(pilot: Pilot[None]) -> LogView:
    return pilot.app.screen.query_one(LogView)


def line(pilot: Pilot[None]) -> int:
    return log(pilot).cursor


def log_sideways(pilot: Pilot[None]) -> int:
    return log(pilot).scroll_offset.x


def sideways(pilot: Pilot[None]) -> int:
    return listing(pilot).scroll_offset.x


def pane(pilot: Pilot[None]) -> EvidencePane:
    return pilot.app.screen.query_one(EvidencePane)


def pane_at(pilot: Pilot[None]) -> int:
    return int(pane(pilot).scroll_offset.y)


def quoted(pilot: Pilot[None]) -> int:
    """Lines of logs in the pane beside."""
    return sum(len(excerpt.lines) for excerpt in pane(pilot)._excerpts)


def plot(pilot: Pilot[None]) -> tuple[int, bool]:
    screen = page(pilot)
    assert isinstance(screen, ThroughputPage)
    return screen._metric, screen._by_running


def asked_pager(pilot: Pilot[None]) -> list[str]:
    """The words that the pager was called with last."""
    asked = Path.cwd() / "asked"
    return asked.read_text().splitlines()[-1].split() if asked.exists() else []


def reports(pilot: Pilot[None]) -> dict[str, str]:
    return {file.name: file.read_bytes().decode() for file in Path.cwd().glob("logscope-*.md")}


def writes_report() -> Effect:
    """One more file, with what the screen's report is."""

    def holds(pilot: Pilot[None], before: dict[str, str], after: dict[str, str]) -> bool:
        (new,) = after.keys() - before.keys()
        return after[new] == page(pilot).report() and len(after[new].splitlines()) > 2

    return Effect(reports, holds)


def answered(pilot: Pilot[None]) -> tuple[int, str]:
    return pilot.app.screen.query_one(DataTable).row_count, status(pilot)


def find_field(pilot: Pilot[None]) -> bool:
    found = pilot.app.screen.query("#find")
    return bool(found) and found.first(Input).display and found.first(Input).has_focus


def help_at(pilot: Pilot[None]) -> int:
    return int(pilot.app.screen.query_one("#keys-of-all").scroll_offset.y)


def help_end(pilot: Pilot[None]) -> int:
    return pilot.app.screen.query_one("#keys-of-all").max_scroll_y


def help_half(pilot: Pilot[None]) -> int:
    return pilot.app.screen.query_one("#keys-of-all").size.height // 2


def shows(pilot: Pilot[None], *words: str) -> bool:
    return all(word in screen_text(pilot) for word in words)


def log_place(pilot: Pilot[None]) -> tuple[str, int] | None:
    screen = page(pilot)
    return (log(pilot).path, line(pilot)) if isinstance(screen, LogPage) else None
