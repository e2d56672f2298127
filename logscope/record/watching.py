"""What a launch that is still being written has come to: stage by stage, then ready, failed or hung.

The clock is handed in, and nothing here waits: `Watcher.step` says what is new since the last step.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from logscope.context import Context, context_path, read_context
from logscope.errors import LogScopeError
from logscope.record.follow import LaunchFollower
from logscope.store.interface import RunHistory
from logscope.store.records import SetupSpread, Spread
from parsers.lazy_dataclass import dataclass, field, replace
from parsers.outcome import KILLED_SILENT, refine
from parsers.records import Conclusion, Outcome, Run, Stage, StageSpan

_SETTLE_SECONDS = 2.0
"""A fatal error must stand this long, so that its traceback is complete and a recovery is seen."""
_READY_SETTLE_SECONDS = 0.5
_DEFAULT_SILENCE = 600.0
"""Without good runs to compare with, a launch that prints nothing for this long counts as hung, seconds."""
_LEAST_SILENCE = 60.0
_CLOCK_STEP = 1.0
"""Seconds to which some file systems round the time of a change."""
_DECIDED = (Outcome.FAILED, Outcome.KILLED)


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One thing that happened; the last one of a watch is ``ready``, ``failed``, ``killed`` or ``hung``."""

    kind: str
    """``waiting``, ``earlier``, ``launch``, ``restart``, ``stage-begun``, ``stage-done``, ``ready``,
    ``failed``, ``killed`` or ``hung``."""
    text: str
    line: int | None = None
    stage: Stage | None = None
    seconds: float | None = None
    """How long the stage took, or the whole launch until ready."""
    usual: Spread | None = None
    """Seconds of this stage in the good runs of the setup; None when there are none."""
    is_outside: bool = False
    """Longer than any of the good runs took."""


@dataclass(slots=True)
class Watcher:
    """Follows one log."""

    path: Path
    silence: float | None = None
    """Seconds without a new line after which the launch counts as hung; None: by the good runs."""
    skip_earlier: bool = False
    """Launches that are in the log already are not looked at."""
    from_start: bool = False
    """Also tell of the launches before the newest one."""
    find_usual: Callable[[Run], SetupSpread | None] = field(default=lambda run: None)
    _follower: LaunchFollower | None = None
    _ordinal: int = 0
    _begun: set[Stage] = field(default_factory=set)
    _done: set[Stage] = field(default_factory=set)
    _usual: SetupSpread | None = None
    _asked_usual: bool = False
    _said_waiting: bool = False
    _last_growth: float | None = None
    _decided_at: float | None = None
    _decided: str = ""

    @property
    def run(self) -> Run | None:
        """The launch as far as it was read; its end as the context file beside the log has it, too."""
        run = None if self._follower is None else self._follower.run
        ended = None if run is None else self._recorded_end()
        if run is None or ended is None:
            return run
        conclusion = Conclusion(run.outcome, run.ready, run.stage, run.reason, run.root_error, run.events)
        how = (ended.exit_code, ended.exit_signal, ended.start_time, ended.end_time)
        outcome, reason = refine(conclusion, *how, run.ended_at)
        return replace(run, outcome=outcome, reason=reason)

    def _recorded_end(self) -> Context | None:
        """The context file, where the end of this launch stands in it: it is written after the last line."""
        place = context_path(self.path)
        try:
            if place.stat().st_mtime < self.path.stat().st_mtime - _CLOCK_STEP:
                return None  # of a launch before this one, or this one is not at its end
            context = read_context(place)
        except (OSError, LogScopeError):
            return None
        return context if context.end_time is not None else None

    def step(self, now: float, modified: float | None = None) -> list[WatchEvent]:
        """What is new. `now` and `modified` (when the log was last written) are seconds of one clock."""
        is_first = self._follower is None
        if self._follower is None:
            self._follower = LaunchFollower(self.path, skip_earlier=self.skip_earlier)
            self._last_growth = now
        events: list[WatchEvent] = []
        if self._follower.look():
            was_written = is_first and modified is not None and not self.skip_earlier
            self._last_growth = min(now, modified) if was_written and modified is not None else now
            events += self._earlier() if is_first and self.from_start else []
            events += self._news()
        elif not self._follower.exists and not self._said_waiting:
            self._said_waiting = True
            events.append(WatchEvent("waiting", f"waiting for {self.path}"))
        return events + self._decision(now)

    def close(self) -> None:
        if self._follower is not None:
            self._follower.close()

    def silence_limit(self) -> float:
        """Seconds of silence after which the launch counts as hung now."""
        if self.silence is not None:
            return self.silence
        spreads = self._usual.stage_seconds if self._usual is not None else {}
        run = self.run
        now_in = self._current_stage(run) if run is not None else None
        spread = spreads.get(now_in) if now_in is not None else None
        if spread is not None:
            return max(_LEAST_SILENCE, 2 * spread.high + (spread.high - spread.low))
        if spreads:
            return max(_LEAST_SILENCE, 2 * max(one.high for one in spreads.values()))
        return _DEFAULT_SILENCE

    def _earlier(self) -> list[WatchEvent]:
        assert self._follower is not None
        return [
            WatchEvent("earlier", f"launch {run.ordinal}: {run.outcome}: {run.reason}", run.first_line)
            for run in self._follower.runs[:-1]
        ]

    def _news(self) -> list[WatchEvent]:
        run = self.run
        if run is None:
            return []
        events = []
        if run.ordinal != self._ordinal:
            is_first = self._ordinal == 0
            self._forget_launch(run.ordinal)
            events.append(_launch_event(run, is_first))
        if not self._asked_usual and run.model_path is not None:
            self._asked_usual = True
            self._usual = self.find_usual(run)
        for span in run.stages:
            if span.rank == "" and span.stage not in (Stage.SERVING, Stage.SHUTDOWN):
                events += self._stage_events(span)
        return events

    def _forget_launch(self, ordinal: int) -> None:
        self._ordinal = ordinal
        self._begun, self._done = set(), set()
        self._usual, self._asked_usual = None, False
        self._decided_at, self._decided = None, ""

    def _stage_events(self, span: StageSpan) -> list[WatchEvent]:
        usual = self._usual.stage_seconds.get(span.stage) if self._usual is not None else None
        events = []
        if span.stage not in self._begun:
            self._begun.add(span.stage)
            text = f"{span.stage}" + (f" (usually {_range(usual)})" if usual is not None else "")
            events.append(WatchEvent("stage-begun", text, span.first_line, span.stage, usual=usual))
        if span.complete and span.stage not in self._done:
            self._done.add(span.stage)
            outside = usual is not None and span.seconds is not None and span.seconds > usual.high
            text = f"{span.stage} done" + (f" in {span.seconds:g} s" if span.seconds is not None else "")
            if usual is not None:
                text += f", usually {_range(usual)}" + (": slower than in any good run" if outside else "")
            events.append(
                WatchEvent("stage-done", text, span.last_line, span.stage, span.seconds, usual, outside)
            )
        return events

    def _decision(self, now: float) -> list[WatchEvent]:
        """The last event, once it is certain."""
        run = self.run
        word = _word(run)
        if word != self._decided:
            self._decided, self._decided_at = word, now
        if word and self._decided_at is not None:
            wait = _READY_SETTLE_SECONDS if word == "ready" else _SETTLE_SECONDS
            return [_last_event(word, run)] if run is not None and now - self._decided_at >= wait else []
        if self._last_growth is not None and now - self._last_growth >= self.silence_limit():
            return [self._hung_event(now)]
        return []

    def _hung_event(self, now: float) -> WatchEvent:
        run, quiet = self.run, now - (self._last_growth or now)
        if self._follower is None or not self._follower.exists:
            return WatchEvent("hung", f"{self.path} was not written in {quiet:.0f} s")
        stage = self._current_stage(run) if run is not None else None
        place = f"in stage {stage}" if stage is not None else "before the first stage"
        usual = (
            self._usual.stage_seconds.get(stage) if self._usual is not None and stage is not None else None
        )
        text = f"hung: nothing printed for {quiet:.0f} s {place}, not ready"
        if usual is not None:
            text += f"; the whole stage usually takes {_range(usual)}"
        return WatchEvent("hung", text, self._follower.lines, stage, round(quiet, 1), usual)

    def _current_stage(self, run: Run | None) -> Stage | None:
        """The stage that has begun and not ended, else the last one that was reached."""
        if run is None:
            return None
        open_stages = [span.stage for span in run.stages if span.rank == "" and not span.complete]
        return open_stages[-1] if open_stages else run.stage


