"""The Diff screen: verdict first, then causes with remedies, then everything that differs."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal

from logscope.errors import LogScopeError, RunNotFound
from logscope.tui.headline import (
    NOT_WORKED_OUT,
    WORKING,
    headline_rows,
    is_headline,
    kept_headline,
    side_line,
    without_causes,
)
from logscope.tui.job import Job
from logscope.tui.page import Page
from logscope.tui.rows import Row
from logscope.tui.widgets.evidence import EvidencePane
from logscope.tui.widgets.line import Line
from logscope.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from logscope.explain.records import Explanation
    from logscope.store.headline import Headline

NEWEST_FAILED = "last-failed"
EMPTY = (
    "the store holds no run yet: leave with q and give logs, logscope triage PATH..., "
    "or record a launch with logscope record -- COMMAND"
)
TAKING_IN = "the logs are taken in; the newest failed run comes here by itself (1 shows all runs, esc stops)"


PAINTED_WITHIN = 0.3
"""Seconds that the worker waits for what it found to be painted."""


class DiffPage(Page):
    """One failing run beside its baseline."""

    NAME = "Diff"
    SEARCHES = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right_square_bracket", "difference(1)", "Next difference", id="diff.next", key_display="]"),
        Binding(
            "left_square_bracket", "difference(-1)", "Previous difference", show=False, id="diff.previous"
        ),
        Binding("e", "error(1)", "Next error", show=False, id="diff.next_error"),
        Binding("E", "error(-1)", "Previous error", show=False, id="diff.previous_error"),
        Binding("w", "warning(1)", "Next warning", show=False, id="diff.next_warning"),
        Binding("W", "warning(-1)", "Previous warning", show=False, id="diff.previous_warning"),
        Binding("right_curly_bracket", "context(1)", "More context", show=False, id="diff.more"),
        Binding("left_curly_bracket", "context(-1)", "Less context", show=False, id="diff.less"),
        Binding("u", "unchanged", "Unchanged", id="diff.unchanged", tooltip="show or hide what is the same"),
        Binding("v", "volatile", "Volatile", show=False, id="diff.volatile"),
        Binding("x", "swap", "Swap sides", show=False, id="diff.swap"),
        Binding("b", "as_baseline", "Choose baseline", show=False, id="diff.baseline"),
        Binding("o", "pager", "Open in $PAGER", show=False, id="diff.open"),
    ]

    def __init__(self, bad: str = NEWEST_FAILED, good: str | None = None) -> None:
        super().__init__()
        self.bad, self.good = bad, good
        self.explanation: Explanation | None = None
        self._unchanged = self._volatile = False
        self._around = 2
        self._drawn_width = 0

    def body(self) -> ComposeResult:
        yield Line(id="verdict", most=4)
        yield Line(id="baseline", tone="muted", most=2)
        with Horizontal(id="panes"):
            yield LineList(id="list", placeholder="reading the run and its baseline…")
            yield EvidencePane(id="evidence")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(LineList).focus()
        self.show_last(self._stamp())
        if self.bad == NEWEST_FAILED and not self.query_one(LineList).total:
            self._show_headline(kept_headline(self.scope.service.path))
        self.call_after_refresh(self.reload)

    def _stamp(self) -> str:
        return self.scope.views.stamp(self.bad, self.good, self.app.size, self._unchanged, self._volatile)

    def reload(self) -> None:
        bad, good, stamp = self.bad, self.good, self._stamp()
        if not self.scope.service.path.exists():
            self.query_one(LineList).placeholder = TAKING_IN if self.scope.intake.is_busy else EMPTY
            return

        rows = self.query_one(LineList).rows
        needs_headline = not rows or is_headline(rows)

        def work(cancelled: Job) -> Explanation:
            if needs_headline:
                self._send_headline(bad)
            from logscope.tui import diff_rows  # noqa: F401 - reading it takes long enough to be seen

            return self.scope.service.explanation(bad, good)

        def then(explanation: Explanation) -> None:
            self._show(explanation)
            self.keep(stamp)

        self.ask("diff", work, then)

    def trouble(self, error: LogScopeError) -> None:
        """Where no run failed, the run list is what there is to see."""
        if isinstance(error, RunNotFound) and self.bad == NEWEST_FAILED and self.explanation is None:
            if self.scope.intake.is_busy:
                self.query_one(LineList).placeholder = TAKING_IN
            else:
                self.scope.show_runs("no run of the store failed: these are all runs")
            return
        self._give_up_causes()
        super().trouble(error)

    def _stop(self, *groups: str) -> bool:
        has_stopped = super()._stop(*groups)
        if not groups:
            self._give_up_causes()
        return has_stopped

    def _give_up_causes(self) -> None:
        """Where only the headline stands, it does not promise more any longer."""
        if "diff" in self._jobs:
            return
        for listing in self.query("#list").results(LineList):
            if is_headline(listing.rows):
                listing.show(without_causes(listing.rows))
                for line in self.query("#baseline").results(Line):
                    line.say("baseline: " + NOT_WORKED_OUT)

    def _send_headline(self, bad: str) -> None:
        """In the worker: what failed is painted before the dear question of why is begun."""
        headline, is_painted = self.scope.service.headline(bad), Event()

        def show() -> None:
            if self.is_attached and self.explanation is None:
                self._show_headline(headline)
            self.call_after_refresh(is_painted.set)

        self.app.call_later(show)
        is_painted.wait(PAINTED_WITHIN)

    def _show_headline(self, headline: Headline | None) -> None:
        if headline is None:
            return
        self.top(side_line("bad", headline.path, headline.sglang_version, headline.outcome, self.size.width))
        self.query_one("#verdict", Line).say(f"{headline.outcome}: {headline.reason}")
        self.query_one("#baseline", Line).say("baseline: " + WORKING)
        listing = self.query_one(LineList)
        listing.show(headline_rows(headline))
        listing.select("root")

    def _show(self, explanation: Explanation) -> None:
        from logscope.tui.diff_rows import side_title

        self.explanation = explanation
        diff = explanation.diff
        self.refresh_bindings()
        half = (max(self.size.width, 60) - 11) // 2
        self.top(f"{side_title(diff.bad, 'bad', half)}   {side_title(diff.good, 'good', half)}")
        self.query_one("#verdict", Line).say(explanation.verdict)
        self.query_one("#baseline", Line).say(f"baseline: {diff.baseline.reason}")
        listing = self.query_one(LineList)
        if not listing.total or is_headline(listing.rows):
            self._fill()
            first = next((row.key for row in listing.rows if row.key.startswith("cause:")), "root")
            listing.select(first)
            if listing.cursor < listing.size.height:
                listing.scroll_home(animate=False)
        else:
            self._fill()

    def _fill(self) -> None:
        from logscope.tui.diff_rows import DiffView, diff_rows

        if self.explanation is not None:
            listing = self.query_one(LineList)
            self._drawn_width = listing.size.width
            view = DiffView(max(listing.size.width, 58), self._unchanged, self._volatile)
            listing.show(diff_rows(self.explanation, view))

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.call_after_refresh(self._fill_anew)

    def _fill_anew(self) -> None:
        listing = self.query(LineList)  # gone already when the page was left meanwhile
        if self.explanation is not None and listing and listing.first().size.width != self._drawn_width:
            self._fill()

    def on_line_list_highlighted(self) -> None:
        self._evidence(self.query_one(LineList).row)

    def _evidence(self, row: Row | None) -> None:
        pane = self.query_one(EvidencePane)
        if row is None:
            pane.clear()
            return
        pane.detail(row.detail, row.more, waits=bool(row.places))
        if row.places:
            places, context = row.places, self._around
            self.ask(
                "evidence", lambda cancelled: self.scope.service.excerpts(places, context), pane.excerpts
            )

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        if message.row.place is not None:
            self.scope.open_log(message.row.place, self.explanation)
        else:
            self.add_class("-second")
            self.query_one(EvidencePane).focus()

    # -- actions ----------------------------------------------------------------------------------

    def _go(self, wanted: Callable[[Row], bool], step: int, what: str) -> None:
        if not self.query_one(LineList).go_to(wanted, step):
            self.status(f"no {what} here")

    def action_difference(self, step: int) -> None:
        self._go(lambda row: row.is_difference, step, "difference")

    def action_error(self, step: int) -> None:
        self._go(lambda row: row.key == "root" or ":error" in row.key, step, "error")

    def action_warning(self, step: int) -> None:
        self._go(lambda row: ":warning" in row.key, step, "warning")

    def action_context(self, step: int) -> None:
        self._around = min(max(self._around + step, 0), 20)
        self._evidence(self.query_one(LineList).row)
        self.status(f"{self._around} line(s) around the evidence")

    def action_unchanged(self) -> None:
        self._unchanged = not self._unchanged
        self._fill()
        self.status("unchanged rows are shown" if self._unchanged else "unchanged rows are hidden")

    def action_volatile(self) -> None:
        self._volatile = not self._volatile
        self._fill()
        self.status("volatile values are shown" if self._volatile else "volatile values are hidden")

    def action_swap(self) -> None:
        if self.explanation is not None and self.explanation.diff.good is not None:
            diff = self.explanation.diff
            assert diff.good is not None
            self.bad, self.good = diff.good.run_id, diff.bad.run_id
            self.reload()
            self.status("sides swapped")

    def action_as_baseline(self) -> None:
        self.scope.choose_baseline()

    def action_pager(self) -> None:
        row = self.query_one(LineList).row
        if row is not None and row.place is not None:
            self.scope.open_outside(row.place)
        else:
            self.status("this row has no line of a log")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("difference", "unchanged", "volatile") and self.explanation is None:
            return False
        if action == "swap":
            return self.explanation is not None and self.explanation.diff.good is not None
        return super().check_action(action, parameters)

    def report(self) -> str:
        """The diff as the Markdown report of the command line."""
        return "" if self.explanation is None else self.scope.service.markdown(self.explanation)
