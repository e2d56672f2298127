"""What `check` knows against a launch before it is started."""

from __future__ import annotations

import json
import os
import shutil
import socket
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from logscope.cli.main import main
from logscope.knowledge import nearest_release, releases
from logscope.record.check import CheckAnswer, check
from logscope.record.check_report import check_text
from logscope.record.check_rules import rule_findings
from logscope.record.checking import Finding, Severity
from logscope.record.planning import plan_here, plan_of_context
from logscope.store import Store

_ROOT = Path(__file__).parents[3]
_SAMPLES = _ROOT / "sample_logs"
_CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "intermediate_size": 128,
    "num_hidden_layers": 8,
    "vocab_size": 1000,
    "max_position_embeddings": 4096,
}
_SERVER = ("python", "-m", "sglang.launch_server")


def _safetensors(path: Path, shapes: Mapping[str, Sequence[int]]) -> None:
    """A whole file of zeros with these tensors."""
    header, end = {}, 0
    for name, shape in shapes.items():
        size = 2 * shape[0] * shape[1]
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A small model folder in which nothing is wrong."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(_CONFIG))
    (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": [{"id": 999, "content": "<s>"}]}))
    layer = "model.layers.0"
    _safetensors(
        folder / "model-00001-of-00002.safetensors",
        {f"{layer}.self_attn.k_proj.weight": (32, 64), f"{layer}.self_attn.o_proj.weight": (64, 64)},
    )
    _safetensors(folder / "model-00002-of-00002.safetensors", {f"{layer}.mlp.gate_proj.weight": (128, 64)})
    weight_map = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return folder


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _check(model: Path, *more: str, version: str = "0.5.23", **env: str) -> CheckAnswer:
    words = (*_SERVER, "--model-path", str(model), "--device", "cpu", "--port", str(_free_port()), *more)
    return check(plan_here(words, {**os.environ, **env}, Path.cwd(), version), None)


def _against(answer: CheckAnswer) -> list[Finding]:
    return [finding for finding in answer.findings if finding.severity is not Severity.NOTE]


def _only(answer: CheckAnswer) -> Finding:
    (finding,) = _against(answer)
    return finding


def test_launch_with_nothing_wrong_is_clear(model: Path) -> None:
    answer = _check(model, "--tp", "1", "--mem-fraction-static", "0.5")

    assert answer.is_clear
    assert answer.findings == ()


def test_port_that_does_not_exist_is_found(model: Path) -> None:
    finding = _only(_check(model, "--nccl-port", "99999"))

    assert (finding.rule, finding.kind, finding.subject) == ("port-out-of-range", "arg", "nccl_port")


def test_flags_of_a_release_that_nothing_is_known_of_were_not_looked_at(model: Path) -> None:
    answer = _check(model, "--no-such-flag", version="abc")

    assert not any(text.startswith("flags") for text in answer.looked_at)
    assert "flags: nothing is known of SGLang abc" in answer.not_looked_at


def test_text_fits_eighty_columns_and_what_to_copy_has_its_own_line(model: Path) -> None:
    text = check_text(_check(model, "--max-runing-requests", "8", "--mem-fraction-static", "7"))

    assert max(map(len, text.splitlines())) <= 80
    assert "     $ --max-running-requests 8" in text.splitlines()


def test_misspelt_flag_is_found_with_the_right_one(model: Path) -> None:
    finding = _only(_check(model, "--max-runing-requests", "8"))

    assert (finding.rule, finding.subject) == ("unknown-flag", "max_runing_requests")
    assert finding.remedies[0].apply == "--max-running-requests 8"


def test_removed_flag_names_its_last_release(model: Path) -> None:
    finding = _only(_check(model, "--enable-nan-detection"))

    assert "was removed from SGLang after 0.5." in finding.title


def test_flag_of_a_later_release_is_found(model: Path) -> None:
    assert _check(model, "--speculative-draft-model-path", str(model), version="0.5.23").is_clear is not None

    finding = _only(_check(model, "--enable-dp-lm-head", version="0.4.3.post4"))

    assert "came with SGLang" in finding.title


def test_unique_beginning_of_a_flag_is_taken_as_argparse_takes_it(model: Path) -> None:
    assert _check(model, "--context-len", "2048").is_clear
    assert _only(_check(model, "--speculative-d", "x")).rule == "ambiguous-flag"


def test_value_outside_of_the_choices_is_found(model: Path) -> None:
    finding = _only(_check(model, "--attention-backend", "torch_nativ"))

    assert finding.rule == "value-not-a-choice"
    assert finding.remedies[0].apply == "--attention-backend torch_native"


def test_word_where_a_number_belongs_is_found(model: Path) -> None:
    assert _only(_check(model, "--max-running-requests", "many")).rule == "value-not-a-number"


def test_unknown_release_is_said_and_not_guessed(model: Path) -> None:
    words = (
        *_SERVER,
        "--model-path",
        str(model),
        "--device",
        "cpu",
        "--port",
        str(_free_port()),
        "--what",
        "1",
    )

    answer = check(plan_here(words, dict(os.environ), Path.cwd(), None), None)

    assert answer.is_clear
    assert "release-unknown" in [finding.rule for finding in answer.findings]


def test_context_length_above_the_model_is_found_unless_it_is_allowed(model: Path) -> None:
    finding = _only(_check(model, "--context-length", "8192"))

    assert finding.subject == "context_length"
    assert {"--context-length 4096"} <= {remedy.apply for remedy in finding.remedies}
    assert _check(model, "--context-length", "8192", SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN="1").is_clear


def test_draft_shorter_than_the_target_is_found(model: Path, tmp_path: Path) -> None:
    draft = tmp_path / "draft"
    shutil.copytree(model, draft)
    config = {**_CONFIG, "max_position_embeddings": 2048, "architectures": ["LlamaForCausalLMEagle3"]}
    (draft / "config.json").write_text(json.dumps(config))

    finding = _only(
        _check(model, "--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", str(draft))
    )

    assert finding.subject == "draft.max_position_embeddings"
    assert "draft.derived_context = 2048" in finding.evidence


def test_tp_that_does_not_divide_the_heads_is_found(model: Path) -> None:
    answer = _check(model, "--tp-size", "3")

    assert {"heads-by-tp", "tp-above-numa-nodes"} <= {finding.rule for finding in _against(answer)}


def test_missing_model_folder_names_the_near_one(model: Path) -> None:
    finding = _only(_check(model.with_name("modle")))

    assert finding.rule == "model-path-missing"
    assert finding.remedies[0].apply == str(model)


def test_model_that_may_not_be_downloaded_is_found(tmp_path: Path) -> None:
    finding = _only(_check(Path("org/model"), HF_HOME=str(tmp_path), HF_HUB_OFFLINE="1"))

    assert finding.rule == "model-not-cached"
    assert _check(Path("org/model"), HF_HOME=str(tmp_path), HF_HUB_OFFLINE="0").is_clear


def test_missing_shard_is_found_by_the_index(model: Path) -> None:
    (model / "model-00002-of-00002.safetensors").unlink()

    finding = _only(_check(model))

    assert finding.rule == "weight-file-missing"
    assert "1 of 2 weight files" in finding.title


def test_folder_without_weights_is_found(model: Path) -> None:
    for path in model.glob("*.safetensors*"):
        path.unlink()

    assert _only(_check(model)).rule == "no-weights"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (lambda whole: whole[:-10], "it is cut off"),
        (lambda whole: whole[:50], "its header would end behind the end of the file"),
        (lambda whole: b"", "it is empty"),
        (
            lambda whole: b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n",
            "Git LFS pointer",
        ),
        (lambda whole: struct.pack("<Q", 4) + b"{xx}" + whole, "its header is no JSON"),
    ],
    ids=["cut off", "cut in the header", "empty", "pointer", "garbage"],
)
def test_damaged_weight_file_is_found(model: Path, content: Any, words: str) -> None:
    path = model / "model-00001-of-00002.safetensors"
    path.write_bytes(content(path.read_bytes()))

    finding = _only(_check(model))

    assert finding.rule == "weight-file-damaged"
    assert words in finding.title


