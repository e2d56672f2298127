"""A recorded command behaves, to its caller and to itself, as one that is not recorded."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.logscope.record.conftest import Recorder, is_alive, read_until, wait_dead


@pytest.mark.parametrize(
    "command",
    [
        ("both_streams", "20"),
        ("raw", "00ff0d0a1b5b33316d", "e282", "ac"),
        ("die", str(int(signal.SIGSEGV))),
        ("die", str(int(signal.SIGKILL))),
        ("die", str(int(signal.SIGTERM))),
    ],
    ids=["both streams", "any bytes", "SIGSEGV", "SIGKILL", "SIGTERM"],
)
def test_caller_gets_the_same_bytes_and_status(recorder: Recorder, command: tuple[str, ...]) -> None:
    plain = recorder.run(recorder.plain(*command))

    recorded = recorder.run(recorder.words(*command))

    assert recorded == plain


def test_log_holds_both_streams_in_order_of_arrival(recorder: Recorder) -> None:
    recorder.run(recorder.words("both_streams", "30"))

    lines = recorder.log.read_text().splitlines()
    for stream in ("out", "err"):
        assert [line for line in lines if line.startswith(stream)] == [f"{stream} {n}" for n in range(30)]
    # a busy machine may let two pipes' lines change places, but not by much
    assert all(abs(lines.index(f"out {n}") - lines.index(f"err {n}")) <= 9 for n in range(30))


def test_order_is_exact_when_both_streams_go_to_one_file(recorder: Recorder) -> None:
    script = "for i in $(seq 200); do echo out $i; echo err $i >&2; done"
    own = recorder.words("both_streams", "1")
    words = [*own[: own.index("--") + 1], "sh", "-c", script]
    merged = recorder.folder / "merged"

    with merged.open("wb") as file:
        subprocess.run(words, stdout=file, stderr=subprocess.STDOUT, env=recorder.env(), check=True)

    expected = "".join(f"out {i}\nerr {i}\n" for i in range(1, 201))
    assert merged.read_text() == expected
    assert recorder.log.read_text() == expected


def test_twenty_megabytes_arrive_whole_in_both_places(recorder: Recorder) -> None:
    recorded = recorder.run(recorder.words("flood", "20000000"))

    assert recorded.code == 0
    assert len(recorded.out) >= 20_000_000
    assert recorder.log.read_bytes() == recorded.out
    assert [int(line[:12]) for line in recorded.out.splitlines()[::50_000]] == list(
        range(0, len(recorded.out.splitlines()), 50_000)
    )


def test_command_sees_the_same_surroundings(recorder: Recorder) -> None:
    plain = recorder.run(recorder.plain("environment"), stdin=b"typed")

    recorded = recorder.run(recorder.words("environment"), stdin=b"typed")

    assert recorded.out == plain.out


def test_signal_that_was_ignored_at_start_stays_ignored(recorder: Recorder) -> None:
    own = recorder.words("environment")
    plain = recorder.run(["nohup", *recorder.plain("environment")])

    recorded = recorder.run(["nohup", *own])

    ignored = [line for line in plain.out.splitlines() if line.startswith(b"SigIgn")]
    assert ignored
    assert ignored[0] in recorded.out


def test_missing_command_gives_127_and_one_line(recorder: Recorder) -> None:
    own = recorder.words("x")

    done = recorder.run([*own[: own.index("--") + 1], "no-such-command-here"])

    assert done.code == 127
    assert done.err == b"logscope record: no-such-command-here: command not found\n"


def test_file_without_execute_right_gives_126(recorder: Recorder) -> None:
    script = recorder.folder / "plain.txt"
    script.write_text("text")
    own = recorder.words("x")

    assert recorder.run([*own[: own.index("--") + 1], str(script)]).code == 126


def test_script_without_interpreter_line_is_run_by_sh(recorder: Recorder) -> None:
    script = recorder.folder / "start"
    script.write_text("echo from sh; exit 3\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    own = recorder.words("x")

    done = recorder.run([*own[: own.index("--") + 1], str(script)])

    assert (done.code, done.out) == (3, b"from sh\n")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1"])
def test_signal_reaches_the_command_which_ends_its_own_way(recorder: Recorder, name: str) -> None:
    number = signal.Signals[name]
    process = recorder.start(recorder.words("drain", str(int(number))))
    read = read_until(process, b"ready")

    process.send_signal(number)
    rest, _ = process.communicate(timeout=20)

    assert (read + rest).endswith(f"got {name}, draining\ndrained\n".encode())
    assert process.returncode == 9
    assert recorder.log.read_bytes() == read + rest


def test_signal_to_the_whole_group_reaches_the_command_once(recorder: Recorder) -> None:
    process = recorder.start(recorder.words("count_signals", str(int(signal.SIGINT))))
    read_until(process, b"ready")

    os.killpg(process.pid, signal.SIGINT)
    read_until(process, b"got")
    process.send_signal(signal.SIGINT)
    read_until(process, b"got")
    os.killpg(process.pid, signal.SIGALRM)
    process.communicate(timeout=20)

    got = recorder.log.read_text().count("got 2")
    assert got == 2


def test_group_signal_is_passed_on_to_a_command_with_its_own_group(recorder: Recorder) -> None:
    process = recorder.start(recorder.words("own_group"))
    read_until(process, b"ready")

    os.killpg(process.pid, signal.SIGINT)
    rest, _ = process.communicate(timeout=20)

    assert rest == b"got SIGINT\n"
    assert process.returncode == 3


def test_command_that_ignores_sigterm_is_waited_for(recorder: Recorder) -> None:
    process = recorder.start(recorder.words("ignore_term"))
    read_until(process, b"ready")

    process.terminate()
    rest, _ = process.communicate(timeout=20)

    assert rest == b"still here\n"
    assert process.returncode == 4


def test_workers_of_a_command_that_a_signal_ended_get_it_too(recorder: Recorder) -> None:
    process = recorder.start(recorder.words("with_worker"))
    worker = int(read_until(process, b"worker").split()[-1])
    read_until(process, b"ready")

    process.terminate()
    process.communicate(timeout=20)

    assert process.returncode == -signal.SIGTERM
    assert wait_dead(worker)


def test_whole_group_gets_the_signal_at_once_when_asked(recorder: Recorder) -> None:
    note = recorder.folder / "worker-note"
    handler = f"lambda *a: (open({str(note)!r}, 'w').write('got it'), sys.exit(0))"
    worker = f"import signal, sys; signal.signal(15, {handler}); time.sleep(60)"
    process = recorder.start(recorder.words("with_worker", worker, options=["--signal-to", "group"]))
    pid = int(read_until(process, b"worker").split()[-1])
    read_until(process, b"ready")
    subprocess.run(["sleep", "0.3"], check=True)  # the worker's handler stands

    process.terminate()
    process.communicate(timeout=20)

    assert wait_dead(pid)
    assert note.read_text() == "got it"


def test_killed_recorder_takes_its_command_with_it(recorder: Recorder) -> None:
    process = recorder.start(recorder.words("with_worker"))
    worker = int(read_until(process, b"worker").split()[-1])
    read_until(process, b"ready")
    below = [int(pid) for pid in _children(process.pid)]

    process.kill()
    os.kill(worker, signal.SIGKILL)  # no business of the recorder's: its launcher was killed

    assert below
    assert all(wait_dead(pid) for pid in below)


def test_reader_that_goes_away_is_noticed_by_the_command(recorder: Recorder) -> None:
    own = recorder.words("x")
    head = [*own[: own.index("--") + 1], "yes"]

    shell = subprocess.run(
        ["bash", "-c", '"$@" | head -n 1; echo "${PIPESTATUS[0]}"', "bash", *head],
        capture_output=True,
        env=recorder.env(),
        timeout=20,
    )

    assert shell.stdout == b"y\n141\n"


def test_process_left_behind_is_recorded_on_while_the_caller_goes_on(recorder: Recorder) -> None:
    process = recorder.start(recorder.words("leave_behind"))

    process.wait(timeout=20)
    at_exit = recorder.log.read_text()
    rest, _ = process.communicate(timeout=20)

    assert process.returncode == 0
    assert at_exit == "started it\n"
    assert rest == b"started it\nlate\n"
    assert recorder.log.read_text() == "started it\nlate\n"


def test_log_that_cannot_be_written_does_not_stop_the_launch(recorder: Recorder) -> None:
    own = recorder.words("both_streams", "2")
    own[own.index("--log") + 1] = "/proc/no/such/place.log"
    plain = recorder.run(recorder.plain("both_streams", "2"))

    done = recorder.run(own)

    assert (done.code, done.out) == (plain.code, plain.out)
    assert b"the launch goes on" in done.err


def test_full_disk_ends_the_log_and_not_the_launch(recorder: Recorder) -> None:
    own = recorder.words("flood", "300000")
    own[own.index("--log") + 1] = "/dev/full"

    done = recorder.run(own)

    assert done.code == 0
    assert len(done.out) >= 300_000
    assert b"the log ends here" in done.err


def test_earlier_log_of_the_name_is_kept(recorder: Recorder) -> None:
    recorder.run(recorder.words("both_streams", "1"))
    first = recorder.log.read_bytes()

    recorder.run(recorder.words("raw", "61"))

    older = [path for path in recorder.folder.glob("a.*.log") if path != recorder.log]
    assert [path.read_bytes() for path in older] == [first]
    assert recorder.log.read_bytes() == b"a"
    code = json.loads(older[0].with_name(older[0].stem + ".context.json").read_text())["exit_code"]
    assert code == 5


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_nothing_of_the_recorder_stays_after_a_launch(recorder: Recorder) -> None:
    process = recorder.start(recorder.words("drain", str(int(signal.SIGTERM))))
    read_until(process, b"ready")
    below = [int(pid) for pid in _children(process.pid)]

    process.terminate()
    process.communicate(timeout=20)

    assert len(below) == 2  # the command and the witness of the process group
    assert not any(is_alive(pid) for pid in below)
    assert sys.platform == "linux"
