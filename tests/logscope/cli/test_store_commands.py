"""Commands over the store: exit codes, formats, one line of error on standard error."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from logscope.cli.main import main
from logscope.store import Store
from logscope.store.records import RunFacts
from tests.logscope.store.launches import START, launch_log, write_log


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a good and a failed run; the commands find it by LOGSCOPE_DB."""
    path = tmp_path / "s.duckdb"
    monkeypatch.setenv("LOGSCOPE_DB", str(path))
    write_log(tmp_path / "good.log", launch_log(decode=10, stopped=True), env={"A": "1"})
    bad = launch_log(START + timedelta(hours=1), ready=False, error="ValueError: no room", tp_size=2)
    write_log(tmp_path / "bad.log", bad, env={"A": "2"})
    assert main(["ingest", "-q", str(tmp_path / "good.log"), str(tmp_path / "bad.log")]) == 0
    return path


@pytest.fixture
def said(db: Path, capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    capsys.readouterr()
    return capsys


def test_ingest_says_what_became_of_each_path(db: Path, said: pytest.CaptureFixture[str]) -> None:
    code = main(["ingest", str(db.parent / "good.log"), str(db.parent / "none.log"), "--format", "json"])

    out = said.readouterr()
    report = json.loads(out.out)
    assert code == 2
    assert report["schema"] == "logscope.ingest/1"
    assert [path["status"] for path in report["paths"]] == ["failed", "known"]
    assert out.err.splitlines() == [f"logscope: {db.parent / 'none.log'}: no such file or folder"]


def test_options_of_all_commands_may_stand_before_the_command(
    db: Path, said: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOGSCOPE_DB")

    assert main(["--db", str(db), "-q", "runs", "--format", "json"]) == 0
    behind = said.readouterr().out
    assert main([f"--db={db}", "--no-color", "runs", "--format", "json"]) == 0

    assert said.readouterr().out == behind
    assert len(json.loads(behind)["runs"]) == 2
    assert main(["--db", str(db)]) == 2


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["ingset", "x.log"], "did you mean 'logscope ingest'?"),
        (["sql", "--saved", "last-good-of-each"], "did you mean "),
        (["show", "last-reedy"], "did you mean last-ready?"),
    ],
)
def test_a_mistyped_word_is_answered_with_what_was_meant(
    said: pytest.CaptureFixture[str], words: list[str], meant: str
) -> None:
    assert main(words) == 2

    assert meant in said.readouterr().err


def test_run_ids_have_the_same_length_in_all_texts(db: Path, said: pytest.CaptureFixture[str]) -> None:
    bad = str(db.parent / "bad.log")
    for words in (
        ["runs"], ["show", "last-failed"], ["diff", "last-failed"], ["history", "error", "no room"],
        ["history", "arg", "tp_size"], ["prune", "--keep", "1", "--dry-run"], ["ingest", bad],
        ["mark", "last", "bad"],
    ):  # fmt: skip
        main(words)
        out = said.readouterr()

        found = re.findall(r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{10,40}\b", out.out + out.err)
        ids = [each for each in found if any(each == one.run_id[: len(each)] for one in _runs(db))]
        assert ids, words
        assert {len(each) for each in ids} == {12}, words


def _runs(db: Path) -> Sequence[RunFacts]:
    return Store.open(db, read_only=True).facts()


def test_ingest_text_ends_with_the_counts(db: Path, said: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", str(db.parent), "--reparse"]) == 0

    assert said.readouterr().out.splitlines()[-1] == "2 runs from 2 paths: 2 reread"


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ([], ["bad", "good"]),
        (["--outcome", "failed"], ["bad"]),
        (["--arg", "tp_size=2"], ["bad"]),
        (["--arg=--tp-size=1"], ["good"]),
        (["--arg", "speculative_algorithm=None"], ["bad", "good"]),
        (["--arg", "no_such_argument"], []),
        (["--error", "NO ROOM"], ["bad"]),
        (["--model", "TINY"], ["bad", "good"]),
        (["--since", "2026-02-03 05:00"], ["bad"]),
        (["--until", "2026-02-03 05:00"], ["good"]),
        (["--since", "1h"], []),
        (["-n", "1"], ["bad"]),
        (["--version", ">=0.4"], []),
    ],
)
def test_runs_fit_their_filters(
    said: pytest.CaptureFixture[str], filters: list[str], names: list[str]
) -> None:
    assert main(["runs", "--format", "json", *filters]) == 0

    runs = json.loads(said.readouterr().out)["runs"]
    assert [Path(run["path"]).stem for run in runs] == names


def test_runs_as_csv_and_text(said: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(said.readouterr().out)))
    assert main(["runs"]) == 0
    text = said.readouterr().out.splitlines()

    assert [row["outcome"] for row in rows] == ["failed", "ready"]
    assert text[0].split()[:3] == ["run", "started", "outcome"]
    assert "no room" in text[1]
    assert "\x1b" not in "".join(text)


