"""What `record` writes beside the log: the surroundings of the launch, without secrets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logscope.context import Context, WeightFile, context_from_json, context_to_json, read_context
from logscope.record.accelerators import read_devices
from logscope.record.command_line import interpreter_of, parse_command
from logscope.record.environment import Masker, is_secret_name, kept_environment
from logscope.record.models import find_model, list_files
from logscope.record.packages import read_installed
from logscope.store import Store
from tests.logscope.plain_user import as_plain_user
from tests.logscope.record.conftest import LAUNCHER, Recorder

_CONFIG = {"architectures": ["LlamaForCausalLM"], "max_position_embeddings": 4096}


def test_context_file_tells_command_time_and_exit(recorder: Recorder) -> None:
    recorder.run(recorder.words("both_streams", "1"))

    context = read_context(recorder.context)

    assert context.argv == (*LAUNCHER, "both_streams", "1")
    assert (context.exit_code, context.exit_signal) == (5, None)
    assert context.start_time is not None and context.end_time is not None
    assert context.start_time <= context.end_time
    assert context.host and context.kernel
    assert context.facts["cwd"] == str(recorder.folder)
    assert int(context.facts["cpus"]) > 0
    assert int(context.facts["mem_available_percent"]) % 10 == 0


def test_context_file_names_the_signal_that_ended_the_command(recorder: Recorder) -> None:
    recorder.run(recorder.words("die", "9"))

    context = read_context(recorder.context)

    assert (context.exit_code, context.exit_signal) == (None, "SIGKILL")


def test_context_file_is_there_while_the_command_runs(recorder: Recorder) -> None:
    own = recorder.words("x")
    script = f"for i in $(seq 100); do test -s {recorder.context} && exit 0; sleep 0.05; done; exit 1"

    done = recorder.run([*own[: own.index("--") + 1], "sh", "-c", script])

    assert done.code == 0


def test_recorded_launch_is_in_the_store_with_its_surroundings(recorder: Recorder) -> None:
    own = [word for word in recorder.words("x") if word != "--no-ingest"]
    sample = Path(__file__).parents[3] / "sample_logs" / "q06_fail_context_length.log"

    done = recorder.run([*own[: own.index("--") + 1], "sh", "-c", f"cat {sample}; exit 1"], SGLANG_X="1")

    assert (done.code, done.out, done.err) == (1, sample.read_bytes(), b"")
    stored = Store.open(recorder.folder / "store.duckdb", read_only=True).load("last-failed")
    assert stored.run.root_error is not None
    assert stored.context is not None
    assert stored.context.exit_code == 1
    assert (stored.context.env or {})["SGLANG_X"] == "1"


def test_recorded_command_that_is_no_launch_is_said_not_to_be_in_the_store(recorder: Recorder) -> None:
    own = [word for word in recorder.words("raw", "6162") if word != "--no-ingest"]

    done = recorder.run(own)

    assert (done.code, done.out) == (0, b"ab")
    assert b"not taken into the store" in done.err


def test_secrets_are_masked_in_environment_and_command_line(recorder: Recorder) -> None:
    words = recorder.words(
        "raw", "--api-key", "sk-very-secret", "--admin-api-key=other", "--tokenizer-path", "/m/tokenizer"
    )

    recorder.run(
        words, HF_TOKEN="hf_secretsecretsecretsecret", SGLANG_X="1", HTTP_PROXY="http://me:pw@proxy:1"
    )

    text = recorder.context.read_text()
    held = json.loads(text)
    for secret in ("sk-very-secret", "other", "hf_secret", "me:pw"):
        assert secret not in text
    assert held["env"]["SGLANG_X"] == "1"
    assert held["env"]["HF_TOKEN"].startswith("***")
    assert "/m/tokenizer" in held["argv"]


def test_folder_that_takes_no_files_is_told_once_and_the_command_runs(recorder: Recorder) -> None:
    closed = recorder.folder / "closed"
    closed.mkdir(mode=0o555)
    own = [*as_plain_user(), sys.executable, "-m", "logscope", "record", "--log", str(closed / "a.log")]

    done = recorder.run([*own, "--no-ingest", "--", "sh", "-c", "echo out; exit 3"])

    assert (done.code, done.out) == (3, b"out\n")
    told = [line for line in done.err.decode().splitlines() if "a.context.json" in line]
    assert told == [f"logscope record: {closed / 'a.context.json'} not written: Permission denied"]
    assert list(closed.iterdir()) == []


def test_same_secret_gives_the_same_mark_in_the_next_launch(recorder: Recorder) -> None:
    marks = []
    for key in ("one", "one", "two"):
        recorder.run(recorder.words("raw", "--api-key", key))
        marks.append(read_context(recorder.context).argv)

    assert marks[0] == marks[1]
    assert marks[1] != marks[2]


def test_only_listed_variables_are_kept_and_the_list_can_be_widened() -> None:
    env = {"SGLANG_A": "1", "NCCL_DEBUG": "INFO", "MY_FLAG": "2", "EDITOR": "vi", "SLURM_JOB_ID": "7"}

    kept = kept_environment(env)
    widened = kept_environment(env, ["MY_*"])

    assert kept == {"SGLANG_A": "1", "NCCL_DEBUG": "INFO", "SLURM_JOB_ID": "7"}
    assert widened == kept | {"MY_FLAG": "2"}


@pytest.mark.parametrize(
    "name", ["HF_TOKEN", "OPENAI_API_KEY", "SGLANG_ADMIN_API_KEY", "DB_PASSWORD", "AUTH"]
)
def test_secret_names_are_known_by_their_sound(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["TOKENIZERS_PARALLELISM", "SGLANG_MAX_TOKENS", "NCCL_P2P_DISABLE", "SGLANG_KEYBOARD", "MONKEY"]
)
def test_harmless_names_are_not_masked(name: str) -> None:
    assert not is_secret_name(name)


@given(st.text(min_size=1), st.binary(min_size=16, max_size=32))
def test_masking_a_mark_again_changes_nothing(secret: str, salt: bytes) -> None:
    masker = Masker(salt)

    once = masker.mask(secret)

    assert masker.mask(once) == once


_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


@given(
    st.builds(
        Context,
        argv=st.none() | st.lists(_TEXT, max_size=4).map(tuple),
        env=st.none() | st.dictionaries(_TEXT, _TEXT, max_size=3),
        packages=st.dictionaries(_TEXT, _TEXT, max_size=3),
        model_files=st.lists(st.builds(WeightFile, _TEXT, _TEXT, st.integers(0, 10**12)), max_size=2).map(
            tuple
        ),
        start_time=st.none() | st.datetimes(),
        exit_code=st.none() | st.integers(0, 255),
    )
)
def test_written_context_reads_back_the_same(context: Context) -> None:
    text = json.dumps(context_to_json(context))

    assert context_from_json(json.loads(text), "x") == context


def _make_environment(folder: Path) -> Path:
    """A virtual environment as its folders look, with an interpreter that must not be run."""
    python = folder / "bin" / "python3.12"
    site = folder / "lib" / "python3.12" / "site-packages"
    python.parent.mkdir(parents=True)
    site.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho the interpreter was run >&2; exit 9\n")
    python.chmod(0o755)
    for name in (
        "torch-2.9.1+cu128.dist-info",
        "Flashinfer_Python-0.5.3.dist-info",
        "datasets-4.0.0.egg-info",
    ):
        (site / name).mkdir()
    return python


def test_package_versions_come_from_the_folders_without_running_python(tmp_path: Path) -> None:
    python = _make_environment(tmp_path / "venv")

    installed = read_installed(python, {})

    assert installed.packages == {"torch": "2.9.1+cu128", "flashinfer-python": "0.5.3", "datasets": "4.0.0"}
    assert installed.python_version == "3.12"
    assert installed.sglang_commit is None


def test_editable_sglang_gives_commit_and_dirty_state(tmp_path: Path) -> None:
    python = _make_environment(tmp_path / "venv")
    checkout = tmp_path / "sglang checkout" / "python"
    checkout.mkdir(parents=True)
    info = python.parents[1] / "lib" / "python3.12" / "site-packages" / "sglang-0.5.9.dev1.dist-info"
    info.mkdir()
    (info / "direct_url.json").write_text(
        json.dumps({"url": checkout.as_uri(), "dir_info": {"editable": True}})
    )
    (checkout / "a.py").write_text("1\n")
    git = ["git", "-C", str(checkout), "-c", "user.name=t", "-c", "user.email=t@t"]
    for words in (["init", "-q"], ["add", "a.py"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], check=True)

    clean = read_installed(python, {})
    (checkout / "a.py").write_text("2\n")
    dirty = read_installed(python, {})

    assert clean.packages["sglang"] == "0.5.9.dev1"
    assert clean.sglang_commit is not None and len(clean.sglang_commit) == 40
    assert dirty.sglang_commit == clean.sglang_commit + "-dirty"


def test_sglang_source_on_pythonpath_comes_before_the_installed_one(tmp_path: Path) -> None:
    python = _make_environment(tmp_path / "venv")
    (python.parents[1] / "lib" / "python3.12" / "site-packages" / "sglang-0.5.9.dist-info").mkdir()
    source = tmp_path / "src" / "sglang"
    source.mkdir(parents=True)
    (source / "version.py").write_text('__version__ = "0.6.0.dev3"\n')

    installed = read_installed(python, {"PYTHONPATH": str(tmp_path / "src")})

    assert installed.packages["sglang"] == "0.6.0.dev3"


def test_interpreter_is_found_behind_wrappers_and_scripts(tmp_path: Path) -> None:
    python = _make_environment(tmp_path)
    script = tmp_path / "bin" / "sglang"
    script.write_text(f"#!{python}\nimport sglang\n")
    script.chmod(0o755)
    (tmp_path / "bin" / "python").symlink_to(python.name)
    env = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}

    assert interpreter_of(["sglang", "serve", "--model-path", "m"], env) == python
    wrapped = ["env", "A=1", "nice", "-n", "3", "python", "-m", "sglang.launch_server", "--tp", "2"]
    assert interpreter_of(wrapped, env) == tmp_path / "bin" / "python"
    assert interpreter_of(["sleep", "5"], env) is None


def test_command_line_is_taken_apart_and_put_together_again() -> None:
    words = (
        "A=1",
        "B=x=y",
        "python",
        "-m",
        "sglang.launch_server",
        "--tp",
        "2",
        "--lora-paths",
        "a",
        "b",
        "--x=3",
    )

    command = parse_command(words)

    assert command.assignments == {"A": "1", "B": "x=y"}
    assert command.prefix == ("python", "-m", "sglang.launch_server")
    assert [(option.flag, option.values) for option in command.options] == [
        ("--tp", ("2",)),
        ("--lora-paths", ("a", "b")),
        ("--x", ("3",)),
    ]
    assert command.words() == words[2:]


@given(st.lists(st.sampled_from(["--a", "--b=1", "-c", "-1", "v", "0.5", "--", "x=y", "serve"]), max_size=8))
def test_words_of_a_command_are_never_lost(words: list[str]) -> None:
    command = parse_command(["prog", *words])

    assert command.words() == ("prog", *words)


def _tool(folder: Path, name: str, script: str) -> dict[str, str]:
    path = folder / name
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_gpus_driver_and_memory_in_use_come_from_nvidia_smi(tmp_path: Path) -> None:
    env = _tool(
        tmp_path,
        "nvidia-smi",
        'case "$1" in\n'
        '--query-gpu*) echo "0, NVIDIA H100 80GB HBM3, GPU-aa, 81559, 40231, 550.54.15"\n'
        '  echo "1, NVIDIA H100 80GB HBM3, GPU-bb, 81559, 4, 550.54.15";;\n'
        '*) echo "GPU-aa, 4242, sglang::scheduler_TP0, 40200";;\nesac\n',
    )

    devices = read_devices(env)

    assert [gpu.name for gpu in devices.gpus] == ["NVIDIA H100 80GB HBM3"] * 2
    assert devices.driver == "550.54.15"
    assert devices.facts()["gpu0_used_mib"] == "40192"
    assert devices.facts()["gpu1_used_mib"] == "0"
    assert devices.facts()["gpu0_processes"] == "4242 sglang::scheduler_TP0 40200 MiB"


def test_amd_gpus_come_from_rocm_smi(tmp_path: Path) -> None:
    answer = {
        "card0": {
            "Card Series": "AMD Instinct MI300X",
            "VRAM Total Memory (B)": str(192 << 30),
            "VRAM Total Used Memory (B)": str(3 << 30),
        },
        "system": {"Driver version": "6.8.5"},
    }
    env = _tool(tmp_path, "rocm-smi", f"echo '{json.dumps(answer)}'\n")

    devices = read_devices(env | {"PATH": f"{tmp_path}:/usr/bin:/bin"})

    assert devices.driver == "6.8.5"
    assert [(gpu.name, gpu.total_mib, gpu.used_mib) for gpu in devices.gpus] == [
        ("AMD Instinct MI300X", 192 << 10, 3 << 10)
    ]


def test_npus_come_from_the_table_of_npu_smi(tmp_path: Path) -> None:
    table = """| npu-smi 25.0.rc1                 Version: 25.0.rc1                                   |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 92.1        41                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3358 / 65536         |
