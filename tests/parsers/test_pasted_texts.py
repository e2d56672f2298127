"""Texts as people paste them: times taken away, colours as text, broken lines, and logs of other programs."""

from __future__ import annotations

import pytest

from parsers.records import Outcome
from tests.parsers.launch_text import run_of, runs_of

_COMMAND = "$ python3 -m sglang.launch_server --model-path /m/demo\n"
_DUMP = """\
  File "/x/sglang/srt/managers/scheduler.py", line 30, in run_scheduler_process
    scheduler.event_loop()
RuntimeError: the demo pool is empty
"""


def test_ranks_are_known_where_the_time_was_taken_away() -> None:
    run = run_of(
        "[DP1 TP3 EP3] Load weight begin. avail mem=20.25 GB\n"
        "[DP1 TP3 EP3] Scheduler hit an exception: Traceback (most recent call last):\n" + _DUMP
    )

    assert run.ranks == ("DP1 TP3 EP3",)
    assert run.root_error is not None and (run.root_error.line, run.root_error.rank) == (5, "DP1 TP3 EP3")


def test_ranks_are_known_where_every_line_begins_with_one() -> None:
    run = run_of(
        "[TP0] Load weight begin. avail mem=20.25 GB\n"
        "[TP1] Load weight begin. avail mem=20.25 GB\n"
        "[TP0] Memory pool end. avail mem=4.25 GB\n"
        "[TP1] Memory pool end. avail mem=4.25 GB\n"
    )

    assert (run.ranks, run.label, len(run.milestones)) == (("TP0", "TP1"), "", 4)


@pytest.mark.parametrize("escape", ["\x1b", "^[", ""])
def test_colours_that_became_text_are_taken_off(escape: str) -> None:
    margin = f"{escape}[36m(Worker pid=7){escape}[0m "
    text = (
        "[2026-02-03 04:05:06 TP0] Scheduler hit an exception: Traceback (most recent call last):\n" + _DUMP
    )

    run = run_of("".join(f"{margin}{line}\n" for line in text.splitlines()))

    assert run.carrier == "ray"
    assert run.root_error is not None and run.root_error.type == "RuntimeError"


def test_a_traceback_behind_arguments_in_broken_lines_is_no_part_of_them() -> None:
    run = run_of(
        "[2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/demo', tokenizer_path='/m/demo', ena\n"
        "ble_demo=False, lora_paths=['a'], nccl_po\n"
        "rt=None, tp_size=1)\n"
        "Traceback (most recent call last):\n" + _DUMP
    )

    assert len(run.server_args) == 6
    assert run.root_error is not None and run.root_error.line == 7


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("[2026-02-03 04:05:06] Rank 0 scheduler is dead.\n[2026-02-03 04:05:07] Exit code: -9\n", "killed"),
        ("[2026-02-03 04:05:06] Rank 0 scheduler is dead. Exit code: -9\n", "killed"),
        ("Rank 2 scheduler died during initialization (exit code: -9).\n", "killed"),
        ("demo.err.BindError: 5557 is taken\nRank 0 scheduler died during initialization (exit code: -3)\n", "failed"),
    ],
)  # fmt: skip
def test_the_end_of_a_launch_alone_is_a_launch(text: str, outcome: str) -> None:
    assert run_of(text).outcome.value == outcome


