"""The terminal UI: screens over one store. Opens the store only for a question, in a worker."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from logscope.errors import LogScopeError
from logscope.tui.intake import Intake
from logscope.tui.last_view import LastViews
from logscope.tui.line_filter import Unsteered
from logscope.tui.memory import Memory
from logscope.tui.page import Page, is_typing
from logscope.tui.rows import Place
from logscope.tui.service import Service

if TYPE_CHECKING:  # each screen is imported when it is shown first: together they cost twice the first paint
    from textual.binding import ActiveBinding
    from textual.dom import DOMNode
    from textual.filter import LineFilter

    from logscope.explain.records import Explanation
    from logscope.store.records import StoredRun

WHILE_TYPING = frozenset(["help", "command_palette", "quit"])
"""Actions of the app that act while the cursor is in a text field."""
GROWTH_PAUSE = 5.0
"""Seconds between two looks at logs that are still being written."""
REST = 3.0
"""Seconds after which the start is over: what it needs is imported and the first answer is there."""


class LogScopeApp(App[None]):
    """Runs, Diff, Errors, Throughput, SQL and the log itself."""

    TITLE = "LogScope"
    CSS_PATH = "styles.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1", "help", "Help", id="app.help", key_display="?"),
        Binding("ctrl+p,colon", "command_palette", "Commands", show=False, id="app.palette"),
        Binding("q", "leave", "Back", id="app.back"),
        Binding("ctrl+q", "quit", "Quit", show=False, id="app.quit", priority=True),
        Binding("1", "screen('runs')", "Runs", show=False, id="app.runs"),
        Binding("2", "screen('diff')", "Diff", show=False, id="app.diff"),
        Binding("3", "screen('errors')", "Errors", show=False, id="app.errors"),
        Binding("4", "screen('throughput')", "Throughput", show=False, id="app.throughput"),
        Binding("5", "screen('sql')", "SQL", show=False, id="app.sql"),
        Binding("p", "report", "Write report", show=False, id="app.report"),
    ]

    def __init__(
        self,
        store: Path,
        *,
        ingest: Sequence[str] = (),
        start: str = "diff",
        keymap: Mapping[str, str] | None = None,
        at_rest: Callable[[], None] | None = None,
    ) -> None:
        """`at_rest` is called once, when the start is over."""
        super().__init__()
        self.service = Service(store)
        self.store_name = store.name
        self.memory = Memory(store)
        self.views = LastViews(store)
        self.intake = Intake(self, self.service, ingest)
        self._start, self._at_rest = start, at_rest
        self._baseline: str | None = None
        self._unsteered = Unsteered()
        self.bad = "last-failed"
        self.keys: Mapping[str, str] = keymap or {}
        if keymap:
            self.set_keymap(dict(keymap))

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._unsteered]

    def on_mount(self) -> None:
        theme = self.memory.get("theme")
        if theme in self.available_themes:
            self.theme = theme
        self.push_screen(self._page(self._start))
        self.intake.begin()
        self.set_interval(GROWTH_PAUSE, self.intake.look)
        if self._at_rest is not None:
            self.set_timer(REST, self._at_rest)

    def on_unmount(self) -> None:
        self.intake.stop()
        self.service.logs.close()

    def watch_theme(self, theme: str) -> None:
        self.memory.put("theme", theme)

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: DOMNode) -> None:
        names = ", ".join(sorted(binding.id or binding.action for binding in clashed_bindings))
        self.notify(f"the key map took the keys of {names}", markup=False, severity="warning")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While one types, letters are letters."""
        if action in WHILE_TYPING or not is_typing(self.focused):
            return super().check_action(action, parameters)
        return False if action in ("leave", "screen", "report") else super().check_action(action, parameters)

    # -- taking in while the user looks ------------------------------------------------------------

    @property
    def pages(self) -> list[Page]:
        """The screens of the stack, lowest first."""
        return [screen for screen in self.screen_stack if isinstance(screen, Page)]

    def say(self, text: str, most: int = 1) -> None:
        """One line, or as many as it needs up to `most`, on the screen that is shown."""
        if self.pages:
            self.pages[-1].status(text, most=most)

    def stop_taking_in(self) -> bool:
        """Ends an ingest that runs; False when none does."""
        return self.intake.stop()

    def action_help_quit(self) -> None:
        """Ctrl-C ends what is taken in; otherwise it says how to leave."""
        if self.stop_taking_in():
            self.say("taking in stops; what was read stays in the store")
        else:
            super().action_help_quit()

    def taken(self, newest_failed: str | None) -> None:
        """New runs are in the store: screens read again, the Diff goes to the newest failed one of them."""
        from logscope.tui.screens.diff import DiffPage

        for page in self.pages:
            if isinstance(page, DiffPage) and newest_failed is not None and page.explanation is None:
                self.bad = page.bad = newest_failed
            if page.is_mounted:  # one that is made just now reads by itself
                page.reload()

    # -- going from screen to screen ---------------------------------------------------------------

    def _page(self, name: str) -> Page:
        if name == "diff":
            from logscope.tui.screens.diff import DiffPage

            return DiffPage(self.bad, self._good_for(self.bad))
        if name == "errors":
            from logscope.tui.screens.errors import ErrorsPage

            return ErrorsPage()
        if name == "throughput":
            from logscope.tui.screens.throughput import ThroughputPage

            return ThroughputPage(self.bad)
        if name == "sql":
            from logscope.tui.screens.sql import SqlPage

            return SqlPage()
        from logscope.tui.screens.runs import RunsPage

        return RunsPage()

    def action_screen(self, name: str) -> None:
        """The run list is the lowest screen; one other stands on it, or in its place before it was needed."""
        while len(self.screen_stack) > 2:
            self.pop_screen()
        is_on_runs = isinstance(self.screen, Page) and self.screen.NAME == "Runs"
        if name == "runs" and is_on_runs:
            return
        if is_on_runs:
            self.push_screen(self._page(name))
        else:
            self.switch_screen(self._page(name))

    def show_runs(self, why: str) -> None:
        """The run list instead of what has nothing to show."""
        self.action_screen("runs")
        self.notify(why, markup=False)  # the status line is the list's own, which is read just now

    def go_back(self, *, leave: bool) -> None:
        """To the screen below; on the run list it quits when `leave`."""
        if len(self.screen_stack) > 2:
            self.pop_screen()
        elif isinstance(self.screen, Page) and self.screen.NAME != "Runs":
            self.switch_screen(self._page("runs"))
        elif leave:
            self.exit()

    def action_leave(self) -> None:
        self.go_back(leave=True)

    def action_help(self) -> None:
        from logscope.tui.screens.help import HelpPage

        if not isinstance(self.screen, HelpPage):
            self.push_screen(HelpPage(self.screen, self.keys))

    def show_diff(self, bad: str, good: str | None) -> None:
        """The Diff screen of `bad` beside `good` (None: its baseline)."""
        from logscope.tui.screens.diff import DiffPage

        self.bad = bad
        self.push_screen(DiffPage(bad, good or self._good_for(bad)))

    def show_throughput(self, run_id: str) -> None:
        """The Throughput screen of a run."""
        self.bad = run_id
        self.push_screen(self._page("throughput"))

    def take_baseline(self, run_id: str) -> None:
        """From now on diffs are made against this run."""
        self._baseline = run_id
        self.say("taken as the baseline of the next diffs; d on another run diffs with it")

    def choose_baseline(self) -> None:
        """Back to the list of runs, where b takes one."""
        self.action_screen("runs")
        self.notify("b on a run takes it as baseline, d diffs", markup=False)

    def _good_for(self, bad: str) -> str | None:
        return self._baseline if self._baseline != bad else None

    def open_log(self, place: Place, explanation: Explanation | None) -> None:
        """The log itself, at the line of the evidence."""
        run = None
        if explanation is not None:
            run = explanation.diff.good if place.run == "good" else explanation.diff.bad
        self.show_log(place, run)

    def show_log(self, place: Place, run: StoredRun | None) -> None:
        """The Log screen at a place."""
        from logscope.tui.screens.log import LogPage

        self.push_screen(LogPage(place, run))

    def open_outside(self, place: Place) -> None:
        """The line in $PAGER or $EDITOR."""
        pager = os.environ.get("PAGER") or os.environ.get("EDITOR") or "less"
        words = [*shlex.split(pager), f"+{place.line}", place.path]
        with self.suspend():
            try:
                subprocess.run(words, check=False)
            except OSError as error:
                failure: str | None = f"{words[0]}: {error.strerror}; set PAGER"
            else:
                failure = None
        if failure:
            self.notify(failure, markup=False, severity="error")

    # -- copying and writing -----------------------------------------------------------------------

    def copy_text(self, text: str) -> None:
        """The whole value to the terminal's clipboard (OSC 52), and to a file for terminals without one."""
        if not text:
            self.say("nothing to copy here")
            return
        self.copy_to_clipboard(text)
        try:
            path = self.service.write_copy(text)
        except LogScopeError as error:
            self.say(f"copied {len(text):,} characters to the terminal's clipboard ({error.message})")
            return
        self.say(f"copied {len(text):,} characters (also in {path})", most=3)

    def action_report(self) -> None:
        """The view of the screen in a file of the working folder."""
        if not isinstance(self.screen, Page):
            return
        try:
            path = self.service.write_report(self.screen.NAME.lower(), self.screen.report())
        except LogScopeError as error:
            self.screen.trouble(error)
            return
        self.say(f"report written to {path}")

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action with its key, for the command palette."""
        yield from super().get_system_commands(screen)
        found: dict[str, list[ActiveBinding]] = {}
        for active in screen.active_bindings.values():
            if active.binding.description and active.enabled:
                found.setdefault(active.binding.action, []).append(active)
        from logscope.tui.screens.help import keys_text, where

        for action, actives in found.items():
            node, binding = actives[0].node, actives[0].binding
            keys = sorted((active.binding.key for active in actives), key=len)
            yield SystemCommand(
                f"{binding.description} ({keys_text(keys)})",
                binding.tooltip or where(node),
                lambda node=node, action=action: self.run_worker(
                    self.run_action(action, default_namespace=node)
                ),
            )
