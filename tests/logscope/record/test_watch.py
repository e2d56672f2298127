"""A launch that is being written: its stages, and how it ends, at the right line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from logscope.record.follow import GrowingFile
from logscope.record.watch_report import event_text
from logscope.record.watching import Watcher, WatchEvent, usual_of
from logscope.store import Store
from logscope.store.records import SetupSpread, Spread
from parsers.records import Run, Stage

_SAMPLES = Path(__file__).parents[3] / "sample_logs"
_LAST = ("ready", "failed", "killed", "hung")


class Replay:
    """A log that grows by four lines at a time while a watcher looks at it, ten lines a second."""

    def __init__(self, path: Path, **how: object) -> None:
        self.path = path
        self.now = 1000.0
        self.watcher = Watcher(path, **how)  # type: ignore[arg-type]
        self.events: list[WatchEvent] = []
        self.written = 0

    def step(self) -> None:
        if not self.is_over:
            self.events += self.watcher.step(self.now)

    def write(self, lines: list[bytes]) -> None:
        for start in range(0, len(lines), 4):
            if self.is_over:
                return
            with self.path.open("ab") as file:
                file.writelines(lines[start : start + 4])
            self.written += 4
            self.now += 0.4
            self.step()

    def wait(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now += 1
            self.step()

    @property
    def is_over(self) -> bool:
        return bool(self.events) and self.events[-1].kind in _LAST

    @property
    def last(self) -> WatchEvent:
        return self.events[-1]

    def stages(self, kind: str) -> list[Stage | None]:
        return [event.stage for event in self.events if event.kind == kind]


def _lines(name: str) -> list[bytes]:
    with (_SAMPLES / f"{name}.log").open("rb") as file:
        return file.readlines()  # by line feeds only


def test_ready_is_seen_at_the_ready_line_after_all_stages(tmp_path: Path) -> None:
    replay = Replay(tmp_path / "a.log")
    replay.step()

    replay.write(_lines("q04_ok_v0523"))

    assert replay.last.kind == "ready"
    assert replay.last.line == 57
    assert replay.last.seconds == 59
    assert replay.written < 70  # long before the end of the log
    assert [event.kind for event in replay.events[:2]] == ["waiting", "launch"]
    expected = [Stage.ENV, Stage.DISTRIBUTED, Stage.LOAD, Stage.KV_CACHE, Stage.WARMUP]
    assert replay.stages("stage-begun") == expected
    assert replay.stages("stage-done") == expected


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("s03_fail_eagle3_context_len", 80, "ValueError: Warning: Target model's context_length"),
        ("q06_fail_context_length", 35, "User-specified context_length (16384)"),
        ("q03_fail_upgrade_removed_flag", 478, "unrecognized arguments: --enable-nan-detection"),
        ("r06_fail_mem_fraction_too_small", 51, "Not enough memory"),
    ],
)
def test_failure_is_seen_at_the_line_of_its_error(tmp_path: Path, name: str, line: int, words: str) -> None:
    replay = Replay(tmp_path / "a.log")

    replay.write(_lines(name))
    replay.wait(5)

    assert (replay.last.kind, replay.last.line) == ("failed", line)
    assert words in replay.last.text


def test_silence_before_ready_is_a_hang_in_the_stage_it_came_in(tmp_path: Path) -> None:
    replay = Replay(tmp_path / "a.log", silence=30.0)

    replay.write(_lines("r18_hang_scheduler_stopped")[:35])  # the rest was printed when it was killed
    replay.wait(29)
    assert not replay.is_over
    replay.wait(2)

    assert (replay.last.kind, replay.last.stage) == ("hung", Stage.KV_CACHE)
    assert replay.last.line == 35


def test_killed_launch_without_a_word_is_a_hang_for_who_only_sees_the_log(tmp_path: Path) -> None:
    replay = Replay(tmp_path / "a.log", silence=30.0)

    replay.write(_lines("r16_killed_sigkill_midload"))
    replay.wait(40)

    assert replay.last.kind == "hung"


@pytest.mark.parametrize(
    ("name", "kind"), [("r16_killed_sigkill_midload", "killed"), ("r18_hang_scheduler_stopped", "hung")]
)
def test_the_end_of_a_recording_ends_the_watch(tmp_path: Path, name: str, kind: str) -> None:
    replay = Replay(tmp_path / "a.log", silence=30.0)
    replay.write(_lines(name)[:35])
    recorded = (_SAMPLES / f"{name}.context.json").read_text(encoding="utf-8")

    os.utime(tmp_path / "a.log", (replay.now, replay.now))
    old = tmp_path / "a.context.json"
    old.write_text(recorded, encoding="utf-8")
    os.utime(old, (replay.now - 60, replay.now - 60))
    replay.wait(4)
    assert not replay.is_over
    os.utime(old, (replay.now, replay.now))
    replay.wait(4)

    assert replay.last.kind == kind


def _usual(**seconds: tuple[float, float]) -> Callable[[Run], SetupSpread]:
    spreads = {
        Stage(name.replace("_", "-")): Spread(3, (low + high) / 2, low, high)
        for name, (low, high) in seconds.items()
    }
    return lambda run: SetupSpread(stage_seconds=spreads)  # type: ignore[arg-type]


def test_spread_of_the_good_runs_says_when_silence_is_a_hang(tmp_path: Path) -> None:
    replay = Replay(tmp_path / "a.log", find_usual=_usual(env=(100, 150), load=(20, 25)))

    replay.write(_lines("q04_ok_v0523")[:14])  # in the stage env
    replay.wait(340)
    assert not replay.is_over
    replay.wait(20)

    assert (replay.last.kind, replay.last.stage) == ("hung", Stage.ENV)
    assert "usually takes 100 to 150 s" in replay.last.text


def test_stage_that_took_longer_than_in_any_good_run_is_marked(tmp_path: Path) -> None:
    replay = Replay(tmp_path / "a.log", find_usual=_usual(env=(10, 20), kv_cache=(0, 9)))

    replay.write(_lines("q04_ok_v0523"))

    done = {event.stage: event for event in replay.events if event.kind == "stage-done"}
    assert done[Stage.ENV].is_outside
    assert not done[Stage.KV_CACHE].is_outside
    assert done[Stage.WARMUP].usual is None


def test_usual_times_come_from_good_runs_of_the_same_setup(tmp_path: Path) -> None:
    store = Store.in_memory()
    store.ingest([_SAMPLES / "r01_ok_baseline.log", _SAMPLES / "r03_ok_more_requests.log"])
    replay = Replay(tmp_path / "a.log", find_usual=lambda run: usual_of(store, run))

    replay.write(_lines("r06_fail_mem_fraction_too_small"))

    done = {event.stage: event.usual for event in replay.events if event.kind == "stage-done"}
    usual = done[Stage.ENV]
    assert usual is not None
    assert usual.runs >= 1
    assert 0 < usual.low <= usual.high < 60


def test_log_that_never_comes_is_a_hang(tmp_path: Path) -> None:
    replay = Replay(tmp_path / "a.log", silence=5.0)

    replay.step()
    replay.wait(6)

    assert [event.kind for event in replay.events] == ["waiting", "hung"]


def test_second_launch_in_the_same_log_counts_not_the_first(tmp_path: Path) -> None:
    replay = Replay(tmp_path / "a.log")
    (tmp_path / "a.log").write_bytes(b"".join(_lines("r06_fail_mem_fraction_too_small")))

    replay.watcher.skip_earlier = True
    replay.step()
    replay.wait(10)
    assert not replay.is_over
    replay.write(_lines("r01_ok_baseline"))

    assert replay.last.kind == "ready"


def test_earlier_launches_are_told_when_asked(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(
        b"".join(_lines("r06_fail_mem_fraction_too_small") + _lines("r01_ok_baseline"))
    )
    replay = Replay(tmp_path / "a.log", from_start=True)

    replay.step()

    assert [event.kind for event in replay.events[:2]] == ["earlier", "launch"]
    assert replay.events[0].text.startswith("launch 1: failed")


def test_rewritten_log_begins_a_new_launch(tmp_path: Path) -> None:
    replay = Replay(tmp_path / "a.log")
    replay.write(_lines("q06_fail_context_length")[:20])

    (tmp_path / "a.log").write_bytes(b"")
    replay.step()
    replay.write(_lines("r01_ok_baseline"))

    assert (replay.last.kind, replay.last.line) == ("ready", 46)


def test_growing_file_gives_every_byte_over_rotation_and_truncation(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    file = GrowingFile(path)
    seen: list[tuple[bytes, bool]] = []

    def look() -> None:
        while True:
            added = file.look()
            seen.append((added.block, added.is_new_file))
            if not added.block:
                return

    look()
    path.write_bytes(b"one\n")
    look()
    with path.open("ab") as more:
        more.write(b"two\n")
    path.rename(tmp_path / "a.log.1")
    path.write_bytes(b"three\n")  # what the old file still held comes first
    look()
    path.write_bytes(b"4\n")
    look()
    file.close()

    told = [one for one in seen if one[0] or one[1]]
    assert told == [(b"one\n", False), (b"two\n", False), (b"three\n", True), (b"4\n", True)]


def _watch(path: Path, *options: str) -> subprocess.Popen[bytes]:
    store = str(path.parent / "store.duckdb")
    words = [
        sys.executable,
        "-m",
        "logscope",
        "watch",
        str(path),
        "--format",
        "json",
        "--db",
        store,
        *options,
    ]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize(
    ("name", "code", "kind"), [("q04_ok_v0523", 0, "ready"), ("q06_fail_context_length", 1, "failed")]
)
def test_command_follows_a_growing_log_to_its_end(tmp_path: Path, name: str, code: int, kind: str) -> None:
    path = tmp_path / "a.log"
    process = _watch(path)

    assert process.stdout is not None
    first = process.stdout.readline()

    def grow() -> None:
        with path.open("ab", buffering=0) as file:
            for line in _lines(name)[:70]:
                file.write(line)
                time.sleep(0.005)

    thread = threading.Thread(target=grow)
    thread.start()
    out, err = process.communicate(timeout=60)
    thread.join()

    assert process.returncode == code, err
    events = [json.loads(line) for line in (first + out).splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds[:2] == ["waiting", "launch"]
    assert kind in kinds
    if kind == "failed":
        assert kinds[-1] == "diff"
        assert events[-1]["diff"]["schema"] == "logscope.diff/1"


def test_command_gives_124_for_a_log_that_went_silent(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"".join(_lines("r16_killed_sigkill_midload")))

    process = _watch(path, "--timeout", "1.5")
    out, _ = process.communicate(timeout=60)

    assert process.returncode == 124
    assert (
        json.loads(out.splitlines()[-1] if b'"diff"' not in out else out.splitlines()[-2])["event"] == "hung"
    )


def test_an_event_fits_eighty_columns_and_moves_no_cursor() -> None:
    event = WatchEvent("failed", "failed: ValueError: \x1b[2J" + "there is no room " * 12, 7, Stage.LOAD)

    lines = event_text(event, "12:00:00").splitlines()

    assert lines[0].startswith("12:00:00  failed: ValueError: \\x1b[2J")
    assert lines[-1].endswith("(line 7)")
    assert max(map(len, lines)) <= 80


def test_a_line_that_the_text_names_is_not_named_again() -> None:
    told = event_text(WatchEvent("outcome", "leftovers were cleaned up (line 36)", line=37), "12:00:00")
    plain = event_text(WatchEvent("ready", "it serves", line=37), "12:00:00")

    assert "(line 37)" not in told
    assert plain.endswith("it serves (line 37)")
