"""Ways out fit the failing run: nothing that is so already, that its release lacks or its machine cannot."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from logscope.compare import compare
from logscope.explain import explain
from logscope.explain.fitting import Fit, offered
from logscope.explain.records import Remedy
from logscope.explain.scene import Scene, scene_of
from logscope.knowledge import flags_of, releases
from logscope.knowledge.atlas import atlas
from logscope.store.records import StoredRun, Throughput
from parsers.records import Outcome
from tests.logscope.making import ListHistory, error, make_run, milestone

WORDS = {
    "cpu",
    "graphless",
    "roomy",
    "loaded",
    "ready",
    "carrier",
    "good",
    "good_version",
    "good_model",
    "good_draft",
}


def _remedy(apply: str, action: str = "do it") -> Remedy:
    return Remedy(action, apply, "quick", "it helps")


def _kept(run: StoredRun, *applies: str) -> list[str]:
    return [one.apply for one in Fit(run).fitted(map(_remedy, applies))]


def _scene(bad: StoredRun, good: StoredRun | None = None) -> Scene:
    history = ListHistory(*([good] if good is not None else []), bad)
    return scene_of(compare(history, bad, good), history)


def _typed(rule_id: str, bad: StoredRun, good: StoredRun | None = None, **groups: str) -> list[str]:
    rule = next(rule for rule in atlas() if rule.id == rule_id)
    return [one.apply for one in offered(rule.remedies, _scene(bad, good), groups, most=9)]


def test_what_the_run_has_already_is_no_way_out() -> None:
    args: dict[str, Any] = {"kv_cache_dtype": "auto", "mem_fraction_static": 0.3, "disable_cuda_graph": True, "lora_paths": None}
    run = make_run("run", args, [error("boom")], argv=("python", "--x"), env={"SGLANG_X": "1"})

    assert _kept(
        run,
        "--kv-cache-dtype auto",
        "--kv-cache-dtype fp8_e4m3",
        "--mem-fraction-static 0.3",
        "--mem-fraction-static 0.3 --page-size 1",
        "--disable-cuda-graph",
        "SGLANG_X=1",
        "SGLANG_X=0",
        "drop --lora-paths",
        "unset CUDA_VISIBLE_DEVICES",
        "unset SGLANG_X",
    ) == [
        "--kv-cache-dtype fp8_e4m3",
        "--mem-fraction-static 0.3 --page-size 1",
        "SGLANG_X=0",
        "unset SGLANG_X",
    ]


def test_a_flag_that_was_not_typed_cannot_be_left_out() -> None:
    args = {"attention_backend": "fa3"}
    chosen = make_run("run", args, argv=("python", "-m", "sglang.launch_server", "--tp", "2"))
    typed = make_run("run", args, argv=("python", "-m", "sglang.launch_server", "--attention-backend", "fa3"))
    unknown = make_run("run", args)

    kept = [_kept(run, "drop --attention-backend") for run in (chosen, typed, unknown)]

    assert kept == [[], ["drop --attention-backend"], ["drop --attention-backend"]]


def test_a_flag_that_the_whole_list_of_arguments_lacks_was_not_given() -> None:
    run = make_run("run", {"tp_size": 1}, [error("boom")])
    whole = dataclasses.replace(run, run=dataclasses.replace(run.run, server_args_complete=True))
    torn = dataclasses.replace(run, run=dataclasses.replace(run.run, server_args_complete=False))

    kept = [_kept(one, "drop --enable-deterministic-inference", "drop --no-flag") for one in (whole, torn)]

    assert kept == [["drop --no-flag"], ["drop --enable-deterministic-inference", "drop --no-flag"]]


def test_a_path_is_joined_with_one_stroke() -> None:
    bad = make_run("bad", {"model_path": "/models/demo/"}, [error("boom")])

    assert "ls -l /models/demo/*.safetensors" in _typed("nan-logits", bad)


def test_what_is_not_known_of_a_run_leaves_a_way_out_standing() -> None:
    run = make_run("run")
    applies = ["drop --lora-paths", "unset HF_HUB_OFFLINE", "--kv-cache-dtype auto", "SGLANG_X=1"]

    assert _kept(run, *applies) == applies


def test_flags_are_spelled_as_the_release_of_the_run_spells_them() -> None:
    old, new = (make_run("run", {"tp_size": 1}, version=version) for version in ("0.5.4.post3", "0.5.23"))
    remedy = _remedy("--cuda-graph-max-bs 8", "lower --cuda-graph-max-bs to 8")
    newer = _remedy("--cuda-graph-max-bs-decode 8")

    (kept,) = Fit(new).fitted([remedy])

    assert Fit(old).fitted([remedy]) == [remedy]
    assert (kept.apply, kept.action) == ("--cuda-graph-max-bs-decode 8", "lower --cuda-graph-max-bs-decode to 8")
    assert [one.apply for one in Fit(old).fitted([newer])] == ["--cuda-graph-max-bs 8"]


def test_flags_values_and_variables_that_the_release_does_not_know_are_left_out() -> None:
    run = make_run("run", {"tp_size": 1}, version="0.4.6")

    assert _kept(
        run,
        "--moe-a2a-backend none",
        "--attention-backend trtllm_mla",
        "--attention-backend triton",
        "SGLANG_ENABLE_JIT_DEEPGEMM=0",
        "--worker-startup-timeout-secs 1800",
        "drop --max-runing-requests",
    ) == ["--attention-backend triton", "--worker-startup-timeout-secs 1800", "drop --max-runing-requests"]


def test_ways_out_for_gpus_are_not_offered_on_a_cpu() -> None:
    cpu = make_run("bad", {"device": "cpu", "mem_fraction_static": 0.01, "tp_size": 1}, [error("boom")])
    gpu = make_run("bad", {"device": "cuda", "mem_fraction_static": 0.01, "tp_size": 1}, [error("boom")])

    told_cpu, told_gpu = (" ".join(_typed("kv-pool-too-small", run)) for run in (cpu, gpu))

    assert "--mem-fraction-static" in told_cpu
    assert not {"--tp-size", "nvidia-smi", "--cuda-graph-max-bs"} & set(re.split(r"[ \n]", told_cpu))
    assert {"--tp-size", "nvidia-smi", "--cuda-graph-max-bs"} <= set(told_gpu.split())


@pytest.mark.parametrize(("usage", "is_offered"), [(0.01, False), (0.97, True), (None, True)])
def test_the_pool_is_only_enlarged_where_it_was_full(usage: float | None, is_offered: bool) -> None:
    held = Throughput(decode_lines=9, token_usage_max=usage)
    bad = make_run("bad", {"mem_fraction_static": 0.3, "kv_cache_dtype": "auto"}, throughput=held)

    told = " ".join(_typed("perf-concurrency-capped", bad))

    assert ("--mem-fraction-static" in told) is is_offered
    assert ("fp8" in told) is is_offered


@pytest.mark.parametrize(("share", "is_offered"), [(0.0, False), (0.9, True), (None, True)])
def test_graphs_are_not_switched_off_where_none_was_used(share: float | None, is_offered: bool) -> None:
    bad = make_run("bad", {"tp_size": 1}, throughput=Throughput(decode_lines=9, cuda_graph_share=share))

    assert ("--disable-cuda-graph" in _typed("perf-accept-length-low", bad)) is is_offered


def _killed(carrier: str) -> StoredRun:
    bad = make_run("bad", {"tp_size": 1}, [error("boom")])
    return dataclasses.replace(bad, run=dataclasses.replace(bad.run, carrier=carrier))


@pytest.mark.parametrize(
    ("carrier", "word"), [("k8s", "kubectl"), ("slurm", "sacct"), ("plain", ""), ("docker", "")]
)
def test_each_orchestrator_is_asked_in_its_own_way(carrier: str, word: str) -> None:
    told = " ".join(_typed("killed-by-orchestrator", _killed(carrier)))

    assert [name for name in ("kubectl", "sacct", "sbatch") if name in told][:1] == ([word] if word else [])


def test_what_the_good_run_had_stands_in_the_way_out() -> None:
    args: dict[str, Any] = {"model_path": "/m/a", "speculative_draft_model_path": "/m/b-draft"}
    good = make_run("good", {**args, "speculative_draft_model_path": "/m/draft"}, version="0.5.10")
    bad = make_run("bad", args, [error("boom")], version="0.5.23")
    alike = make_run("alike", args, version="0.5.23")

    assert "--speculative-draft-model-path /m/draft" in _typed("perf-accept-length-low", bad, good)
    assert "pip install sglang==0.5.10" in _typed("weight-name-or-shape-mismatch", bad, good)
    told = _typed("weight-name-or-shape-mismatch", bad, alike)
    assert not any("pip install" in one for one in told)
    assert "--speculative-draft-model-path PATH" in _typed("draft-context-shorter-than-target", bad, alike)


@pytest.mark.parametrize(
    ("port", "told"),
    [
        ("30000", "--port 30001"),
        ("28000", "--nccl-port 28001"),
        ("5000", "--dist-init-addr 10.0.0.1:5001"),
    ],
)
def test_another_port_is_named_for_the_port_that_is_taken(port: str, told: str) -> None:
    args: dict[str, Any] = {"port": 30000, "nccl_port": 28000, "dist_init_addr": "10.0.0.1:5000"}
    bad = make_run("bad", args, [error("boom")])

    assert told in _typed("port-in-use", bad, port=port)


def test_conditions_of_all_rules_use_words_that_are_known() -> None:
    every = {name for release in releases() for name in flags_of(release).values()}

    for rule in atlas():
        for condition in (condition for remedy in rule.remedies for condition in remedy.needs):
            room, dot, name = re.split(r"[=>]", condition.removeprefix("!"))[0].partition(".")
            assert (room == "args" and name in every) if dot else room in WORDS, (rule.id, condition)


def test_a_known_failure_is_not_said_to_be_unexplained() -> None:
    good = make_run("good", {"speculative_algorithm": None, "tp_size": 1})
    failure = error("0 active drivers ([]). There should only be one.", "RuntimeError")
    bad = make_run("bad", {"speculative_algorithm": "EAGLE3", "tp_size": 1}, [failure])
    history = ListHistory(good, bad)

    causes = explain(compare(history, bad, good), history).causes

    assert causes[0].subject == "triton driver"
    assert not any("none of the changes" in cause.title for cause in causes)


def test_more_ranks_than_numa_nodes_is_no_lack_of_gpus() -> None:
    message = (
        "SGLANG_CPU_OMP_THREADS_BIND is not set, in this case, tp_size 4 should be smaller than or equal to number "
        "of numa node on the machine 2. If you need more, set the CPU cores."
    )
    bad = make_run("bad", {"device": "cpu", "tp_size": 4}, [error(message, "AssertionError")])
    history = ListHistory(bad)

    causes = explain(compare(history, bad), history).causes

    told = " ".join(f"{cause.title} {cause.mechanism} {cause.remedies}" for cause in causes)
    assert "number of NUMA nodes of this machine (2)" in told
    assert "--tp-size 2" in told
    assert "GPU" not in told


def test_a_kill_is_told_once_with_the_line_that_shows_it() -> None:
    killed = error("Subprocess scheduler_0 (pid=9) crashed with exit code -9. Triggering SIGQUIT", "x")
    bad = make_run(
        "bad", {"tp_size": 1}, milestones=[milestone("ready", 30)], exit_signal="SIGKILL"
    )
    bad = dataclasses.replace(
        bad, run=dataclasses.replace(bad.run, events=(killed,), outcome=Outcome.KILLED, ready=True)
    )
    history = ListHistory(bad)

    causes = explain(compare(history, bad), history).causes

    assert [cause.subject for cause in causes] == ["SIGKILL"]
    assert any("exit code -9" in quote.text for quote in causes[0].evidence)
    assert not any("--model-loader" in remedy.apply for remedy in causes[0].remedies)
