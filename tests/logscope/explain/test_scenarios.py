"""What an engineer would sign: the first cause of failures as they happen, and no innocent beside it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from logscope.compare import compare
from logscope.explain import explain
from logscope.explain.records import Cause, Explanation
from logscope.store.records import StoredRun
from parsers.records import Event, Milestone, Stage
from tests.logscope.explain.scenarios import INNOCENT, PACKAGES, SCENARIOS, USUAL, Scenario
from tests.logscope.making import ListHistory, error, frames, make_run, milestone

SITE = "/usr/lib/python3.12/site-packages/"
STAGES = {
    "load-end": Stage.LOAD,
    "load-begin": Stage.LOAD,
    "kv-cache": Stage.KV_CACHE,
    "graph-begin": Stage.GRAPH_CAPTURE,
}


def runs_of(told: Scenario) -> tuple[StoredRun, StoredRun]:
    good = {**USUAL, **told.base}
    bad = {
        **good,
        **{name: value for name, value in INNOCENT.items() if name not in told.change},
        **told.change,
    }
    return _run("good", good, told, 0, ()), _run("bad", bad, told, 1, (_error_of(told),))


def _run(name: str, args: dict[str, Any], told: Scenario, side: int, events: tuple[Event, ...]) -> StoredRun:
    packages = {**PACKAGES, **{package: pair[side] for package, pair in told.packages.items()}}
    argv = ["python", "-m", "sglang.launch_server"]
    for key, value in args.items():
        if value not in (None, False):
            argv += [f"--{key.replace('_', '-')}", *map(str, value if isinstance(value, list) else [value])]
    return make_run(
        name,
        args,
        events,
        milestones=_milestones(told, side),
        ready="ready" in told.reached or side == 0,
        argv=tuple(argv),
        env=told.env[side],
        packages=packages,
        gpus=told.gpus[side],
        model_configs=told.configs[side],
        sglang_commit=told.commits[side] if told.commits is not None else None,
    )


def _milestones(told: Scenario, side: int) -> list[Milestone]:
    made = [milestone("args", 8, "server_args=ServerArgs(model_path=")]
    for line, name in enumerate(told.reached or (), 20):
        if name == "load-begin":
            text = f"Load weight begin. avail mem={told.free[side]} GB"
            made.append(milestone(name, line, text, avail_mem_gb=told.free[side]))
        else:
            made.append(milestone(name, line, name))
    return made


def _error_of(told: Scenario) -> Event:
    places = [place if place.startswith("/") else SITE + place for place in told.places]
    source = "\n".join(
        f'  File "{place.rpartition(":")[0]}", line 10, in {place.rpartition(":")[2]}' for place in places
    )
    stage = STAGES.get(told.reached[-1], Stage.WARMUP) if told.reached else Stage.ARGS
    return error(told.message, told.type, traceback=frames(*places), source=source, stage=stage)


def explained(told: Scenario) -> Explanation:
    good, bad = runs_of(told)
    history = ListHistory(good, bad)
    return explain(compare(history, bad, good), history)


def _fits(cause: Cause, wanted: str) -> bool:
    for choice in wanted.split("|"):
        kind, _, words = choice.partition(":")
        if cause.kind == kind and words.lower() in f"{cause.subject} {cause.title}".lower():
            return True
    return False


@pytest.mark.parametrize("told", SCENARIOS, ids=lambda told: re.sub(r"\W+", "-", told.name))
def test_the_cause_stands_first_and_no_innocent_near_it(told: Scenario) -> None:
    causes = explained(told).causes

    assert _fits(causes[0], told.cause), [(one.score, one.kind, one.subject) for one in causes]
    blamed = {one.subject for one in causes[:3]}
    innocent = {*told.never, *INNOCENT} - set(told.change)
    assert not blamed & innocent


def test_confidence_is_earned() -> None:
    """Whoever is told as 'the' cause is it; what explains nothing says so and stays below."""
    for told in SCENARIOS:
        first = explained(told).causes[0]
        assert first.score < 0.55 or _fits(first, told.cause), told.name
        if told.cause == "other:":
            assert first.title.startswith("none of the changes explains")
            assert "Look at the code" in first.mechanism