@pytest.mark.parametrize("words", [["runs", "--since", "yesterday"], ["runs", "--version", "new"]])
def test_a_filter_that_is_none_is_one_line(said: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(words) == 2

    assert len(said.readouterr().err.splitlines()) == 1


def test_a_missing_store_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (
        ["runs"],
        ["sql", "SELECT 1"],
        ["prune", "--keep", "1"],
        ["history", "arg", "x"],
        ["mark", "last", "good"],
    ):
        assert main([*command, "--db", str(tmp_path / "none.duckdb")]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "none.duckdb").exists()


@pytest.mark.parametrize(
    ("output_format", "expected"),
    [
        ("table", "tp_size  outcome\n-------  -------\n      1  ready\n      2  failed\n"),
        ("csv", "tp_size,outcome\n1,ready\n2,failed\n"),
        (
            "json",
            '[\n  {\n    "tp_size": 1,\n    "outcome": "ready"\n  },\n  {\n    "tp_size": 2,\n    "outcome": "failed"\n  }\n]\n',
        ),
        ("jsonl", '{"tp_size": 1, "outcome": "ready"}\n{"tp_size": 2, "outcome": "failed"}\n'),
        ("markdown", "| tp_size | outcome |\n| --- | --- |\n| 1 | ready |\n| 2 | failed |\n"),
    ],
)
def test_sql_formats(said: pytest.CaptureFixture[str], output_format: str, expected: str) -> None:
    assert main(["sql", "SELECT tp_size, outcome FROM runs ORDER BY tp_size", "--format", output_format]) == 0

    assert said.readouterr().out == expected


def test_sql_as_parquet_to_a_file_and_to_a_pipe(db: Path, tmp_path: Path) -> None:
    file = tmp_path / "o.parquet"
    piped = subprocess.run(
        [sys.executable, "-m", "logscope", "sql", "FROM runs", "--format", "parquet", "--db", str(db)],
        capture_output=True,
        check=True,
    )
    (tmp_path / "p.parquet").write_bytes(piped.stdout)

    assert main(["sql", "FROM runs", "--format", "parquet", "--output", str(file), "-q"]) == 0

    for written in (file, tmp_path / "p.parquet"):
        assert duckdb.connect().execute(f"SELECT count(*) FROM '{written}'").fetchall() == [(2,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELEC 1",
        "SELECT 1; SELECT 2",
        "",
        "DELETE FROM runs",
        "COPY runs TO '{folder}/out.csv'",
        "SELECT * FROM read_text('{folder}/good.log')",
        "SELECT * FROM '{folder}/good.log'",
        "ATTACH '{folder}/other.duckdb'",
        "SET memory_limit = '9GB'",
        "INSTALL httpfs",
    ],
)
def test_sql_reads_the_store_and_nothing_else(db: Path, said: pytest.CaptureFixture[str], query: str) -> None:
    before = db.read_bytes()

    code = main(["sql", query.replace("{folder}", str(db.parent)) or " "])

    out = said.readouterr()
    assert code == 2
    assert out.out == ""
    assert len(out.err.splitlines()) == 1
    assert db.read_bytes() == before
    assert not (db.parent / "out.csv").exists()


def test_sql_says_when_rows_were_cut(said: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "SELECT * FROM range(10)", "--limit", "3", "--format", "csv"]) == 0

    out = said.readouterr()
    assert out.out == "range\n0\n1\n2\n"
    assert "only the first 3 rows" in out.err


