"""The Log screen: the log itself, from the evidence line, at any size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from logscope.errors import LogScopeError
from logscope.store.records import StoredRun
from logscope.tui.harmless import harmless, plain
from logscope.tui.log_file import LogFile
from logscope.tui.page import Page
from logscope.tui.rows import Place
from logscope.tui.screens.dialogs import LogFilter
from logscope.tui.widgets.log_view import LogView

MOST_MATCHES = 500_000
"""Lines that a filter shows at most; said when there are more."""


class LogPage(Page):
    """One log; errors and warnings of its run are marked."""

    NAME = "Log"
    SEARCHES = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "marked('error', 1)", "Next error", id="log.next_error"),
        Binding("E", "marked('error', -1)", "Previous error", show=False, id="log.previous_error"),
        Binding("w", "marked('warning', 1)", "Next warning", id="log.next_warning"),
        Binding("W", "marked('warning', -1)", "Previous warning", show=False, id="log.previous_warning"),
        Binding("f", "filter", "Filter", id="log.filter", tooltip="by rank, level and text"),
        Binding("o", "pager", "Open in $PAGER", show=False, id="log.open"),
        Binding("ctrl+w", "wrap", "Wrap", show=False, id="log.wrap"),
        Binding("v", "volatile", "Whole line", show=False, id="log.whole"),
    ]

    def __init__(self, place: Place, run: StoredRun | None) -> None:
        super().__init__()
        self._place, self._run = place, run
        self._file: LogFile | None = None
        self._needle = ""

    def body(self) -> ComposeResult:
        yield LogView(id="log")
        yield Static(id="whole", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#whole").display = False
        self.query_one(LogView).focus()
        try:
            self._file = LogFile(Path(self._place.path))
        except LogScopeError as error:
            self.trouble(error)
            return
        self._open(self._place.line)

    def on_unmount(self) -> None:
        if self._file is not None:
            self._file.close()

    def _open(self, line: int) -> None:
        log = self._file
        assert log is not None

        def work(cancelled: Callable[[], bool]) -> int:
            log.count_to(line + 200)
            return line

        def then(number: int) -> None:
            view = self.query_one(LogView)
            view.open(log, self._marks())
            view.go_to(number)
            self.ask("count", self._count, lambda _: self._counted())
            self._say()

        self.ask("open", work, then)

    def _count(self, cancelled: Callable[[], bool]) -> int:
        assert self._file is not None
        while self._file.count(64, cancelled) and not cancelled():
            self.app.call_from_thread(self._counted)
        return self._file.lines

    def _counted(self) -> None:
        self.query_one(LogView).counted()
        self._say()

    def _marks(self) -> dict[int, str]:
        marks: dict[int, str] = {}
        for event in self._run.run.events if self._run is not None else ():
            if not event.benign:
                marks[event.line] = marks[event.last_line] = event.level
        return marks

    def on_log_view_moved(self) -> None:
        self._say()
        whole = self.query_one("#whole", Static)
        if whole.display:
            view = self.query_one(LogView)
            whole.update(plain(view.line_text(view.cursor)[:4000]))

    def _say(self) -> None:
        if self._file is None:
            return
        view = self.query_one(LogView)
        counted = "" if self._file.is_counted else f" of {self._file.size / 1e6:,.0f} MB, counting"
        shown = f", {view.count:,} shown" if view.count != self._file.lines else ""
        self.top(
            f"{harmless(self._place.path)}  line {view.cursor:,} of {self._file.lines:,}{counted}{shown}"
        )

    # -- finding ----------------------------------------------------------------------------------

    def find(self, text: str) -> None:
        """Goes to the next line with `text`, from the cursor on."""
        self._needle = self.query_one(LogView).needle = text
        if text:
            self.action_next_hit(1)
        self.query_one(LogView).refresh()

    def focus_main(self) -> None:
        self.query_one(LogView).focus()

    def action_next_hit(self, step: int) -> None:
        log, text, start = self._file, self._needle, self.query_one(LogView).cursor
        if log is None or not text:
            self.status("nothing to look for yet: / asks")
            return

        def then(number: int | None) -> None:
            if number is None:
                self.status(f"no line {'below' if step > 0 else 'above'} holds '{text}'")
            else:
                self.query_one(LogView).go_to(number)

        self.ask("find", lambda cancelled: log.find(text, start, step, cancelled), then)

    def action_marked(self, level: str, step: int) -> None:
        view = self.query_one(LogView)
        lines = sorted(line for line, mark in view.marked.items() if mark == level)
        after = [line for line in lines if (line > view.cursor if step > 0 else line < view.cursor)]
        if after:
            view.go_to(after[0] if step > 0 else after[-1])
        else:
            self.status(f"no {level} {'below' if step > 0 else 'above'} of {len(lines)}")

    def action_filter(self) -> None:
        ranks = self._run.run.ranks if self._run is not None else ()

        def done(answer: tuple[str, str, str] | None) -> None:
            if answer is not None:
                self._filter(*answer)

        self.app.push_screen(LogFilter(ranks), done)

    def _filter(self, rank: str, level: str, text: str) -> None:
        view, log = self.query_one(LogView), self._file
        if log is None:
            return
        if not (rank or level or text):
            view.only(None)
            self._say()
            return
        marks = view.marked
        if level:
            view.only(
                sorted(line for line, mark in marks.items() if mark == level and text in log.line(line))
            )
            self._say()
            return
        wanted = f" {rank}]" if rank else ""

        def work(cancelled: Callable[[], bool]) -> list[int]:
            found: list[int] = []
            for numbers in log.matching(
                lambda line: wanted in line[:120] and text in line, text or wanted, cancelled
            ):
                found += numbers
                if len(found) >= MOST_MATCHES or cancelled():
                    break
            return found[:MOST_MATCHES]

        def then(found: list[int]) -> None:
            view.only(found)
            self.status(
                f"{len(found):,} lines"
                + (" (cut)" if len(found) == MOST_MATCHES else "")
                + "; f with nothing shows all"
            )
            self._say()

        self.ask("filter", work, then)

    # -- the rest ---------------------------------------------------------------------------------

    @on(Input.Changed, "#find")
    def _find_changed(self, event: Input.Changed) -> None:
        """A search of the log starts with enter, not with every letter."""
        event.stop()
        event.prevent_default()

    def action_wrap(self) -> None:
        whole = self.query_one("#whole", Static)
        whole.display = not whole.display
        self.on_log_view_moved()

    def action_volatile(self) -> None:
        self.action_wrap()

    def action_pager(self) -> None:
        view = self.query_one(LogView)
        self.scope.open_outside(Place(self._place.run, self._place.path, view.cursor))

    def reload(self) -> None:
        """Takes in what was appended to the log."""
        if self._file is not None and self._file.grow():
            self.ask("count", self._count, lambda _: self._counted())

    def copied(self) -> str:
        view = self.query_one(LogView)
        return view.line_text(view.cursor)

    def copied_row(self) -> str:
        view = self.query_one(LogView)
        return f"`{self._place.path}:{view.cursor}`\n\n    {view.line_text(view.cursor)}"

    def report(self) -> str:
        """The lines on screen with their numbers."""
        view = self.query_one(LogView)
        first = max(1, view.cursor - 20)
        lines = [f"{n:>8} {view.line_text(n)}" for n in range(first, first + 60)]
        return f"# {self._place.path}\n\n```\n" + "\n".join(lines).rstrip() + "\n```\n"
