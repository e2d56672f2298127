"""The Runs screen: the history, and the verdict of the highlighted run beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Static

from logscope.store.records import RunFacts, RunId
from logscope.tui.page import Page
from logscope.tui.rows import Row
from logscope.tui.run_rows import SORTS, columns_heading, run_detail, run_rows
from logscope.tui.screens.dialogs import MarkDialog, QuickFilter
from logscope.tui.widgets.evidence import EvidencePane
from logscope.tui.widgets.line_list import LineList

EMPTY = "the store holds no run yet: leave with q and take logs in with  logscope ingest PATH"


class RunsPage(Page):
    """Every run of the store, newest first."""

    NAME = "Runs"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "diff", "Diff", id="runs.diff", tooltip="diff with its baseline, or the two marked"),
        Binding("b", "baseline", "Baseline", show=False, id="runs.baseline"),
        Binding("m", "mark", "Mark", id="runs.mark", tooltip="good, bad or skip, and why"),
        Binding("f", "quick", "Quick filter", show=False, id="runs.quick"),
        Binding("s", "sort(1)", "Sort", show=False, id="runs.sort"),
        Binding("S", "reverse", "Reverse", show=False, id="runs.reverse"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.facts: Sequence[RunFacts] = ()
        self._marked: list[str] = []
        self._sort, self._reverse = 0, False
        self._verdicts: dict[str, tuple[str, ...]] = {}

    def body(self) -> ComposeResult:
        yield Static(id="columns", markup=False)
        with Horizontal(id="panes"):
            yield LineList(id="list", placeholder="reading the history…")
            yield EvidencePane(id="evidence")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(LineList).focus()
        self.reload()

    def on_screen_resume(self) -> None:
        self.reload()

    def reload(self) -> None:
        self.ask("runs", lambda cancelled: self.scope.service.runs(), self._show)

    def _show(self, facts: Sequence[RunFacts]) -> None:
        self.facts = facts
        self._verdicts.clear()
        if not facts:
            self.query_one(LineList).placeholder = EMPTY
        failed = sum(1 for run in facts if run.outcome == "failed")
        self.top(f"{len(facts):,} runs, {failed:,} failed   {self.scope.store_name}")
        self._fill()

    def _fill(self) -> None:
        listing = self.query_one(LineList)
        width = max(listing.size.width, 58)
        self.query_one("#columns", Static).update(
            "  " + columns_heading(width, SORTS[self._sort], self._reverse)
        )
        listing.show(run_rows(self.facts, width, set(self._marked), SORTS[self._sort], self._reverse))

    def on_resize(self, event: object) -> None:
        super().on_resize(event)  # type: ignore[arg-type]
        if self.facts:
            self.call_after_refresh(self._fill)

    # -- the pane beside --------------------------------------------------------------------------

    def on_line_list_highlighted(self, message: LineList.Highlighted) -> None:
        row = message.row
        pane = self.query_one(EvidencePane)
        if row is None:
            pane.clear()
            return
        facts = self._of(row)
        known = self._verdicts.get(row.key)
        pane.detail((*known, "", *run_detail(facts)) if known else run_detail(facts))
        if known is None and facts.outcome != "ready":
            self._ask_verdict(row.key)

    def _ask_verdict(self, run_id: str) -> None:
        def work(cancelled: Callable[[], bool]) -> tuple[str, str]:
            return run_id, self.scope.service.explanation(run_id).verdict

        def then(answer: tuple[str, str]) -> None:
            self._verdicts[answer[0]] = (answer[1],)
            row = self.query_one(LineList).row
            if row is not None and row.key == answer[0]:
                self.query_one(EvidencePane).detail((answer[1], "", *run_detail(self._of(row))))

        self.ask("verdict", work, then)

    def _of(self, row: Row) -> RunFacts:
        return next(run for run in self.facts if run.run_id == row.key)

    # -- actions ----------------------------------------------------------------------------------

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        self.scope.show_diff(message.row.key, None)

    def on_line_list_toggled(self, message: LineList.Toggled) -> None:
        key = message.row.key
        if key in self._marked:
            self._marked.remove(key)
        else:
            self._marked = [*self._marked[-1:], key]
        self._fill()
        self.status(
            {0: "", 1: "one run is marked: space on another, then d"}.get(
                len(self._marked), "two runs are marked: d compares them"
            )
        )

    def action_diff(self) -> None:
        row = self.query_one(LineList).row
        if len(self._marked) == 2:
            order = [run.run_id for run in self.facts]
            later, earlier = sorted(self._marked, key=lambda key: order.index(RunId(key)))
            self.scope.show_diff(later, earlier)
        elif row is not None:
            self.scope.show_diff(row.key, None)

    def action_baseline(self) -> None:
        row = self.query_one(LineList).row
        if row is not None:
            self.scope.take_baseline(row.key)

    def action_mark(self) -> None:
        row = self.query_one(LineList).row
        if row is None:
            return

        def done(answer: tuple[str, str] | None) -> None:
            if answer is not None:
                verdict, note = answer
                self.ask(
                    "mark",
                    lambda cancelled: self.scope.service.mark(row.key, verdict, note),
                    lambda _: self.reload(),
                )

        self.app.push_screen(MarkDialog(self._of(row)), done)

    def action_quick(self) -> None:
        def done(text: str | None) -> None:
            if text is not None:
                self.find(text)

        self.app.push_screen(QuickFilter(self.facts), done)

    def action_sort(self, step: int) -> None:
        self._sort = (self._sort + step) % len(SORTS)
        self._fill()
        self.status(f"sorted by {SORTS[self._sort]}")

    def action_reverse(self) -> None:
        self._reverse = not self._reverse
        self._fill()