def test_sql_without_a_query_lists_tables_and_views(
    said: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    assert main(["sql"]) == 0

    lines = said.readouterr().out.splitlines()
    assert any(line.startswith("table  runs ") for line in lines)
    assert any(line.startswith("view   last_good ") for line in lines)


def test_sql_reads_a_query_from_standard_input(
    said: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT count(*) AS n FROM runs"))

    assert main(["sql", "-", "--format", "csv"]) == 0

    assert said.readouterr().out == "n\n2\n"


def test_a_query_is_saved_listed_and_run(
    said: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    assert main(["sql", "-- How many?\nSELECT count(*) AS n FROM runs", "--save", "how-many", "-q"]) == 0
    assert main(["sql", "--saved", "how-many", "--format", "csv"]) == 0
    counted = said.readouterr().out
    assert main(["sql", "--list"]) == 0

    assert counted == "n\n2\n"
    assert "How many?" in said.readouterr().out


def test_ctrl_c_stops_a_query(db: Path) -> None:
    endless = "SELECT count(*) FROM range(100000000) a, range(100000000) b"
    with subprocess.Popen(
        [sys.executable, "-m", "logscope", "sql", endless, "--db", str(db)],
        stderr=subprocess.PIPE,
        text=True,
    ) as asking:
        time.sleep(2.0)
        asking.send_signal(signal.SIGINT)
        try:
            _, err = asking.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            asking.kill()
            raise

    assert asking.returncode == 130
    assert err.startswith("logscope: interrupted")


def test_mark_overrides_and_shows_in_the_list(db: Path, said: pytest.CaptureFixture[str]) -> None:
    assert main(["mark", "last-ready", "bad", "--note", "half the speed"]) == 0
    assert main(["runs", "--marked", "bad", "--format", "json"]) == 0

    out = said.readouterr()
    assert json.loads(out.out)["runs"][0]["note"] == "half the speed"
    assert main(["mark", "nothing", "good"]) == 2


def test_prune_says_what_goes_and_keeps_notes(db: Path, said: pytest.CaptureFixture[str]) -> None:
    main(["mark", "last-ready", "good", "--note", "ours", "-q"])

    assert main(["prune"]) == 2
    assert main(["prune", "--keep", "1", "--dry-run"]) == 0
    assert "1 runs would go" in said.readouterr().out
    assert main(["prune", "--keep", "1", "-q"]) == 0
    out = said.readouterr().out

    assert "good.log" in out and out.endswith("1 runs dropped\n")
    assert (
        main(["sql", "SELECT (SELECT count(*) FROM runs), (SELECT note FROM notes)", "--format", "csv"]) == 0
    )
    assert said.readouterr().out.splitlines()[1] == "1,ours"
    assert main(["ingest", str(db.parent / "good.log"), "-q"]) == 0
    said.readouterr()
    assert main(["runs", "--marked", "good", "--format", "json"]) == 0
    assert [run["note"] for run in json.loads(said.readouterr().out)["runs"]] == ["ours"]


@pytest.mark.parametrize("number", ["-1", "1.5", "all"])
def test_prune_refuses_a_number_of_runs_that_is_none(
    number: str, db: Path, said: pytest.CaptureFixture[str]
) -> None:
    before = db.read_bytes()

    assert main(["prune", "--keep", number]) == 2

    assert "not a number from 0 on" in said.readouterr().err
    assert db.read_bytes() == before


def test_prune_compacts_the_file(db: Path, said: pytest.CaptureFixture[str]) -> None:
    for number in range(2):
        text = launch_log(START + timedelta(days=number + 1), decode=30_000)
        main(["ingest", "-q", str(write_log(db.parent / f"{number}.log", text))])
    before = db.stat().st_size

    assert main(["prune", "--keep", "1", "-q"]) == 0

    assert db.stat().st_size < before
    assert main(["runs", "--format", "csv"]) == 0


def test_prune_by_age_and_outcome(said: pytest.CaptureFixture[str]) -> None:
    assert main(["prune", "--older-than", "1d", "--outcome", "failed", "--format", "json"]) == 0

    pruned = json.loads(said.readouterr().out)
    assert [run["outcome"] for run in pruned["runs"]] == ["failed"]


def test_export_writes_every_table_but_not_the_salt(
    db: Path, said: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "out"

    assert main(["export", "--format", "csv", "--output", str(folder)]) == 0

    names = {file.stem for file in folder.iterdir()}
    assert {"runs", "server_args", "batches", "requests", "events"} <= names
    assert not names & {"meta", "reader_states"}
    assert len((folder / "batches.csv").read_text().splitlines()) == 13


def test_export_of_one_run(db: Path, said: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["export", "last-failed", "--format", "parquet", "--output", str(tmp_path / "one")]) == 0
    report = tmp_path / "report.html"
    assert main(["export", "last-failed", "--format", "html", "--output", str(report), "-q"]) == 0
    said.readouterr()
    assert main(["export", "last-failed", "--format", "json"]) == 0

    assert duckdb.connect().execute(f"SELECT DISTINCT run_id FROM '{tmp_path}/one/server_args.parquet'").fetchall() != []
    assert "no room" in report.read_text()
    assert json.loads(said.readouterr().out)["schema"] == "logscope.diff/1"


def test_history_tells_where_a_thing_appeared(said: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "arg", "tp-size"]) == 0
    args = said.readouterr().out
    assert main(["history", "env", "A", "--format", "json"]) == 0
    env = json.loads(said.readouterr().out)
    assert main(["history", "error", "no room"]) == 0
    error = said.readouterr().out

    assert args.splitlines()[0] == "tiny :30000"
    assert [span["value"] for span in env["spans"]] == ["1", "2"]
    assert "root" in error and "bad.log" in error
    assert main(["history", "arg", "tp_sizes"]) == 2
    assert "near: tp_size" in said.readouterr().err


def test_a_closed_pipe_is_no_trouble(db: Path) -> None:
    command = (
        f"{sys.executable} -m logscope sql 'SELECT * FROM range(100000)' --limit 100000 --db {db} | head -1"
    )

    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, env=os.environ
    )

    assert done.stderr == ""


def test_escape_sequences_do_not_reach_the_terminal(db: Path, said: pytest.CaptureFixture[str]) -> None:
    nasty = launch_log(START + timedelta(days=1), ready=False, error="ValueError: evil \u202e words")
    main(["ingest", "-q", str(write_log(db.parent / "nasty.log", nasty))])
    main(["mark", "last", "bad", "--note", "\x1b]0;owned\x07", "-q"])
    said.readouterr()

    for command in (
        ["runs"],
        ["history", "error", "evil"],
        ["sql", "SELECT root_message, mark_note FROM runs"],
        ["sql", "SELECT root_message, mark_note FROM runs", "--format", "markdown"],
    ):
        assert main(command) == 0
        text = said.readouterr().out
        assert "evil" in text
        assert not {"\x1b", "\u202e"} & set(text)
