"""Launches that end before their arguments are printed, in one log with those that follow."""

from __future__ import annotations

import pytest

from parsers.records import Outcome, Run
from parsers.rules import starts
from tests.parsers.reading import read

RUNPY = [
    "Traceback (most recent call last):",
    '  File "<frozen runpy>", line 198, in _run_module_as_main',
    '  File "<frozen runpy>", line 88, in _run_code',
    '  File "/opt/py/site-packages/sglang/launch_server.py", line 7, in <module>',
]
WARNING = [
    "/opt/py/site-packages/sglang/srt/layers/demo.py:73: UserWarning: Only CUDA supports DEMO currently.",
    '  warnings.warn(f"Only CUDA supports DEMO currently.")',
]
USAGE = [
    "usage: launch_server.py [-h] --model-path MODEL_PATH",
    "                        [--demo-warning-secs SECS]",
    "launch_server.py: error: unrecognized arguments: --demo-switch 3",
]
IMPORT = [
    *RUNPY,
    "    from sglang.srt.server_args import prepare_server_args",
    '  File "/opt/py/site-packages/demo/versions.py", line 44, in _compare',
    "    raise ImportError(",
    "ImportError: demo-hub<1.0 is required, but found demo-hub==2.4.0.",
    "Try: `pip install demo -U`",
]
ARGUMENTS = [
    *WARNING,
    "[2026-02-03 03:00:00] kill_process_tree called: parent_pid=1, include_parent=False, pid=1",
    *RUNPY,
    "    run_server(server_args)",
    '  File "/opt/py/site-packages/sglang/srt/server_args.py", line 277, in resolve_once',
    "    raise ValueError(",
    "ValueError: page size 3 is not supported",
]
GOOD = [
    *WARNING,
    "[2026-02-03 04:00:00] WARNING server_args.py:1171: a demo is disabled",
    "[2026-02-03 04:00:00] server_args=ServerArgs(model_path='/m/demo', tp_size=1)",
    "[2026-02-03 04:00:09] Load weight begin. avail mem=70.50 GB",
    "[2026-02-03 04:00:30] The server is fired up and ready to roll!",
    "[2026-02-03 04:01:00] SIGTERM received. signum=15 frame=None. Draining requests and shutting down...",
]


def _runs(*launches: list[str], prefix: str = "") -> tuple[Run, ...]:
    return read("".join(f"{prefix}{line}\n" for launch in launches for line in launch)).log.runs


@pytest.mark.parametrize("prefix", ["", "api-1  | "])
@pytest.mark.parametrize(
    ("early", "kind"), [(USAGE, "argparse"), (IMPORT, "ImportError"), (ARGUMENTS, "ValueError")]
)
def test_a_launch_that_died_before_its_arguments_is_a_run_of_its_own(
    early: list[str], kind: str, prefix: str
) -> None:
    first, second, third = _runs(early, early, GOOD, prefix=prefix)

    assert [one.outcome for one in (first, second, third)] == [Outcome.FAILED, Outcome.FAILED, Outcome.READY]
    assert [one.root_error.type for one in (first, second) if one.root_error] == [kind, kind]
    assert third.root_error is None
    assert [one.first_line for one in (first, second, third)] == [1, 1 + len(early), 1 + 2 * len(early)]


@pytest.mark.parametrize("early", [USAGE, IMPORT, ARGUMENTS])
def test_a_command_between_two_launches_belongs_to_the_second(early: list[str]) -> None:
    first, second = _runs(early, ["$ python3 -m sglang.launch_server --model-path /m/demo"], GOOD)

    assert (first.outcome, first.last_line) == (Outcome.FAILED, len(early))
    assert (second.outcome, second.first_line) == (Outcome.READY, len(early) + 1)


def test_a_refused_command_line_after_a_launch_is_a_run_of_its_own() -> None:
    served, refused = _runs(GOOD, USAGE)

    assert (served.outcome, refused.outcome) == (Outcome.READY, Outcome.FAILED)


@pytest.mark.parametrize("block", [1 << 20, 7])
@pytest.mark.parametrize("early", [IMPORT, ARGUMENTS])
def test_it_is_found_after_a_launch_that_served_and_at_the_end_too(early: list[str], block: int) -> None:
    text = "".join(f"{line}\n" for launch in (GOOD, early, GOOD, early) for line in launch)

    runs = read(text, block).log.runs

    outcomes = [one.outcome for one in runs]
    assert outcomes == [Outcome.READY, Outcome.FAILED, Outcome.READY, Outcome.FAILED]
    assert [one.ordinal for one in runs] == [1, 2, 3, 4]
    assert runs[3].last_line == 2 * (len(GOOD) + len(early))


def test_errors_of_other_programs_in_front_of_a_launch_make_no_run() -> None:
    preamble = [
        "Traceback (most recent call last):",
        '  File "<string>", line 1, in <module>',
        '  File "/opt/py/site-packages/sglang/srt/server_args.py", line 3, in <module>',
        "    import torch",
        "ModuleNotFoundError: No module named 'torch'",
        "",
        "Traceback (most recent call last):",
        '  File "/ci/wait.py", line 9, in <module>',
        "    wait()",
        "TimeoutError: not yet",
        "bench_serving.py: error: unrecognized arguments: --demo",
        "[2026-02-03 03:59:00] Ignore import error when loading sglang.srt.models.demo: No module named 'demo'",
    ]

    (run,) = _runs(preamble, GOOD)

    assert (run.outcome, run.root_error, run.first_line) == (Outcome.READY, None, 1)


def test_children_that_speak_after_their_launcher_died_are_of_the_same_launch() -> None:
    lines = [
        *GOOD[:4],
        *RUNPY,
        "    run_server(server_args)",
        "RuntimeError: Initialization failed. Please see the error messages above.",
        *WARNING,
        "[2026-02-03 04:00:12 TP0] Load weight begin. avail mem=70.50 GB",
    ]

    (run,) = _runs(lines)

    assert run.last_line == len(lines)


@pytest.mark.parametrize("line", starts.USAGE_ERRORS)
def test_a_refused_command_line_is_known(line: str) -> None:
    assert starts.is_usage_error(line)
