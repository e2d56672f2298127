"""Which cause stands first, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from logscope.compare import compare
from logscope.explain import explain
from logscope.explain.from_arguments import direction
from logscope.explain.records import Cause, Explanation
from logscope.store.records import Contrast, Seen, StoredRun
from parsers.records import Outcome, Stage
from tests.logscope.making import ListHistory, error, frames, make_run, milestone, weight_file

ARGV = ("python", "-m", "sglang.launch_server", "--model-path", "/m/demo")
CONTEXT_ERROR = (
    "Warning: Target model's context_length (4096) is greater than the derived context_length (2048). "
    "The derived context_length may differ from max_position_embeddings in the model's config. "
    "To allow overriding this maximum, set the env var SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1"
)
SPECULATIVE: dict[str, Any] = {
    "model_path": "/m/demo",
    "context_length": None,
    "speculative_algorithm": "EAGLE3",
}
TARGET = {"max_position_embeddings": 4096}
LOADED = [milestone("args", 8, "server_args={'model_path'"), milestone("load-end", 40, "Load weight end.")]


def explained(good: StoredRun | None, bad: StoredRun, history: ListHistory | None = None) -> Explanation:
    known = history or ListHistory(*(run for run in (good, bad) if run is not None))
    return explain(compare(known, bad, good), known)


def first(good: StoredRun | None, bad: StoredRun, history: ListHistory | None = None) -> Cause:
    return explained(good, bad, history).causes[0]


def seed_pair() -> tuple[StoredRun, StoredRun]:
    good = make_run(
        "good",
        SPECULATIVE,
        milestones=LOADED,
        argv=ARGV,
        env={},
        model_configs={"target": TARGET, "draft": {"max_position_embeddings": 4096}},
    )
    bad = make_run(
        "bad",
        SPECULATIVE,
        [error(CONTEXT_ERROR, traceback=frames("/x/srt/configs/model_config.py:_derive_context_length"))],
        milestones=LOADED,
        argv=ARGV,
        env={},
        model_configs={"target": TARGET, "draft": {"max_position_embeddings": 2048}},
    )
    return good, bad


def test_a_draft_shorter_than_its_target_is_the_cause() -> None:
    told = explained(*seed_pair())

    cause = told.causes[0]
    assert (cause.kind, cause.subject) == ("config", "draft.max_position_embeddings")
    assert all(
        text in told.verdict for text in ("max_position_embeddings", "2048", "4096", "in the good run")
    )
    assert cause.evidence[0].line == 80
    assert cause.evidence[0].text in f"ValueError: {CONTEXT_ERROR}"


def test_the_ways_out_of_the_short_draft_are_concrete() -> None:
    remedies = first(*seed_pair()).remedies

    typed = [remedy.apply for remedy in remedies]
    assert "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1" in typed
    assert "max_position_embeddings = 4096" in typed
    assert "--context-length 2048" in typed
    assert {remedy.durability for remedy in remedies} == {"quick", "lasting"}
    assert any("illegal memory access" in remedy.risks for remedy in remedies)


def test_a_contradiction_that_the_error_does_not_name_is_not_blamed() -> None:
    good = make_run("good", {"model_path": "/m/demo", "speculative_algorithm": None}, argv=ARGV, env={})
    bad = make_run(
        "bad",
        SPECULATIVE,
        [
            error(
                "0 active drivers ([]). There should only be one.",
                "RuntimeError",
                traceback=frames("/x/triton/runtime/driver.py:f"),
            )
        ],
        argv=(*ARGV, "--speculative-algorithm", "EAGLE3"),
        env={"SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN": "1"},
        model_configs={"target": TARGET, "draft": {"max_position_embeddings": 2048}},
    )

    told = explained(good, bad)

    subjects = [cause.subject for cause in told.causes[:3]]
    assert subjects[:2] == ["triton driver", "speculative_algorithm"]
    assert not any("max_position" in subject or "SGLANG_" in subject for subject in subjects)


def test_a_feature_that_was_switched_on_is_one_cause_with_its_arguments() -> None:
    off = {"model_path": "/m/demo", "speculative_algorithm": None, "speculative_num_steps": None}
    on: dict[str, Any] = {
        "model_path": "/m/demo",
        "speculative_algorithm": "EAGLE3",
        "speculative_num_steps": 3,
    }
    failure = error(
        "draft broke", "RuntimeError", traceback=frames("/x/srt/speculative/eagle_worker.py:draft")
    )

    told = explained(make_run("good", off), make_run("bad", on, [failure]))

    speculative = [cause for cause in told.causes if cause.subject.startswith("speculative")]
    assert [cause.subject for cause in speculative] == ["speculative_algorithm"]
    assert "speculative_num_steps 3" in speculative[0].title


@pytest.mark.parametrize(
    ("name", "good", "bad", "message", "type_"),
    [
        (
            "mem_fraction_static",
            0.3,
            1e-05,
            "Not enough memory. Please try to increase --mem-fraction-static.",
            "RuntimeError",
        ),
        (
            "context_length",
            None,
            16384,
            "User-specified context_length (16384) is greater than the derived one",
            "ValueError",
        ),
        ("quantization", None, "awq", "Cannot find the config file for awq", "ValueError"),
        ("watchdog_timeout", 300, 4.0, "Watchdog timeout (self.watchdog_timeout=4.0)", "Watchdog timeout"),
        ("model_path", "/m/demo", "/m/dmo", "Repo id must be in the form 'a' or 'b/a': '/m/dmo'.", "OSError"),
        ("tp_size", 1, 3, "tp_size 3 should be smaller than the number of numa nodes", "AssertionError"),
        (
            "attention_backend",
            "fa3",
            "trtllm_mla",
            "trtllm_mla backend is only supported on SM100 GPUs",
            "AssertionError",
        ),
    ],
)
def test_the_changed_argument_that_the_error_names_stands_first(
    name: str, good: Any, bad: Any, message: str, type_: str
) -> None:
    bystanders: dict[str, Any] = {"log_level": "info", "decode_log_interval": 40, "schedule_policy": "fcfs"}
    moved: dict[str, Any] = {"log_level": "debug", "decode_log_interval": 10, "schedule_policy": "lpm"}

    told = explained(
        make_run("good", {**bystanders, name: good}),
        make_run("bad", {**moved, name: bad}, [error(message, type_)]),
    )

    assert told.causes[0].subject == name
    assert not {"log_level", "decode_log_interval"} & {cause.subject for cause in told.causes}


def test_pieces_of_the_new_value_tie_an_argument_to_an_error() -> None:
    failure = error(
        "cannot import name 'KVFP4Util' from 'sglang.srt.layers.quantization.kvfp4'",
        "ImportError",
        stage=Stage.KV_CACHE,
        traceback=frames(
            "/x/srt/layers/attention/triton_backend.py:__init__", "/x/srt/mem_cache/memory_pool.py:get"
        ),
    )
    good = make_run("good", {"kv_cache_dtype": "fp8_e4m3", "attention_backend": "flashinfer"})
    bad = make_run("bad", {"kv_cache_dtype": "fp4_e2m1", "attention_backend": "triton"}, [failure])

    assert first(good, bad).subject == "kv_cache_dtype"


@pytest.mark.parametrize(
    ("message", "type_", "subject", "kind"),
    [
        (
            "[Errno 98] error while attempting to bind on address ('0.0.0.0', 30000): address already in use",
            "OSError",
            "port 30000",
            "host",
        ),
        ("No module named 'demo_sets'", "ModuleNotFoundError", "demo_sets", "version"),
        (
            "demo-hub>=0.3,<1.0 is required for a normal use of this module, but found demo-hub==2.4.0.",
            "ImportError",
            "demo-hub",
            "version",
        ),
        ("Cannot find any model weights with `/m/demo`", "RuntimeError", "model weight files", "other"),
        (
            "/x/sgl_kernel/common_ops.abi3.so: undefined symbol: _ZN3c104cuda9SetDeviceEa",
            "ImportError",
            "sgl_kernel",
            "version",
        ),
        ("CUDA error: uncorrectable ECC error encountered", "RuntimeError", "GPU hardware", "host"),
        ("[Errno 28] No space left on device", "OSError", "disk space", "host"),
    ],
)
def test_a_failure_of_the_surroundings_blames_no_argument(
    message: str, type_: str, subject: str, kind: str
) -> None:
    good = make_run("good", {"schedule_policy": "fcfs", "decode_log_interval": 40})
    bad = make_run("bad", {"schedule_policy": "lpm", "decode_log_interval": 10}, [error(message, type_)])

    told = explained(good, bad)

    assert (told.causes[0].subject, told.causes[0].kind) == (subject, kind)
    assert not any(cause.kind == "arg" for cause in told.causes)


def test_a_damaged_tokenizer_is_told_by_its_place_in_the_traceback() -> None:
    failure = error(
        "Expecting ',' delimiter: line 38 column 6 (char 603)",
        "json.decoder.JSONDecodeError",
        traceback=frames(
            "/x/transformers/tokenization_utils_base.py:from_pretrained",
            "/usr/lib/json/decoder.py:raw_decode",
        ),
    )

    assert (
        first(make_run("good", {"tp_size": 1}), make_run("bad", {"tp_size": 1}, [failure])).subject
        == "tokenizer files"
    )


def test_a_changed_size_in_config_json_explains_a_shape_error() -> None:
    shape = {"num_attention_heads": 4, "head_dim": 16}
    good = make_run("good", {"tp_size": 1}, model_configs={"target": {**shape, "num_key_value_heads": 2}})
    bad = make_run(
        "bad",
        {"tp_size": 1},
        [
            error(
                "start (0) + length (64) exceeds dimension size (32).",
                "RuntimeError",
                traceback=frames("/x/weight_utils.py:f"),
            )
        ],
        model_configs={"target": {**shape, "num_key_value_heads": 4}},
    )

    cause = first(good, bad)

    assert cause.subject == "target.num_key_value_heads"
    assert any("num_key_value_heads * head_dim is 64 now and was 32" in part.why for part in cause.parts)


def test_a_misspelt_flag_comes_with_the_nearest_one() -> None:
    usage = error("unrecognized arguments: --max-runing-requests 32", "argparse", stage=None)
    good = make_run("good", {"max_running_requests": 16}, argv=(*ARGV, "--max-running-requests", "16"))
    bad = make_run("bad", {}, [usage], argv=(*ARGV, "--max-runing-requests", "32"))

    cause = first(good, bad)

    assert (cause.kind, cause.subject) == ("arg", "max_runing_requests")
    assert cause.remedies[0].apply == "--max-running-requests 32"


def test_a_flag_that_the_new_release_dropped_is_the_release_s_fault() -> None:
    command = (*ARGV, "--enable-demo-feature")
    usage = error("unrecognized arguments: --enable-demo-feature", "argparse", stage=None)
    good = make_run("good", {"enable_demo_feature": True}, argv=command, sglang_version="0.4.10")
    bad = make_run("bad", {}, [usage], argv=command, sglang_version="0.5.23")

    cause = first(good, bad)

    assert (cause.kind, cause.subject) == ("version", "enable_demo_feature")
    assert "0.4.10" in cause.title and "0.5.23" in cause.title


def test_a_refused_value_names_the_argument() -> None:
    usage = error(
        "argument --kv-cache-dtype: invalid choice: 'fp6' (choose from 'auto', 'fp8')", "argparse", stage=None
    )

    cause = first(make_run("good", {"kv_cache_dtype": "auto"}), make_run("bad", {}, [usage]))

    assert (cause.kind, cause.subject) == ("arg", "kv_cache_dtype")
    assert cause.remedies[0].apply == "--kv-cache-dtype auto"


def test_an_error_without_any_tie_to_a_change_blames_nothing() -> None:
    failure = error(
        "inconsistent state in demo kernel", "RuntimeError", traceback=frames("/opt/x/demo_kernel.py:run")
    )
    good = make_run(
        "good", {"schedule_policy": "fcfs", "served_model_name": "a", "random_seed": 1, "tp_size": 1}
    )
    bad = make_run(
        "bad",
        {"schedule_policy": "fcfs", "served_model_name": "b", "random_seed": 2, "tp_size": 1},
        [failure],
    )

    told = explained(good, bad)

    assert [cause.kind for cause in told.causes] == ["other"]
    assert told.causes[0].subject.endswith("demo_kernel.py:run")


@pytest.mark.parametrize(
    ("outcome", "signal"), [(Outcome.KILLED, "SIGTERM"), (Outcome.KILLED, "SIGKILL"), (Outcome.HUNG, None)]
)
def test_a_run_ended_from_outside_names_no_argument(outcome: Outcome, signal: str | None) -> None:
    good = make_run("good", {"decode_log_interval": 10, "mem_fraction_static": 0.3}, argv=ARGV)
    bad = make_run(
        "bad",
        {"decode_log_interval": 40, "mem_fraction_static": 0.3},
        outcome=outcome,
        stage=Stage.LOAD,
        exit_signal=signal,
        argv=ARGV,
    )

    told = explained(good, bad)

    assert told.causes[0].kind in ("other", "host")
    assert not any(cause.kind == "arg" for cause in told.causes)


def test_a_run_that_ran_out_of_memory_silently_points_at_what_takes_memory() -> None:
    figures = [
        milestone("load-end", 30, mem_usage_gb=60.0),
        milestone("memory-pool-end", 40, avail_mem_gb=12.0),
    ]
    good = make_run(
        "good", {"model_path": "a/demo-INT4", "served_model_name": "a", "mem_fraction_static": 0.85}
    )
    bad = make_run(
        "bad",
        {"model_path": "a/demo-NVFP4", "served_model_name": "b", "mem_fraction_static": 0.88},
        outcome=Outcome.KILLED,
        stage=Stage.GRAPH_CAPTURE,
        milestones=figures,
    )

    subjects = [cause.subject for cause in explained(good, bad).causes]

    assert subjects[0] == "model_path"
    assert "mem_fraction_static" in subjects[1:3]
    assert "served_model_name" not in subjects


def test_missing_weight_files_are_the_cause_of_nan() -> None:
    text = "probability tensor contains either `inf`, `nan` or element < 0"
    good = make_run(
        "good", {"tp_size": 1}, milestones=[milestone("load-progress", 29, "shards: 0% | 0/2 [00:00<?]")]
    )
    bad = make_run(
        "bad",
        {"tp_size": 1},
        [error(text, "RuntimeError", stage=Stage.SERVING)],
        milestones=[milestone("load-progress", 29, "shards: 0% | 0/1 [00:00<?]")],
    )

    cause = first(good, bad)

    assert cause.subject == "model weight files"
    assert "counts 1 weight files, 2 in the good run" in cause.title


def test_a_model_file_that_is_gone_is_a_cause() -> None:
    files = (weight_file("model-00001.safetensors", 9), weight_file("model-00002.safetensors", 9))
    text = "probability tensor contains either `inf`, `nan` or element < 0"
    good = make_run("good", {"tp_size": 1}, model_files=files)
    bad = make_run("bad", {"tp_size": 1}, [error(text, "RuntimeError")], model_files=files[:1])

    assert first(good, bad).subject == "model files: model-00002.safetensors"


def test_a_changed_variable_that_the_error_names_is_the_cause_and_the_advised_one_is_not() -> None:
    failure = error("DEMO_THREADS must be a positive number. You may set DEMO_FALLBACK=1", "ValueError")
    good = make_run("good", {"tp_size": 1}, env={"DEMO_THREADS": "4"})
    bad = make_run("bad", {"tp_size": 1}, [failure], env={"DEMO_THREADS": "-1", "DEMO_FALLBACK": "1"})

    told = explained(good, bad)

    assert told.causes[0].subject == "DEMO_THREADS"
    assert "DEMO_FALLBACK" not in [cause.subject for cause in told.causes]


def test_what_fixed_it_before_is_told_with_the_remedy() -> None:
    good, bad = seed_pair()
    seen = Seen(3, good.run_id, None, ("config draft.max_position_embeddings: 2048 -> 4096",))
    history = ListHistory(good, bad, seen=seen)

    cause = first(good, bad, history)

    assert any(part.name == "fixed by it before" for part in cause.parts)
    assert any(remedy.worked_before for remedy in cause.remedies)
    assert cause.seen_before == seen


def test_a_value_that_stood_in_good_runs_loses() -> None:
    failure = error("out of memory in the attention kernel", "RuntimeError", stage=Stage.SERVING)
    good = make_run("good", {"attention_backend": "fa3", "mem_fraction_static": 0.8})
    bad = make_run("bad", {"attention_backend": "triton", "mem_fraction_static": 0.9}, [failure])
    contrasts = {"attention_backend": Contrast(2, 2, 0, 4), "mem_fraction_static": Contrast(2, 2, 4, 4)}

    told = explained(good, bad, ListHistory(good, bad, contrasts=contrasts))

    points = {cause.subject: {part.name: part.points for part in cause.parts} for cause in told.causes}
    assert points["attention_backend"]["contrast"] > 0
    assert points["mem_fraction_static"]["stood in good runs too"] < 0


def test_a_change_that_came_after_the_first_failure_loses() -> None:
    failure = error("attention broke while --chunked-prefill-size was 64", "RuntimeError")
    good = make_run("good", {"attention_backend": "fa3", "chunked_prefill_size": 8192})
    first_bad = make_run("first", {"attention_backend": "triton", "chunked_prefill_size": 8192}, [failure])
    bad = make_run("bad", {"attention_backend": "triton", "chunked_prefill_size": 64}, [failure])
    history = ListHistory(good, first_bad, bad, first_bad=first_bad.run_id)

    told = explain(compare(history, bad), history)

    names = {cause.subject: {part.name for part in cause.parts} for cause in told.causes}
    assert "came later" in names["chunked_prefill_size"]
    assert "since the first failure" in names["attention_backend"]


def test_scores_are_sums_of_their_parts_and_in_order() -> None:
    told = explained(*seed_pair())

    for cause in told.causes:
        total = sum(part.points for part in cause.parts)
        assert cause.score == pytest.approx(min(max(total, 0.01), 0.99), abs=0.006)
    assert [cause.rank for cause in told.causes] == list(range(1, len(told.causes) + 1))
    assert [cause.score for cause in told.causes] == sorted(
        (cause.score for cause in told.causes), reverse=True
    )


def test_two_good_runs_of_one_setup_have_no_cause() -> None:
    good, bad = (
        make_run("good", {"tp_size": 1, "random_seed": 1}),
        make_run("bad", {"tp_size": 1, "random_seed": 2}),
    )

    told = explained(good, bad)

    assert told.causes == ()
    assert told.verdict.startswith("Nothing that matters differs")


def test_a_first_failure_without_any_good_run_still_has_a_cause() -> None:
    _, bad = seed_pair()

    assert first(None, bad).subject == "draft.max_position_embeddings"


def test_a_change_towards_the_failure_stands_above_one_away_from_it() -> None:
    failure = error(
        "CUDA out of memory. Tried to allocate 2 GiB", "torch.OutOfMemoryError", stage=Stage.SERVING
    )
    good = make_run(
        "good", {"mem_fraction_static": 0.8, "max_running_requests": 64, "chunked_prefill_size": 4096}
    )
    bad = make_run(
        "bad",
        {"mem_fraction_static": 0.7, "max_running_requests": 256, "chunked_prefill_size": 8192},
        [failure],
        milestones=[milestone("args", 8), milestone("ready", 40)],
    )

    told = explained(good, bad)

    order = [cause.subject for cause in told.causes if cause.kind == "arg"]
    assert "mem_fraction_static" not in order[:2]
    assert set(order[:2]) == {"max_running_requests", "chunked_prefill_size"}


@pytest.mark.parametrize(
    ("good", "bad", "word"),
    [
        (1, 2, "up"),
        (0.9, 0.8, "down"),
        (None, "EAGLE3", "on"),
        (True, False, "off"),
        (8192, -1, "off"),
        ("a", "b", ""),
    ],
)
def test_directions_of_a_change(good: Any, bad: Any, word: str) -> None:
    assert direction(good, bad) == word


def test_a_run_that_just_stops_is_told_with_its_stage() -> None:
    good = make_run("good", {"tp_size": 1}, argv=ARGV)
    bad = make_run("bad", {"tp_size": 1}, outcome=Outcome.UNKNOWN, ready=False, stage=Stage.LOAD, argv=ARGV)

    told = explained(good, bad)

    assert told.verdict == (
        "The log stops in stage load and names no error; nothing of the configuration differs from the good run."
    )


def test_a_rule_of_the_user_s_own_is_a_cause_with_its_remedy(tmp_path: Path) -> None:
    rule = {
        "id": "share-gone",
        "title": "The model share is not mounted",
        "patterns": ["No such file or directory: '/share/(?P<model>[^']+)'"],
        "cause": {"kind": "host", "subject": "share", "title": "no share for {model}", "score": 0.9},
        "remedies": [["mount /share", "quick", "the storage is up", "none"]],
    }
    (tmp_path / "own.json").write_text(json.dumps({"rules": [rule]}))
    failure = error("[Errno 2] No such file or directory: '/share/demo'", "FileNotFoundError")
    good, bad = make_run("good", {"tp_size": 1}), make_run("bad", {"tp_size": 1}, [failure])
    history = ListHistory(good, bad)

    told = explain(compare(history, bad, good), history, tmp_path / "own.json")

    assert told.causes[0].title == "no share for demo"
    assert told.causes[0].remedies[0].action == "Mount /share"


def test_rules_of_the_configuration_folder_are_taken_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from logscope.config import config_dir

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    config_dir().mkdir(parents=True)
    rule = {
        "id": "ours",
        "title": "Our own",
        "patterns": ["in its own way"],
        "cause": {"kind": "host", "score": 0.9},
    }
    (config_dir() / "rules.json").write_text(json.dumps([rule]))
    bad = make_run("bad", {"tp_size": 1}, [error("it broke in its own way", "RuntimeError")])

    assert first(make_run("good", {"tp_size": 1}), bad).title == "Our own"


def test_without_any_config_the_numbers_of_the_message_tell_the_contradiction() -> None:
    bad = make_run("bad", SPECULATIVE, [error(CONTEXT_ERROR)], milestones=LOADED)

    told = explained(make_run("good", SPECULATIVE, milestones=LOADED), bad)

    assert told.causes[0].subject == "draft.max_position_embeddings"
    assert "2048" in told.causes[0].title and "4096" in told.causes[0].title
    assert any(remedy.apply.startswith("SGLANG_ALLOW") for remedy in told.causes[0].remedies)


def test_a_type_that_the_message_begins_with_is_said_once() -> None:
    bad = make_run("bad", events=[error("Fatal Python error: Segmentation fault", type_="Fatal Python error")])

    cause = first(None, bad)

    assert cause.title.count("Fatal Python error") == 1
