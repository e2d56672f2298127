"""Text in front of every line that no carrier is known for."""

from __future__ import annotations

import pytest

from parsers.margins import find_margin
from parsers.records import Outcome
from tests.parsers.reading import read

LINES = [
    "[2026-02-03 04:00:00] server_args=ServerArgs(model_path='/m/demo', tp_size=1)",
    "[2026-02-03 04:00:08 TP0] Init torch distributed begin.",
    "[2026-02-03 04:00:11 TP0] Load weight begin. avail mem=70.50 GB",
    "[2026-02-03 04:00:40 TP0] Scheduler hit an exception: Traceback (most recent call last):",
    '  File "/x/sglang/srt/managers/scheduler.py", line 2000, in run_scheduler_process',
    "    scheduler = Scheduler(server_args)",
    '  File "/x/sglang/srt/models/demo.py", line 3, in __init__',
    "    raise ValueError(",
    "ValueError: no demo",
    "",
    "[2026-02-03 04:00:41] Received sigquit from a child process. It usually means the child failed.",
]


@pytest.mark.parametrize(
    "margin",
    [
        "    ",
        "> ",
        "2026-02-03 04:00:0{n}.123 [a1b2c3] [info] ",
        "Feb 3 04:00:0{n} ",
        "node-7/3:out{n}# ",
    ],
)
def test_an_unknown_margin_is_taken_off_every_line(margin: str) -> None:
    text = "".join(f"{margin.format(n=number % 10)}{line}\n" for number, line in enumerate(LINES))

    run = read(text).run

    assert run.outcome is Outcome.FAILED
    assert run.root_error is not None
    assert (run.root_error.type, run.root_error.message, run.root_error.line) == ("ValueError", "no demo", 9)
    assert [frame.function for frame in run.root_error.traceback] == ["run_scheduler_process", "__init__"]
    assert run.ranks == ("TP0",)
    assert run.carrier == "plain"


def test_text_in_front_of_some_records_is_no_margin() -> None:
    glued = [f"progress {number} " + line for number, line in enumerate(LINES[:2])]

    assert find_margin(LINES + glued) is None
    assert find_margin(["plain text", "more of it"]) is None


@pytest.mark.parametrize("shape", ["{at} - engine.core - INFO - ", "{at} | INFO     | app.run:go:12 - "])
def test_a_logger_in_front_of_every_line_of_a_traceback_is_a_carrier(shape: str) -> None:
    text = "".join(shape.format(at="2026-02-03 04:00:40,123") + line + "\n" for line in LINES)

    run = read(text).run

    assert run.carrier == "app-logger"
    assert run.root_error is not None and run.root_error.message == "no demo"


@pytest.mark.parametrize(
    "margin", ["{at} | ERROR | stderr | ", "{at} x ", "[{at}] ", "Feb 3 04:00:40 ", "unit-7: "]
)
def test_frames_alone_show_what_stands_in_front_of_a_traceback(margin: str) -> None:
    lines = ["Traceback (most recent call last):", *LINES[4:9]]
    text = "".join(margin.format(at="2026-02-03 04:00:40") + line + "\n" for line in lines)

    run = read(text).run

    assert run.outcome is Outcome.FAILED
    assert run.root_error is not None
    assert (run.root_error.type, run.root_error.message, run.root_error.line) == ("ValueError", "no demo", 6)


def test_a_margin_inside_of_a_known_carrier_is_taken_off() -> None:
    lines = ["Traceback (most recent call last):", *LINES[4:9]]
    text = "".join(f"api-1  | 2026-02-03 04:00:40 | ERROR | worker | {line}\n" for line in lines)

    run = read(text).run

    assert run.carrier == "docker"
    assert run.root_error is not None
    assert (run.root_error.type, run.root_error.line) == ("ValueError", 6)


def test_a_time_in_front_of_every_line_leaves_the_inner_heads() -> None:
    text = "".join(f"[2026-02-03 06:00:{40 + number}] {line}\n" for number, line in enumerate(LINES))

    run = read(text).run

    assert run.carrier == "app-logger"
    assert run.ranks == ("TP0",)
    assert run.root_error is not None
    assert (run.root_error.type, run.root_error.line) == ("ValueError", 9)
    assert run.ended_at is not None and run.ended_at.hour == 4


def test_heads_without_ranks_are_no_carrier() -> None:
    lines = [f"[2026-02-03 04:00:{number:02}] Load weight begin. avail mem=70.50 GB" for number in range(30)]

    run = read("\n".join([*lines, "  File 'a'", ""])).run

    assert run.carrier == "plain"
    assert run.milestones[0].at is not None
