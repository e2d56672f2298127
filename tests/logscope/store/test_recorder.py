"""A launch whose recording was never ended: it runs while its recorder lives, and is over when that is gone."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

from logscope.context import read_context
from logscope.store import Store
from logscope.store.recorder import mark_of
from parsers.records import Outcome
from tests.logscope.store.launches import launch_log, write_log


def recorded(
    folder: Path, process: subprocess.Popen[bytes], host: str | None = None, mark: str | None = None
) -> Path:
    return write_log(
        folder / "server.log",
        launch_log(ready=False),
        start_time="2026-02-03T04:05:06+00:00",
        recorder=mark or mark_of(process.pid),
        host=host or platform.node(),
    )


def make_still(log: Path) -> None:
    long_ago = time.time() - 3600
    os.utime(log, (long_ago, long_ago))


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])


def test_it_is_over_when_its_recorder_is_gone_and_its_log_is_still(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.duckdb")
    recorder = sleeper()
    log = recorded(tmp_path, recorder)
    make_still(log)

    store.ingest([log])
    running = store.load("last").run
    recorder.kill()
    recorder.wait()
    report = store.ingest([log])
    over = store.load("last").run

    assert running.outcome is Outcome.RUNNING
    assert "no end is written yet" in running.reason and "last line at 2026-02-03 04:05:" in running.reason
    assert report.paths[0].changes[0] == "launch 1: outcome: running -> killed"
    assert over.outcome is Outcome.KILLED
    assert "its recorder was killed" in over.reason and "last line at 2026-02-03 04:05:" in over.reason
    assert [path.status.value for path in store.ingest([log]).paths] == ["known"]


def test_while_the_log_is_written_or_another_machine_records_nothing_is_claimed(tmp_path: Path) -> None:
    recorder = sleeper()
    places = (
        ("fresh", None, None),
        ("elsewhere", "another-machine", None),
        ("contained", None, "1 9 pid:[7]"),
    )
    for name, host, mark in places:
        (tmp_path / name).mkdir()
        log = recorded(tmp_path / name, recorder, host, mark)
        if name != "fresh":
            make_still(log)
    recorder.kill()
    recorder.wait()
    store = Store.open(tmp_path / "s.duckdb")

    for name, _, _ in places:
        store.ingest([tmp_path / name])
        assert store.load(str(tmp_path / name / "server.log")).run.outcome is Outcome.RUNNING


def test_record_names_itself_until_it_writes_the_end(tmp_path: Path) -> None:
    log, context = tmp_path / "a.log", tmp_path / "a.context.json"
    words = ["record", "--log", log, "--db", tmp_path / "s.duckdb", "--", sys.executable, "-c", "input()"]
    command = [sys.executable, "-m", "logscope", *map(str, words)]
    recorder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    for _ in range(600):
        if context.exists() and "recorder" in json.loads(context.read_text()):
            break
        time.sleep(0.05)

    during = read_context(context)
    recorder.communicate(b"\n")

    assert during.recorder is not None and during.recorder.startswith(f"{recorder.pid} ")
    assert read_context(context).recorder is None
    assert read_context(context).end_time is not None
