"""The whole diff of two runs."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from logscope.compare import compare
from logscope.store.records import Bucket, SetupSpread, Spread, Throughput
from parsers.records import EventRole, Stage
from tests.logscope.making import ListHistory, error, make_run, milestone, weight_file

ARGV = ("python", "-m", "sglang.launch_server", "--model-path", "/m/demo")


def diff_of(good: Any, bad: Any) -> Any:
    return compare(ListHistory(good, bad), bad, good)


def test_the_same_run_twice_does_not_differ() -> None:
    run = make_run("one", {"tp_size": 1, "random_seed": 3})

    diff = diff_of(run, run)

    assert not diff.matters
    assert diff.args == ()


def test_two_good_runs_with_noise_only_do_not_differ() -> None:
    good = make_run("good", {"tp_size": 1, "random_seed": 3, "port": 30000}, env={"PWD": "/a"}, argv=ARGV)
    bad = make_run("bad", {"tp_size": 1, "random_seed": 4, "port": 30001}, env={"PWD": "/b"}, argv=ARGV)

    diff = diff_of(good, bad)

    assert not diff.matters
    assert all(row.is_noise for row in (*diff.args, *diff.env))
    assert any(text.startswith("server arguments: 3 compared") for text in diff.cleared)


def test_an_error_matters_though_nothing_else_differs() -> None:
    good, bad = make_run("good", {"tp_size": 1}), make_run("bad", {"tp_size": 1}, [error("it broke badly")])

    assert diff_of(good, bad).matters


def test_without_a_good_run_the_baseline_of_the_history_is_taken() -> None:
    good, bad = make_run("good", {"tp_size": 1}), make_run("bad", {"tp_size": 2}, [error("it broke")])

    diff = compare(ListHistory(good, bad), bad)

    assert diff.good is good
    assert diff.baseline.reason == "the last ready run"


def test_without_any_comparable_run_only_contradictions_are_told() -> None:
    bad = make_run(
        "bad",
        {"tp_size": 3},
        [error("it broke")],
        model_configs={"target": {"num_attention_heads": 32}},
    )

    diff = compare(ListHistory(bad), bad)

    assert diff.good is None
    assert [found.rule for found in diff.mismatches] == ["heads-by-tp"]
    assert "nothing to compare with" in diff.not_compared[0]


def test_an_unknown_environment_is_not_an_empty_one() -> None:
    good = make_run("good", {"tp_size": 1}, env={"NCCL_DEBUG": "INFO"})
    unknown = make_run("bad", {"tp_size": 1})
    empty = make_run("bad", {"tp_size": 1}, env={})

    assert diff_of(good, unknown).env == ()
    assert any(text.startswith("environment: not known") for text in diff_of(good, unknown).not_compared)
    assert [(row.name, row.bad) for row in diff_of(good, empty).env] == [("NCCL_DEBUG", None)]


def test_versions_stand_with_sglang_first_and_packages_by_nearness() -> None:
    good = make_run("good", sglang_version="0.5.4", packages={"torch": "2.8.0", "attrs": "1"}, driver="550")
    bad = make_run("bad", sglang_version="0.5.9", packages={"torch": "2.9.0", "attrs": "2"}, driver="560")

    assert [row.name for row in diff_of(good, bad).versions] == ["sglang", "driver", "torch", "attrs"]


def test_configs_are_compared_by_dotted_key_and_type() -> None:
    good = make_run("good", model_configs={"target": {"a": {"b": 1}, "c": 4, "transformers_version": "4.1"}})
    bad = make_run("bad", model_configs={"target": {"a": {"b": 2}, "c": "4", "transformers_version": "4.2"}})

    found = {row.name: row for row in diff_of(good, bad).configs}

    assert (found["a.b"].good, found["a.b"].bad) == (1, 2)
    assert (found["c"].good, found["c"].bad) == (4, "4")
    assert found["transformers_version"].is_noise


def test_a_config_that_is_no_json_is_one_row() -> None:
    good = make_run("good", model_configs={"target": {"a": 1}})
    bad = make_run("bad", model_configs={"target": '{"a": 1'})

    (row,) = diff_of(good, bad).configs

    assert row.name == "config.json"
    assert row.bad == "not valid JSON"


def test_a_missing_shard_and_a_rewritten_tokenizer_are_rows() -> None:
    left = (weight_file("a.safetensors", 10), weight_file("tokenizer.json", 5, sha256="x"))
    right = (weight_file("tokenizer.json", 5, sha256="y"),)

    found = diff_of(make_run("good", model_files=left), make_run("bad", model_files=right)).files

    assert {(row.name, str(row.change)) for row in found} == {
        ("a.safetensors", "removed"),
        ("tokenizer.json", "changed"),
    }


def test_a_warning_that_became_an_error_is_promoted() -> None:
    text = "Warning: the asked context_length (16) is greater than the derived one (8). Advice."
    warned = make_run("good", events=[error(text, "Warning", level="warning", role=EventRole.NONE)])
    failed = make_run("bad", events=[error(f"{text} To allow it set X=1", "ValueError")])

    (row, *_) = diff_of(warned, failed).validations

    assert row.status == "promoted"
    assert row.good_line == 80


def test_new_known_and_gone_validations_are_told_apart() -> None:
    known, gone, new = (
        error(text, "RuntimeError", role=EventRole.NONE, level="warning")
        for text in ("both have this warning", "only the good one has this", "only the bad one has this")
    )

    found = diff_of(make_run("good", events=[known, gone]), make_run("bad", events=[known, new])).validations

    assert {row.message: row.status for row in found} == {
        "both have this warning": "known",
        "only the good one has this": "gone",
        "only the bad one has this": "new",
    }


def test_the_first_stage_that_was_never_reached_is_marked() -> None:
    from dataclasses import replace

    from tests.logscope.making import span

    good, bad = make_run("good"), make_run("bad", events=[error("it broke")])
    good = replace(
        good,
        run=replace(good.run, stages=(span(Stage.LOAD, 9), span(Stage.KV_CACHE, 1), span(Stage.WARMUP, 3))),
    )
    bad = replace(bad, run=replace(bad.run, stages=(span(Stage.LOAD, 40, complete=False),)))
    usual = SetupSpread(stage_seconds={"load": Spread(4, 9, 8, 10)})

    stages = compare(ListHistory(good, bad, spread=usual), bad, good).stages

    assert [(row.stage, row.first_missing) for row in stages] == [
        (Stage.LOAD, False),
        (Stage.KV_CACHE, True),
        (Stage.WARMUP, False),
    ]
    assert stages[0].is_outside


def test_throughput_is_compared_at_equal_load() -> None:
    good = Throughput(
        50,
        gen_median=400,
        gen_p10=380,
        gen_p90=420,
        running_max=8,
        buckets=(Bucket(2, None, 20, 100, 95, 105),),
    )
    bad = Throughput(
        50,
        gen_median=100,
        gen_p10=95,
        gen_p90=105,
        running_max=2,
        buckets=(Bucket(2, None, 50, 100, 95, 105),),
    )

    found = {
        row.metric: row
        for row in diff_of(make_run("g", throughput=good), make_run("b", throughput=bad)).metrics
    }

    assert not found["decode throughput"].is_significant
    assert not found["decode throughput at 2 running"].is_significant


def test_memory_figures_come_from_the_milestones() -> None:
    good = make_run("g", milestones=[milestone("limits", 30, max_total_num_tokens=300000.0)])
    bad = make_run("b", milestones=[milestone("limits", 31, max_total_num_tokens=100000.0)])

    found = {row.metric: row for row in diff_of(good, bad).metrics}

    assert found["max_total_num_tokens"].ratio is not None
    assert found["max_total_num_tokens"].is_significant


names = st.sampled_from(["tp_size", "port", "random_seed", "mem_fraction_static", "lora_paths", "a", "b"])
values = st.one_of(st.none(), st.booleans(), st.integers(0, 9), st.text("xy/", max_size=4), st.floats(0, 1))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no failure
@given(st.dictionaries(names, values), st.dictionaries(names, values))
def test_no_difference_is_lost_and_none_invented(left: dict[str, Any], right: dict[str, Any]) -> None:
    left["model_path"] = right["model_path"] = "/m/demo"

    diff = diff_of(make_run("good", left), make_run("bad", right))

    differing = {name for name in {*left, *right} if name not in left or name not in right}
    shared = left.keys() & right.keys()
    named = {row.name for row in diff.args}
    assert differing <= named
    assert all(repr(left[name]) != repr(right[name]) for name in named & shared)


def test_releases_known_only_as_spans_differ_when_the_spans_are_apart() -> None:
    from dataclasses import replace

    from parsers.records import VersionGuess

    def of(first: str, last: str) -> Any:
        run = make_run(first, {"tp_size": 1})
        return replace(run, run=replace(run.run, version=VersionGuess(None, "range", first, last)))

    (row,) = diff_of(of("0.4.1", "0.4.3"), of("0.5.8", "0.5.10")).versions
    (exact,) = diff_of(make_run("g", {"tp_size": 1}, sglang_version="0.4.2"), of("0.5.8", "0.5.10")).versions

    assert (row.good, row.bad) == ("0.4.1..0.4.3", "0.5.8..0.5.10")
    assert (exact.good, exact.bad) == ("0.4.2", "0.5.8..0.5.10")
    assert diff_of(of("0.4.1", "0.5.8"), of("0.5.8", "0.5.10")).versions == ()
