"""Runs that ended without an error of their own: killed, hung, or a log that just stops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from logscope.compare.metrics import milestone_value
from logscope.compare.values import show
from logscope.explain.candidate import Candidate
from logscope.explain.evidence import (
    argument_quotes,
    last_milestone,
    milestone_named,
    milestone_quote,
    noted,
)
from logscope.explain.fitting import offered
from logscope.explain.from_arguments import argument_title, score_direction
from logscope.explain.records import Remedy
from logscope.explain.remedies import back_to_good
from logscope.explain.scene import Scene, family, was_typed
from logscope.knowledge.atlas import atlas
from logscope.knowledge.mechanisms import directions_of, mechanisms_of
from parsers.records import Outcome

_OUTSIDE_RULES = {Outcome.HUNG: "hang-before-ready", Outcome.KILLED: "killed-by-orchestrator"}


def outside_candidate(scene: Scene) -> Candidate:
    """What ended a run that names no error."""
    run = scene.bad.run
    signal = _signal(scene)
    where = f"in stage {run.stage}" if run.stage is not None else "before any stage"
    if run.outcome is Outcome.HUNG:
        candidate = Candidate("other", "hang", f"went silent {where}, without an error")
        candidate.mechanism = "A process stopped or waits for another one; the log cannot show which."
    elif signal == "SIGKILL":
        candidate = Candidate("host", "SIGKILL", f"killed with SIGKILL from outside {where}")
        candidate.mechanism = (
            "SIGKILL comes from the OOM killer of host or container, from an orchestrator or from a person; "
            "the process can print nothing."
        )
    elif run.outcome is Outcome.KILLED or signal:
        how = f"by {signal} " if signal else ""
        candidate = Candidate("other", signal or "outside kill", f"ended {how}from outside {where}")
        candidate.mechanism = (
            f"{signal or 'A signal'} of an orchestrator, a time limit or a person; not a fault of the launch."
        )
    else:
        candidate = Candidate("other", "log ends", f"the log stops {where} and names no error")
        candidate.mechanism = "The process was killed, still runs, or its last lines were lost."
    _score(candidate, scene, signal)
    candidate.quote(milestone_quote(last_milestone(scene.bad), "bad"))
    if signal:
        candidate.quote(noted(f"exit_signal: {signal}"))
    candidate.remedies = _remedies(scene, signal)
    return candidate


def is_same_story(outside: Candidate, known: Candidate) -> bool:
    """A known failure that says of the recorded signal what `outside` says already."""
    return (outside.subject, known.subject) in (("SIGKILL", "host memory"), ("SIGTERM", "outside kill"))


def with_same_story(outside: Candidate, known: Sequence[Candidate]) -> Candidate:
    """`outside` with the quotes and ways out of the known failures that tell the same."""
    for one in known:
        if is_same_story(outside, one):
            outside.quote(*one.evidence)
            outside.remedies += one.remedies
    return outside


def _signal(scene: Scene) -> str:
    context = scene.bad.context
    if context is not None and context.exit_signal:
        text = context.exit_signal.upper()
        return {"9": "SIGKILL", "15": "SIGTERM"}.get(text, text)
    return "SIGTERM" if milestone_named(scene.bad, "sigterm") is not None else ""


def _score(candidate: Candidate, scene: Scene, signal: str) -> None:
    candidate.add("no error of its own", 0.3, scene.bad.run.reason or "the log names no error")
    if signal:
        candidate.add("ended by a signal", 0.35, f"{signal} is recorded")
    if scene.bad.run.outcome is Outcome.HUNG:
        candidate.add("went silent", 0.3, "progress stopped and nothing was raised")
    if scene.changes == 0 and scene.diff.good is not None:
        candidate.add("nothing differs", 0.2, "the configuration is that of the good run")


def _remedies(scene: Scene, signal: str) -> list[Remedy]:
    outcome = scene.bad.run.outcome
    if signal == "SIGKILL" and outcome is not Outcome.HUNG:
        return [
            Remedy(
                "Look for the OOM killer on the host",
                "dmesg -T | grep -i -E 'killed process|oom'",
                "quick",
                "you may read the kernel log",
            ),
            Remedy(
                "Raise the memory limit of the container or free host memory",
                "",
                "lasting",
                "it was the OOM killer",
            ),
        ]
    rule_id = _OUTSIDE_RULES.get(outcome)
    rule = next((rule for rule in atlas() if rule.id == rule_id), None)
    return offered(rule.remedies, scene) if rule is not None else []


def pressure_candidates(scene: Scene) -> Iterator[Candidate]:
    """Arguments that feed the stage in which a run without an error ended: weak, and only if they changed."""
    stage = str(scene.bad.run.stage) if scene.bad.run.stage is not None else ""
    switched = set[str]()
    for row in scene.changed_arguments:
        switch = family(row.name)
        if switch in switched or row.relevance < 0.15:
            continue
        switched.add(switch)
        candidate = Candidate("arg", row.name, argument_title(row), asks=("arg", row.name, row.bad))
        facts = [fact for fact in mechanisms_of(row.name) if stage in fact.stages]
        if not facts:
            continue
        candidate.add("feeds the stage", 0.15, f"{row.name} {facts[0].how}")
        if was_typed(row) or row.relevance >= 0.3:
            candidate.add("changed by a person", 0.1, "it differs from the good run", links=False)
        if row.name in ("model_path", "revision"):
            candidate.add(
                "another model", 0.15, "other weights change memory and kernels of every later stage"
            )
        _memory_parts(row.name, scene, candidate)
        score_direction(row, directions_of("gpu-oom-graph-capture"), candidate)
        candidate.mechanism = f"{row.name} {facts[0].how}; the run ended in stage {stage} without an error."
        candidate.quote(*argument_quotes(scene, row.name), milestone_quote(last_milestone(scene.bad), "bad"))
        candidate.remedies = back_to_good(row)
        yield candidate


def _memory_parts(name: str, scene: Scene, candidate: Candidate) -> None:
    """Less memory left than in the good run, or heavier weights, speak for what takes memory."""
    if scene.diff.good is None:
        return
    facts = {fact.id for fact in mechanisms_of(name)}
    weights = [
        milestone_value(run, "load-end", "mem_usage_gb", "target") for run in (scene.diff.good, scene.bad)
    ]
    if (
        "model" in facts
        and None not in weights
        and weights[0]
        and abs((weights[1] or 0) / weights[0] - 1) > 0.03
    ):
        why = f"the weights take {show(weights[1])} GB instead of {show(weights[0])} GB"
        candidate.add("weights changed", 0.1, why)
        candidate.quote(milestone_quote(milestone_named(scene.bad, "load-end", "target"), "bad"))
    left = [
        milestone_value(run, "memory-pool-end", "avail_mem_gb", "target")
        for run in (scene.diff.good, scene.bad)
    ]
    if (
        facts & {"memory", "model", "speculative"}
        and None not in left
        and (left[1] or 0) < (left[0] or 0) * 0.95
    ):
        why = f"{show(left[1])} GB are left after the KV pool, {show(left[0])} GB before"
        candidate.add("less memory left", 0.08, why)
        candidate.quote(milestone_quote(milestone_named(scene.bad, "memory-pool-end", "target"), "bad"))
