"""Hand-made runs and diffs for the report tests: small, with every kind of row, and a hostile variant."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from logscope.compare.records import (
    ArgumentChange,
    Change,
    Evidence,
    MetricChange,
    Mismatch,
    Origin,
    RunDiff,
    StageChange,
    ValidationChange,
    ValueChange,
)
from logscope.context import Context
from logscope.explain.records import Cause, Explanation, Remedy, ScorePart
from logscope.store.records import Baseline, Contrast, RunId, Seen, StoredRun, Throughput
from parsers.records import (
    Argument,
    Coverage,
    EnvVar,
    Event,
    EventRole,
    Frame,
    Milestone,
    Outcome,
    RootError,
    Run,
    Stage,
    StageSpan,
    VersionGuess,
)

AT = datetime(2026, 5, 4, 10, 0, 0)
HOSTILE = (
    "\x1b[2J\x1b]0;own\x07 \u202egnp.exe </pre><script>alert(1)</script> [/bold] `x` | ![i](http://e) \x9b31m"
)
"""Escape sequences, a direction mark, HTML, Rich and Markdown markup, a C1 control."""


def run(**changes: object) -> Run:
    """A failed run with one error and one warning."""
    root = RootError(
        "ValueError",
        "context length 8192 is larger than 4096",
        40,
        "TP0",
        "f" * 16,
        (Frame("sglang/srt/configs/model_config.py", 301, "_derive_context_length"),),
        "the first error of the run; the others follow from it",
        ("TP0",),
        "ValueError: context length 8192 is larger than 4096",
    )
    made = Run(
        ordinal=1,
        first_line=1,
        last_line=50,
        label="",
        carrier="plain",
        outcome=Outcome.FAILED,
        ready=False,
        stage=Stage.LOAD,
        reason="The scheduler raised ValueError while loading.",
        started_at=AT,
        ready_at=None,
        ended_at=AT.replace(second=30),
        version=VersionGuess("0.5.4", "exact"),
        model_path="/srv/models/llama",
        ranks=("TP0",),
        server_args=(
            Argument("model_path", "/srv/models/llama", "'/srv/models/llama'"),
            Argument("context_length", 8192, "8192"),
            Argument("mem_fraction_static", 0.9, "0.9"),
            Argument("odd", "<object at 0x1>", "<object at 0x1>", is_literal=False),
        ),
        server_args_line=2,
        server_args_complete=True,
        env=(EnvVar("SGLANG_X", "1", 3),),
        root_error=root,
        events=(event("error", root.message, "ValueError", 40), event("warning", "deprecated flag", None, 5)),
        milestones=(Milestone("load-begin", Stage.LOAD, "TP0", 10, AT, None),),
        stages=(StageSpan(Stage.LOAD, "", AT, None, 10, 40, 2.5, False, None, 70.0),),
        coverage=Coverage(50, 48, 2, 0, 1),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def event(level: str, message: str, kind: str | None, line: int) -> Event:
    return Event(
        fingerprint=f"{line:016x}",
        level=level,
        type=kind,
        message=message,
        line=line,
        last_line=line,
        count=2,
        ranks=("TP0",),
        benign=False,
        at=AT,
        last_at=AT,
        stage=Stage.LOAD,
        role=EventRole.ROOT if level == "error" else EventRole.NONE,
        role_reason="",
        rule="r",
        excerpt=message,
    )


def ready_run() -> Run:
    return run(
        outcome=Outcome.READY,
        ready=True,
        stage=Stage.SERVING,
        reason="It said that it serves.",
        ready_at=AT.replace(second=20),
        root_error=None,
        events=(),
    )


def stored(made: Run, path: str, run_id: str) -> StoredRun:
    context = Context(argv=("python", "-m", "sglang.launch_server"), env={"SGLANG_X": "1"}, host="gpu-a")
    figures = Throughput(
        decode_lines=10, prefill_lines=3, gen_last=90.0, gen_median=100.0, gen_p10=80.0, gen_p90=110.0
    )
    return StoredRun(RunId(run_id), path, made, context, figures, paths=(path,), host="gpu-a")


def diff(**changes: object) -> RunDiff:
    """A diff with one row of each kind."""
    good = stored(ready_run(), "logs/good.log", "a" * 32)
    bad = stored(run(), "logs/bad.log", "b" * 32)
    made = RunDiff(
        good=good,
        bad=bad,
        baseline=Baseline(
            good.run_id, "The last run that served: same model, 1 argument away.", 1.0, ("context_length",)
        ),
        args=(
            ArgumentChange("context_length", None, 8192, Change.ADDED, Origin.UNKNOWN, Origin.USER, 1.0),
            ArgumentChange(
                "mem_fraction_static", 0.8, 0.9, Change.CHANGED, Origin.DERIVED, Origin.DERIVED, 0.2
            ),
            ArgumentChange("max_reqs", 8, 8, Change.RENAMED, Origin.USER, Origin.USER, 0.1, "max_requests"),
            ArgumentChange(
                "random_seed", 1, 2, Change.CHANGED, Origin.DERIVED, Origin.DERIVED, 0.0, is_noise=True
            ),
        ),
        env=(ValueChange("SGLANG_X", None, "1", Change.ADDED, relevance=0.4),),
        versions=(ValueChange("sglang", "0.5.3", "0.5.4", Change.CHANGED, relevance=0.5),),
        configs=(ValueChange("max_position_embeddings", 8192, 4096, Change.CHANGED, "target", 0.9),),
        mismatches=(
            Mismatch(
                "context",
                "context_length",
                "context_length 8192 > 4096",
                "the model ends there",
                (("a", 1),),
                0.9,
            ),
        ),
        validations=(
            ValidationChange(
                "1" * 16,
                "error",
                "ValueError",
                "context length 8192 is larger",
                40,
                "new",
                False,
                None,
                2,
                "0.4.0",
            ),
            ValidationChange("2" * 16, "warning", None, "deprecated flag", 5, "known", False, 5),
        ),
        stages=(
            StageChange(Stage.ARGS, 1.0, 1.1, True, True, True),
            StageChange(Stage.LOAD, 5.0, 2.5, True, True, False),
            StageChange(Stage.KV_CACHE, 3.0, None, True, False, False, first_missing=True),
        ),
        metrics=(MetricChange("gen_throughput", "tokens/s", 100.0, 50.0, 0.5, True, "outside the spread"),),
        cleared=("model files: same",),
        not_compared=("driver: not in the good log",),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def explanation(**changes: object) -> Explanation:
    cause = Cause(
        rank=1,
        title="context_length 8192 is longer than the model allows (4096)",
        kind="arg",
        subject="context_length",
        score=0.93,
        mechanism="SGLang refuses a context longer than max_position_embeddings.",
        evidence=(
            Evidence("ValueError: context length 8192 is larger than 4096", "bad", 40),
            Evidence("context_length None -> 8192", "bad", None),
        ),
        remedies=(
            Remedy(
                "Drop --context-length.",
                "--context-length 4096",
                "lasting",
                "4096 tokens are enough",
                "long prompts fail",
            ),
        ),
        seen_before=Seen(2, RunId("c" * 32), AT, ("arg context_length: 8192 -> None",)),
        contrast=Contrast(2, 2, 0, 5),
        parts=(ScorePart("named in the error", 0.6, "the message names context length"),),
    )
    made = Explanation(
        diff(), "Fails at load: context_length 8192 is new and longer than the model's 4096.", (cause,)
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def hostile_explanation() -> Explanation:
    """The same with hostile text wherever text of a log, a path or a person can stand."""
    base = explanation()
    root = replace(
        base.diff.bad.run.root_error or RootError("", "", 1, "", "", (), ""), message=HOSTILE, type=HOSTILE
    )
    bad = stored(
        run(
            root_error=root,
            reason=HOSTILE,
            model_path=HOSTILE,
            label=HOSTILE,
            ranks=(HOSTILE,),
            server_args=(Argument(HOSTILE, HOSTILE, HOSTILE),),
            env=(EnvVar(HOSTILE, HOSTILE, 3),),
            events=(event("error", HOSTILE, HOSTILE, 40),),
        ),
        f"logs/{HOSTILE}.log",
        "b" * 32,
    )
    cause = replace(
        base.causes[0],
        title=HOSTILE,
        subject=HOSTILE,
        mechanism=HOSTILE,
        evidence=(Evidence(f"{HOSTILE}\n```\n{HOSTILE}", "bad", 40),),
        remedies=(Remedy(HOSTILE, HOSTILE, "quick", HOSTILE, HOSTILE, HOSTILE),),
    )
    made = diff(
        bad=bad,
        baseline=Baseline(None, HOSTILE, None),
        args=(
            ArgumentChange(
                HOSTILE, HOSTILE, HOSTILE, Change.CHANGED, Origin.USER, Origin.USER, 1.0, None, False, HOSTILE
            ),
        ),
        env=(ValueChange(HOSTILE, HOSTILE, HOSTILE, Change.CHANGED, note=HOSTILE),),
        validations=(
            ValidationChange("1" * 16, "error", HOSTILE, HOSTILE, 40, "new", False, explanation=HOSTILE),
        ),
        cleared=(HOSTILE,),
        not_compared=(HOSTILE,),
    )
    return Explanation(made, HOSTILE, (cause,))
