"""What an ingest does with new, known, grown, replaced and unusable inputs."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from logscope.notices import listen
from logscope.store import Store
from logscope.store.ingest_report import IngestStatus
from tests.logscope.store.launches import SAMPLES, START, launch_log, write_log


def statuses(store: Store, *paths: str | Path) -> list[str]:
    return [path.status.value for path in store.ingest(list(paths)).paths]


@pytest.fixture
def heard() -> Iterator[list[str]]:
    lines: list[str] = []
    listen(lines.append)
    yield lines
    listen(None)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store" / "logs.duckdb")


def test_the_same_log_again_changes_nothing(store: Store, tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.log", launch_log(decode=5))

    first = store.ingest([log])
    again = store.ingest([log])

    assert first.paths[0].status is IngestStatus.NEW
    assert again.paths[0].status is IngestStatus.KNOWN
    assert again.runs == first.runs
    assert len(store.facts()) == 1
    assert store.load("last").throughput.decode_lines == 5


def test_one_log_under_two_names_is_one_run_with_two_sources(store: Store, tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.log", launch_log())
    copy = write_log(tmp_path / "b.log", launch_log())
    packed = tmp_path / "c.log.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))

    report = store.ingest([log, copy, packed])

    assert len(report.runs) == 1
    assert store.load(report.runs[0]).paths == (str(log), str(copy), str(packed))
    assert store.load(str(copy)).run_id == report.runs[0]


def test_the_id_is_the_same_in_every_store_and_in_memory(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.log", launch_log())

    ids = [
        store.ingest([log]).runs
        for store in (Store.open(tmp_path / "1.duckdb"), Store.open(tmp_path / "2.duckdb"))
    ]
    memory = Store.in_memory().ingest([log]).runs

    assert ids[0] == ids[1] == memory


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.97])
def test_a_grown_file_is_the_same_run_read_on(store: Store, tmp_path: Path, cut: float) -> None:
    whole = launch_log(decode=40, stopped=True).encode()
    log = tmp_path / "a.log"
    log.write_bytes(whole[: int(len(whole) * cut)])
    fresh = Store.in_memory()

    first = store.ingest([log])
    log.write_bytes(whole)
    second = store.ingest([log])
    fresh.ingest([log])

    assert second.paths[0].status is IngestStatus.GROWN
    assert second.paths[0].new_bytes == len(whole) - int(len(whole) * cut)
    assert second.runs == first.runs
    grown, at_once = store.load("last"), fresh.load("last")
    assert grown.run == at_once.run
    assert grown.throughput == at_once.throughput


def test_a_large_log_is_read_on_and_not_again(store: Store, tmp_path: Path) -> None:
    whole = launch_log(decode=8000, stopped=True).encode()
    cut = len(whole) * 3 // 4
    log = tmp_path / "a.log"
    log.write_bytes(whole[:cut])
    fresh = Store.in_memory()

    store.ingest([log])
    log.write_bytes(whole)
    second = store.ingest([log])
    fresh.ingest([log])

    assert second.paths[0].new_bytes == len(whole) - cut
    assert store.load("last").run == fresh.load("last").run
    assert store.load("last").throughput == fresh.load("last").throughput


def test_a_reader_state_that_builds_foreign_things_is_not_unpacked(tmp_path: Path) -> None:
    import pickle
    import zlib

    from logscope.store.reader_state import unpack

    class Foreign:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {tmp_path}/ran",)

    assert unpack(zlib.compress(pickle.dumps(Foreign()))) is None
    assert unpack(b"no state") is None
    assert not (tmp_path / "ran").exists()


def test_a_grown_packed_file_is_the_same_run(store: Store, tmp_path: Path) -> None:
    whole = launch_log(decode=40).encode()
    log = tmp_path / "a.log.gz"
    log.write_bytes(gzip.compress(whole[: len(whole) // 2]))

    first = store.ingest([log])
    log.write_bytes(gzip.compress(whole))
    second = store.ingest([log])

    assert second.paths[0].status is IngestStatus.GROWN
    assert second.runs == first.runs
    assert store.load("last").throughput.decode_lines == 40


def test_a_second_launch_appended_is_a_second_run(store: Store, tmp_path: Path) -> None:
    first, second = launch_log(stopped=True), launch_log(START + timedelta(hours=1), tp_size=2)
    log = write_log(tmp_path / "a.log", first)
    store.ingest([log])

    log.write_text(first + second)
    report = store.ingest([log])

    assert len(report.runs) == 2
    assert store.load(f"{log}#1").argument("tp_size") == 1
    assert store.load(f"{log}#2").argument("tp_size") == 2
    assert store.load(str(log)).run.ordinal == 2


def test_a_replaced_file_is_a_new_run_and_the_old_one_stays(store: Store, tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.log", launch_log())
    first = store.ingest([log])

    log.write_text(launch_log(START + timedelta(days=1), tp_size=4))
    second = store.ingest([log])

    assert second.paths[0].status is IngestStatus.REPLACED
    assert second.runs != first.runs
    assert len(store.facts()) == 2
    assert store.load(str(log)).argument("tp_size") == 4


def test_two_logs_with_the_same_beginning_are_two_runs(store: Store, tmp_path: Path) -> None:
    good = write_log(tmp_path / "good.log", launch_log())
    bad = write_log(tmp_path / "bad.log", launch_log(ready=False, error="ValueError: no such thing"))

    report = store.ingest([good, bad])
    again = store.ingest([bad, good])

    assert len(set(report.runs)) == 2
    assert {path.status for path in again.paths} == {IngestStatus.KNOWN}
    assert store.load(str(good)).run.ready
    assert not store.load(str(bad)).run.ready


def test_a_copy_of_what_a_grown_log_was_is_that_log(store: Store, tmp_path: Path) -> None:
    text = launch_log()
    write_log(tmp_path / "first.log", text)
    edited = text.replace("avail mem=53.00 GB", "avail mem=52.00 GB")
    log = write_log(tmp_path / "edited.log", edited)
    store.ingest([tmp_path / "first.log", log])
    log.write_text(edited + "a line more\n")
    store.ingest([log])
    copy = write_log(tmp_path / "copy.log", edited)

    assert statuses(store, copy) == ["known"]
    assert statuses(store, copy, log) == ["known", "known"]
    assert store.load(str(copy)).run_id == store.load(str(log)).run_id
    assert len({run.run_id for run in store.facts()}) == 2


def test_a_log_that_somebody_else_takes_in_all_the_time_is_given_up(store: Store, tmp_path: Path) -> None:
    log = write_log(tmp_path / "busy.log", launch_log(decode=5))
    store.ingest([log])
    other = Store.open(store.path or "")
    sizes: set[int | None] = set()

    def grow() -> None:
        with log.open("a") as file:
            file.write("a line more\n")

    def somebody_else(_done: int, size: int | None) -> None:
        if size not in sizes:  # once each time that it is read
            sizes.add(size)
            grow()
            other.ingest([log])
            grow()

    grow()
    report = store.ingest([log], on_bytes=somebody_else)

    (path,) = report.paths
    assert (path.status, path.hint) == (IngestStatus.FAILED, "take it in again when it rests")
    assert "changes while it is read" in (path.message or "")
    assert statuses(store, log) == ["grown"]


def test_an_edit_that_keeps_the_size_is_noticed(store: Store, tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.log", launch_log(decode=30))
    store.ingest([log])

    log.write_text(log.read_text().replace("throughput (token/s): 115.50", "throughput (token/s): 915.50"))
    os.utime(log, (2e9, 2e9))

    assert statuses(store, log) == ["replaced"]


def test_reparse_says_what_changed_and_keeps_id_and_mark(store: Store, tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.log", launch_log(decode=3))
    first = store.ingest([log]).runs[0]
    store.mark(first, "good", "ours")

    report = store.ingest([log], reparse=True)

    assert report.paths[0].status is IngestStatus.REREAD
    assert report.paths[0].changes == ()
    stored = store.load(first)
    assert stored.mark is not None and stored.mark.note == "ours"
    assert stored.throughput.decode_lines == 3
    assert store.query("SELECT count(*) FROM batches WHERE kind = 'decode'").rows == ((3,),)


def test_a_context_that_came_later_is_taken_up(store: Store, tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.log", launch_log())
    store.ingest([log])

    write_log(log, launch_log(), env={"NCCL_DEBUG": "INFO"}, host="node-1")
    report = store.ingest([log])

    assert report.paths[0].status is IngestStatus.REREAD
    stored = store.load("last")
    assert stored.host == "node-1"
    assert stored.context is not None and stored.context.env == {"NCCL_DEBUG": "INFO"}


def test_files_given_by_hand_win_over_the_context_file(store: Store, tmp_path: Path) -> None:
    log = write_log(
        tmp_path / "a.log", launch_log(), env={"A": "1"}, model_configs={"target": {"vocab_size": 1}}
    )
    (tmp_path / "draft.json").write_text('{"vocab_size": 2, "rope": {"type": "x"}}')
    (tmp_path / "vars.env").write_text("# set by hand\nexport A='2'\nB=3\n")

    store.ingest([log], config_files={"draft": tmp_path / "draft.json"}, env_file=tmp_path / "vars.env")

    context = store.load("last").context
    assert context is not None
    assert context.env == {"A": "2", "B": "3"}
    assert context.model_configs == {
        "target": {"vocab_size": 1},
        "draft": {"vocab_size": 2, "rope": {"type": "x"}},
    }
    assert context.config_origin == {"target": "launch", "draft": "given"}


def test_the_models_own_config_is_read_where_it_lies_on_this_machine(store: Store, tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text('{"num_hidden_layers": 4}')
    log = write_log(tmp_path / "a.log", launch_log(model_path=str(model)))

    store.ingest([log])

    context = store.load("last").context
    assert context is not None
    assert context.model_configs == {"target": {"num_hidden_layers": 4}}
    assert context.config_origin == {"target": "now"}


def test_a_hub_models_config_is_read_from_the_local_cache(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots = tmp_path / "hub" / "models--maker--tiny" / "snapshots"
    for revision, layers in (("aaa", 1), ("bbb", 2)):
        (snapshots / revision).mkdir(parents=True)
        (snapshots / revision / "config.json").write_text(f'{{"num_hidden_layers": {layers}}}')
    (snapshots.parent / "refs").mkdir()
    (snapshots.parent / "refs" / "main").write_text("bbb")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    log = write_log(tmp_path / "a.log", launch_log(speculative_draft_model_path="maker/tiny"))

    store.ingest([log])

    context = store.load("last").context
    assert context is not None
    assert context.model_configs == {"draft": {"num_hidden_layers": 2}}


def test_secrets_of_log_and_context_are_masked(store: Store, tmp_path: Path) -> None:
    secret = "sk-verysecretverysecret1234"
    log = write_log(
        tmp_path / "a.log",
        launch_log(api_key=secret),
        argv=["python", "-m", "sglang.launch_server", "--api-key", secret, f"--admin-api-key={secret}"],
        env={"HF_TOKEN": "hf_abcdefghijklmnopqrstuvwxyz", "PLAIN": "x"},
    )

    store.ingest([log])

    path = store.path
    assert path is not None
    stored = path.read_bytes()
    assert secret.encode() not in stored
    assert b"hf_abcdefghijklmnop" not in stored
    context = store.load("last").context
    assert context is not None and context.env is not None and context.argv is not None
    assert context.env["PLAIN"] == "x"
    assert context.env["HF_TOKEN"].startswith("***")
    assert context.argv[4].startswith("***")


def test_folders_and_globs_bring_logs_and_pass_over_the_rest(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    (folder / "deep").mkdir(parents=True)
    write_log(folder / "a.log", launch_log())
    write_log(folder / "deep" / "b.log.1", launch_log(START + timedelta(hours=2)))
    (folder / "notes.txt").write_text("nothing of a launch\n")
    (folder / "empty.log").write_text("")

    report = store.ingest([folder, str(folder / "*.log")])

    assert sorted(path.status.value for path in report.paths) == ["new", "new", "skipped", "skipped"]
    assert report.failed == ()
    assert len(store.facts()) == 2


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.log", b"", "empty"),
        ("binary.log", bytes(range(256)) * 40, "binary"),
        ("other.log", b"hello\nworld\n", "nothing of an SGLang launch"),
        ("broken.log.gz", b"\x1f\x8b\x08\x00garbage", "cannot be read"),
    ],
)
def test_what_is_no_log_fails_in_one_line_and_the_others_go_in(
    store: Store, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    good = write_log(tmp_path / "good.log", launch_log())
    wrong = tmp_path / name
    wrong.write_bytes(content)

    report = store.ingest([wrong, good])

    assert [path.status.value for path in report.paths] == ["failed", "new"]
    assert said in report.failed[0].message
    assert "\n" not in report.failed[0].message
    assert len(store.facts()) == 1


def test_what_is_not_there_fails_and_the_others_go_in(store: Store, tmp_path: Path) -> None:
    good = write_log(tmp_path / "good.log", launch_log())
    (tmp_path / "nothing").mkdir()

    report = store.ingest([tmp_path / "missing.log", str(tmp_path / "*.nolog"), tmp_path / "nothing", good])

    assert [path.status.value for path in report.paths] == ["failed"] * 3 + ["new"]
    assert all(str(tmp_path) in path.message for path in report.failed)


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("[1, 2]", "a context file is a JSON object, this is a list"),
        ("{bad", "not readable as a context file: Expecting property name"),
        ('{"argv": 5}', "argv is a int (expected a list)"),
    ],
)
def test_a_damaged_context_is_told_once_and_its_log_is_read_without(
    content: str, wrong: str, store: Store, tmp_path: Path, heard: list[str]
) -> None:
    bad = write_log(tmp_path / "bad.log", launch_log())
    beside = tmp_path / "bad.context.json"
    beside.write_text(content)
    good = write_log(tmp_path / "good.log", launch_log(START + timedelta(hours=1)))

    report = store.ingest([bad, good, tmp_path], jobs=2)

    assert [path.status.value for path in report.paths] == ["new", "new"]
    assert len(heard) == 1
    assert heard[0].startswith(f"{beside}: {wrong}")
    assert heard[0].endswith("the log is read without it")


def test_a_mended_context_is_taken_up(store: Store, tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.log", launch_log())
    beside = tmp_path / "a.context.json"
    beside.write_text('{"host": "one"')
    store.ingest([log])

    beside.write_text('{"host": "one"}')
    mended = store.ingest([log])
    beside.write_text('{"host": "two"')
    damaged = store.ingest([log])

    assert [each.paths[0].status.value for each in (mended, damaged)] == ["reread", "known"]
    context = store.load("last").context
    assert context is not None and context.host == "one"


def test_a_damaged_file_that_was_given_fails_its_log(store: Store, tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.log", launch_log())
    env = tmp_path / "env"
    env.write_text("no variable")

    report = store.ingest([log], env_file=env)

    assert [path.status.value for path in report.paths] == ["failed"]
    assert "line 1 is no NAME=value" in report.failed[0].message


def test_standard_input_is_taken_in(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    command = [sys.executable, "-m", "logscope", "ingest", "-", "--db", str(store)]

    done = subprocess.run(command, input=launch_log(decode=2).encode(), capture_output=True, check=False)

    assert done.returncode == 0, done.stderr
    assert Store.open(store).load("-").throughput.decode_lines == 2


def test_lines_of_a_huge_log_wait_beside_the_store_and_arrive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from logscope.store import waiting_rows

    monkeypatch.setattr(waiting_rows, "ROW_GROUP", 50)
    monkeypatch.setattr(waiting_rows, "MOST_HELD", 1000)
    log = write_log(tmp_path / "a.log", launch_log(decode=500))
    store = Store.open(tmp_path / "s.duckdb")

    store.ingest([log])

    rows = store.query("SELECT count(*), sum(gen_throughput) FROM batches WHERE kind = 'decode'").rows
    assert rows == ((500, sum(100.5 + number for number in range(500))),)
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


@pytest.mark.parametrize("name", ["r03_ok_more_requests", "r13_crash_tokenizer_added_token", "s02_ok_eagle3"])
def test_a_real_run_comes_back_whole(tmp_path: Path, name: str) -> None:
    from parsers import read_log

    log = SAMPLES / f"{name}.log"
    store = Store.in_memory()
    with log.open("rb") as stream:
        read = read_log(stream).runs[0]

    store.ingest([log])

    stored = store.load("last")
    assert stored.run.server_args == read.server_args
    assert stored.run.events == read.events
    assert stored.run.milestones == read.milestones
    assert stored.run.stages == read.stages
    assert stored.run.root_error == read.root_error
    assert stored.run.coverage == read.coverage


def test_pipes_and_dangling_links_in_a_folder_are_passed_by(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_log(folder / "a.log", launch_log())
    os.mkfifo(folder / "pipe.log")
    (folder / "gone.log").symlink_to(tmp_path / "nowhere")

    assert statuses(store, folder) == ["new"]
