"""`bisect` with real child processes: a stand-in launcher that fails by a hidden rule."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from logscope.cli.main import main
from logscope.context import Context, write_context
from logscope.record.changes import changes_between, spec_of
from logscope.store import Store
from parsers.records import Json, Outcome

Answer = dict[str, Any]
"""What the command prints as JSON."""

_SAMPLES = Path(__file__).parents[3] / "sample_logs"
_SERVER = Path(__file__).parent / "stand_in" / "launch_server.py"
_GOOD = "--model-path /m --mem-fraction-static 0.8 --max-running-requests 16 --log-level info --tp 1"
_BAD = (
    "--model-path /m --mem-fraction-static 0.7 --max-running-requests 32 --log-level debug --tp 2 "
    "--chunked-prefill-size 4096 --enable-metrics --schedule-policy fcfs --kv-cache-dtype fp8_e5m2 "
    "--disable-radix-cache --watchdog-timeout 100 --attention-backend triton"
)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Case:
    """One bisection in a folder of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.port = _free_port()
        self.rule = folder / "rule.json"
        monkeypatch.setenv("HIDDEN_RULE", str(self.rule))
        monkeypatch.setenv("LOGSCOPE_DB", str(folder / "store.duckdb"))
        monkeypatch.chdir(folder)
        monkeypatch.setattr("logscope.record.trial._SETTLE_SECONDS", 0.1)

    def hide(self, *fails_with: str, **more: Json) -> None:
        self.rule.write_text(json.dumps({"fails_with": list(fails_with), **more}))

    def line(self, options: str, env: str = "") -> str:
        return f"{env} {sys.executable} {_SERVER} --port {self.port} {options}".strip()

    def words(self, good: str, bad: str, *more: str) -> list[str]:
        return ["bisect", good, bad, "--state", "tries", "--format", "json", "--no-ingest", "-q", *more]

    def run(self, words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, Answer]:
        code = main(words)
        return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    return Case(tmp_path, monkeypatch)


def _names(answer: Answer) -> list[list[str]]:
    return [[change["name"] for change in part] for part in answer["culprits"]]


