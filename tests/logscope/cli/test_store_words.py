"""What the store's commands say, and which words they take: with real processes, files, pipes and terminals."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from logscope.store import Store
from tests.logscope.store.launches import START, launch_log, write_log


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "s.duckdb"


def logscope(db: Path, *words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "logscope", *map(str, words), "--db", str(db)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, timeout=60)


def test_the_first_skipped_files_are_named_with_why(db: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.log").write_text("hello\n")
    write_log(folder / "a.log", launch_log())

    few = logscope(db, "ingest", folder).stdout.splitlines()
    every = logscope(db, "ingest", folder, "-v").stdout.splitlines()

    assert [line for line in few if line.startswith("skipped")] == [
        *(f"skipped   {folder}/{number}.log: nothing of an SGLang launch in it" for number in range(3)),
        "skipped   2 more (-v names them all)",
    ]
    assert len([line for line in every if line.startswith("skipped")]) == 5


def test_a_context_that_came_later_is_told(db: Path, tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.log", launch_log())
    logscope(db, "ingest", log)
    write_log(log, launch_log(), model_configs={"target": {"vocab_size": 1}}, env={"A": "1"})

    told = logscope(db, "ingest", log).stdout

    assert "launch 1: model configs: added" in told
    assert "launch 1: environment: added" in told
    assert "nothing changed" not in told


def test_what_an_interrupted_ingest_has_told_is_in_the_store(db: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(150):
        write_log(folder / f"{number:03}.log", launch_log(START + timedelta(hours=number), decode=40))
    os.mkfifo(tmp_path / "held.log")  # the last input never ends: reading it is what is interrupted
    holder = os.open(tmp_path / "held.log", os.O_RDWR)
    command = [sys.executable, "-m", "logscope", "ingest", str(folder), str(tmp_path / "held.log")]
    process = subprocess.Popen(
        [*command, "--db", str(db)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    told = [process.stdout.readline() for _ in range(64)]  # the first group, as soon as it is written
    process.send_signal(signal.SIGINT)
    told += process.stdout.readlines()  # communicate() would not give what readline() has read ahead
    said = process.stderr.read()
    process.wait(timeout=60)
    os.close(holder)

    ids = {line.split()[-1] for line in told if line.startswith("new")}
    kept = {run.run_id[:12] for run in Store.open(db).facts()}
    assert process.returncode == 130
    assert ids == kept and len(kept) >= 64
    assert f"interrupted: {len(kept)} logs ({len(kept)} runs) are in the store" in said
    assert f"{151 - len(kept)} input" in said


def test_a_pipe_without_a_writer_is_an_error_and_one_with_a_writer_is_read(db: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.log"
    os.mkfifo(pipe)

    for command in ("show", "ingest"):
        done = logscope(db, command, pipe)
        assert done.returncode == 2
        assert "a pipe into which nobody writes" in done.stderr

    text = launch_log(decode=20_000)
    writer = subprocess.Popen(["sh", "-c", f"sleep 1; cat > {pipe}"], stdin=subprocess.PIPE, text=True)
    reader = subprocess.Popen(
        [sys.executable, "-m", "logscope", "show", str(pipe), "--format", "json", "--db", str(db)],
        stdout=subprocess.PIPE,
        text=True,
    )
    writer.communicate(text)
    shown = json.loads(reader.communicate(timeout=60)[0])
    assert shown["runs"][0]["throughput"]["decode"]["lines"] == 20_000


@pytest.mark.parametrize("command", ["show", "diff", "ingest", "triage", "explain"])
def test_a_link_to_nowhere_is_named_as_one(db: Path, tmp_path: Path, command: str) -> None:
    link = tmp_path / "link.log"
    link.symlink_to(tmp_path / "gone.log")

    done = logscope(db, command, link)

    assert done.returncode == 2
    assert f"a link to {tmp_path}/gone.log, which is not there" in done.stderr


def test_a_file_called_last_does_not_hide_the_newest_run(db: Path, tmp_path: Path) -> None:
    write_log(tmp_path / "a.log", launch_log())
    (tmp_path / "last").write_text(
        launch_log(START + timedelta(hours=1), ready=False, error="ValueError: no")
    )
    logscope(db, "ingest", tmp_path / "a.log")

    alias = logscope(db, "show", "last", cwd=tmp_path)
    file = logscope(db, "show", "./last", cwd=tmp_path)

    assert alias.returncode == 0
    assert "the file of this name is ./last" in alias.stderr
    assert file.returncode == 1


@pytest.mark.parametrize("word", ["tp_size", "tp-size", "--tp-size", "--tp", "tp", "--tensor-parallel-size"])
def test_the_history_of_an_argument_is_asked_by_name_or_flag(db: Path, tmp_path: Path, word: str) -> None:
    logscope(db, "ingest", write_log(tmp_path / "a.log", launch_log(tp_size=4)))

    done = logscope(db, "history", "arg", word, "--format", "json")

    assert [span["value"] for span in json.loads(done.stdout)["spans"]] == ["4"]


def test_a_run_without_printed_times_has_its_contexts_start(db: Path, tmp_path: Path) -> None:
    text = re.sub(r"^\[[^]]*\] ", "", launch_log(), flags=re.MULTILINE)
    log = write_log(tmp_path / "a.log", text, start_time="2026-02-03T04:05:06+00:00")
    logscope(db, "ingest", log)

    assert "2026-02-03 04:05:06" in logscope(db, "runs").stdout


def test_no_progress_of_a_long_query_is_drawn_on_standard_output(db: Path, tmp_path: Path) -> None:
    logscope(db, "ingest", write_log(tmp_path / "a.log", launch_log()))
    query = "SELECT sum(a.i * b.i % 7) AS total FROM range(60000) a(i), range(20000) b(i)"
    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "logscope", "sql", query, "--db", str(db)]
    process = subprocess.Popen(command, stdout=terminal, stderr=subprocess.DEVNULL)
    os.close(terminal)
    seen = b""
    while True:
        try:
            block = os.read(main, 4096)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        seen += block

    assert process.wait() == 0
    assert b"total" in seen
    assert b"%" not in seen and "█".encode() not in seen
