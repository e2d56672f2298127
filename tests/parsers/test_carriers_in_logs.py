"""The same launch behind every carrier reads the same; only the carrier's name and label differ."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.parsers.reading import Reading, read

LAUNCH = """\
[2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/demo', tp_size=2, port=30000, api_key=None)
[2026-02-03 04:05:10 TP0] Init torch distributed begin.
[2026-02-03 04:05:11 TP1] Load weight begin. avail mem=70.50 GB
[2026-02-03 04:05:20 TP1] Load weight end. elapsed=9.50 s, type=DemoForCausalLM, avail mem=55.25 GB, mem usage=15.25 GB.
[2026-02-03 04:05:21] INFO:     Application startup complete.
[2026-02-03 04:05:22] INFO:     127.0.0.1:4242 - "POST /generate HTTP/1.1" 200 OK
[2026-02-03 04:05:22 TP0] Decode batch, #running-req: 3, #token: 700, token usage: 0.03, gen throughput (token/s): 101.50, #queue-req: 0

[2026-02-03 04:05:23] The server is fired up and ready to roll!
[2026-02-03 04:05:30 TP1] Scheduler hit an exception: Traceback (most recent call last):
  File "/opt/sglang/srt/managers/scheduler.py", line 10, in run
    work()
ValueError: demo value 7 is too large

[2026-02-03 04:05:31] Received sigquit from a child process. It usually means the child failed.
""".splitlines()


def _wrap(prefix: str) -> Callable[[int, str], str]:
    return lambda number, line: prefix.replace("<n>", f"{number:02d}") + line


def _docker_json(number: int, line: str) -> str:
    return json.dumps(
        {"log": line + "\n", "stream": "stderr", "time": f"2026-02-03T04:06:{number:02d}.123456789Z"}
    )


CARRIED: dict[str, tuple[Callable[[int, str], str], str, str]] = {
    "plain": (_wrap(""), "plain", ""),
    "compose": (_wrap("sglang-1  | "), "docker", "sglang-1"),
    "docker logs -t": (_wrap("2026-02-03T04:06:<n>.123456789Z "), "k8s", ""),
    "docker json": (_docker_json, "docker", ""),
    "kubectl --prefix": (_wrap("[pod/llm-0/server] "), "k8s", "llm-0/server"),
    "kubectl --prefix --timestamps": (
        _wrap("[pod/llm-0/server] 2026-02-03T04:06:<n>.5Z "),
        "k8s",
        "llm-0/server",
    ),
    "cri": (_wrap("2026-02-03T04:06:<n>.123456789Z stderr F "), "k8s", ""),
    "shipper": (_wrap("[2026-02-03T04:06:<n>.123Z] "), "k8s", ""),
    "journal": (_wrap("Feb 03 04:06:<n> host1 llm.service[77]: "), "journald", "llm.service"),
    "slurm": (_wrap("12: "), "slurm", "12"),
    "ray": (_wrap("\x1b[36m(Server pid=616, ip=10.0.0.7)\x1b[0m "), "ray", "Server pid=616"),
    "ray without escapes": (_wrap("[36m(Server pid=616, ip=10.0.0.7)[0m "), "ray", "Server pid=616"),
    "app logger": (_wrap("[2026-02-03 12:06:<n>] [bench.core] [INFO] [worker_0] "), "app-logger", "worker_0"),
    "cloud export": (_wrap("ERROR 2026-02-03T04:06:<n>.300000000Z "), "gcp", ""),
    "compose around shipper": (_wrap("api-1  | [2026-02-03T04:06:<n>.123Z] "), "docker", "api-1"),
    "cri around slurm": (_wrap("2026-02-03T04:06:<n>.1Z stdout F 3: "), "k8s", "3"),
}


def _story(reading: Reading) -> tuple[object, ...]:
    run = reading.run
    assert run.root_error is not None
    return (
        run.first_line,
        run.last_line,
        run.outcome,
        run.ready,
        run.ranks,
        [(argument.name, argument.value) for argument in run.server_args],
        run.server_args_line,
        [(one.name, one.rank, one.line, one.at, one.seconds) for one in run.milestones],
        (run.root_error.type, run.root_error.message, run.root_error.line, run.root_error.rank),
        (run.started_at, run.ready_at),
        [(row.line, row.rank, row.gen_throughput) for row in reading.batches],
        reading.requests,
        run.coverage,
    )


@pytest.mark.parametrize("kind", CARRIED)
def test_a_launch_reads_the_same_behind_every_carrier(kind: str) -> None:
    wrap, carrier, label = CARRIED[kind]
    text = "".join(wrap(number, line) + "\n" for number, line in enumerate(LAUNCH))

    reading = read(text)

    assert (reading.run.carrier, reading.run.label) == (carrier, label)
    assert _story(reading) == _story(read("\n".join(LAUNCH) + "\n"))


@pytest.mark.parametrize("kind", ["compose", "docker json", "shipper", "slurm"])
def test_windows_line_ends_change_nothing(kind: str) -> None:
    wrap, _, _ = CARRIED[kind]
    lines = [wrap(number, line) for number, line in enumerate(LAUNCH)]

    assert _story(read("\r\n".join(lines) + "\r\n")) == _story(read("\n".join(lines) + "\n"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_other_encodings_read_the_same(encoding: str) -> None:
    text = "\n".join(LAUNCH) + "\n"

    assert _story(read(text.encode(encoding))) == _story(read(text))


def test_a_cri_line_in_parts_is_one_record() -> None:
    lines = [
        "2026-02-03T04:06:01.1Z stderr P [2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/de",
        "2026-02-03T04:06:01.2Z stderr F mo', tp_size=2)",
        "2026-02-03T04:06:01.3Z stderr F [2026-02-03 04:05:10 TP0] Init torch distributed begin.",
    ]

    run = read("\n".join(lines) + "\n").run

    assert (run.model_path, run.server_args_complete, run.server_args_line) == ("/m/demo", True, 1)
    assert run.coverage.lines == 3


def test_a_banner_cut_by_a_shipper_goes_on_behind_the_next_prefix() -> None:
    prefix = "2026-02-03T04:06:01.1Z "
    lines = [
        prefix + "[2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/demo', trust_remote_c",
        prefix + "ode=True, tp_size=2)",
        prefix + "[2026-02-03 04:05:10 TP0] Init torch distributed begin.",
    ]

    run = read("\n".join(lines) + "\n").run

    assert [(one.name, one.value) for one in run.server_args][1:] == [
        ("trust_remote_code", True),
        ("tp_size", 2),
    ]


def test_what_the_kernel_says_in_a_journal_belongs_to_the_server() -> None:
    lines = [
        "Feb 03 04:05:06 host1 llm[77]: [2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/demo', tp_size=1)",
        "Feb 03 04:05:10 host1 llm[77]: [2026-02-03 04:05:10] Load weight begin. avail mem=70.50 GB",
        "Feb 03 04:05:12 host1 kernel: Out of memory: Killed process 4242 (python3) total-vm:1kB",
    ]

    run = read("\n".join(lines) + "\n").run

    assert run.coverage.lines == 3
    assert run.last_line == 3


def test_a_table_with_bars_is_no_compose_prefix() -> None:
    lines = ["Name | Value", "tp | 2", *LAUNCH]

    run = read("\n".join(lines) + "\n").run

    assert (run.carrier, run.label) == ("plain", "")


def test_two_services_of_one_compose_file_are_apart() -> None:
    lines = [
        "db-1   | ready to accept connections",
        "api-1  | [2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/demo', tp_size=1)",
        "db-1   | ERROR:  relation does not exist",
        "api-1  | [2026-02-03 04:05:23] The server is fired up and ready to roll!",
    ]

    run = read("\n".join(lines) + "\n").run

    assert (run.label, run.coverage.lines, run.root_error) == ("api-1", 2, None)


def test_a_rank_in_front_of_the_record_is_no_server_of_its_own() -> None:
    lines = [
        "[rank0] [2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/demo', tp_size=2)",
        "[rank1] [2026-02-03 04:05:10 TP1] Load weight begin. avail mem=70.50 GB",
        "[rank0] [2026-02-03 04:05:10 TP0] Load weight begin. avail mem=70.50 GB",
    ]

    run = read("\n".join(lines) + "\n").run

    assert (run.label, run.ranks, run.coverage.lines) == ("", ("TP1", "TP0"), 3)


def test_what_compose_says_of_a_container_belongs_to_its_service() -> None:
    lines = [
        "api-1  | [2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/demo', tp_size=1)",
        "db-1   | ready to accept connections",
        "api-1  | [2026-02-03 04:05:10] Load weight begin. avail mem=70.50 GB",
        "api-1 exited with code 137",
        "db-1 exited with code 0",
    ]

    run = read("\n".join(lines) + "\n").run

    assert (run.outcome.value, run.coverage.lines, run.last_line) == ("killed", 3, 4)


def test_colours_inside_of_json_hide_no_carrier_behind_it() -> None:
    line = "[2026-02-03 04:05:10 TP0] Load weight begin. avail mem=70.50 GB"
    lines = [json.dumps({"log": f"\x1b[36m(Worker pid=7)\x1b[0m {line}\n", "stream": "stderr"})] * 2

    run = read("\n".join(lines) + "\n").run

    assert (run.carrier, run.label, run.ranks, len(run.milestones)) == ("docker", "Worker pid=7", ("TP0",), 2)