@pytest.mark.parametrize(
    "text",
    [
        # another engine's log, with errors of the libraries that both stand on
        '(EngineCore_0 pid=7) ERROR 02-03 04:05:06 [demo.py:5] RuntimeError: NCCL error: unhandled\n'
        'Traceback (most recent call last):\n  File "/x/vllm/v1/executor/demo.py", line 5, in main\n'
        "RuntimeError: CUDA error: invalid argument\n",
        "2026-02-03T04:05:06.123456Z ERROR text_generation_launcher: Warming up failed\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB\n",
        "(APIServer pid=7) ERROR 02-03 04:05:06 [demo.py:5] Rank 0 scheduler is dead. Look above.\n",
        # a program that only sends requests
        "Namespace(backend='sglang', host='0.0.0.0', port=30000)\nTraceback (most recent call last):\n"
        '  File "/x/site-packages/sglang/bench_serving.py", line 5, in main\nValueError: no answer\n',
        # versions, help and installation
        "PyTorch: 2.9.1+cu130\nsglang: 0.5.18\nvllm: Module Not Found\ntriton: 3.6.0\n",
        "usage: launch_server.py [-h] --model-path MODEL_PATH\n\noptions:\n  --watchdog-timeout SECONDS\n"
        "                        The server will crash to prevent hanging after a timeout.\n",
        "Collecting sglang[all]\nBuilding wheels for collected packages: sgl-kernel\n"
        "ERROR: Failed building wheel for sgl-kernel\n",
    ],
)  # fmt: skip
def test_a_text_of_another_program_is_no_launch(text: str) -> None:
    assert runs_of(text) == ()


def test_a_command_that_printed_only_warnings_is_a_launch_all_the_same() -> None:
    run = run_of(_COMMAND + "/x/torch/cuda/__init__.py:61: FutureWarning: the demo package is deprecated.\n")

    assert run.outcome is Outcome.UNKNOWN


def test_a_long_training_log_with_an_error_of_its_own_is_no_launch() -> None:
    steps = "".join(f"step {step}: loss 0.25\n" for step in range(500))

    assert runs_of(steps + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB\n") == ()


_DEAD = """\
[2026-02-03 04:0{0}:40 TP0] Scheduler hit an exception: Traceback (most recent call last):
  File "/x/sglang/srt/managers/scheduler.py", line 30, in run_scheduler_process
RuntimeError: demo error {0}

[2026-02-03 04:0{0}:41] Received sigquit from a child process. It usually means the child failed.
"""


def test_a_dead_rank_that_speaks_again_is_of_another_launch_even_without_its_arguments() -> None:
    first, second = runs_of(_DEAD.format(0) + _DEAD.format(5))

    assert first.root_error is not None and first.root_error.message == "demo error 0"
    assert second.root_error is not None and second.root_error.message == "demo error 5"


def test_a_rank_of_another_node_that_waits_for_the_dead_one_is_of_the_same_launch() -> None:
    late = _DEAD.format(5).replace("TP0", "TP8")

    run = run_of("[2026-02-03 04:00:30 TP8] Init torch distributed begin.\n" + _DEAD.format(0) + late)

    assert run.root_error is not None and run.root_error.message == "demo error 0"


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("SGLang server task ended", Outcome.FAILED),
        ("ERROR: server pid=4242 died before /health=200", Outcome.FAILED),
        ("段错误 (核心已转储)", Outcome.FAILED),
        ("已杀死", Outcome.KILLED),
    ],
)
def test_what_was_said_around_a_launch_tells_how_it_ended(said: str, outcome: Outcome) -> None:
    run = run_of(f"[2026-02-03 04:05:20] Load weight begin. avail mem=70.10 GB\n{said}\n")

    assert run.outcome is outcome


def test_arguments_behind_a_foreign_logger_s_target_are_read() -> None:
    run = run_of(
        "2026-02-03T04:05:06.123456Z  INFO engine._launch: server_args=ServerArgs(model_path='/m/a', tp_size=1)\n"
        "[2026-02-03 04:05:20] Load weight begin. avail mem=70.10 GB\n"
    )

    assert (run.model_path, len(run.server_args)) == ("/m/a", 2)


