"""Runs made by hand, and a history over a list of them: what compare and explain need, without logs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from logscope.context import Context, WeightFile
from logscope.errors import RunNotFound
from logscope.store.records import (
    Baseline,
    Contrast,
    Mark,
    RunFacts,
    RunId,
    Seen,
    SetupSpread,
    StoredRun,
    Throughput,
)
from parsers.records import (
    Argument,
    Coverage,
    Event,
    EventRole,
    Frame,
    Json,
    Milestone,
    Outcome,
    RootError,
    Run,
    Stage,
    StageSpan,
    VersionGuess,
)

START = datetime(2026, 2, 3, 4, 5, 6)


def frames(*places: str) -> tuple[Frame, ...]:
    """``file:function`` texts, outermost first."""
    return tuple(Frame(place.rpartition(":")[0], 10, place.rpartition(":")[2]) for place in places)


def error(
    message: str,
    type_: str = "ValueError",
    line: int = 80,
    stage: Stage | None = Stage.LOAD,
    traceback: Sequence[Frame] = (),
    source: str = "",
    level: str = "error",
    role: EventRole = EventRole.ROOT,
    benign: bool = False,
) -> Event:
    """One error or warning event."""
    shape = "".join("#" if char.isdigit() else char for char in f"{type_}{message}")
    return Event(
        fingerprint=hashlib.sha1(shape.encode()).hexdigest()[:16],
        level=level,
        type=type_,
        message=message,
        line=line,
        last_line=line,
        count=1,
        ranks=("",),
        benign=benign,
        at=START,
        last_at=START,
        stage=stage,
        role=role,
        role_reason="",
        rule="test",
        excerpt=f"{type_}: {message}",
        traceback=tuple(traceback),
        traceback_text=source,
    )


def make_run(
    name: str = "run",
    args: Mapping[str, Json] | None = None,
    events: Sequence[Event] = (),
    outcome: Outcome | None = None,
    ready: bool | None = None,
    stage: Stage | None = None,
    milestones: Sequence[Milestone] = (),
    version: str | None = None,
    throughput: Throughput | None = None,
    start: datetime = START,
    ready_after: float | None = None,
    mark: Mark | None = None,
    **surroundings: Any,
) -> StoredRun:
    """A stored run; keywords beyond the named ones go into its context file."""
    root = next((event for event in events if event.role is EventRole.ROOT), None)
    judged = outcome or (Outcome.FAILED if root is not None else Outcome.READY)
    is_ready = ready if ready is not None else judged is Outcome.READY
    run = Run(
        ordinal=1,
        first_line=1,
        last_line=100,
        label="",
        carrier="plain",
        outcome=judged,
        ready=is_ready,
        stage=stage or (root.stage if root is not None else Stage.SERVING),
        reason="",
        started_at=start,
        ready_at=start + timedelta(seconds=ready_after if ready_after is not None else 20)
        if is_ready
        else None,
        ended_at=start + timedelta(seconds=60),
        version=VersionGuess(version, "exact" if version else "unknown"),
        model_path=str((args or {}).get("model_path", "/m/demo")),
        ranks=(),
        server_args=tuple(Argument(key, value, repr(value)) for key, value in (args or {}).items()),
        server_args_line=8 if args else None,
        server_args_complete=True,
        env=(),
        root_error=None if root is None else _root(root),
        events=tuple(events),
        milestones=tuple(milestones) or (milestone("args", 8, "server_args=ServerArgs(model_path="),),
        stages=(),
        coverage=Coverage(100, 100, 0, 0, 0),
    )
    return StoredRun(
        run_id=RunId(hashlib.sha1(name.encode()).hexdigest()[:12]),
        path=f"{name}.log",
        run=run,
        context=Context(**surroundings) if surroundings else None,
        throughput=throughput or Throughput(),
        mark=mark,
        host=surroundings.get("host"),
    )


def _root(event: Event) -> RootError:
    return RootError(
        type=event.type or "",
        message=event.message,
        line=event.line,
        rank="",
        fingerprint=event.fingerprint,
        traceback=event.traceback,
        reason="first",
        excerpt=event.excerpt,
    )


def milestone(
    name: str, line: int, excerpt: str = "", stage: Stage = Stage.LOAD, **values: float
) -> Milestone:
    """One milestone of the whole launch."""
    return Milestone(name, stage, "", line, START, None, "", tuple(values.items()), excerpt)


def weight_file(name: str, size: int, role: str = "target", sha256: str | None = None) -> WeightFile:
    """One file of a model folder."""
    return WeightFile(role, name, size, sha256)


def span(stage: Stage, seconds: float | None, complete: bool = True) -> StageSpan:
    """One stage of the whole launch."""
    return StageSpan(stage, "", START, None, 1, 2, seconds, complete)


class ListHistory:
    """Answers the questions of compare and explain from a list of runs, oldest first."""

    def __init__(
        self,
        *runs: StoredRun,
        seen: Seen | None = None,
        contrasts: Mapping[str, Contrast] | None = None,
        first_bad: RunId | None = None,
        spread: SetupSpread | None = None,
    ) -> None:
        self.runs = runs
        self._seen = seen
        self._contrasts = contrasts or {}
        self._first_bad = first_bad
        self._spread = spread or SetupSpread()

    def load(self, reference: str) -> StoredRun:
        for run in self.runs:
            if run.run_id == reference:
                return run
        raise RunNotFound(f"no run {reference!r}")

    def facts(self) -> Sequence[RunFacts]:
        return [facts_of(run) for run in reversed(self.runs)]

    def baseline(self, run_id: RunId) -> Baseline:
        earlier = [run for run in self.runs if run.run.ready and run.run.root_error is None]
        good = next((run for run in reversed(earlier) if run.run_id != run_id), None)
        if good is None:
            return Baseline(None, "no earlier run got ready", None)
        return Baseline(good.run_id, "the last ready run", 1.0, first_bad=self._first_bad, first_failed=self._first_bad)

    def seen_before(self, fingerprint: str, run_id: RunId) -> Seen:
        if self._seen is not None:
            return self._seen
        roots = [run.run.root_error for run in self.runs if run.run_id != run_id]
        return Seen(
            sum(root is not None and root.fingerprint == fingerprint for root in roots), None, None, ()
        )

    def contrast(self, run_id: RunId, kind: str, name: str, value: Json, fingerprint: str) -> Contrast:
        return self._contrasts.get(name, Contrast(0, 0, 0, 0))

    def usual(self, run_id: RunId, before: bool = True) -> SetupSpread:
        return self._spread


def facts_of(run: StoredRun) -> RunFacts:
    """The list row of a run."""
    number = run.argument("tp_size")
    algorithm = run.argument("speculative_algorithm")
    return RunFacts(
        run_id=run.run_id,
        path=run.path,
        ordinal=1,
        started_at=run.run.started_at,
        outcome=run.run.outcome,
        ready=run.run.ready,
        stage=run.run.stage,
        reason=run.run.reason,
        sglang_version=run.sglang_version,
        model_path=run.run.model_path,
        tp_size=number if isinstance(number, int) else None,
        dp_size=None,
        pp_size=None,
        ep_size=None,
        quantization=None,
        speculative_algorithm=algorithm if isinstance(algorithm, str) else None,
        device=None,
        host=run.host,
        root_type=run.run.root_error.type if run.run.root_error else None,
        root_message=run.run.root_error.message if run.run.root_error else None,
        root_fingerprint=run.run.root_error.fingerprint if run.run.root_error else None,
        ready_seconds=20.0 if run.run.ready else None,
        gen_median=run.throughput.gen_median,
        mark=run.mark.verdict if run.mark else None,
        note=None,
        running_max=run.throughput.running_max,
    )
