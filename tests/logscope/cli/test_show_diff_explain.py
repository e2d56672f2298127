"""show, diff, explain and compare: exit codes, where runs come from, and what trouble looks like."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from logscope.cli.main import main

ROOT = Path(__file__).parent.parent.parent.parent
SAMPLES = ROOT / "sample_logs"
S02, S03 = str(SAMPLES / "s02_ok_eagle3.log"), str(SAMPLES / "s03_fail_eagle3_context_len.log")
S04 = str(SAMPLES / "s04_ok_eagle3_overwrite_env.log")
R18 = str(SAMPLES / "r18_hang_scheduler_stopped.log")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store on disk that holds s02, s03 and s04."""
    path = tmp_path_factory.mktemp("store") / "store.duckdb"
    assert main(["ingest", "-q", "--db", str(path), S02, S03, S04]) == 0
    return path


@pytest.fixture
def no_store(tmp_path: Path) -> list[str]:
    return ["--db", str(tmp_path / "none.duckdb")]


def _diff(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, object]]:
    capsys.readouterr()
    code = main(["diff", *words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def _name(run: object) -> str:
    assert isinstance(run, dict)
    return Path(run["source"]["path"]).name


@pytest.mark.parametrize(("log", "code"), [(S02, 0), (S03, 1), (R18, 1)], ids=["ready", "failed", "hung"])
def test_show_says_by_its_exit_code_whether_the_run_is_ready(
    log: str, code: int, no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", log, *no_store]) == code
    assert not Path(no_store[1]).exists()
    assert "\x1b[" not in capsys.readouterr().out


def test_show_of_several_logs_is_ready_only_when_all_are(no_store: list[str]) -> None:
    assert main(["show", S02, S04, *no_store]) == 0
    assert main(["show", S02, S03, *no_store]) == 1


def test_show_lists_every_launch_of_a_log_and_one_when_asked(
    tmp_path: Path, no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "both.log"
    log.write_bytes(Path(S03).read_bytes() + Path(S02).read_bytes())

    main(["show", str(log), "--format", "json", *no_store])
    both = json.loads(capsys.readouterr().out)["runs"]
    code = main(["show", f"{log}#2", "--format", "json", *no_store])
    second = json.loads(capsys.readouterr().out)["runs"]

    assert [run["outcome"] for run in both] == ["failed", "ready"]
    assert code == 0
    assert [run["run_id"] for run in second] == [both[1]["run_id"]]
    assert second[0]["source"]["first_line"] == both[0]["source"]["last_line"] + 1


def test_show_reads_standard_input(
    monkeypatch: pytest.MonkeyPatch, no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(S03).read_bytes())))

    code = main(["show", "-", "--format", "json", *no_store])

    assert code == 1
    assert json.loads(capsys.readouterr().out)["runs"][0]["root_error"]["type"] == "ValueError"


def test_origins_of_arguments_are_known_by_the_context_file(
    no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["show", S02, "--format", "json", *no_store])

    run = json.loads(capsys.readouterr().out)["runs"][0]
    assert run["origins"]["speculative_num_steps"] == "user"
    assert run["context"]["env"]["OMP_NUM_THREADS"] == "1"


TROUBLE = {
    "empty": b"",
    "binary": bytes(range(256)) * 64,
    "other": b"nothing of a server in here\n" * 5,
}


@pytest.mark.parametrize("kind", sorted(TROUBLE))
@pytest.mark.parametrize("command", ["show", "explain", "diff"])
def test_what_is_no_launch_log_gives_one_line_and_stores_nothing(
    command: str, kind: str, tmp_path: Path, no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(TROUBLE[kind])

    code = main([command, str(log), *no_store])

    said = capsys.readouterr()
    assert code == 2
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("logscope: ")
    assert "a.log" in said.err
    assert not Path(no_store[1]).exists()


@pytest.mark.parametrize(
    "words",
    [
        ["show", "no-such.log"],
        ["show", f"{S02}#7"],
        ["show", str(ROOT / "docs")],
        ["diff", "no-such.log", S03],
        ["diff", "last", "last"],
        ["diff", "a", "b", "c"],
        ["diff", S02, S03, "--in", str(SAMPLES)],
        ["show", S02, "--config", "other=x"],
        ["show", S02, "--config", "target=/no/such/config.json"],
        ["show", S02, "--env-file", "/no/such/file"],
        ["compare", "no-such.log"],
    ],
    ids=lambda words: " ".join(Path(word).name for word in words),
)
def test_trouble_is_one_line_that_says_what_and_exit_code_two(
    words: list[str], no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([*words, *no_store])

    said = capsys.readouterr()
    assert code == 2
    assert said.out == ""
    assert len(said.err.splitlines()) == 1


def test_a_hostile_file_name_cannot_steer_the_terminal(
    tmp_path: Path, no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "a\x1b[2J\u202eb.log"
    shutil.copy(S03, log)
    broken = tmp_path / "c\x1b[2J.log"
    broken.write_bytes(b"")

    main(["show", str(log), *no_store])
    main(["diff", S02, str(log), *no_store])
    main(["show", str(broken), *no_store])

    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert "\u202e" not in said.out
    assert r"a\x1b[2J\u202eb.log" in said.out.replace("\n         ", "")


def test_two_paths_are_compared_without_a_store(
    no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = _diff([S02, S03, *no_store], capsys)

    assert code == 1
    assert (_name(document["good"]), _name(document["bad"])) == (Path(S02).name, Path(S03).name)
    assert "max_position_embeddings" in str(document["causes"][0]["subject"])  # type: ignore[index]
    assert not Path(no_store[1]).exists()


def test_a_run_against_itself_differs_in_nothing(
    no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = _diff([S02, S02, *no_store], capsys)

    assert code == 0
    assert document["matters"] is False
    assert document["args"] == document["env"] == document["configs"] == []


def test_the_baseline_of_a_stored_run_is_found_in_the_store(
    filled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = _diff(["last-failed", "--db", str(filled)], capsys)

    assert code == 1
    assert (_name(document["good"]), _name(document["bad"])) == (Path(S02).name, Path(S03).name)
    assert document["baseline_reason"]


def test_a_log_that_is_not_in_the_store_finds_its_baseline_there_and_leaves_it_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "store.duckdb"
    main(["ingest", "-q", "--db", str(path), S02])
    before = hashlib.sha256(path.read_bytes()).hexdigest()

    code, document = _diff([S03, "--db", str(path)], capsys)

    assert code == 1
    assert _name(document["good"]) == Path(S02).name
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_a_stored_run_and_a_path_can_be_compared(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, document = _diff(["last-ready", S03, "--db", str(filled)], capsys)

    assert (_name(document["good"]), _name(document["bad"])) == (Path(S04).name, Path(S03).name)


def test_the_baseline_can_be_looked_for_in_a_folder(
    no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _, document = _diff([S03, "--in", str(SAMPLES), *no_store], capsys)

    assert _name(document["good"]) == Path(S02).name


def test_without_a_comparable_run_the_causes_come_from_the_run_itself(
    no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = _diff([S03, *no_store], capsys)

    assert code == 1
    assert document["good"] is None
    assert document["baseline_reason"]
    assert document["causes"]


def test_a_ready_run_without_any_to_compare_with_is_no_difference(
    no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = _diff([str(SAMPLES / "s02_ok_eagle3.log"), *no_store], capsys)

    assert code == 0
    assert told["good"] is None
    assert told["causes"] == []
    assert str(told["verdict"]).startswith("Ready")


@pytest.mark.parametrize("words", [["diff", "s02_ok_eagle3.log"], ["show"]])
def test_the_page_is_as_wide_as_the_terminal(
    words: list[str], no_store: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    logs = [str(SAMPLES / name) for name in (*words[1:], "s03_fail_eagle3_context_len.log")]

    main([words[0], *logs, *no_store])

    assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= 40


def test_files_given_by_hand_are_those_of_the_last_run(
    tmp_path: Path, no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare.log"
    shutil.copy(S03, bare)
    context = json.loads(Path(S03).with_name("s03_fail_eagle3_context_len.context.json").read_text())
    draft, env = tmp_path / "draft.json", tmp_path / "env"
    draft.write_text(json.dumps(context["model_configs"]["draft"]))
    env.write_text("export SGLANG_X='1'\n")

    words = [S02, str(bare), "--config", f"draft={draft}", "--env-file", str(env), *no_store]
    _, document = _diff(words, capsys)

    bad = document["bad"]
    assert isinstance(bad, dict)
    assert bad["context"]["env"] == {"SGLANG_X": "1"}
    assert bad["context"]["config_origin"] == {"draft": "given"}
    names = {row["name"] for row in document["configs"]}  # type: ignore[attr-defined]
    assert "max_position_embeddings" in names


def test_files_given_by_hand_are_taken_for_a_stored_run_and_change_nothing_in_the_store(
    filled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft, env = tmp_path / "draft.json", tmp_path / "launch.env"
    draft.write_text('{"max_position_embeddings": 1536}')
    env.write_text("NCCL_DEBUG=TRACE\nHF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz\n")
    given = ["--config", f"draft={draft}", "--env-file", str(env)]
    before = hashlib.sha256(filled.read_bytes()).hexdigest()

    _, told = _diff(["last-failed", *given, "--db", str(filled)], capsys)
    main(["show", "last-failed", *given, "--db", str(filled), "--format", "json"])
    shown = capsys.readouterr().out

    assert isinstance(told["configs"], list) and isinstance(told["env"], list)
    assert {(row["name"], row["bad"]) for row in told["configs"]} >= {("max_position_embeddings", 1536)}
    assert {(row["name"], row["bad"]) for row in told["env"]} >= {("NCCL_DEBUG", "TRACE")}
    assert "TRACE" in shown and "hf_abcdefghijklmnop" not in shown + json.dumps(told)
    assert hashlib.sha256(filled.read_bytes()).hexdigest() == before


@pytest.mark.parametrize("command", ["diff", "explain", "show", "compare"])
def test_a_file_given_by_hand_that_is_not_there_is_trouble_for_a_stored_run_too(
    command: str, filled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "last-failed", "--config", "draft=/no/such/config.json", "--db", str(filled)]) == 2
    assert "/no/such/config.json: cannot be read" in capsys.readouterr().err


def test_explain_offers_causes_and_shows_their_scores_on_request(
    no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["explain", S03, "--in", str(SAMPLES), *no_store])
    short = capsys.readouterr().out
    main(["explain", S03, "--in", str(SAMPLES), "--why", *no_store])
    long = capsys.readouterr().out

    assert code == 0
    assert "s03_fail_eagle3_context_len.log:80" in short
    assert "assumes:" in short
    assert "score:" not in short
    assert "score:" in long


def test_explain_without_a_cause_is_exit_code_one(
    no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["explain", S02, *no_store])

    assert code == 1
    assert "no cause found" in capsys.readouterr().out


def test_compare_has_a_column_for_each_run(no_store: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["compare", S02, S03, S04, "--format", "json", *no_store])

    document = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row["values"] for row in document["rows"]}
    assert code == 0
    assert rows["draft.max_position_embeddings"] == ["4096", "2048", "2048"]
    assert rows["env SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"] == ["-", "-", "1"]
    assert "speculative_num_steps" not in rows


def test_the_same_input_gives_the_same_bytes_in_every_format(tmp_path: Path) -> None:
    """One process per hash seed: the order of sets is what could differ."""
    code = (
        "import sys\nfrom logscope.cli.main import main\n"
        "for form in ('text', 'json', 'markdown', 'html', 'junit', 'github'):\n"
        "    main(['diff', sys.argv[1], sys.argv[2], '--format', form])\n"
    )

    def once(seed: str) -> bytes:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LOGSCOPE_DB": str(tmp_path / "none.duckdb")}
        command = [sys.executable, "-c", code, S02, S03]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        return done.stdout

    first = once("1")

    assert first.count(b"draft.max_position_embeddings") >= 6
    assert once("2") == first


def test_the_bytes_do_not_depend_on_the_locale(tmp_path: Path) -> None:
    def once(encoding: str) -> bytes:
        environment = {
            **os.environ,
            "PYTHONIOENCODING": encoding,
            "LOGSCOPE_DB": str(tmp_path / "none.duckdb"),
        }
        command = [sys.executable, "-m", "logscope", "diff", S02, S03]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
        assert done.returncode == 1, done.stderr
        return done.stdout

    assert "…".encode() in once("ascii")
    assert once("ascii") == once("utf-8")


def test_help_of_every_command_has_an_example_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("show", "diff", "explain", "compare", "triage"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        text = capsys.readouterr().out
        assert f"logscope {command} " in text.split("examples:")[1]
        assert "exit code" in text


def test_the_stage_in_which_a_run_failed_is_the_last_that_it_reached(
    no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _, told = _diff([S02, S03, *no_store], capsys)

    bad, rows = told["bad"], told["milestones"]
    assert isinstance(bad, dict) and isinstance(rows, list)
    assert bad["stage"] == "load"
    reached = [row["stage"] for row in rows if row["bad"]]
    assert reached[-1] == "load"
    assert [row["stage"] for row in rows if row["first_missing"]] == ["kv-cache"]


@pytest.mark.parametrize("head", [0, 40])
def test_a_traceback_without_the_launch_before_it_keeps_its_remedies(
    head: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Path(S03).read_text(encoding="utf-8").splitlines(keepends=True)
    start = next(place for place, line in enumerate(lines) if "Traceback" in line)
    part = tmp_path / "part.log"
    part.write_text("".join(lines[start - min(head, start) :]), encoding="utf-8")

    main(["explain", str(part), "--db", str(tmp_path / "none.duckdb")])
    told = " ".join(capsys.readouterr().out.split())

    assert "the draft's config.json gives a context length (max_position_embeddings) of 2048" in told
    assert "$ --context-length 2048" in told
    assert "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1" in told


def test_a_load_without_decode_lines_names_only_what_is_known(
    no_store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["show", str(SAMPLES / "r08_crash_missing_shard.log"), *no_store])
    told = capsys.readouterr().out

    assert "    load     at most 0 queued\n" in told


def test_the_earlier_failure_is_told_without_saying_first_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = ["--db", str(tmp_path / "store.duckdb")]
    names = ("r15_ok_again", "r16_killed_sigkill_midload", "r18_hang_scheduler_stopped")
    main(["ingest", "-q", *db, *(str(SAMPLES / f"{name}.log") for name in names)])
    main(["diff", R18, *db])
    told = capsys.readouterr().out

    assert "the first failed run since the last good one is" in " ".join(told.split())
    assert "first the first" not in told
