"""The Log screen: the log itself, from the evidence line, at any size."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from logscope.tui.harmless import harmless
from logscope.tui.job import Job
from logscope.tui.log_file import LogFile, size_of
from logscope.tui.needle import Needle
from logscope.tui.page import Page
from logscope.tui.rows import Place
from logscope.tui.widgets.log_view import LogView

if TYPE_CHECKING:
    from logscope.store.records import StoredRun

MOST_MATCHES = 500_000
"""Lines that a filter shows at most; said when there are more."""
AHEAD = 200
"""Lines counted beyond the one that is opened, so that the screen is full at once."""
FOLLOW_PAUSE = 1.0
"""Seconds between two looks at the size of the log while the cursor is at its end."""
COUNT_PAUSE = 0.3
"""Seconds after the first lines are there until the rest is counted."""
_SAY_PAUSE = 0.2


class LogPage(Page):
    """One log; errors and warnings of its run are marked."""

    NAME = "Log"
    CSS = """
    LogView { height: 1fr; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; overflow-x: scroll; }
    """
    SEARCHES = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "Find", id="page.find", tooltip="lower case finds any case"),
        Binding("e", "marked('error', 1)", "Next error", id="logpage.next_error"),
        Binding("E", "marked('error', -1)", "Previous error", show=False, id="logpage.previous_error"),
        Binding("w", "marked('warning', 1)", "Next warning", id="logpage.next_warning"),
        Binding("W", "marked('warning', -1)", "Previous warning", show=False, id="logpage.previous_warning"),
        Binding("f", "filter", "Filter", id="logpage.filter", tooltip="by rank, level and text"),
        Binding("F", "follow", "Follow", show=False, id="logpage.follow", tooltip="to the end, and along"),
        Binding("o", "pager", "Open in $PAGER", show=False, id="logpage.open"),
    ]

    def __init__(self, place: Place, run: StoredRun | None) -> None:
        super().__init__()
        self._place, self._run = place, run
        self._file: LogFile | None = None
        self._needle = Needle("")

    def body(self) -> ComposeResult:
        yield LogView(id="log")

    def on_mount(self) -> None:
        super().on_mount()
        self.top(f"{harmless(self._place.path)}  line {self._place.line:,}")
        self.query_one(LogView).focus()
        self.set_interval(FOLLOW_PAUSE, self._follow)
        self._open(self._place.line)

    def _open(self, line: int) -> None:
        said = 0.0

        def work(job: Job) -> LogFile:
            def say(text: str) -> None:
                nonlocal said
                if monotonic() - said > _SAY_PAUSE:
                    said = monotonic()
                    self.app.call_later(self.status, text)

            log = self.scope.service.logs.get(self._place.path, say, job)
            log.count_to(max(1, line - AHEAD), job)
            log.count_to(line + AHEAD, job)
            return log

        def then(log: LogFile) -> None:
            self._file = log
            self.status("")
            view = self.query_one(LogView)
            view.open(log, self._marks())
            view.go_to(line)
            self.refresh_bindings()
            self.set_timer(COUNT_PAUSE, self._count_rest, name="pause before counting")

        self.ask("open", work, then)

    def _count_rest(self) -> None:
        log = self._file
        if log is None:
            return
        told = monotonic()

        def work(job: Job) -> None:
            nonlocal told
            while log.count(16, job) and not job():
                if monotonic() - told > _SAY_PAUSE:
                    told = monotonic()
                    self.app.call_later(self._counted)

        self.ask("count", work, lambda _: self._counted())
        self._say()

    def _counted(self) -> None:
        if self.is_attached:
            self.query_one(LogView).counted()
            self._say()

    def _follow(self) -> None:
        """At the end of a log that grows, goes along with it; a look at its size is all that it costs."""
        if self._file is None or not self._file.is_counted or not self.query_one(LogView).is_at_end:
            return
        log, path = self._file, str(self._file.path)

        def work(job: Job) -> bool:
            return size_of(path) != log.size and log.grow()

        self.ask("follow", work, self._grown)

    def _marks(self) -> dict[int, str]:
        marks: dict[int, str] = {}
        for event in self._run.run.events if self._run is not None else ():
            if not event.benign and event.level in ("error", "warning"):
                for line in (event.line, event.last_line):
                    if marks.get(line) != "error":
                        marks[line] = event.level
        return marks

    def on_log_view_moved(self) -> None:
        self._say()

    def _say(self) -> None:
        log = self._file
        if log is None:
            return
        view = self.query_one(LogView)
        counting = "" if log.is_counted else f", {log.counted / max(log.size, 1):.0%} counted"
        shown = f", {view.count:,} shown" if view.count != log.lines else ""
        end = "  (at the end, goes along)" if view.is_at_end else ""
        self.top(f"{harmless(self._place.path)}  line {view.cursor:,} of {log.lines:,}{counting}{shown}{end}")

    # -- finding ----------------------------------------------------------------------------------

    def find(self, text: str) -> None:
        """Goes to the next line with `text`, from the cursor on."""
        self._needle = self.query_one(LogView).needle = Needle(text)
        if text:
            self.action_next_hit(1)
        self.query_one(LogView).refresh()

    def focus_main(self) -> None:
        self.query_one(LogView).focus()

    def action_next_hit(self, step: int) -> None:
        log, needle, start = self._file, self._needle, self.query_one(LogView).cursor
        if log is None or not needle:
            self.status("nothing to look for yet: / asks")
            return

        def work(job: Job) -> tuple[int | None, bool]:
            number = log.find(needle, start, step, job)
            if number is not None or job():
                return number, False
            return log.find_from_end(needle, step, job), True

        def then(found: tuple[int | None, bool]) -> None:
            number, has_wrapped = found
            if number is None:
                self.status(f"no line holds '{needle.text}'")
                return
            end, other = ("end", "top") if step > 0 else ("top", "end")
            self.status(f"{end} reached: went on from the {other}" if has_wrapped else "")
            self.query_one(LogView).go_to(number)

        self.ask("find", work, then)

    def action_marked(self, level: str, step: int) -> None:
        view, log = self.query_one(LogView), self._file
        lines = sorted(line for line, mark in view.marked.items() if mark == level)
        after = [line for line in lines if (line > view.cursor if step > 0 else line < view.cursor)]
        if not after or log is None:
            self.status(f"no {level} {'below' if step > 0 else 'above'}: the run has {len(lines)}")
            return
        number = after[0] if step > 0 else after[-1]
        if log.is_unknown(number):
            self.ask("go", lambda job: log.count_to(number + AHEAD, job), lambda _: view.go_to(number))
        else:
            view.go_to(number)

    # -- filtering --------------------------------------------------------------------------------

    def action_filter(self) -> None:
        from logscope.tui.screens.dialogs import LogFilter

        ranks = self._run.run.ranks if self._run is not None else ()

        def done(answer: tuple[str, str, str] | None) -> None:
            if answer is not None:
                self._filter(*answer)

        self.app.push_screen(LogFilter(ranks), done)

    def _filter(self, rank: str, level: str, text: str) -> None:
        rank, level, text = _words(rank, level, text)
        view, log = self.query_one(LogView), self._file
        if log is None:
            return
        if not (rank or level or text):
            view.only(None)
            self.status("")
            self._say()
            return
        wanted, needle = Needle(f" {rank}]" if rank else ""), Needle(text)
        levels = sorted(line for line, mark in view.marked.items() if mark == level)

        def fits(line: str) -> bool:
            return needle.is_in(line) and wanted.is_in(line[:120])

        def work(job: Job) -> list[int]:
            if level:
                log.count_to(max(levels, default=0), job)
                return [number for number in levels if fits(log.line(number))]
            found: list[int] = []
            for numbers in log.matching(needle or wanted, fits, job):
                found += numbers
                if len(found) > MOST_MATCHES or job():
                    break
            return found

        def then(found: list[int]) -> None:
            cut = len(found) > MOST_MATCHES
            view.only(found[:MOST_MATCHES])
            parts = ((rank, f"rank {rank}"), (level, f"{level}s"), (text, f"'{text}'"))
            said = ", ".join(words for value, words in parts if value)
            lines = f"the first {MOST_MATCHES:,}" if cut else f"{len(found):,}"
            self.status(f"{lines} lines of {said}; f, enter shows all")
            self._say()

        self.ask("filter", work, then)

    # -- the rest ---------------------------------------------------------------------------------

    @on(Input.Changed, "#find")
    def _find_changed(self, event: Input.Changed) -> None:
        """A search of the log starts with enter, not with every letter."""
        event.stop()
        event.prevent_default()

    def action_follow(self) -> None:
        view = self.query_one(LogView)
        view.only(None)
        view.action_bottom()
        self._say()

    def action_pager(self) -> None:
        view = self.query_one(LogView)
        self.scope.open_outside(Place(self._place.run, self._place.path, view.cursor))

    def reload(self) -> None:
        """Takes in what was appended to the log."""
        if self._file is None:
            self._open(self._place.line)
            return
        log = self._file
        self.ask("follow", lambda job: log.grow(), self._grown)

    def _grown(self, has_grown: bool) -> None:
        if has_grown:
            self._count_rest()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self._file is None and action in ("marked", "filter", "follow", "find", "next_hit"):
            return False
        if action == "marked" and self._run is None:
            return False
        return super().check_action(action, parameters)

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


def _words(rank: str, level: str, text: str) -> tuple[str, str, str]:
    """``rank:TP1 level:error words``: what was typed wins over what was chosen."""
    rest = []
    for word in text.split(" "):
        if word.startswith("rank:"):
            rank = word.removeprefix("rank:")
        elif word in ("level:error", "level:warning"):
            level = word.removeprefix("level:")
        else:
            rest.append(word)
    return rank, level, " ".join(rest).strip()