"""
    env = _tool(tmp_path, "npu-smi", f"cat <<'END'\n{table}END\n")

    devices = read_devices(env)

    assert devices.driver == "25.0.rc1"
    assert [(g.name, g.used_mib, g.total_mib) for g in devices.gpus] == [("Ascend 910B3", 3358, 65536)]


def test_broken_gpu_tool_is_noted_and_nothing_fails(tmp_path: Path) -> None:
    env = _tool(tmp_path, "nvidia-smi", "echo 'NVIDIA-SMI has failed' >&2; exit 9\n")

    devices = read_devices(env)

    assert devices.gpus == ()
    assert "exit status 9" in devices.facts()["gpu_note"]


def test_machine_without_gpu_tools_has_no_devices(tmp_path: Path) -> None:
    assert read_devices({"PATH": str(tmp_path)}).gpus == ()


def test_models_configs_and_files_of_a_launch_are_kept(recorder: Recorder) -> None:
    model = recorder.folder / "target"
    model.mkdir()
    (model / "config.json").write_text(json.dumps(_CONFIG))
    (model / "model-00001-of-00001.safetensors").write_bytes(b"x" * 1000)
    (model / "tokenizer.json").write_text("{}")
    draft = recorder.folder / "draft"
    draft.mkdir()
    (draft / "config.json").write_text("{ no json")

    recorder.run(recorder.words("raw", "--model-path", "target", f"--speculative-draft-model-path={draft}"))

    context = read_context(recorder.context)
    assert context.model_configs == {"target": _CONFIG, "draft": "{ no json"}
    assert context.config_origin == {"target": "launch", "draft": "launch"}
    files = {(file.role, file.name): file for file in context.model_files}
    assert files["target", "model-00001-of-00001.safetensors"].size == 1000
    assert files["target", "model-00001-of-00001.safetensors"].sha256 is None
    assert len(files["target", "tokenizer.json"].sha256 or "") == 64


def test_model_name_is_looked_up_in_the_local_cache(tmp_path: Path) -> None:
    repository = tmp_path / "hub" / "models--org--name"
    snapshot = repository / "snapshots" / "abc123"
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc123")
    (snapshot / "config.json").write_text(json.dumps(_CONFIG))
    (snapshot / "model.safetensors").symlink_to(tmp_path / "blobs" / "unfinished")

    model = find_model("target", "org/name", None, {"HF_HOME": str(tmp_path)}, tmp_path)

    assert (model.config, model.revision) == (_CONFIG, "abc123")
    assert [(file.name, file.size) for file in list_files(model)] == [
        ("config.json", len(json.dumps(_CONFIG))),
        ("model.safetensors", 0),
    ]


def test_model_that_is_nowhere_leaves_the_rest_of_the_context(recorder: Recorder) -> None:
    recorder.run(recorder.words("raw", "--model-path", "org/not-here"), HF_HOME=str(recorder.folder))

    context = read_context(recorder.context)

    assert context.model_configs == {}
    assert context.exit_code is not None
    assert sys.version.startswith(context.facts["python"])
