"""The Errors screen: one row a fingerprint over all runs of the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Static

from logscope.store.records import ErrorHistory, StoredRun
from logscope.tui.harmless import fit, harmless
from logscope.tui.page import Page
from logscope.tui.rows import Place, Row, Sign, Tone
from logscope.tui.screens.log import LogPage
from logscope.tui.widgets.evidence import EvidencePane, Excerpt
from logscope.tui.widgets.line_list import LineList

SORTS = ("ended runs", "runs", "last seen", "first seen", "message")
_HEAD = f"{'runs':>5} {'ended':>5} {'lines':>7} {'first':<10} {'last':<10} "


class ErrorsPage(Page):
    """Errors and warnings of every run, what ended runs first."""

    NAME = "Errors"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "sort(1)", "Sort", id="errors.sort"),
        Binding("S", "reverse", "Reverse", show=False, id="errors.reverse"),
        Binding("u", "benign", "Harmless", id="errors.benign", tooltip="show or hide harmless look-alikes"),
        Binding("f", "level", "Errors only", show=False, id="errors.quick"),
        Binding("d", "diff", "Diff", id="errors.diff", tooltip="diff of the newest run with it"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._errors: Sequence[ErrorHistory] = ()
        self._sort, self._reverse, self._benign, self._errors_only = 0, False, False, False

    def body(self) -> ComposeResult:
        yield Static("  " + _HEAD + "message", id="columns", markup=False)
        with Horizontal(id="panes"):
            yield LineList(id="list", placeholder="reading the errors of all runs…")
            yield EvidencePane(id="evidence")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(LineList).focus()
        self.reload()

    def reload(self) -> None:
        self.ask("errors", lambda cancelled: self.scope.service.errors(), self._show)

    def _show(self, errors: Sequence[ErrorHistory]) -> None:
        self._errors = errors
        listing = self.query_one(LineList)
        if not errors:
            listing.placeholder = "no run of the store has an error or a warning"
        self._fill()

    def _fill(self) -> None:
        shown = [
            error
            for error in self._errors
            if (self._benign or not error.benign) and (error.level == "error" or not self._errors_only)
        ]
        keys = {
            "ended runs": lambda e: (-e.ended_runs, -e.runs),
            "runs": lambda e: -e.runs,
            "last seen": lambda e: -(e.last_at.timestamp() if e.last_at else 0),
            "first seen": lambda e: -(e.first_at.timestamp() if e.first_at else 0),
            "message": lambda e: e.message,
        }
        shown.sort(key=keys[SORTS[self._sort]], reverse=self._reverse)
        self.query_one(LineList).show([_row(error) for error in shown])
        hidden = len(self._errors) - len(shown)
        self.top(
            f"{len(shown):,} fingerprints by {SORTS[self._sort]}"
            + (f", {hidden:,} hidden (u, f)" if hidden else "")
        )

    def on_line_list_highlighted(self, message: LineList.Highlighted) -> None:
        pane = self.query_one(EvidencePane)
        if message.row is None:
            pane.clear()
            return
        pane.detail(message.row.detail)
        error = self._of(message.row)

        def work(cancelled: Callable[[], bool]) -> tuple[Excerpt, ...]:
            place, _ = self.scope.service.error_place(error)
            return self.scope.service.excerpts((place,), 2)

        self.ask("evidence", work, pane.excerpts)

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        error = self._of(message.row)

        def then(found: tuple[Place, StoredRun]) -> None:
            self.app.push_screen(LogPage(*found))

        self.ask("open", lambda cancelled: self.scope.service.error_place(error), then)

    def _of(self, row: Row) -> ErrorHistory:
        return next(error for error in self._errors if error.fingerprint + error.level == row.key)

    def action_diff(self) -> None:
        row = self.query_one(LineList).row
        found = next(
            (e for e in self._errors if row is not None and e.fingerprint + e.level == row.key), None
        )
        if found is not None:
            self.scope.show_diff(found.last_run, None)

    def action_sort(self, step: int) -> None:
        self._sort = (self._sort + step) % len(SORTS)
        self._fill()

    def action_reverse(self) -> None:
        self._reverse = not self._reverse
        self._fill()

    def action_benign(self) -> None:
        self._benign = not self._benign
        self._fill()

    def action_level(self) -> None:
        self._errors_only = not self._errors_only
        self._fill()


def _row(error: ErrorHistory) -> Row:
    first = f"{error.first_at:%Y-%m-%d}" if error.first_at else "-"
    last = f"{error.last_at:%Y-%m-%d}" if error.last_at else "-"
    kind = f"{error.type}: " if error.type else ""
    sign = Sign.ERROR if error.ended_runs else Sign.UNKNOWN if error.level == "error" else Sign.NONE
    tone = Tone.MUTED if error.benign else Tone.BAD if error.ended_runs else Tone.NORMAL
    head = f"{error.runs:>5} {error.ended_runs:>5} {error.occurrences:>7} {fit(first, 10)} {fit(last, 10)} "
    return Row(
        head + harmless(kind + error.message),
        sign,
        tone,
        error.fingerprint + error.level,
        detail=(
            kind + error.message,
            "",
            f"{error.level}, fingerprint {error.fingerprint}",
            f"{error.occurrences:,} lines in {error.runs:,} runs; ended {error.ended_runs:,} of them",
            f"first {first}, last {last}",
        ),
        copy=kind + error.message,
    )