def usual_of(history: RunHistory, run: Run) -> SetupSpread | None:
    """The spread of the good runs of this launch's setup; None when the history has none."""
    typed = {argument.name: argument.value for argument in run.server_args}
    near = [
        fact
        for fact in history.facts()
        if fact.ready and fact.model_path == run.model_path and fact.tp_size in (None, typed.get("tp_size"))
    ]
    near.sort(key=lambda fact: fact.sglang_version != run.version.version)  # stable: newest first stays
    return history.usual(near[0].run_id, before=False) if near else None


def _launch_event(run: Run, is_first: bool) -> WatchEvent:
    version = f", sglang {run.version.version}" if run.version.version else ""
    model = f" of {run.model_path}" if run.model_path else ""
    kind = "launch" if is_first else "restart"
    return WatchEvent(kind, f"launch {run.ordinal}{model}{version}", run.first_line)


def _word(run: Run | None) -> str:
    if run is None:
        return ""
    if run.outcome is Outcome.HUNG and run.reason.startswith(KILLED_SILENT):
        return str(run.outcome)
    if run.outcome in _DECIDED and not (run.ready and run.root_error is None):
        return str(run.outcome)
    return "ready" if run.ready else ""


def _last_event(word: str, run: Run) -> WatchEvent:
    if word == "ready":
        line = next((one.line for one in run.milestones if one.name == "ready"), run.last_line)
        took = (
            (run.ready_at - run.started_at).total_seconds()
            if run.ready_at is not None and run.started_at is not None
            else None
        )
        return WatchEvent(
            "ready", "ready" + (f" after {took:g} s" if took is not None else ""), line, seconds=took
        )
    error = run.root_error
    if error is not None:
        text = f"{word}: {error.type}: {error.message}".splitlines()[0]
        return WatchEvent(word, text, error.line, run.stage)
    return WatchEvent(word, f"{word}: {run.reason}", run.last_line, run.stage)


def _range(spread: Spread) -> str:
    if spread.low == spread.high:
        return f"{spread.low:g} s"
    return f"{spread.low:g} to {spread.high:g} s"