def test_config_that_does_not_fit_the_weights_is_found(model: Path) -> None:
    (model / "config.json").write_text(json.dumps(_CONFIG | {"num_key_value_heads": 4}))

    finding = _only(_check(model))

    assert finding.subject == "target.num_key_value_heads"
    assert "model.layers.0.self_attn.k_proj.weight has 32 rows" in finding.evidence[0]


def test_truncated_tokenizer_and_config_are_found(model: Path) -> None:
    (model / "tokenizer.json").write_text('{"added_tokens": [')
    (model / "config.json").write_text('{"hidden_size"')

    assert {finding.rule for finding in _against(_check(model))} == {
        "tokenizer-unreadable",
        "config-unreadable",
    }


def test_token_outside_of_the_vocabulary_is_found(model: Path) -> None:
    (model / "tokenizer.json").write_text(json.dumps({"added_tokens": [{"id": 1002, "content": "<x>"}]}))

    assert _only(_check(model)).rule == "token-outside-vocabulary"


def test_port_in_use_names_its_holder(model: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        finding = _only(_check(model, "--port", str(server.getsockname()[1])))

    assert finding.rule == "port-in-use"
    assert str(os.getpid()) in finding.evidence[0]


def test_fraction_that_leaves_no_memory_is_found(model: Path) -> None:
    finding = _only(_check(model, "--mem-fraction-static", "0.00000001"))

    assert finding.rule == "no-room-for-kv-cache"


def test_timeout_far_below_the_default_is_a_risk(model: Path) -> None:
    assert _only(_check(model, "--watchdog-timeout", "4")).severity is Severity.RISK
    assert _check(model, "--watchdog-timeout", "120").is_clear


def _gpu_tool(folder: Path, used: int) -> str:
    tool = folder / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(
        '#!/bin/sh\ncase "$1" in\n'
        f'--query-gpu*) echo "0, NVIDIA L4, GPU-a, 23034, {used}, 550.1"; echo "1, NVIDIA L4, GPU-b, 23034, 1, 550.1";;\n'
        f'*) echo "GPU-a, {os.getpid()}, python, {used}";;\nesac\n'
    )
    tool.chmod(0o755)
    return f"{tool.parent}:{os.environ['PATH']}"


def test_leftover_on_a_gpu_is_found_unless_it_is_not_used(model: Path, tmp_path: Path) -> None:
    path = _gpu_tool(tmp_path, 20000)
    gpu = ("--device", "cuda")

    finding = _only(_check(model, *gpu, PATH=path))

    assert (finding.rule, finding.subject) == ("gpu-memory-in-use", "gpu0")
    assert str(os.getpid()) in finding.evidence[0]
    assert _check(model, *gpu, PATH=path, CUDA_VISIBLE_DEVICES="1").is_clear


def test_more_ranks_than_gpus_are_found(model: Path, tmp_path: Path) -> None:
    answer = _check(model, "--device", "cuda", "--tp", "4", PATH=_gpu_tool(tmp_path, 1))

    assert "too-few-gpus" in {finding.rule for finding in _against(answer)}


def test_unmet_requirement_of_transformers_is_found(model: Path, tmp_path: Path) -> None:
    site = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    for name, requirement in (
        ("huggingface_hub-2.4.0", ""),
        ("sglang-0.5.23", "torch==2.9.1"),
        ("transformers-4.57.0", "huggingface-hub<1.0,>=0.34.0"),
    ):
        (site / f"{name}.dist-info").mkdir(parents=True)
        (site / f"{name}.dist-info" / "METADATA").write_text(f"Name: x\nRequires-Dist: {requirement}\n")
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    words = (str(python), "-m", "sglang.launch_server", "--model-path", str(model), "--device", "cpu")

    plan = plan_here((*words, "--port", str(_free_port())), dict(os.environ), Path.cwd(), None)
    answer = check(plan, None)

    assert plan.version == "0.5.23"
    finding = _only(answer)
    assert (finding.rule, finding.subject) == ("package-requirement", "huggingface-hub")
    assert "torch" in {note.subject for note in answer.findings if note.severity is Severity.NOTE}


@pytest.fixture(scope="module")
def history() -> Store:
    """The sample launches of one deployment, up to and with the first failure of its draft model."""
    store = Store.in_memory()
    store.ingest([_SAMPLES / f"{name}.log" for name in ("s01_ok_no_spec", "s02_ok_eagle3")])
    store.ingest(
        [_SAMPLES / f"{name}.log" for name in ("s03_fail_eagle3_context_len", "s04_ok_eagle3_overwrite_env")]
    )
    return store


def _sample(name: str, *words: str) -> Any:
    return plan_of_context(_SAMPLES / f"{name}.context.json", words, None)


def test_combination_that_failed_before_is_found_with_what_fixed_it(history: Store) -> None:
    answer = check(_sample("s03_fail_eagle3_context_len"), history)

    finding = next(finding for finding in answer.findings if finding.rule == "failed-before")
    assert finding.subject == "draft.max_position_embeddings"
    assert "ValueError: Warning: Target model's context_length" in finding.title
    assert finding.remedies[0].apply == "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1"
    assert "s04_ok" in finding.remedies[0].worked_before


def test_good_run_whose_variable_let_the_check_only_warn_is_no_precedent(history: Store) -> None:
    answer = check(_sample("s03_fail_eagle3_context_len"), history)

    finding = next(finding for finding in answer.findings if finding.rule == "draft-shorter-than-target")
    assert finding.severity is Severity.FAILS
    assert any(
        "as there SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN is set" in line and "s04_ok" in line
        for line in finding.evidence
    )


def test_variable_set_to_false_is_no_switch(history: Store) -> None:
    name = "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"
    words = _sample("s03_fail_eagle3_context_len").command.words()

    answers = {
        value: check(_sample("s03_fail_eagle3_context_len", f"{name}={value}", *words), history)
        for value in ("1", "true", "0", "false")
    }

    severities = {
        value: next(f.severity for f in answer.findings if f.rule == "draft-shorter-than-target")
        for value, answer in answers.items()
    }
    assert severities == {"1": "note", "true": "note", "0": "fails", "false": "fails"}


def test_variable_that_is_true_by_default_lets_the_check_only_warn(model: Path) -> None:
    answer = _check(model, "--context-length", "8192", version="0.4.6.post5")

    finding = next(finding for finding in answer.findings if finding.rule == "context-above-model")
    assert finding.severity is Severity.NOTE
    assert any("true by default in 0.4.6.post5" in line for line in finding.evidence)


@pytest.mark.parametrize(
    ("version", "severity"), [("0.5.23", Severity.NOTE), ("0.5.10", Severity.RISK), (None, Severity.RISK)]
)
def test_precedent_of_another_release_leaves_a_risk(
    model: Path, version: str | None, severity: Severity
) -> None:
    words = (*_SERVER, "--model-path", str(model), "--device", "cpu", "--tp-size", "3")
    plan = plan_here(words, {}, Path.cwd(), "0.5.23")
    good = plan_here(words, {}, Path.cwd(), version).as_run()

    found = {finding.rule: finding for finding in rule_findings(plan, (good,))}

    assert found["heads-by-tp"].severity is severity
    assert {finding.severity for finding in rule_findings(plan, ()) if finding.rule == "heads-by-tp"} == {
        Severity.FAILS
    }


@pytest.mark.parametrize("name", ["s01_ok_no_spec", "s02_ok_eagle3", "s04_ok_eagle3_overwrite_env"])
def test_launch_that_got_ready_before_is_clear(history: Store, name: str) -> None:
    answer = check(_sample(name), history)

    assert answer.is_clear
    assert "same-launch-got-ready" in {finding.rule for finding in answer.findings}


def test_an_unknown_release_is_told_with_the_one_that_was_taken(model: Path) -> None:
    answer = _check(model, "--tp", "1", version="99.9")

    told = next(text for text in answer.not_looked_at if "99.9" in text)
    assert told == f"SGLang 99.9 is unknown: what is known of {nearest_release('99.9')}, the nearest, was taken"
    assert not any("unknown" in text for text in _check(model, "--tp", "1").not_looked_at)


def test_command_prints_text_and_json_and_exits_by_the_findings(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ["check", "--db", str(tmp_path / "none.duckdb"), "--sglang-version", "0.5.23"]
    words = [
        "--",
        "X=1",
        *_SERVER,
        "--model-path",
        str(model),
        "--device",
        "cpu",
        "--port",
        str(_free_port()),
    ]

    assert main([*own, *words]) == 0
    assert capsys.readouterr().out.startswith("nothing known against this launch")
    assert main([*own, "--format", "json", *words, "--no-such-flag"]) == 1
    held = json.loads(capsys.readouterr().out)
    assert held["schema"] == "logscope.check/1"
    assert [finding["rule"] for finding in held["findings"]] == ["unknown-flag"]


_KNOWABLE = {
    "q03_fail_upgrade_removed_flag": "enable_nan_detection",
    "q06_fail_context_length": "context_length",
    "q08_fail_eagle3_context_len": "draft.max_position_embeddings",
    "r02_fail_unknown_flag": "max_runing_requests",
    "r06_fail_mem_fraction_too_small": "mem_fraction_static",
    "r07_fail_tp3": "tp_size",
    "r10_fail_config_kv_heads": "target.num_key_value_heads",
    "r14_fail_watchdog": "watchdog_timeout",
    "r19_fail_quantization_awq": "quantization",
    "r29_fail_eagle3_context_len": "draft.max_position_embeddings",
    "s00_fail_eagle3_shallow_target": "target.num_hidden_layers",
    "s03_fail_eagle3_context_len": "draft.max_position_embeddings",
    "s06_fail_draft_target_vocab": "draft.hidden_size",
}
"""Failing launches whose cause stands in arguments, variables or config.json -> the subject to be named.

What a recorded launch cannot tell beforehand: damaged or missing files (r08, r09, r11, r13, q11, q17) and ports
(q05, r21), which `check` looks at on the machine itself; missing or newer packages (r24, p04); no driver (r04,
r05); being killed or stopped (r16, r17, r18, r23, q12, q13, q14)."""


@pytest.mark.skipif(not os.environ.get("LOGSCOPE_EVAL_DATA"), reason="LOGSCOPE_EVAL_DATA names no data folder")
def test_recorded_history_gives_no_false_alarm_and_every_knowable_cause() -> None:
    folder = Path(os.environ["LOGSCOPE_EVAL_DATA"]) / "real_runs"
    contexts = sorted(
        folder.glob("*.context.json"), key=lambda path: json.loads(path.read_text())["start_time"]
    )
    store = Store.in_memory()
    alarms: dict[str, set[str]] = {}

    for path in contexts:
        name = path.name.removesuffix(".context.json")
        answer = check(plan_of_context(path, (), None), store)
        alarms[name] = {finding.subject for finding in _against(answer)}
        store.ingest([path.with_name(f"{name}.log")])

    good = {
        path.name.removesuffix(".truth.json")
        for path in folder.glob("*.truth.json")
        if json.loads(path.read_text())["outcome"] == "ready"
    }
    assert {name for name in good if alarms[name]} == set()
    assert {name for name, subject in _KNOWABLE.items() if subject not in alarms[name]} == set()


def test_what_is_no_launch_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--db", str(tmp_path / "none.duckdb"), "--", "ls", "-l"]) == 2
    assert "ls -l: no SGLang launch is in this command" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("--no-such-flag", "3"), ("--kv-cache-dtype", "fp1"), ("--enable-nan-detection",)]
)
def test_release_newer_than_all_known_is_judged_by_the_newest_and_never_for_sure(
    model: Path, words: tuple[str, ...]
) -> None:
    (finding,) = _against(_check(model, *words, version="99.1"))
    (known,) = _against(_check(model, *words, version=releases()[-1]))

    assert (finding.severity, known.severity) == (Severity.RISK, Severity.FAILS)
    assert "99.1 may refuse the launch" in finding.title
    assert any("99.1 is newer" in line and releases()[-1] in line for line in finding.evidence)


def test_renamed_flag_that_begins_others_is_told_with_its_new_name(model: Path) -> None:
    finding = _only(_check(model, "--cuda-graph-max-bs", "8", version="0.5.23"))

    assert finding.rule == "unknown-flag"
    assert finding.remedies[0].apply == "--cuda-graph-max-bs-decode 8"
