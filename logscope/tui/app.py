"""The terminal UI: screens over one store. Opens the store only for a question, in a worker."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from logscope.errors import LogScopeError
from logscope.explain.records import Explanation
from logscope.tui.memory import Memory
from logscope.tui.page import BREAKPOINTS, Page
from logscope.tui.rows import Place
from logscope.tui.screens.diff import DiffPage
from logscope.tui.screens.errors import ErrorsPage
from logscope.tui.screens.help import HelpPage
from logscope.tui.screens.log import LogPage
from logscope.tui.screens.runs import RunsPage
from logscope.tui.screens.sql import SqlPage
from logscope.tui.screens.throughput import ThroughputPage
from logscope.tui.service import Service, TakenIn


class LogScopeApp(App[None]):
    """Runs, Diff, Errors, Throughput, SQL and the log itself."""

    TITLE = "LogScope"
    CSS_PATH = "styles.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
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
        Binding("p", "report", "Report", show=False, id="app.report"),
    ]

    def __init__(
        self,
        store: Path,
        *,
        ingest: Sequence[str] = (),
        start: str = "diff",
        keymap: dict[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.service = Service(store)
        self.store_name = store.name
        self.memory = Memory(store)
        self._ingest = tuple(ingest)
        self._start = start
        self._baseline: str | None = None
        self.bad = "last-failed"
        if keymap:
            self.set_keymap(keymap)

    def on_mount(self) -> None:
        theme = self.memory.get("theme")
        if theme in self.available_themes:
            self.theme = theme
        self.push_screen(RunsPage())
        if self._start == "diff":
            self.push_screen(DiffPage(self.bad))
        if self._ingest:
            self._take_in()

    def watch_theme(self, theme: str) -> None:
        self.memory.put("theme", theme)

    # -- taking in while the user looks ------------------------------------------------------------

    def _take_in(self) -> None:
        self.run_worker(self._ingest_in_thread, thread=True, group="ingest", exclusive=True)

    def _ingest_in_thread(self) -> None:
        def say(text: str) -> None:
            self.call_from_thread(self._say, text)

        try:
            taken = self.service.ingest(self._ingest, say)
        except LogScopeError as error:
            self.call_from_thread(self._say, f"! {error.message}")
            return
        self.call_from_thread(self._taken, taken)

    def _say(self, text: str) -> None:
        if isinstance(self.screen, Page):
            self.screen.status(text)

    def _taken(self, taken: TakenIn) -> None:
        if taken.newest_failed is not None:
            self.bad = taken.newest_failed
        for screen in self.screen_stack:
            if isinstance(screen, DiffPage) and taken.newest_failed is not None:
                screen.bad = taken.newest_failed
            if isinstance(screen, Page):
                screen.reload()
        self.notify(taken.summary, markup=False)

    # -- going from screen to screen ---------------------------------------------------------------

    def action_screen(self, name: str) -> None:
        while len(self.screen_stack) > 2:
            self.pop_screen()
        if name == "runs":
            return
        makers = {
            "diff": lambda: DiffPage(self.bad, self._good_for(self.bad)),
            "errors": ErrorsPage,
            "throughput": lambda: ThroughputPage(self.bad),
            "sql": SqlPage,
        }
        self.push_screen(makers[name]())

    def go_back(self, *, leave: bool) -> None:
        """To the screen below; on the first screen it quits when `leave`."""
        if len(self.screen_stack) > 2:
            self.pop_screen()
        elif leave:
            self.exit()

    def action_leave(self) -> None:
        self.go_back(leave=True)

    def action_help(self) -> None:
        if not isinstance(self.screen, HelpPage):
            self.push_screen(HelpPage(self.screen))

    def show_diff(self, bad: str, good: str | None) -> None:
        """The Diff screen of `bad` beside `good` (None: its baseline)."""
        self.bad = bad
        self.push_screen(DiffPage(bad, good or self._good_for(bad)))

    def take_baseline(self, run_id: str) -> None:
        """From now on diffs are made against this run."""
        self._baseline = run_id
        self.notify("taken as the baseline of the next diffs", markup=False)

    def choose_baseline(self) -> None:
        """Back to the list of runs, where b takes one."""
        while len(self.screen_stack) > 2:
            self.pop_screen()
        self.notify("b on a run takes it as baseline, d diffs", markup=False)

    def _good_for(self, bad: str) -> str | None:
        return self._baseline if self._baseline != bad else None

    def open_log(self, place: Place, explanation: Explanation | None) -> None:
        """The log itself, at the line of the evidence."""
        run = None
        if explanation is not None:
            run = explanation.diff.good if place.run == "good" else explanation.diff.bad
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
            return
        self.copy_to_clipboard(text)
        path = self.service.write_copy(text)
        self.notify(f"copied {len(text):,} characters (also in {path})", markup=False, timeout=3)

    def action_report(self) -> None:
        if isinstance(self.screen, Page):
            text = self.screen.report()
            path = self.service.write_report(self.screen.NAME.lower(), text)
            self.notify(f"report written to {path}", markup=False)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action with its key, for the command palette."""
        yield from super().get_system_commands(screen)
        seen: set[str] = set()
        for key, active in screen.active_bindings.items():
            binding = active.binding
            if binding.description and binding.action not in seen:
                seen.add(binding.action)
                shown = binding.key_display or key
                yield SystemCommand(
                    f"{binding.description} ({shown})",
                    binding.tooltip or f"key {shown}",
                    lambda node=active.node, action=binding.action: self.run_worker(
                        self.run_action(action, default_namespace=node)
                    ),
                )
