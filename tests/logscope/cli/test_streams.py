"""What a command does when a standard stream is closed, full, a pipe, or asked for twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[3] / "sample_logs"
LOG = SAMPLES / "s02_ok_eagle3.log"


def _run(words: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """`logscope WORDS` by a shell, so that `words` may redirect; with a store of its own."""
    return subprocess.run(
        ["bash", "-c", f"'{sys.executable}' -m logscope {words}"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LOGSCOPE_DB": str(tmp_path / "store.duckdb")},
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("words", ["--help", "runs", "sql --list", "sql 'SELECT 1' --format parquet"])
def test_a_full_disk_behind_the_output_is_one_line(words: str, tmp_path: Path) -> None:
    assert _run(f"ingest -q {LOG}", tmp_path).returncode == 0

    ended = _run(f"{words} > /dev/full", tmp_path)

    assert ended.returncode == 2
    assert ended.stderr == "logscope: standard output: cannot be written: No space left on device\n"


def test_a_closed_output_does_not_keep_a_log_from_the_store(tmp_path: Path) -> None:
    ended = _run(f"ingest {LOG} >&- 2>&-", tmp_path)

    assert ended.returncode == 0
    assert len(_run("runs --format csv", tmp_path).stdout.splitlines()) == 2


def test_a_closed_input_is_one_line(tmp_path: Path) -> None:
    ended = _run("show - <&-", tmp_path)

    assert ended.returncode == 2
    assert ended.stderr == "logscope: -: cannot be read: standard input is closed\n"


def test_a_pipe_with_a_name_is_read_whole(tmp_path: Path) -> None:
    seen = [_run(f"show {word} --format json", tmp_path).stdout for word in (str(LOG), f"<(cat {LOG})")]

    run_ids = [line for text in seen for line in text.splitlines() if '"run_id"' in line]
    assert len(run_ids) == 2
    assert run_ids[0] == run_ids[1]


@pytest.mark.parametrize("command", ["diff - -", "compare - -", "show - -"])
def test_standard_input_is_read_once(command: str, tmp_path: Path) -> None:
    ended = _run(f"{command} < {LOG}", tmp_path)

    assert ended.returncode == 2
    assert ended.stderr == "logscope: '-' is given twice (standard input can be read only once)\n"


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08])
def test_ctrl_c_before_the_work_begins_is_no_traceback_of_ours(delay: float, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "logscope", "ingest", str(SAMPLES), "--db", str(tmp_path / "s.duckdb")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        process.communicate(timeout=delay)
    except subprocess.TimeoutExpired:
        process.send_signal(2)
    _, said = process.communicate(timeout=60)

    assert "logscope/cli" not in said
    assert "logscope/store" not in said
