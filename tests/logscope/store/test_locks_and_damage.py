"""The store among other processes: locks, kills, full disks, and files that are no stores."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from logscope.errors import StoreError, StoreLocked
from logscope.notices import listen
from logscope.store import Store
from logscope.store.connection import Database
from logscope.store.schema import VERSION
from tests.logscope.store.launches import START, launch_log, write_log

ROOT = Path(__file__).parents[3]


def logscope(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "logscope", *map(str, words)]


def many_logs(folder: Path, count: int, decode: int = 20) -> list[Path]:
    folder.mkdir()
    return [
        write_log(folder / f"{number}.log", launch_log(START + timedelta(hours=number), decode=decode))
        for number in range(count)
    ]


def test_a_held_lock_is_waited_for_and_then_its_holder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    Store.open(path).ingest([write_log(tmp_path / "a.log", launch_log())])
    hold = (
        f"import duckdb, sys; c = duckdb.connect({str(path)!r}); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None and holder.stdin is not None
        assert holder.stdout.readline() == "held\n"

        with pytest.raises(StoreLocked) as locked:
            Store.open(path, read_only=True, patience=0.2).facts()
        told: list[str] = []
        listen(told.append)
        with pytest.raises(StoreLocked):
            Store.open(path, read_only=True, patience=1.5).facts()
        listen(None)
        holder.stdin.close()
        holder.wait()

    assert f"process {holder.pid} (" in locked.value.message
    assert len(told) == 1
    assert f"process {holder.pid} (" in told[0]
    assert told[0].endswith("holds the store; waiting up to 2 s")
    assert len(Store.open(path, read_only=True, patience=5).facts()) == 1


def test_two_writers_and_a_reader_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    first, second = many_logs(tmp_path / "one", 5), many_logs(tmp_path / "two", 5)
    for log in second:
        log.write_text(log.read_text().replace("/models/tiny", "/models/other"))
    writers = [
        subprocess.Popen(
            logscope("ingest", *logs, "--db", path), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for logs in (first, second)
    ]

    seen = 0
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            count = len(Store.open(path, read_only=True).facts())
            assert count >= seen
            seen = count
        time.sleep(0.02)
    said = [writer.communicate()[1] for writer in writers]

    assert [writer.returncode for writer in writers] == [0, 0], said
    assert len(Store.open(path, read_only=True).facts()) == 10


def test_two_processes_that_take_in_the_same_logs_make_each_run_once(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    logs = many_logs(tmp_path / "one", 4)
    writers = [
        subprocess.Popen(logscope("ingest", *logs, "--db", path), cwd=ROOT, stdout=subprocess.DEVNULL)
        for _ in range(3)
    ]

    codes = [writer.wait() for writer in writers]

    assert codes == [0, 0, 0]
    assert len(Store.open(path).facts()) == 4
    assert Store.open(path).query("SELECT count(*) FROM logs").rows == ((4,),)


@pytest.mark.parametrize("delay", [0.4, 0.7, 1.0])
def test_a_killed_ingest_leaves_whole_runs_only(tmp_path: Path, delay: float) -> None:
    path = tmp_path / "s.duckdb"
    logs = many_logs(tmp_path / "logs", 16, decode=50)
    writer = subprocess.Popen(
        logscope("ingest", *logs, "--db", path),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(delay)
    writer.send_signal(signal.SIGKILL)
    writer.wait()

    store = Store.open(path)
    if store.exists():
        rows = store.query(
            "SELECT r.run_id, (SELECT count(*) FROM server_args a WHERE a.run_no = r.run_no), "
            "(SELECT count(*) FROM batches b WHERE b.run_no = r.run_no) FROM runs r"
        ).rows
        assert {row[1:] for row in rows} <= {(13, 52)}
    store.ingest(logs)

    assert len(store.facts()) == 16
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_a_full_disk_is_said_and_the_store_keeps_what_it_had(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    store = Store.open(path)
    store.ingest([write_log(tmp_path / "a.log", launch_log())])
    big = write_log(tmp_path / "big.log", launch_log(START + timedelta(days=1), decode=60_000))
    limit = path.stat().st_size + 4096

    done = subprocess.run(
        logscope("ingest", big, "--db", path),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )

    assert done.returncode == 2
    assert done.stderr.startswith("logscope: ")
    assert len(done.stderr.splitlines()) == 1
    assert [Path(facts.path).name for facts in store.facts()] == ["a.log"]
    store.ingest([big])
    assert len(store.facts()) == 2


@pytest.mark.parametrize("content", [b"hello, this is no database\n" * 500, b"\0" * 9000])
def test_a_file_that_is_no_duckdb_file_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    log = write_log(tmp_path / "a.log", launch_log())

    with pytest.raises(StoreError, match=r"notes\.txt: not a LogScope store"):
        Store.open(path).ingest([log])
    with pytest.raises(StoreError, match=r"notes\.txt: not a LogScope store"):
        Store.open(path, read_only=True).facts()

    assert path.read_bytes() == content


def test_an_sqlite_file_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("CREATE TABLE t (a)")
        theirs.commit()
    before = path.read_bytes()

    with pytest.raises(StoreError, match=r"theirs\.sqlite: not a LogScope store"):
        Store.open(path, read_only=True).facts()
    with pytest.raises(StoreError, match=r"theirs\.sqlite: not a LogScope store"):
        Store.open(path).ingest([write_log(tmp_path / "a.log", launch_log())])

    assert path.read_bytes() == before


def test_a_duckdb_file_of_somebody_else_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "theirs.duckdb"
    with duckdb.connect(str(path)) as theirs:
        theirs.execute("CREATE TABLE runs (a INTEGER)")
    before = path.read_bytes()

    with pytest.raises(StoreError, match="a DuckDB file, but not a LogScope store"):
        Store.open(path).ingest([write_log(tmp_path / "a.log", launch_log())])

    assert path.read_bytes() == before


def test_a_store_of_a_newer_logscope_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    log = write_log(tmp_path / "a.log", launch_log())
    Store.open(path).ingest([log])
    with duckdb.connect(str(path)) as newer:
        newer.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", [str(VERSION + 1)])
    before = path.read_bytes()

    for ask in (lambda: Store.open(path).ingest([log]), lambda: Store.open(path, read_only=True).facts()):
        with pytest.raises(StoreError, match="newer LogScope"):
            ask()

    assert path.read_bytes() == before


def test_a_store_that_may_not_be_written_is_read_and_said_when_written(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everything")
    path = tmp_path / "s.duckdb"
    log = write_log(tmp_path / "a.log", launch_log())
    Store.open(path).ingest([log])
    path.chmod(0o444)

    assert len(Store.open(path, read_only=True).facts()) == 1
    with pytest.raises(StoreError, match="Permission denied"):
        Store.open(path).mark("last", "good")


def test_a_missing_store_is_said_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store there") as missing:
        Store.open(tmp_path / "none.duckdb", read_only=True).facts()

    assert "logscope ingest" in missing.value.hint


def test_one_process_may_read_and_write_by_turns(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.duckdb")
    store.ingest([write_log(tmp_path / "a.log", launch_log())])

    with store.reading():
        run = store.load("last")
        store.mark(run.run_id, "bad", "while reading")
        marked = store.load("last").mark

    assert marked is not None and marked.note == "while reading"


def test_ctrl_c_while_duckdb_works_is_an_interrupt_and_no_error() -> None:
    database = Database(None)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt), database.reading() as connection:
        connection.execute("SELECT count(*) FROM range(100000000) a, range(100000000) b").fetchall()
