"""The Runs screen: the history, and the verdict of the highlighted run beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.timer import Timer

from logscope.tui.harmless import counted, harmless
from logscope.tui.intake import ENDED_BADLY
from logscope.tui.job import Job
from logscope.tui.page import Page
from logscope.tui.run_filter import RunFilter
from logscope.tui.run_rows import SORTS, columns_heading, run_detail, run_rows, series_detail, trends
from logscope.tui.widgets.evidence import EvidencePane
from logscope.tui.widgets.line import Line
from logscope.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from logscope.store.records import RunFacts

EMPTY = "the store holds no run yet: leave with q and take logs in with  logscope ingest PATH"
NO_FIT = "no run fits the filter: esc clears it"
TAKING_IN = "the logs are taken in; runs come here by themselves"
NEEDS_RUNS = frozenset(["diff", "throughput", "baseline", "mark", "quick", "sort", "reverse"])
"""Actions that are hidden while there is no run."""
REST = 0.2
"""Seconds that the cursor rests on a run before its verdict is asked for."""


class RunsPage(Page):
    """Every run of the store, newest first."""

    NAME = "Runs"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "diff", "Diff", id="runs.diff", tooltip="diff with its baseline, or the two marked"),
        Binding("t", "throughput", "Throughput", show=False, id="runs.throughput"),
        Binding("b", "baseline", "Baseline", show=False, id="runs.baseline"),
        Binding("m", "mark", "Mark", id="runs.mark", tooltip="good, bad or skip, and why"),
        Binding("f", "quick", "Quick filter", show=False, id="runs.quick"),
        Binding("s", "sort(1)", "Sort", show=False, id="runs.sort"),
        Binding("S", "reverse", "Reverse", show=False, id="runs.reverse"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.facts: Sequence[RunFacts] = ()
        self._by_id: dict[str, RunFacts] = {}
        self._trends: Mapping[str, Sequence[float | None]] = {}
        self._marked: list[str] = []
        self._sort, self._reverse = 0, False
        self._filter = ""
        self._fitting = RunFilter(())
        self._known: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        """Run id -> its verdict, and its rates over time."""
        self._rest: Timer | None = None

    def body(self) -> ComposeResult:
        yield Line(id="columns", tone="muted")
        with Horizontal(id="panes"):
            yield LineList(id="list", placeholder="reading the history…")
            yield EvidencePane(id="evidence")

    def on_mount(self) -> None:
        super().on_mount()
        memory = self.scope.memory
        if (sort := memory.get("runs.sort")) in SORTS:
            self._sort = SORTS.index(sort)
        self._reverse = memory.get("runs.reverse") == "yes"
        self._filter = memory.get("runs.filter") or ""
        if self._filter:
            self.show_find(self._filter)
        self.query_one(LineList).focus()
        self.show_last(self._stamp())

    def on_screen_resume(self) -> None:
        if self.app.screen is self:
            self.call_after_refresh(self.reload)

    def _stamp(self) -> str:
        return self.scope.views.stamp(self.app.size, self._filter, self._sort, self._reverse)

    def reload(self) -> None:
        stamp = self._stamp()

        def then(facts: Sequence[RunFacts]) -> None:
            self._show(facts)
            if stamp == self._stamp() and not self._marked:
                self.keep(stamp)

        self.ask("runs", lambda cancelled: self.scope.service.runs(), then)

    def _show(self, facts: Sequence[RunFacts]) -> None:
        self.facts = facts
        self._by_id = {run.run_id: run for run in facts}
        self._trends = trends(facts)
        self._fitting = RunFilter(facts)
        self._known.clear()
        counts = Counter(str(run.outcome) for run in facts if run.outcome in ENDED_BADLY)
        ended = "".join(f", {count:,} {outcome}" for outcome, count in counts.most_common())
        self.refresh_bindings()
        self.top(f"{counted(len(facts), 'run')}{ended}   {self.scope.store_name}")
        self._fill()

    def _fill(self) -> None:
        listing = self.query_one(LineList)
        width = max(listing.size.width, 58)
        self.query_one("#columns", Line).say(" " + columns_heading(width, SORTS[self._sort], self._reverse))
        facts = self.facts
        shown = self._fitting.fitting(self._filter)
        if not shown:
            listing.placeholder = NO_FIT if facts else TAKING_IN if self.scope.intake.is_busy else EMPTY
        rows = run_rows(shown, width, set(self._marked), SORTS[self._sort], self._reverse, self._trends)
        listing.show(rows)
        if self._filter:
            self.status(f"{len(rows):,} of {len(facts):,} rows fit '{harmless(self._filter)}' (esc clears)")

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        if self.facts:
            self.call_after_refresh(self._fill)

    def find(self, text: str) -> None:
        """Filters by words and key:value; remembered for this store."""
        self._filter = text.strip()
        self.scope.memory.put("runs.filter", self._filter)
        if not self._filter:
            self.status("")
        self._fill()

    # -- the pane beside --------------------------------------------------------------------------

    def on_line_list_highlighted(self) -> None:
        row = self.query_one(LineList).row
        if row is None:
            self.query_one(EvidencePane).clear()
            return
        self._detail(row.key)
        if self._rest is not None:
            self._rest.stop()
        if row.key not in self._known and row.key in self._by_id:
            # running through the list asks nothing: only where the cursor rests
            self._rest = self.set_timer(REST, lambda: self._ask_more(row.key), name="pause on a run")

    def _detail(self, run_id: str) -> None:
        facts = self._by_id.get(run_id)
        if facts is None:  # a row of the last view, before the history is read
            return
        verdict, series = self._known.get(run_id, ((), ()))
        self.query_one(EvidencePane).detail(
            (*verdict, *([""] if verdict else []), *run_detail(facts), *series)
        )

    def _ask_more(self, run_id: str) -> None:
        facts = self._by_id.get(run_id)
        if facts is None:
            return
        width = max(20, self.query_one(EvidencePane).size.width - 3)

        def work(cancelled: Job) -> tuple[tuple[str, ...], tuple[str, ...]]:
            service = self.scope.service
            series: tuple[str, ...] = ()
            if facts.gen_median is not None:
                series = series_detail(service.series(facts.run_id, width), width)
            if facts.outcome == "ready" or cancelled():
                return (), series
            return (service.explanation(run_id).verdict,), series

        def then(answer: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
            self._known[run_id] = answer
            row = self.query_one(LineList).row
            if row is not None and row.key == run_id:
                self._detail(run_id)

        self.ask("verdict", work, then)

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
            order: list[str] = [run.run_id for run in self.facts]
            later, earlier = sorted(self._marked, key=lambda key: order.index(key))
            self.scope.show_diff(later, earlier)
        elif row is not None:
            self.scope.show_diff(row.key, None)

    def action_throughput(self) -> None:
        row = self.query_one(LineList).row
        if row is not None:
            self.scope.show_throughput(row.key)

    def action_baseline(self) -> None:
        row = self.query_one(LineList).row
        if row is not None:
            self.scope.take_baseline(row.key)

    def action_mark(self) -> None:
        from logscope.tui.screens.dialogs import MarkDialog

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

        self.app.push_screen(MarkDialog(self._by_id[row.key]), done)

    def action_quick(self) -> None:
        from logscope.tui.screens.dialogs import QuickFilter

        def done(text: str | None) -> None:
            if text is not None:
                self.show_find(text).display = bool(text)
                self.find(text)

        self.app.push_screen(QuickFilter(self.facts), done)

    def action_sort(self, step: int) -> None:
        self._sort = (self._sort + step) % len(SORTS)
        self.scope.memory.put("runs.sort", SORTS[self._sort])
        self._fill()
        self.status(f"sorted by {SORTS[self._sort]}")

    def action_reverse(self) -> None:
        self._reverse = not self._reverse
        self.scope.memory.put("runs.reverse", "yes" if self._reverse else "no")
        self._fill()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in NEEDS_RUNS and not self.facts:
            return False
        return super().check_action(action, parameters)
