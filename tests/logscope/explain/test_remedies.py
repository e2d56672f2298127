"""Ways out: concrete, of flags that exist, and each said once."""

from __future__ import annotations

import re

import pytest

from logscope.compare import compare
from logscope.explain import explain
from logscope.explain.records import Remedy
from logscope.explain.remedies import from_rule, merged
from logscope.explain.rule_values import rule_values
from logscope.explain.scene import scene_of
from logscope.knowledge import flags_of
from logscope.knowledge.atlas import atlas
from logscope.knowledge.records import AtlasRule
from parsers.records import Stage
from tests.logscope.explain.scenarios import SCENARIOS
from tests.logscope.explain.test_scenarios import runs_of
from tests.logscope.making import ListHistory, error, make_run, milestone

FAILURES = [rule for rule in atlas() if rule.rule_class == "failure"]
NOT_OF_THE_SERVER = re.compile(
    r"^(docker|nvidia-smi|sbatch|numactl|pip|ls|ps|hf|kubectl|sacct|python|find|git|pgrep|free|for|logscope)\b"
)
RELEASES = ("0.4.10.post2", "0.5.4.post3", "0.5.10", "0.5.23")


@pytest.mark.parametrize("rule", FAILURES, ids=lambda rule: rule.id)
def test_what_is_to_be_typed_exists_and_is_filled_in(rule: AtlasRule) -> None:
    bad = make_run("bad", {"tp_size": 4}, [error("boom")])
    values = rule_values(scene_of(compare(ListHistory(bad), bad), ListHistory(bad)))
    known = {flag for release in RELEASES for flag in flags_of(release)} | {"--worker-startup-timeout-secs"}

    for remedy in (from_rule(held, values) for held in rule.remedies):
        assert "{" not in re.sub(r"\{\".*\}", "", remedy.apply)
        assert remedy.assumes
        if not NOT_OF_THE_SERVER.match(remedy.apply):
            assert set(re.findall(r"(?<![\w-])--[a-z][\w-]+", remedy.apply)) <= known


def test_the_same_way_out_is_said_once() -> None:
    said = [
        Remedy("Set it so that ...", "SGLANG_X_LONG=1", "quick", "a", "b"),
        Remedy("Lower it to 2048", "--context-length 2048", "lasting", "a", "b"),
        Remedy("Set it", "SGLANG_X_LONG=1", "quick", "c", "d", worked_before="run 3"),
        Remedy("Lower it to the limit", "--context-length LIMIT", "quick", "c", "d"),
        Remedy("Leave it out", "drop --context-length", "quick", "c", "d"),
    ]

    kept = merged(said)

    assert [one.apply for one in kept] == [
        "SGLANG_X_LONG=1",
        "--context-length 2048",
        "drop --context-length",
    ]
    assert kept[0].action == "Set it so that ..."
    assert kept[0].worked_before == "run 3"


def test_no_cause_says_a_way_out_twice() -> None:
    for told in SCENARIOS:
        good, bad = runs_of(told)
        history = ListHistory(good, bad)
        for cause in explain(compare(history, bad, good), history).causes:
            typed = [remedy.apply for remedy in cause.remedies if remedy.apply]
            assert len(typed) == len(set(typed)), (told.name, typed)


def test_numbers_of_the_failing_run_stand_in_the_way_out() -> None:
    args = {"tp_size": 1, "mem_fraction_static": 0.9, "cuda_graph_max_bs": 512}
    failure = error(
        "Capture cuda graph failed: CUDA out of memory. Tried to allocate 2.00 GiB.",
        "Exception",
        stage=Stage.GRAPH_CAPTURE,
    )
    marks = [milestone(name, line) for line, name in enumerate(("args", "load-end", "graph-begin"), 8)]
    bad = make_run("bad", args, [failure], milestones=marks)
    history = ListHistory(bad)

    typed = [remedy.apply for remedy in explain(compare(history, bad), history).causes[0].remedies]

    assert "--mem-fraction-static 0.85" in typed
    assert "--cuda-graph-max-bs 256" in typed


@pytest.mark.parametrize(
    ("now", "action", "apply"),
    [
        ({"speculative_algorithm": "EAGLE3"}, "EAGLE3", "drop --speculative-algorithm"),
        ({"speculative_algorithm": "EAGLE3", "enable_eplb": True}, "the feature that imports it", ""),
        ({}, "the feature that imports it", ""),
    ],
)
def test_the_only_feature_that_was_switched_on_is_named(
    now: dict[str, str | bool], action: str, apply: str
) -> None:
    off = {"tp_size": 1, "speculative_algorithm": None, "enable_eplb": False}
    good = make_run("good", off)
    bad = make_run("bad", {**off, **now}, [error("No module named 'demo_sets'", "ModuleNotFoundError")])
    history = ListHistory(good, bad)

    remedies = [way for cause in explain(compare(history, bad, good), history).causes for way in cause.remedies]
    found = next(way for way in remedies if way.action.startswith("Switch off"))

    assert action in found.action
    assert found.apply == apply
