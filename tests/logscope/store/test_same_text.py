"""Which files hold the same log: copies, beginnings of it, other encodings; and which do not."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from logscope.store import Store
from tests.logscope.store.launches import SAMPLES, START, launch_log, write_log

FIRST = launch_log(stopped=True)
SECOND = launch_log(START + timedelta(hours=1), tp_size=2, ready=False, error="ValueError: no")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store" / "logs.duckdb")


def logscope(store: Store, *words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "logscope", *map(str, words), "--db", str(store.path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def shown_id(store: Store, log: Path) -> str:
    shown: str = json.loads(logscope(store, "show", log, "--format", "json").stdout)["runs"][-1]["run_id"]
    return shown


@pytest.mark.parametrize("names", [("old.log", "server.log"), ("z_old.log", "server.log")])
def test_a_copy_of_the_beginning_holds_the_first_launches_only(
    store: Store, tmp_path: Path, names: tuple[str, str]
) -> None:
    folder = tmp_path / "pf"
    folder.mkdir()
    old, server = folder / names[0], folder / names[1]
    old.write_text(FIRST)
    server.write_text(FIRST + SECOND)

    report = store.ingest([folder])

    first, second = store.load(f"{server}#1"), store.load(f"{server}#2")
    assert len(report.runs) == 2
    assert store.load(str(old)).run_id == first.run_id
    assert store.load(str(server)).run_id == second.run_id
    assert set(first.paths) == {str(old), str(server)}
    assert second.paths == (str(server),)
    assert second.path == str(server)
    rows = store.query("SELECT path, ordinal FROM run_sources ORDER BY path, ordinal").rows
    assert sorted(rows) == sorted([(str(old), 1), (str(server), 1), (str(server), 2)])
    assert logscope(store, "mark", old, "good").returncode == 0
    assert store.load(first.run_id).mark is not None
    assert store.load(second.run_id).mark is None
    assert logscope(store, "diff", old, "--format", "json").returncode != 2
    assert json.loads(logscope(store, "show", old, "--format", "json").stdout)["runs"][0]["run_id"] == (
        first.run_id
    )


def test_a_diff_of_the_copy_tells_of_its_own_last_launch(tmp_path: Path, store: Store) -> None:
    failed = launch_log(START, ready=False, error="ValueError: the first")
    old = write_log(tmp_path / "old.log", failed)
    store.ingest([write_log(tmp_path / "server.log", failed + SECOND)])

    told = json.loads(logscope(store, "diff", old, "--format", "json").stdout)

    assert told["bad"]["run_id"] == store.load(f"{tmp_path}/server.log#1").run_id


@pytest.mark.parametrize("cut", [300, 700, 1400, 2600])
def test_the_id_stays_while_a_log_grows_and_is_the_one_that_show_tells(
    store: Store, tmp_path: Path, cut: int
) -> None:
    whole = (SAMPLES / "s02_ok_eagle3.log").read_bytes()
    log = tmp_path / "t.log"
    log.write_bytes(whole[:cut] if cut < 2600 else whole[:9001])
    first = store.ingest([log]).runs

    log.write_bytes(whole)
    second = store.ingest([log]).runs

    if first:  # some of the beginnings are nothing of a launch yet
        assert first == second
    assert [shown_id(store, log)] == list(second)
    copy = tmp_path / "copy.log"
    copy.write_bytes(whole)
    assert [shown_id(store, copy)] == list(second)
    packed = tmp_path / "copy.log.gz"
    packed.write_bytes(gzip.compress(whole))
    assert [shown_id(store, packed)] == list(second)


def test_a_log_cut_back_to_its_beginning_is_no_other_run(store: Store, tmp_path: Path) -> None:
    whole = (SAMPLES / "p01_perf_base.log").read_bytes()
    log = tmp_path / "t.log"
    for size in (9001, len(whole), 8000, 2000):
        log.write_bytes(whole[:size])
        os.utime(log, (1e9 + size, 1e9 + size))
        store.ingest([log])

    assert len(store.facts()) == 1
    assert store.load(str(log)).run.outcome == "ready"


def test_a_long_log_cut_back_is_found_by_the_file_that_still_holds_it(store: Store, tmp_path: Path) -> None:
    whole = launch_log(decode=2000, stopped=True)
    server = write_log(tmp_path / "server.log", whole)
    old = write_log(tmp_path / "old.log", whole[: len(whole) * 2 // 3])

    report = store.ingest([server, old])

    assert [path.status.value for path in report.paths] == ["new", "known"]
    assert len(store.facts()) == 1


ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-16 without a mark": lambda text: text.encode("utf-16-be"),
    "with a byte order mark": lambda text: text.encode("utf-8-sig"),
    "line ends of Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "packed, line ends of Windows": lambda text: gzip.compress(text.replace("\n", "\r\n").encode()),
}


@pytest.mark.parametrize("written", ENCODINGS.values(), ids=ENCODINGS.keys())
def test_the_same_text_in_other_bytes_is_the_same_run(
    store: Store, tmp_path: Path, written: Callable[[str], bytes]
) -> None:
    text = launch_log(decode=700)
    plain, other = tmp_path / "a.log", tmp_path / "b.log"
    plain.write_text(text)
    other.write_bytes(written(text))

    first = store.ingest([plain, other])
    other.write_bytes(written(text + SECOND))
    grown = store.ingest([other])
    plain.write_text(text + SECOND)
    last = store.ingest([plain])

    assert [path.status.value for path in first.paths] == ["new", "known"]
    assert [path.status.value for path in (*grown.paths, *last.paths)] == ["grown", "known"]
    assert len(store.facts()) == 2
    assert store.query("SELECT count(*) FROM batches WHERE kind = 'decode'").rows == ((700,),)
    assert shown_id(store, other) == shown_id(store, plain) == store.load(str(plain)).run_id


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_log_that_grows_by_pieces_of_any_size_has_the_sums_of_the_whole(
    store: Store, tmp_path: Path, ends: str
) -> None:
    text = launch_log(decode=900, stopped=True).replace("\n", ends).encode()
    log, whole = tmp_path / "a.log", tmp_path / "b.log"
    for size in (200, 1500, text.index(b"\n", 3000), 3001, 40_000, 70_000, len(text)):
        log.write_bytes(text[:size])
        store.ingest([log])
    whole.write_bytes(text)
    fresh = Store.open(tmp_path / "fresh.duckdb")

    assert [path.status.value for path in store.ingest([whole]).paths] == ["known"]
    fresh.ingest([whole])
    sums = "SELECT text_size, text_crc32, bytes_read, crc32, content_key FROM logs"
    assert store.query(sums).rows == fresh.query(sums).rows
    beginnings = "SELECT DISTINCT size, crc32 FROM beginnings ORDER BY size LIMIT 400"
    assert store.query(beginnings).rows == fresh.query(beginnings).rows


@pytest.mark.parametrize("packed", [False, True])
def test_logs_with_one_beginning_and_different_ends_stay_two(
    store: Store, tmp_path: Path, packed: bool
) -> None:
    lines = launch_log(decode=60).splitlines(keepends=True)
    texts = {
        "whole.log": lines,
        "killed.log": [*lines[:20], "Killed\n"],
        "edited.log": [*lines[:19], lines[19].replace("[2026", "[2027"), *lines[20:30]],
    }
    for name, text in texts.items():
        block = "".join(text).encode()
        (tmp_path / name).write_bytes(gzip.compress(block) if packed else block)

    store.ingest([tmp_path / name for name in texts])
    again = store.ingest([tmp_path / name for name in reversed(texts)])

    assert len(store.facts()) == 3
    assert {path.status.value for path in again.paths} == {"known"}
    assert len({shown_id(store, tmp_path / name) for name in texts}) == 3
    assert all(shown_id(store, tmp_path / name) == store.load(str(tmp_path / name)).run_id for name in texts)


def test_a_few_warnings_before_two_launches_make_them_no_one_log(store: Store, tmp_path: Path) -> None:
    warnings = "[2026-02-03 04:05:06] Fail to set RLIMIT_NOFILE: current limit exceeds maximum limit\n"
    short = write_log(tmp_path / "short.log", warnings)
    first, second = (
        write_log(tmp_path / name, warnings + text)
        for name, text in (("first.log", FIRST), ("second.log", SECOND))
    )

    store.ingest([first])
    store.ingest([short])
    store.ingest([second])

    assert len({store.load(str(log)).run_id for log in (first, second)}) == 2
    assert not store.load(str(first)).paths[1:]
    assert not store.load(str(second)).paths[1:]


def test_a_longer_copy_without_a_context_file_keeps_what_is_known_of_the_launch(
    store: Store, tmp_path: Path
) -> None:
    old = write_log(tmp_path / "old.log", FIRST, host="node-1", env={"A": "1"})
    store.ingest([old])

    store.ingest([write_log(tmp_path / "server.log", FIRST + SECOND)])

    first = store.load(f"{old}#1")
    assert first.context is not None and first.context.env == {"A": "1"}
    assert first.host == "node-1"
    assert store.load(str(tmp_path / "server.log")).context is None


def test_a_store_of_the_first_schema_knows_its_logs(store: Store, tmp_path: Path) -> None:
    """Its rows have no sums of texts: those of its bytes stand for them."""
    import duckdb

    log = write_log(tmp_path / "a.log", FIRST)
    store.ingest([log])
    with duckdb.connect(str(store.path)) as connection:
        connection.execute("UPDATE logs SET text_size = NULL, text_crc32 = NULL")
        connection.execute("UPDATE sources SET lines = NULL")
        connection.execute("DELETE FROM beginnings")

    copy = write_log(tmp_path / "copy.log", FIRST)
    assert [path.status.value for path in store.ingest([copy, log]).paths] == ["known", "known"]
    assert store.load(str(log)).paths == (str(log), str(copy))
    log.write_text(FIRST + SECOND)
    assert [path.status.value for path in store.ingest([log]).paths] == ["grown"]


def test_a_run_named_by_its_path_and_by_its_id_is_compared_once(store: Store, tmp_path: Path) -> None:
    whole = (SAMPLES / "p01_perf_base.log").read_bytes()
    log = tmp_path / "t.log"
    log.write_bytes(whole[:9001])
    store.ingest([log])
    log.write_bytes(whole)
    run_id = store.ingest([log]).runs[0]

    told = logscope(store, "compare", log, run_id, "--format", "json")

    assert len(json.loads(told.stdout)["runs"]) == 1
    assert "named twice" in told.stderr
