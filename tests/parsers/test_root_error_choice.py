"""Which of the errors in a log is the root: one made-up log for each mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from parsers.records import EventRole, Outcome
from tests.parsers.launch_text import run_of


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    type: str
    where: str
    """How the line of the root begins."""
    outcome: Outcome = Outcome.FAILED
    says: str = ""


_ARGS = "[2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/demo', tp_size=2, port=9001)\n"
_LOAD = (
    "[2026-02-03 04:05:20 TP0] Load weight begin. avail mem=70.10 GB\n"
    "[2026-02-03 04:05:20 TP1] Load weight begin. avail mem=70.10 GB\n"
)
_READY = "[2026-02-03 04:06:30] The server is fired up and ready to roll!\n"
_FRAME = (
    '  File "/app/sglang/srt/managers/scheduler.py", line 12, in run_scheduler_process\n'
    "    scheduler = Scheduler(a)\n"
)
_SIGQUIT = "[2026-02-03 04:07:00] Received sigquit from a child process. It usually means the child failed.\n"


def _line_that_begins(text: str, begins: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if line.startswith(begins))


def _hit(rank: str, error: str, time: str = "04:07:00") -> str:
    head = f"[2026-02-03 {time} {rank}] Scheduler hit an exception: Traceback (most recent call last):\n"
    return f"{head}{_FRAME}{error}\n\n"


CASES = [
    Case(
        "child exception before the parent's report",
        _ARGS + _LOAD + _hit("TP1", "KeyError: 'blk.9.scale'") + _SIGQUIT,
        "KeyError", "KeyError", says="blk.9.scale",
    ),
    Case(
        "report printed before the traceback that caused it",
        _ARGS + _LOAD + _SIGQUIT + _hit("TP1", "ValueError: demo value 7 is odd"),
        "ValueError", "ValueError: demo",
    ),
    Case(
        "native line before the Python exception",
        _ARGS + _LOAD
        + "/x/native/cuda/Demo.cu:77: demoKernel: block: [3,0,0], thread: [1,0,0] Assertion `a < b` failed.\n"
        + _hit("TP0", "RuntimeError: CUDA error: device-side assert triggered") + _SIGQUIT,
        "CUDA assert", "/x/native",
    ),
    Case(
        "NCCL warns and then fails",
        _ARGS + _LOAD
        + "host-0:77:99 [1] misc/demo.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-Ab1 to 99 bytes\n"
        + _hit("TP0", "RuntimeError: NCCL error: unhandled system error") + _SIGQUIT,
        "NCCL WARN", "host-0:77",
    ),
    Case(
        "NCCL warning without an NCCL failure is only a warning",
        _ARGS + _LOAD
        + "host-0:77:99 [1] misc/demo.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-Ab1 to 99 bytes\n"
        + _hit("TP0", "FileNotFoundError: [Errno 2] No such file or directory: '/m/demo/x.json'") + _SIGQUIT,
        "FileNotFoundError", "FileNotFoundError",
    ),
    Case(
        "harmless RCCL advice is no cause",
        _ARGS + _LOAD
        + 'host-0:77:99 [1] NCCL WARN Missing "demo=pt" from kernel command line which can lead to '
          'instability\n'
        + _hit("TP0", "RuntimeError: NCCL error: invalid usage") + _SIGQUIT,
        "RuntimeError", "RuntimeError: NCCL",
    ),
    Case(
        "peers that lost the connection are echoes of a real error that comes later",
        _ARGS + _LOAD
        + _hit("TP1", "RuntimeError: [/x/gloo/transport/tcp/pair.cc:534] Connection closed by peer "
                      "[10.0.0.9]:2711")
        + _hit("TP0", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.") + _SIGQUIT,
        "torch.OutOfMemoryError", "torch.OutOf",
    ),
    Case(
        "a lost peer is the best that there is when nothing else is said",
        _ARGS + _LOAD
        + _hit("TP1", "RuntimeError: [/x/gloo/transport/tcp/pair.cc:534] Connection closed by peer "
                      "[10.0.0.9]:2711") + _SIGQUIT,
        "RuntimeError", "RuntimeError: [/x", says="another process went away first",
    ),
    Case(
        "a rank that had loaded is no culprit",
        _ARGS + _LOAD
        + _hit("TP1", "ValueError: TP rank 1 could finish the model loading, but there are other ranks "
                      "that didn't finish loading.")
        + _hit("TP0", "RuntimeError: demo file is short by 9 bytes") + _SIGQUIT,
        "RuntimeError", "RuntimeError: demo file",
    ),
    Case(
        "first exception of a chain, not the wrapper that repeats it",
        _ARGS + _LOAD
        + "[2026-02-03 04:06:00 TP0] Scheduler hit an exception: Traceback (most recent call last):\n" + _FRAME
        + "RuntimeError: demo kernel has no image\n\n"
        + "During handling of the above exception, another exception occurred:\n\n"
        + "Traceback (most recent call last):\n" + _FRAME
        + "Exception: Capture cuda graph failed: demo kernel has no image\nPossible solutions:\n1. set "
          "--mem-fraction-static to a smaller value\n\n"
        + _SIGQUIT,
        "RuntimeError", "RuntimeError: demo kernel",
    ),
    Case(
        "later exception that was raised to say it clearly",
        _ARGS
        + "Traceback (most recent call last):\n" + _FRAME + "KeyError: 'demo_type'\n\n"
        + "During handling of the above exception, another exception occurred:\n\n"
        + "Traceback (most recent call last):\n" + _FRAME
        + "ValueError: The checkpoint has model type `demo_type`, which version 4.2 does not know.\n",
        "ValueError", "ValueError: The check", says="raised on purpose",
    ),
    Case(
        "what the compiler said, not that its command failed",
        _ARGS + _LOAD
        + "[2026-02-03 04:06:00 TP0] Scheduler hit an exception: Traceback (most recent call last):\n" + _FRAME
        + "subprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.\n\n"
        + "The above exception was the direct cause of the following exception:\n\n"
        + "Traceback (most recent call last):\n" + _FRAME
        + "RuntimeError: Error building extension 'demo_ops': [1/2] c++ -c demo.cpp\ndemo.cpp:1: fatal "
          "error: Python.h: No such file\n\n"
        + _SIGQUIT,
        "RuntimeError", "RuntimeError: Error building",
    ),
    Case(
        "exception of the other process, not its carrier",
        _ARGS
        + "Traceback (most recent call last):\n" + _FRAME
        + "ray.exceptions.RayTaskError(ValueError): ray::Worker.load() (pid=7, ip=10.0.0.7)\n"
        + '  File "/app/sglang/srt/worker.py", line 3, in load\n    raise ValueError(shape)\n'
        + "ValueError: demo shape 5 does not fit 4\n",
        "ValueError", "ValueError: demo shape",
    ),
    Case(
        "member of an exception group, not the group",
        _ARGS
        + "  + Exception Group Traceback (most recent call last):\n"
        + '  |   File "/app/sglang/launch_server.py", line 3, in <module>\n  |     run()\n'
        + "  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n"
        + "  +-+---------------- 1 ----------------\n"
        + "    | Traceback (most recent call last):\n"
        + '    |   File "/app/sglang/srt/entrypoints/demo.py", line 9, in task\n    |     work()\n'
        + "    | ZeroDivisionError: division by zero\n"
        + "    +------------------------------------\n",
        "ZeroDivisionError", "    | ZeroDiv",
    ),
    Case(
        "launcher's EOFError is a consequence",
        _ARGS + _LOAD + _hit("TP0", "OSError: [Errno 12] Cannot allocate memory")
        + "[2026-02-03 04:07:01] Rank 0 scheduler is dead. Please check if there are relevant logs.\n"
        + "[2026-02-03 04:07:01] Exit code: 1\nTraceback (most recent call last):\n"
        + '  File "/app/sglang/launch_server.py", line 14, in <module>\n    launch_server(a)\nEOFError\n',
        "OSError", "OSError",
    ),
    Case(
        "bind error before the warm-up that it makes fail",
        _ARGS
        + "[2026-02-03 04:06:20] ERROR:    [Errno 98] error while attempting to bind on address "
          "('0.0.0.0', 9001): address already in use\n"
        + "[2026-02-03 04:08:20] Initialization failed. warmup error: Traceback (most recent call last):\n"
        + '  File "/app/sglang/srt/entrypoints/http_server.py", line 3, in _execute_server_warmup\n    '
          'get(url)\n'
        + "AssertionError: 404 page not found\n",
        "OSError", "[2026-02-03 04:06:20] ERROR",
    ),
    Case(
        "request error that made the warm-up fail",
        _ARGS + _LOAD
        + "[2026-02-03 04:06:20] Error in request: demo image has 9 dimensions\nTraceback (most recent "
          "call last):\n"
        + '  File "/app/sglang/srt/entrypoints/openai/serving.py", line 3, in handle\n    '
          'work()\nRuntimeError: demo image has 9 dimensions\n\n'
        + "[2026-02-03 04:06:21] Initialization failed. warmup error: Traceback (most recent call last):\n"
        + '  File "/app/sglang/srt/entrypoints/http_server.py", line 3, in _execute_server_warmup\n    '
          'get(url)\nAssertionError: 500\n',
        "RuntimeError", "RuntimeError: demo image",
    ),
    Case(
        "usage error has no traceback and no arguments",
        "usage: launch_server.py [-h] --model-path MODEL_PATH\nlaunch_server.py: error: argument --dtype: "
        "invalid choice: 'f9'\n",
        "argparse", "launch_server.py: error",
    ),
    Case(
        "bare exception line",
        "worker_0 | [2026-02-03 04:05:06 TP0] Init torch distributed begin.\nworker_0 "
        "| torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.\n",
        "torch.OutOfMemoryError", "worker_0 | torch",
    ),
    Case(
        "exception marked up and padded",
        _ARGS + _LOAD
        + "[2026-02-03 04:06:00 TP0] Scheduler hit an exception: Traceback (most recent call last):   \n"
        + _FRAME + "**RuntimeError: demo sizes 4 and 5 differ**      \n\n" + _SIGQUIT,
        "RuntimeError", "**RuntimeError",
    ),
    Case(
        "C++ exception: its words stand on the next line",
        _ARGS + _LOAD
        + "terminate called after throwing an instance of 'c10::DemoError'\n  what():  demo queue is "
          "broken\nFatal Python error: Aborted\n\n"
        + "Thread 0x00007f (most recent call first):\n"
        + '  File "/app/x.py", line 3 in wait\n\nExtension modules: numpy\n'
        + "[2026-02-03 04:07:01] Child process unexpectedly failed with an exit code 134. pid=9\n",
        "c10::DemoError", "  what():", says="demo queue",
    ),
    Case(
        "abort of Python whose reason stands before it",
        _ARGS + _LOAD
        + ":0:/x/clr/hipamd/src/hip_demo.cpp:117 : 6190 us:  Cannot find Symbol with name: _Zdemo\nFatal "
          "Python error: Aborted\n",
        "HIP fatal", ":0:/x",
    ),
    Case(
        "segmentation fault minutes before the watchdogs of the other ranks",
        _ARGS + _LOAD + _READY
        + "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n"
        + '  File "/app/sglang/a.py", line 3 in inner\n  File "/app/sglang/b.py", line 4 in outer\n\n'
        + "[2026-02-03 04:11:31 TP1] Watchdog timeout (self.watchdog_timeout=300)\n"
        + "[2026-02-03 04:11:33] SIGQUIT received. signum=None, frame=None. It usually means one child "
          "failed.\n",
        "Fatal Python error", "Fatal Python error: Seg",
    ),
    Case(
        "watchdog with no dump",
        _ARGS + _READY + "[2026-02-03 04:11:31 TP1] Scheduler watchdog timeout (self.watchdog_timeout=300, "
                         "self.soft=False)\n",
        "Watchdog timeout", "[2026-02-03 04:11:31 TP1]",
    ),
    Case(
        "glog error of a transfer engine before its exception",
        _ARGS + _LOAD
        + "E0203 04:06:59.500000   7 rdma_demo.cpp:130] Failed to register memory 0x7f00: Bad address [14]\n"
        + _hit("TP0", "RuntimeError: Mooncake memory registration failed.") + _SIGQUIT,
        "rdma_demo.cpp", "E0203",
    ),
    Case(
        "Rust panic",
        _ARGS + "thread '<unnamed>' panicked at src/tree.rs:88:14:\ncalled `Option::unwrap()` on a `None` "
                "value\nnote: run with `RUST_BACKTRACE=1`\n",
        "panic", "called `Option",
    ),
    Case(
        "words before no words in the same second",
        _ARGS + _LOAD + _hit("TP1", "AssertionError") + _hit("TP0", "RuntimeError: demo value 5 is wrong") + _SIGQUIT,
        "RuntimeError", "RuntimeError: demo value",
    ),
    Case(
        "error behind dots that a progress display left",
        _ARGS + _LOAD + "..........RuntimeError: demo value 5 is wrong\n",
        "RuntimeError", "..........Runtime",
    ),
    Case(
        "error glued to a progress bar",
        _ARGS + _LOAD + "\r 33%|###   | 3/9 [00:01<00:03,  1.0s/it]Memory access fault by GPU node-3 on address 0x70.\n",
        "HIP fatal", "\r 33%",
    ),
    Case(
        "uncaught exceptions behind the rank of each line",
        _ARGS + "".join(f"[rank1]: {line}\n" for line in ["Traceback (most recent call last):", *_FRAME.rstrip().split("\n"), "ValueError: demo"]),
        "ValueError", "[rank1]: ValueError",
    ),
    Case(
        "wrapped first error of a chain whose message has empty lines",
        _ARGS + "Traceback (most recent call last):\n" + _FRAME
        + "demo.GatedError: 401 for this name\n\nAccess to it is restricted.\n\n"
        + "The above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n" + _FRAME
        + "OSError: You are trying to open a gated name.\n",
        "demo.GatedError", "demo.GatedError",
    ),
    Case(
        "traceback cut before its exception",
        _ARGS + _LOAD + "[2026-02-03 04:06:00 TP0] Scheduler hit an exception: Traceback (most recent call "
                        "last):\n"
        + '  File "/app/sglang/srt/models/demo.py", line 9, in load\n    raise ValueError(shape)\n',
        "ValueError", "    raise ValueError",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_root_error_is_the_one_that_a_careful_reader_names(case: Case) -> None:
    run = run_of(case.text)

    root = run.root_error
    assert run.outcome is case.outcome, run.reason
    assert root is not None
    assert (root.type, root.line) == (case.type, _line_that_begins(case.text, case.where)), (root, run.events)
    assert case.says in root.message + root.reason


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_error_says_why_it_is_the_root_or_not(case: Case) -> None:
    run = run_of(case.text)

    assert sum(event.role is EventRole.ROOT for event in run.events) == 1
    assert all(event.role_reason for event in run.events)


def test_all_ranks_that_printed_the_root_are_named_and_the_first_one_counts() -> None:
    run = run_of(
        _ARGS
        + _LOAD
        + _hit("TP1", "ValueError: demo 5 is odd")
        + _hit("TP0", "ValueError: demo 7 is odd")
        + _SIGQUIT
    )

    assert run.root_error is not None
    assert run.root_error.rank == "TP1"
    assert set(run.root_error.ranks) == {"TP0", "TP1"}
    (event,) = [event for event in run.events if event.role is EventRole.ROOT]
    assert (event.count, event.line, event.last_line) == (2, 7, 12)


def test_frames_of_the_root_are_outermost_first_and_its_text_is_kept() -> None:
    run = run_of(_ARGS + _hit("TP0", "ValueError: demo"))

    assert run.root_error is not None
    assert [frame.function for frame in run.root_error.traceback] == ["run_scheduler_process"]
    (event,) = [event for event in run.events if event.role is EventRole.ROOT]
    assert "scheduler = Scheduler(a)" in event.traceback_text


def test_stack_of_a_fatal_error_becomes_its_frames_outermost_first() -> None:
    case = next(case for case in CASES if case.type == "Fatal Python error")

    run = run_of(case.text)

    assert run.root_error is not None
    assert [frame.function for frame in run.root_error.traceback] == ["outer", "inner"]
