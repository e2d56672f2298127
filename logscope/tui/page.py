"""What all screens share: one line on top, a find field, a status line, work off the event loop."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from logscope.errors import LogScopeError
from logscope.tui.harmless import harmless
from logscope.tui.job import Job
from logscope.tui.last_view import MOST_ROWS, View
from logscope.tui.widgets.line import KeyBar, Line
from logscope.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from logscope.tui.app import LogScopeApp

T = TypeVar("T")
SMALLEST = (60, 16)
"""Columns and lines below which one line says what is needed."""
WIDE, VERY_WIDE = 100, 160
"""Columns from which two panes stand beside each other, and from which the second has the larger part."""
WHILE_TYPING = frozenset(["escape", "pane", "run", "history", "export"])
"""Actions of screens that act while the cursor is in a text field."""
KEPT_LINES = frozenset(["top", "columns", "verdict", "baseline"])
"""Lines that are kept with the rows of a screen."""
FILTER_PAUSE = 0.15
"""Seconds after the last key before a filter is applied."""


class Ended(Message):
    """A worker is done: `then` is what to do here with what it found, or with the trouble it met."""

    def __init__(self, group: str, job: Job, then: Callable[[], None]) -> None:
        super().__init__()
        self.group, self.job, self.then = group, job, then


def is_typing(widget: Widget | None) -> bool:
    """True while letters go into a text field."""
    return widget is not None and widget.check_consume_key("a", "a")


class Page(Screen[None]):
    """Base of every screen."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "Find", id="page.find", tooltip="filter the list, search the text"),
        Binding("n", "next_hit(1)", "Next hit", show=False, id="page.next_hit"),
        Binding("N", "next_hit(-1)", "Previous hit", show=False, id="page.previous_hit"),
        Binding("escape", "escape", "Back", show=False, id="page.escape"),
        Binding("r", "reload", "Read again", show=False, id="page.reload"),
        Binding("z", "zoom", "Enlarge", show=False, id="page.zoom"),
        Binding("tab", "pane(1)", "Next pane", show=False, id="page.next_pane"),
        Binding("shift+tab", "pane(-1)", "Previous pane", show=False, id="page.previous_pane"),
        Binding("y", "copy", "Copy", id="page.copy", tooltip="copy the full value"),
        Binding("Y", "copy_row", "Copy row", show=False, id="page.copy_row"),
    ]
    NAME: ClassVar[str] = ""
    SEARCHES: ClassVar[bool] = False
    """True: ``/`` searches the text; False: it filters the list."""
    FINDS: ClassVar[bool] = True
    """False: there is nothing that ``/`` could look through."""

    @property
    def scope(self) -> LogScopeApp:
        """The application, with its own type."""
        return self.app  # type: ignore[return-value]

    def __init__(self) -> None:
        super().__init__()
        self._jobs: dict[str, Job] = {}
        self._filter_timer: Timer | None = None
        self._status = self._status_kind = ""
        self._says_reading = False
        self._in_trouble = ""
        """Group of the question whose trouble the status line tells: only its own answer takes it away."""

    def compose(self) -> ComposeResult:
        self._set_size_classes(self.app.size.width, self.app.size.height)
        self._zoom(self.scope.memory.get(f"zoom.{self.NAME}") or "")
        yield Line(id="top")
        yield from self.body()
        yield Line(self._status, id="status", tone=self._status_kind or "muted")
        yield KeyBar()

    def body(self) -> ComposeResult:
        """The widgets between top line and status line."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self.set_interval(0.5, self._tick)
        if self.has_class("-second-zoomed"):
            self.call_after_refresh(self.query(".side").first().focus)

    # -- what it showed last ----------------------------------------------------------------------

    def show_last(self, stamp: str) -> None:
        """Shows what was kept under this stamp, until the answer is there."""
        view = self.scope.views.get(self.NAME, stamp)
        listing = self.main_list
        if view is None or listing is None:
            return
        for name, text in view.lines.items():
            for line in self.query(f"#{name}").results(Line):
                line.say(text)
        listing.show(view.rows)
        listing.select(view.cursor)

    def keep(self, stamp: str) -> None:
        """Keeps what is shown now for the next time."""
        listing = self.main_list
        if listing is None or not listing.total:
            return
        lines = {line.id or "": line.text for line in self.query(Line) if line.id in KEPT_LINES}
        row = listing.row
        self.scope.views.put(
            self.NAME, stamp, View(lines, tuple(listing.rows[:MOST_ROWS]), row.key if row else "")
        )

    # -- size -------------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self._set_size_classes(event.size.width, event.size.height)
        needed, now = (f"{width}x{height}" for width, height in (SMALLEST, event.size))
        too_small = f"LogScope needs {needed}, this is {now}"
        is_too_small = self.has_class("-too-small")
        notice = list(self.query("#too-small").results(Line))
        if is_too_small and not notice:
            self.mount(Line(too_small, id="too-small", most=3))
        for line in notice:
            line.display = is_too_small
            line.say(too_small)

    def _set_size_classes(self, width: int, height: int) -> None:
        """Says how wide the screen is before its widgets are styled: styling them twice is dear."""
        self.set_class(width < SMALLEST[0] or height < SMALLEST[1], "-too-small")
        self.set_class(width < WIDE, "-narrow")
        self.set_class(width >= VERY_WIDE, "-very-wide")

    # -- work off the event loop ------------------------------------------------------------------

    def ask(self, group: str, work: Callable[[Job], T], then: Callable[[T], None]) -> None:
        """Runs `work(job)` in a thread and `then(value)` here; a newer call replaces an older."""
        self._stop(group)
        job = self._jobs[group] = Job()

        def run() -> None:
            if job():
                return
            try:
                value = work(job)
            except LogScopeError as error:
                trouble = error

                def ended() -> None:
                    self._in_trouble = group
                    self.trouble(trouble)
            else:

                def ended() -> None:
                    if self._status_kind == "bad" and self._in_trouble == group:
                        self.status("")
                    then(value)

            if not job():
                self.post_message(Ended(group, job, ended))

        self.run_worker(run, name=group, group=group, thread=True)

    def _stop(self, *groups: str) -> bool:
        """Stops the questions of these groups (of all without any); True when there was one."""
        jobs = [self._jobs.pop(group) for group in groups or tuple(self._jobs) if group in self._jobs]
        for job in jobs:
            job.stop()
        return bool(jobs)

    def on_unmount(self) -> None:
        self._stop()

    @on(Ended)
    def _ended(self, message: Ended) -> None:
        message.stop()
        if self._finish(message.group, message.job):
            message.then()

    def _finish(self, group: str, job: Job) -> bool:
        """Takes a finished job off the list; False for one that was stopped or replaced."""
        if self._jobs.get(group) is not job:
            return False
        del self._jobs[group]
        if self._says_reading and not self._jobs:
            self.status("")
        return self.is_attached

    def trouble(self, error: LogScopeError) -> None:
        """One sentence, the cause and the next step on the status line; the old data stays."""
        hint = f" ({error.hint})" if error.hint else ""
        self.status(f"! {error.message}{hint}", "bad")
        if self.main_list is not None and not self.main_list.total:
            self.main_list.placeholder = f"{error.message}{hint}; r reads again"

    def _tick(self) -> None:
        """After 150 ms a running question is said, with the time that it has taken."""
        if self._jobs and (self._says_reading or not self._status or self._status_kind):
            longest = monotonic() - min(job.began for job in self._jobs.values())
            if longest > 0.15:
                self.status(f"reading… {longest:.0f} s  (esc stops it)")
                self._says_reading = True

    def status(self, text: str, kind: str = "", most: int = 1) -> None:
        """Sets the status line; trouble, and what has to be read whole, may take more than one."""
        self._says_reading = False
        if (text, kind) == (self._status, self._status_kind):
            return
        self._status, self._status_kind = text, kind
        for line in self.query("#status").results(Line):  # none yet while the screen is made
            line.say(text, kind or "muted", 3 if kind == "bad" else most)

    def top(self, text: str) -> None:
        """Sets the line on top."""
        self.query_one("#top", Line).say(f"{self.NAME}  {text}")

    # -- finding ----------------------------------------------------------------------------------

    @property
    def main_list(self) -> LineList | None:
        """The list that ``/`` works on."""
        found = self.query(LineList)
        return found.first() if found else None

    @property
    def find_field(self) -> Input | None:
        """The field of ``/``, once it was asked for."""
        found = self.query("#find").results(Input)
        return next(iter(found), None)

    def show_find(self, value: str | None = None) -> Input:
        """Shows the field of ``/``, with this text in it (None: what it holds)."""
        field = self.find_field
        if field is None:
            what = "type to find, enter keeps it, esc clears it"
            field = Input(value or "", id="find", placeholder=what, compact=True)
            self.mount(field, before="#status")
        elif value is not None:
            with self.prevent(Input.Changed):
                field.value = value
        field.display = True
        return field

    def action_find(self) -> None:
        self.show_find().focus()

    @on(Input.Changed, "#find")
    def _find_changed(self, event: Input.Changed) -> None:
        if self._filter_timer is not None:
            self._filter_timer.stop()
        self._filter_timer = self.set_timer(
            FILTER_PAUSE, lambda: self.find(event.value), name="pause of the filter"
        )

    @on(Input.Submitted, "#find")
    def _find_submitted(self, event: Input.Submitted) -> None:
        if self._filter_timer is not None:
            self._filter_timer.stop()
        self.find(event.value)
        self.focus_main()
        event.input.display = bool(event.value) and not self.SEARCHES

    def find(self, text: str) -> None:
        """Filters or searches the main list."""
        target = self.main_list
        if target is None:
            return
        if self.SEARCHES:
            found = target.search(text)
            self.status("" if found or not text else f"no row holds '{harmless(text)}'")
        else:
            target.filter(text)
            if text:
                self.status(f"{len(target.rows):,} of {target.total:,} rows hold '{harmless(text)}'")

    def focus_main(self) -> None:
        """Puts the focus on the main widget."""
        if self.main_list is not None:
            self.main_list.focus()

    def action_next_hit(self, step: int) -> None:
        if self.main_list is not None and not self.main_list.next_hit(step):
            self.status("no row holds what was searched")

    # -- leaving ----------------------------------------------------------------------------------

    def action_escape(self) -> None:
        """Clears the filter, else stops what runs, else goes back; never out."""
        field = self.find_field
        if field is not None and (field.display or field.value):
            field.value = ""
            field.display = False
            self.find("")
            self.focus_main()
        elif self._stop():
            self.status("stopped; r reads again")
        elif self.scope.stop_taking_in():
            self.status("taking in stops; what was read stays in the store")
        elif self.has_class("-zoomed") or self.has_class("-second"):
            self._zoom("")
            self.remove_class("-second")
            self.focus_main()
        else:
            self.scope.go_back(leave=False)

    # -- panes and copying ------------------------------------------------------------------------

    def action_zoom(self) -> None:
        focused: Widget | None = self.focused
        second = focused is not None and any(
            node.has_class("side") for node in focused.ancestors_with_self if isinstance(node, Widget)
        )
        self._zoom("" if self.has_class("-zoomed") else "side" if second else "main")

    def _zoom(self, pane: str) -> None:
        """Gives one pane the whole room (``main``, ``side``) or both theirs (``''``); remembered."""
        self.set_class(pane == "side", "-second-zoomed")
        self.set_class(bool(pane), "-zoomed")
        self.scope.memory.put(f"zoom.{self.NAME}", pane)

    def action_pane(self, step: int) -> None:
        """The next pane; where only one fits, the other one instead of it."""
        side = self.query(".side")
        if side and self.has_class("-narrow"):
            self.toggle_class("-second")
            if self.has_class("-second"):
                side.first().focus()
            else:
                self.focus_main()
        elif step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def action_reload(self) -> None:
        self.reload()
        self.scope.intake.again()

    def reload(self) -> None:
        """Reads what is shown again."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hides what cannot work now: letters while one types, hits before a search, a second pane of one."""
        if action not in WHILE_TYPING and is_typing(self.focused):
            return False
        if action in ("find", "next_hit") and not self.FINDS:
            return False
        return super().check_action(action, parameters)

    def copied(self) -> str:
        """What ``y`` copies."""
        row = self.main_list.row if self.main_list is not None else None
        return "" if row is None else row.copy or row.text

    def copied_row(self) -> str:
        """What ``Y`` copies: the row as Markdown."""
        row = self.main_list.row if self.main_list is not None else None
        return "" if row is None else f"- `{row.sign.value}` {row.text}"

    def action_copy(self) -> None:
        self.scope.copy_text(self.copied())

    def action_copy_row(self) -> None:
        self.scope.copy_text(self.copied_row())

    def report(self) -> str:
        """The current view as Markdown."""
        rows = self.main_list.rows if self.main_list is not None else ()
        lines = [
            f"## {row.text}" if row.tone == "heading" else f"- `{row.sign.value}` {row.text}" for row in rows
        ]
        return f"# {self.NAME}\n\n" + "\n".join(lines) + "\n"