_LAUNCH = """\
[2026-02-03 04:00:00] server_args=ServerArgs(model_path='/m/demo', tp_size=2)
[2026-02-03 04:00:08 TP0] Load weight begin. avail mem=70.50 GB
[2026-02-03 04:00:40 TP1] Scheduler hit an exception: Traceback (most recent call last):
  File "/x/sglang/srt/managers/scheduler.py", line 30, in run_scheduler_process
    scheduler = Scheduler(server_args)
  File "/x/sglang/srt/models/demo.py", line 3, in <module>
    raise ValueError(f"no {name}")
ValueError: no 'demo' & no "other"

[2026-02-03 04:00:41] Received sigquit from a child process. It usually means the child failed.
"""


@pytest.mark.parametrize("quote", ["&#x27;", "&#39;", "&apos;"])
def test_characters_that_a_page_wrote_as_entities_are_read(quote: str) -> None:
    text = _LAUNCH.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")

    run = run_of(text.replace("'", quote))

    assert run.model_path == "/m/demo"
    assert run.root_error is not None
    assert run.root_error.message == "no 'demo' & no \"other\""
    assert [frame.function for frame in run.root_error.traceback] == ["run_scheduler_process", "<module>"]


def test_an_ampersand_alone_is_no_entity() -> None:
    run = run_of(_LAUNCH.replace("no 'demo'", "no a&amp;b"))

    assert run.root_error is not None and run.root_error.message == 'no a&amp;b & no "other"'


def test_hard_blanks_of_a_page_are_blanks() -> None:
    run = run_of(_LAUNCH.replace(" ", "\u00a0"))

    assert (run.ranks, run.model_path) == (("TP0", "TP1"), "/m/demo")
    assert run.root_error is not None and (run.root_error.type, run.root_error.line) == ("ValueError", 8)
    assert len(run.root_error.traceback) == 2


def test_the_first_bracket_was_not_copied() -> None:
    run = run_of(
        "2026-02-03 04:05:06 TP0] Decode batch. #running-req: 2, #token: 3698, token usage: 0.01, "
        "gen throughput (token/s): 50.46, #queue-req: 0\n"
        "[2026-02-03 04:05:07 TP1] Load weight begin. avail mem=70.50 GB\n"
    )

    assert run.ranks == ("TP0", "TP1")
    assert run.outcome is Outcome.RUNNING


@pytest.mark.parametrize(
    "message",
    [
        "NCCL error: remote process exited or there was a network error",
        "Rank 0 scheduler died during initialization (exit code: -11). Look at its log.",
    ],
)
def test_an_exception_that_tells_of_another_process_keeps_its_class(message: str) -> None:
    run = run_of(
        f'  File "/x/sglang/srt/engine.py", line 7, in launch\n    raise it\nRuntimeError: {message}\n'
    )

    assert run.root_error is not None
    assert (run.root_error.type, run.root_error.message) == ("RuntimeError", message)


def test_the_exception_is_taken_before_the_line_of_the_library_with_the_same_words() -> None:
    words = "The client socket has timed out after 600000ms while trying to connect to (node-5, 8000)."
    run = run_of(
        f"[E203 04:05:06.123456789 socket.cpp:1011] [c10d] {words}\n"
        "[2026-02-03 04:05:06 TP2] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/x/sglang/srt/managers/scheduler.py", line 30, in run_scheduler_process\n'
        "    scheduler = Scheduler(server_args)\n"
        f"torch.distributed.DistNetworkError: {words}\n"
    )

    assert run.root_error is not None
    assert (run.root_error.type, run.root_error.line) == ("torch.distributed.DistNetworkError", 5)


def test_the_words_of_a_cpp_exception_stand_without_their_introduction() -> None:
    run = run_of(
        "  what():  [PG ID 2 PG GUID 3 Rank 1] Process group watchdog thread terminated with exception: "
        "CUDA error: an illegal memory access was encountered\n"
        "CUDA kernel errors might be asynchronously reported at some other API call\n"
        "\n"
        "Fatal Python error: Aborted\n"
    )

    assert run.root_error is not None
    assert (run.root_error.type, run.root_error.line) == ("CUDA error", 1)
