"""The Errors screen: one row a fingerprint over all runs of the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal

from logscope.tui.excerpt import Excerpt
from logscope.tui.harmless import counted, fit, harmless
from logscope.tui.job import Job
from logscope.tui.page import Page
from logscope.tui.rows import Place, Row, Sign, Tone
from logscope.tui.widgets.evidence import EvidencePane
from logscope.tui.widgets.line import Line
from logscope.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from datetime import datetime

    from logscope.store.records import ErrorHistory, StoredRun

SORTS = ("ended runs", "runs", "last seen", "first seen", "message")
_HEAD = f"{'runs':>5} {'ended':>5} {'lines':>6} {'first':<8} {'last':<8} "


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
        self._by_key: dict[str, ErrorHistory] = {}
        self._sort, self._reverse, self._benign, self._errors_only = 0, False, False, False

    def body(self) -> ComposeResult:
        yield Line(" " + _HEAD + "message", id="columns", tone="muted")
        with Horizontal(id="panes"):
            yield LineList(id="list", placeholder="reading the errors of all runs…")
            yield EvidencePane(id="evidence")

    def on_mount(self) -> None:
        super().on_mount()
        memory = self.scope.memory
        if (sort := memory.get("errors.sort")) in SORTS:
            self._sort = SORTS.index(sort)
        self._benign = memory.get("errors.benign") == "yes"
        self._errors_only = memory.get("errors.only") == "yes"
        self.query_one(LineList).focus()
        self.reload()

    def reload(self) -> None:
        self.ask("errors", lambda cancelled: self.scope.service.errors(), self._show)

    def _show(self, errors: Sequence[ErrorHistory]) -> None:
        self._errors = errors
        self._by_key = {_key(error): error for error in errors}
        self.refresh_bindings()
        listing = self.query_one(LineList)
        if not errors:
            listing.placeholder = (
                "no run of the store has an error or a warning"
                if self.scope.service.path.exists()
                else "the store holds no run yet: leave with q and take logs in with  logscope ingest PATH"
            )
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

    def on_line_list_highlighted(self) -> None:
        pane, row = self.query_one(EvidencePane), self.query_one(LineList).row
        if row is None:
            pane.clear()
            return
        pane.detail(row.detail, waits=True)
        error = self._by_key[row.key]

        def work(job: Job) -> tuple[tuple[Excerpt, ...], tuple[str, ...]]:
            service = self.scope.service
            place, _ = service.error_place(error)
            return service.excerpts((place,), 2), () if job() else service.error_end(error)

        def then(found: tuple[tuple[Excerpt, ...], tuple[str, ...]]) -> None:
            excerpts, end = found
            pane.detail((*row.detail, *end), waits=True)
            pane.excerpts(excerpts)

        self.ask("evidence", work, then)

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        error = self._by_key[message.row.key]

        def then(found: tuple[Place, StoredRun]) -> None:
            self.scope.show_log(*found)

        self.ask("open", lambda cancelled: self.scope.service.error_place(error), then)

    def action_diff(self) -> None:
        row = self.query_one(LineList).row
        if row is not None:
            self.scope.show_diff(self._by_key[row.key].last_run, None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("diff", "sort", "reverse", "benign", "level") and not self._errors:
            return False
        return super().check_action(action, parameters)

    def action_sort(self, step: int) -> None:
        self._sort = (self._sort + step) % len(SORTS)
        self.scope.memory.put("errors.sort", SORTS[self._sort])
        self._fill()

    def action_reverse(self) -> None:
        self._reverse = not self._reverse
        self._fill()

    def action_benign(self) -> None:
        self._benign = not self._benign
        self.scope.memory.put("errors.benign", "yes" if self._benign else "no")
        self._fill()

    def action_level(self) -> None:
        self._errors_only = not self._errors_only
        self.scope.memory.put("errors.only", "yes" if self._errors_only else "no")
        self._fill()


def _key(error: ErrorHistory) -> str:
    return error.fingerprint + error.level


def _moment(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}" if at else "not known"


def _row(error: ErrorHistory) -> Row:
    first = f"{error.first_at:%y-%m-%d}" if error.first_at else "-"
    last = f"{error.last_at:%y-%m-%d}" if error.last_at else "-"
    kind = f"{error.type}: " if error.type else ""
    sign = Sign.ERROR if error.ended_runs else Sign.UNKNOWN if error.level == "error" else Sign.NONE
    tone = Tone.MUTED if error.benign else Tone.BAD if error.ended_runs else Tone.NORMAL
    head = f"{error.runs:>5} {error.ended_runs:>5} {error.occurrences:>6} {fit(first, 8)} {fit(last, 8)} "
    return Row(
        head + harmless(kind + error.message),
        sign,
        tone,
        _key(error),
        detail=(
            kind + error.message,
            "",
            f"{error.level}, fingerprint {error.fingerprint}",
            f"{counted(error.occurrences, 'line')} in {counted(error.runs, 'run')}, "
            f"of which it ended {error.ended_runs:,}",
            f"first {_moment(error.first_at)}",
            f"last  {_moment(error.last_at)}",
        ),
        copy=kind + error.message,
    )
