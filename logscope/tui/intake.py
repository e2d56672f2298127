"""Logs come into the store while the app is used: those of the command line, and those that grow."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from logscope.errors import LogScopeError
from logscope.tui.harmless import counted
from logscope.tui.log_file import size_of
from logscope.tui.taking_in import Progress, TakenIn, TakingIn

if TYPE_CHECKING:
    from logscope.tui.app import LogScopeApp
    from logscope.tui.service import Service

ENDED_BADLY = ("failed", "hung", "killed")
"""Outcomes that the Diff screen opens on."""
_SAY_PAUSE = 0.2
"""Seconds between two words on the status line."""
_SHOW_PAUSE = 3.0
"""Seconds between two looks of the run list at what is in already."""


class Intake:
    """At most one ingest at a time, in a worker that waits for a process."""

    def __init__(self, app: LogScopeApp, service: Service, words: Sequence[str]) -> None:
        self._app = app
        self._service = service
        self._words = tuple(words)
        self._watched: dict[str, int] = {}
        """Log -> its size when it was taken in last; -1 when that is not known."""
        self._current: TakingIn | None = None
        self._lock = Lock()
        self._knows_running = False

    @property
    def is_busy(self) -> bool:
        """True while logs are taken in."""
        return self._current is not None

    def begin(self) -> None:
        """Takes in the paths of the command line."""
        if self._words:
            self._start(self._words, is_quiet=False)

    def again(self) -> None:
        """Looks at the paths of the command line and at all known logs again."""
        self._app.run_worker(self._again, thread=True, group="growth")

    def look(self) -> None:
        """Looks whether a log that is still written has grown."""
        if not self.is_busy:
            self._app.run_worker(self._look, thread=True, group="growth", exclusive=True)

    def stop(self) -> bool:
        """Ends the ingest that runs; False when none does."""
        current = self._current
        if current is not None:
            current.stop()
        return current is not None

    # -- in workers -------------------------------------------------------------------------------

    def _again(self) -> None:
        try:
            grown = self._service.changed_logs()
        except LogScopeError:  # the screen itself asks the store, and says what is wrong
            return
        words = (*self._words, *grown)
        if words:
            self._app.call_later(self._start, words, is_quiet=True)

    def _look(self) -> None:
        try:
            if not self._knows_running:
                self._watched |= dict.fromkeys(self._service.running_logs(), -1)
                self._knows_running = True
        except LogScopeError:  # the next look comes by itself
            return
        grown = [path for path, size in self._watched.items() if size_of(path) > size]
        if grown:
            self._watched |= {path: size_of(path) for path in grown}
            self._app.call_later(self._start, grown, is_quiet=True)

    def _start(self, words: Sequence[str], *, is_quiet: bool) -> None:
        with self._lock:
            if self._current is not None:
                return
            self._current = taking = TakingIn(self._service.path, words)
        self._app.run_worker(lambda: self._run(taking, is_quiet), thread=True, group="intake")

    def _run(self, taking: TakingIn, is_quiet: bool) -> None:
        shown = said = monotonic()

        def say(progress: Progress) -> None:
            nonlocal shown, said
            now = monotonic()
            if not is_quiet and now - said > _SAY_PAUSE:
                said = now
                self._app.call_later(self._app.say, progress.text)
            if not is_quiet and now - shown > _SHOW_PAUSE:
                shown = now
                self._app.call_later(self._show_so_far)

        try:
            taken = taking.run(say)
            newest = self._newest_failed(taken)
        except LogScopeError as error:
            self._app.call_later(self._failed, error)
        else:
            self._app.call_later(self._finished, taken, newest, is_quiet)

    def _newest_failed(self, taken: TakenIn) -> str | None:
        if not taken.runs:
            return None
        wanted = set(taken.runs)
        ended = [run.run_id for run in self._service.runs() if run.outcome in ENDED_BADLY]
        newest = next((run_id for run_id in ended if run_id in wanted), None)
        # the newest of all has a word of its own: under it the next start finds the view again
        return "last-failed" if newest is not None and newest == ended[0] else newest

    # -- on the event loop ------------------------------------------------------------------------

    def _show_so_far(self) -> None:
        for page in self._app.pages:
            if page.NAME == "Runs" and page.is_mounted:
                page.reload()

    def _failed(self, error: LogScopeError) -> None:
        self._current = None
        if self._app.pages:
            self._app.pages[-1].trouble(error)

    def _finished(self, taken: TakenIn, newest: str | None, is_quiet: bool) -> None:
        self._current = None
        self._watched |= dict(taken.files)
        if taken.changed or taken.was_stopped or not is_quiet:
            self._app.taken(newest)
        if taken.was_stopped:
            self._app.say("taking in was stopped; what was read is in the store")
        elif not is_quiet or taken.changed or taken.trouble:
            trouble = f"; ! {taken.trouble[0]}" if taken.trouble else ""
            self._app.say(
                f"{counted(len(taken.runs), 'run')} of {counted(len(taken.files), 'log')} in the store, "
                f"{counted(taken.changed, 'log')} new or grown{trouble}"
            )