def test_single_argument_is_found(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.hide("--kv-cache-dtype=fp8_e5m2")

    code, answer = case.run(case.words(case.line(_GOOD), case.line(_BAD)), capsys)

    assert code == 0
    assert _names(answer) == [["kv_cache_dtype"]]
    assert answer["rest_is_good"] is True
    assert answer["failure"] == "ValueError: the hidden rule is broken by this launch"
    assert len(answer["tries"]) <= 2 * 4 + 3


def test_environment_variable_is_found_among_arguments(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    case.hide("SGLANG_HIDDEN=2")
    bad = case.line(_BAD, "NCCL_DEBUG=INFO SGLANG_HIDDEN=2 SGLANG_OTHER=x")

    code, answer = case.run(case.words(case.line(_GOOD, "SGLANG_HIDDEN=1"), bad), capsys)

    assert (code, _names(answer)) == (0, [["SGLANG_HIDDEN"]])
    assert answer["culprits"][0][0]["text"] == "SGLANG_HIDDEN: 1 -> 2"


def test_pair_of_arguments_is_found(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.hide("--tp=2", "--disable-radix-cache")

    code, answer = case.run(case.words(case.line(_GOOD), case.line(_BAD)), capsys)

    assert code == 0
    assert sorted(_names(answer)) == [["disable_radix_cache"], ["tp_size"]]


def test_removed_argument_is_found(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = case.line(f"{_GOOD} --trust-remote-code --dtype auto"), case.line(_GOOD.replace("16", "20"))
    case.hide()
    rule = {"fails_with": ["SGLANG_NOT=here"], "refuses": [["--model-path", "--trust-remote-code"]]}
    case.rule.write_text(json.dumps(rule))

    code, answer = case.run(case.words(good, bad), capsys)

    assert (code, _names(answer)) == (0, [["trust_remote_code"]])


def test_flag_that_the_release_does_not_know_is_found(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.hide("--no-such", unknown=["--watchdog-timeout"])

    code, answer = case.run(case.words(case.line(_GOOD), case.line(_BAD)), capsys)

    assert (code, _names(answer)) == (0, [["watchdog_timeout"]])


def test_combination_that_is_refused_or_fails_otherwise_is_no_answer(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    case.hide(
        "--speculative-num-steps=5",
        refuses=[
            ["--speculative-num-steps", "--speculative-algorithm"],
            ["--speculative-algorithm", "--speculative-draft-model-path"],
        ],
    )
    spec = "--speculative-algorithm EAGLE3 --speculative-draft-model-path /d --speculative-num-steps 5"

    code, answer = case.run(case.words(case.line(_GOOD), case.line(f"{_BAD} {spec}")), capsys)

    assert code == 0
    assert {name for part in _names(answer) for name in part} == {
        "speculative_algorithm",
        "speculative_draft_model_path",
        "speculative_num_steps",
    }
    assert "refused" in {done["outcome"] for done in answer["tries"]}


def test_failure_that_comes_and_goes_is_found_and_said(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    case.hide("--attention-backend=triton", lucky=2)

    code, answer = case.run(case.words(case.line(_GOOD), case.line(_BAD), "--repeat", "2"), capsys)

    assert (code, _names(answer)) == (0, [["attention_backend"]])


def test_failure_that_is_not_reproduced_is_not_found(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.hide("SGLANG_NOT=here")

    code, answer = case.run(case.words(case.line(_GOOD), case.line(_BAD)), capsys)

    assert code == 1
    assert answer["found"] is False
    assert "do not reproduce" in str(answer["reason"])


def test_good_launch_that_fails_now_points_away_from_the_changes(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    case.hide("--model-path")

    code, answer = case.run(case.words(case.line(_GOOD), case.line(_BAD)), capsys)

    assert code == 1
    assert "none of the changed arguments" in str(answer["reason"])
    assert len(answer["tries"]) == 2


def test_probe_decides_instead_of_the_ready_line(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.hide("SGLANG_NOT=here")
    bad = case.line("--model-path /m --tp 1 --enable-metrics", "SGLANG_SLOW=1 SGLANG_B=2")
    probe = 'test "$SGLANG_SLOW" != 1'

    code, answer = case.run(case.words(case.line("--model-path /m --tp 1"), bad, "--probe", probe), capsys)

    assert (code, _names(answer)) == (0, [["SGLANG_SLOW"]])
    assert answer["failure"] == "ready, but the probe failed"


def test_budget_of_tries_leaves_what_is_still_possible(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    case.hide("--kv-cache-dtype=fp8_e5m2")

    code, answer = case.run(case.words(case.line(_GOOD), case.line(_BAD), "--max-tries", "4"), capsys)

    assert code == 1
    assert len(answer["tries"]) == 4
    assert 1 <= len(answer["remaining"]) < 11
    assert "kv_cache_dtype" in {change["name"] for change in answer["remaining"]}


def test_command_gives_the_program_and_what_holds_in_every_try(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    case.hide("--tp=2")
    good, bad = (
        "python -m sglang.launch_server --tp 1 --port 1",
        "python -m sglang.launch_server --tp 2 --port 1",
    )
    own = ["--", sys.executable, str(_SERVER), "--port", str(case.port)]

    code, answer = case.run([*case.words(good, bad), *own], capsys)

    assert (code, _names(answer)) == (0, [["tp_size"]])


def test_runs_are_taken_from_their_context_files(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.hide("SGLANG_HIDDEN=2")
    for name, value in (("good", "1"), ("bad", "2")):
        Path(f"{name}.log").write_text("[2026-02-03 04:05:06] Load weight begin. avail mem=70.00 GB\n")
        words = (sys.executable, str(_SERVER), "--port", str(case.port))
        context = Context(argv=words, env={"SGLANG_HIDDEN": value, "HF_TOKEN": f"***aaa{value}"})
        write_context(Path(f"{name}.context.json"), context)

    code, answer = case.run(case.words("good.log", "bad.log"), capsys)

    assert (code, _names(answer)) == (0, [["SGLANG_HIDDEN"]])
    assert "HF_TOKEN" in str(answer["notes"])


def test_dry_run_launches_nothing_and_names_every_change(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bisect", case.line(_GOOD), case.line(_BAD, "A=1"), "--dry-run"]

    assert main(words) == 0

    told = capsys.readouterr().out
    assert "12 changes" in told
    assert "--tp 1 -> --tp 2" in told
    assert "A: (unset) -> 1" in told
    assert not (case.folder / "tries").exists()


def test_no_process_and_no_port_stays_behind(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.hide("--tp=2")
    good, bad = case.line("--tp 1", "STRAY_WORKER=1"), case.line("--tp 2 --dtype auto", "STRAY_WORKER=1")

    code, _ = case.run(case.words(good, bad), capsys)

    assert code == 0
    assert _of_the_test(case) == []
    with socket.create_server(("127.0.0.1", case.port)):
        pass


def test_taken_port_is_said_and_nothing_is_launched(
    case: Case, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    case.hide("--tp=2")
    monkeypatch.setattr("logscope.record.trial._PORT_SECONDS", 0.2)

    with socket.create_server(("127.0.0.1", case.port)):
        code = main(case.words(case.line("--tp 1"), case.line("--tp 2 --dtype auto")))

    assert code == 2
    assert f"port {case.port} is in use" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "terminated"])
def test_bisection_that_was_ended_in_the_middle_goes_on(
    case: Case, capsys: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    case.hide("--kv-cache-dtype=fp8_e5m2", seconds=0.4)
    words = case.words(case.line(_GOOD, "STRAY_WORKER=1"), case.line(_BAD, "STRAY_WORKER=1"))
    first = subprocess.Popen([sys.executable, "-m", "logscope", *words], stdout=subprocess.DEVNULL)
    _wait_for(lambda: len(_tries(case)) >= 3)
    time.sleep(0.3)  # in the middle of the next one

    first.send_signal(number)
    first.wait()
    before = _tries(case)
    code, answer = case.run([*words, "--resume"], capsys)

    assert (code, _names(answer)) == (0, [["kv_cache_dtype"]])
    after: list[Any] = answer["tries"]
    assert [done["changes"] for done in after[:3]] == [done["changes"] for done in after[: len(before)][:3]]
    assert len(after) > len(before) >= 3
    assert _of_the_test(case) == []


def test_new_bisection_sets_the_old_tries_aside(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.hide("--tp=2")
    words = case.words(case.line("--tp 1"), case.line("--tp 2 --dtype auto"))
    case.run(words, capsys)

    case.run(words, capsys)

    assert (case.folder / "tries" / "try-01.log").exists()
    assert (case.folder / "tries.1" / "try-01.log").exists()


def test_resuming_another_bisection_is_refused(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.hide("--tp=2")
    case.run(case.words(case.line("--tp 1"), case.line("--tp 2 --dtype auto")), capsys)

    code = main(case.words(case.line("--tp 1"), case.line("--tp 4 --dtype auto"), "--resume"))

    assert code == 2
    assert "another bisection" in capsys.readouterr().err


def test_spelling_of_a_flag_is_no_change() -> None:
    good = spec_of(_words("--tp 2 --model-path m --lora-paths a b"), {})
    bad = spec_of(_words("--model=m --tp-size=2 --lora-paths a c"), {})

    changes = changes_between(good, bad)

    assert [change.name for change in changes.changes] == ["lora_paths"]
    words, _ = changes.apply(frozenset({0}))
    assert words == _words("--tp 2 --model-path m --lora-paths a c")


def _words(options: str) -> tuple[str, ...]:
    return ("python", "-m", "sglang.launch_server", *options.split(" "))


def _tries(case: Case) -> list[Any]:
    try:
        held: list[Any] = json.loads((case.folder / "tries" / "state.json").read_text())["tries"]
    except (OSError, ValueError):
        return []
    return held


def _wait_for(condition: object, seconds: float = 30.0) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def _of_the_test(case: Case) -> list[str]:
    """Command lines of processes that were launched by the tries of this test."""
    found = []
    wanted = f"HIDDEN_RULE={case.rule}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_text())
        except OSError:
            continue
    return found


def test_tries_are_in_the_store_afterwards(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.hide("--tp=2")
    words = case.words(case.line("--tp 1"), case.line("--tp 2 --dtype auto"))
    words.remove("--no-ingest")

    code, answer = case.run(words, capsys)

    facts = Store.open(case.folder / "store.duckdb", read_only=True).facts()
    assert code == 0
    assert 2 <= len(facts) <= len(answer["tries"])  # logs of the same bytes are one run
    assert {fact.outcome for fact in facts} == {Outcome.FAILED, Outcome.READY}


def test_causes_of_the_diff_are_tried_first(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = (
        _SAMPLES / f"{name}.log" for name in ("r03_ok_more_requests", "r06_fail_mem_fraction_too_small")
    )

    assert main(["bisect", str(good), str(bad), "--dry-run", "--format", "json"]) == 0

    plan = json.loads(capsys.readouterr().out)
    assert plan["changes"][0]["name"] == "mem_fraction_static"
    assert plan["changes"][0]["suspicion"] > 0.3
    assert plan["planned_seconds"] == pytest.approx(plan["planned_tries"] * 22)


def test_a_plan_without_changes_says_where_to_look(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = (_SAMPLES / f"{name}.log" for name in ("s02_ok_eagle3", "s03_fail_eagle3_context_len"))

    assert main(["bisect", str(good), str(bad), "--dry-run"]) == 0

    said = capsys.readouterr().out
    assert said.startswith("no argument and no variable differs from the good to the bad launch")
    assert "logscope diff GOOD BAD" in said


def test_variable_of_this_shell_that_neither_run_had_is_named(
    case: Case, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SGLANG_STRANGE", "1")
    good, bad = (
        _SAMPLES / f"{name}.log" for name in ("r03_ok_more_requests", "r06_fail_mem_fraction_too_small")
    )

    assert main(["bisect", str(good), str(bad), "--dry-run"]) == 0

    assert "SGLANG_STRANGE is set in this shell" in capsys.readouterr().out
