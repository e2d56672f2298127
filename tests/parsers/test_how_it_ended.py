"""Outcome, readiness and stage of made-up launches, from the text alone and with what `record` knows."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from parsers.outcome import refine
from parsers.records import Conclusion, EventRole, Outcome, Stage
from tests.parsers.launch_text import run_of

_ARGS = "[2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/demo', tp_size=1, port=9001)\n"
_LOAD = "[2026-02-03 04:05:20] Load weight begin. avail mem=70.10 GB\n"
_READY = "[2026-02-03 04:06:30] The server is fired up and ready to roll!\n"
_SIGTERM = (
    "[2026-02-03 04:30:00] SIGTERM received. signum=15 frame=None. Draining requests and shutting down...\n"
)
_SIGQUIT = (
    "[2026-02-03 04:30:01] SIGQUIT received. signum=None, frame=None. It usually means one child failed.\n"
)
_DECODE = (
    "[2026-02-03 04:{m}:00] Decode batch. #running-req: 1, #token: 33, token usage: 0.00, "
    "gen throughput (token/s): 30.00, #queue-req: 0\n"
)
_LEAKED = (
    "/usr/lib/python3/multiprocessing/resource_tracker.py:224: UserWarning: resource_tracker: "
    "There appear to be 1 leaked semaphore objects to clean up at shutdown\n  warnings.warn('x')\n"
)
_ASGI = (
    "[2026-02-03 04:07:00] ERROR:    Exception in ASGI application\nTraceback (most recent call last):\n"
    '  File "/x/starlette/responses.py", line 183, in render\n    return json.dumps(\n'
    "ValueError: demo floats are no JSON\n\n"
)
_HARNESS = (
    "Traceback (most recent call last):\n"
    '  File "/x/sglang/test/test_utils.py", line 17, in run\n    self.check()\n'
    '  File "/usr/lib/python3/unittest/case.py", line 7, in fail\n    raise self.failureException(msg)\n'
    "AssertionError: 79.59 not less than or equal to 45.9\n"
)

TEXTS = [
    ("ready and the text stops", _ARGS + _LOAD + _READY, Outcome.READY, True, None),
    ("ready, then SIGTERM", _ARGS + _READY + _SIGTERM, Outcome.READY, True, None),
    (
        "an orderly stop that calls itself a crash",
        _ARGS + _READY + _SIGTERM
        + "[2026-02-03 04:30:00] Subprocess detokenizer (pid=71) crashed with exit code -15. Triggering "
          "SIGQUIT for cleanup...\n"
        + _SIGQUIT,
        Outcome.READY, True, None,
    ),
    (
        "the server kills itself once its warm-up failed",
        _ARGS + "[2026-02-03 04:07:00] Initialization failed. warmup error: Traceback (most recent call last):\n"
        + '  File "/x/sglang/srt/entrypoints/http_server.py", line 5, in _wait_and_warmup\n'
        + "AssertionError: res=<Response [503]>\n\nKilled\n",
        Outcome.FAILED, False, "Response [503]",
    ),
    (
        "the server kills itself once a child failed",
        _ARGS + _LOAD + _SIGQUIT + "./run.sh: line 9:    41 Killed                  python3 -m sglang.launch_server\n",
        Outcome.FAILED, False, None,
    ),
    ("killed while loading", _ARGS + _LOAD + "Killed\n", Outcome.KILLED, False, None),
    ("SIGTERM before ready", _ARGS + _LOAD + _SIGTERM, Outcome.KILLED, False, None),
    ("the text stops while loading", _ARGS + _LOAD, Outcome.UNKNOWN, False, None),
    ("gone while loading, leftovers cleaned up", _ARGS + _LOAD + _LEAKED, Outcome.KILLED, False, None),
    ("ready and gone, leftovers cleaned up", _ARGS + _LOAD + _READY + _LEAKED, Outcome.KILLED, True, None),
    (
        "ready and shut down, leftovers cleaned up",
        _ARGS + _READY + "[2026-02-03 04:30:00] INFO:     Shutting down\n"
        + "[2026-02-03 04:30:00] INFO:     Finished server process [7]\n" + _LEAKED,
        Outcome.READY, True, None,
    ),
    (
        "an engine without a server may just have ended",
        _ARGS + _LOAD + "[2026-02-03 04:06:00] max_total_num_tokens=3000, chunked_prefill_size=8192, "
        + "max_prefill_tokens=16384, max_running_requests=2048, context_len=4096\n" + _LEAKED,
        Outcome.UNKNOWN, False, None,
    ),
    ("serving without a ready line in the text", _DECODE.format(m="07") + _DECODE.format(m="08"), Outcome.RUNNING, False, None),
    ("a child failed and said nothing", _ARGS + _LOAD + _SIGQUIT, Outcome.FAILED, False, None),
    ("the kernel took a process", _ARGS + _LOAD + "[8.5] Out of memory: Killed process 42 "
                                                  "(sglang::schedul) total-vm:1kB\n", Outcome.KILLED, False, None),
    ("the shell says Killed and nothing came before", _ARGS + _LOAD + "Killed\n", Outcome.KILLED, False, None),
    (
        "a rank died of signal 9 and only pipes broke",
        _ARGS + _LOAD + "[2026-02-03 04:06:00] Rank 0 scheduler is dead. Please check if there are "
                        "relevant logs.\n"
        + "[2026-02-03 04:06:00] Exit code: -9\nTraceback (most recent call last):\n"
        + '  File "/app/sglang/launch_server.py", line 14, in <module>\n    launch_server(a)\nEOFError\n',
        Outcome.KILLED, False, None,
    ),
    (
        "a rank died of signal 11 and only pipes broke",
        _ARGS + _LOAD + "[2026-02-03 04:06:00] Rank 0 scheduler is dead. Please check if there are "
                        "relevant logs.\n"
        + "[2026-02-03 04:06:00] Exit code: -11\n",
        Outcome.FAILED, False, "Exit code: -11",
    ),
    ("children of a ready server are cleaned away", _ARGS + _READY + "[2026-02-03 04:30:00] Child process "
                                                                     "unexpectedly failed with an exit "
                                                                     "code 9. pid=7\n", Outcome.READY, True, None),
    ("a scheduler of a ready server is killed", _ARGS + _READY + "[2026-02-03 04:30:00] Subprocess "
                                                                 "scheduler_0 (pid=7) crashed with exit "
                                                                 "code -9. Triggering SIGQUIT for "
                                                                 "cleanup...\n" + _SIGQUIT, Outcome.KILLED, True, None),
    ("request error, then batches go on", _ARGS + _READY + _ASGI + _DECODE.format(m="09"), Outcome.READY, True, None),
    ("request error at the very end of an excerpt", _DECODE.format(m="06") + _ASGI, Outcome.RUNNING, False, "demo floats"),
    ("soft watchdog", _ARGS + _READY + "[2026-02-03 04:11:31] Scheduler watchdog timeout "
                                       "(self.watchdog_timeout=300, self.soft=True)\n" + _DECODE.format(m="20"), Outcome.READY, True, None),
    ("threshold of a test around a ready server", _ARGS + _READY + _DECODE.format(m="09") + _HARNESS, Outcome.READY, True, None),
    ("Ctrl-C while loading", _ARGS + _LOAD + "Traceback (most recent call last):\n" + '  File "/app/sglang/'
                                                                                      'launch_server.py", l'
                                                                                      'ine 3, in <module>'
                                                                                      '\n    wait()\n' + "KeyboardInterrupt\n", Outcome.KILLED, False, None),
    ("Ctrl-C on a ready server", _ARGS + _READY + "Traceback (most recent call last):\n" + '  File "/app/sglang/launch_server.py", line 3, in <module>\n    wait()\n' + "KeyboardInterrupt\n", Outcome.READY, True, None),
    (
        "own port taken: the ready line is the other server's",
        _ARGS + "[2026-02-03 04:06:20] ERROR:    [Errno 98] error while attempting to bind on address "
                "('0.0.0.0', 9001): address already in use\n" + _READY,
        Outcome.FAILED, False, "address already in use",
    ),
    (
        "probes go on for minutes while nothing else happens",
        _ARGS + _LOAD + '[2026-02-03 04:09:20] INFO:     10.0.0.5:40000 - "GET /health HTTP/1.1" 503 '
                        'Service Unavailable\n',
        Outcome.HUNG, False, None,
    ),
    (
        "the text is cut within the traceback that ended a process",
        _ARGS + _LOAD + "[2026-02-03 04:06:00 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
        + '  File "/app/sglang/srt/layers/demo.py", line 9, in forward\n    return self.call(a)\n',
        Outcome.FAILED, False, None,
    ),
    (
        "generated text that looks like the end of the server, and batches go on",
        _ARGS + _READY + _DECODE.format(m="08") + "Here is what you see:\nTraceback (most recent call last):\n"
        + '  File "script.py", line 3, in <module>\n    main()\n' + "ValueError: x\n\nKilled\n" + _DECODE.format(m="09"),
        Outcome.READY, True, None,
    ),
    (
        "usage error of a client beside a server",
        _ARGS + _READY + "usage: bench.py [-h] --backend BACKEND\nbench.py: error: unrecognized arguments: --demo\n",
        Outcome.READY, True, None,
    ),
    (
        "warm-up batches are no service",
        _ARGS + _LOAD + _DECODE.format(m="07") + _DECODE.format(m="08"),
        Outcome.UNKNOWN, False, None,
    ),
    (
        "an import that failed harmlessly and later fatally",
        _ARGS + "[2026-02-03 04:05:07] Failed to import from demo_ar with ImportError('libdemo.so: cannot "
                "open shared object file')\n"
        + "[2026-02-03 04:06:00 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
        + '  File "/app/sglang/srt/layers/demo.py", line 9, in <module>\n    import demo\n'
        + "ImportError: libdemo.so: cannot open shared object file\n",
        Outcome.FAILED, False, "libdemo.so",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "outcome", "ready", "root"), [case[1:] for case in TEXTS], ids=[case[0] for case in TEXTS]
)
def test_outcome_follows_from_the_text(text: str, outcome: Outcome, ready: bool, root: str | None) -> None:
    run = run_of(text)

    assert run.outcome is outcome, run.reason
    assert run.ready is ready
    assert run.reason
    assert (run.root_error is None) == (root is None), run.root_error
    if root is not None and run.root_error is not None:
        assert root in run.root_error.message


def test_ready_stays_true_when_the_run_fails_later() -> None:
    run = run_of(_ARGS + _READY + "[2026-02-03 04:11:31] Watchdog timeout (self.watchdog_timeout=300)\n")

    assert (run.outcome, run.ready) == (Outcome.FAILED, True)


def test_errors_after_the_order_to_stop_are_its_echoes() -> None:
    run = run_of(
        _ARGS + _READY + _SIGTERM
        + "[2026-02-03 04:30:02] Scheduler hit an exception: Traceback (most recent call last):\n"
        + '  File "/app/sglang/srt/managers/scheduler.py", line 1, in run_scheduler_process\n    x()\n'
        + "RuntimeError: demo queue was closed\n"
    )  # fmt: skip

    (event,) = [event for event in run.events if event.type == "RuntimeError"]
    assert run.outcome is Outcome.READY
    assert event.role is EventRole.ECHO
    assert run.errors == ()


def test_text_around_the_server_is_no_error_of_its_own() -> None:
    run = run_of(_ARGS + _READY + _DECODE.format(m="09") + _HARNESS)

    assert [event.benign for event in run.errors] == [True]
    assert run.errors[0].role is EventRole.OUTSIDE


_ZERO = datetime(2026, 2, 3, 4, 0, 0)


def _conclusion(outcome: Outcome, ready: bool) -> Conclusion:
    return Conclusion(outcome, ready, Stage.LOAD, "why", None, ())


@pytest.mark.parametrize(
    ("outcome", "ready", "code", "signal", "silence", "expected"),
    [
        (Outcome.UNKNOWN, False, None, "SIGKILL", 5, Outcome.KILLED),
        (Outcome.UNKNOWN, False, None, "SIGKILL", 45, Outcome.HUNG),
        (Outcome.UNKNOWN, False, None, "SIGTERM", 1, Outcome.KILLED),
        (Outcome.KILLED, False, None, "SIGKILL", 42, Outcome.HUNG),
        (Outcome.KILLED, False, None, "SIGTERM", 2, Outcome.KILLED),
        (Outcome.UNKNOWN, False, 1, None, 0, Outcome.FAILED),
        (Outcome.UNKNOWN, False, None, None, 0, Outcome.UNKNOWN),
        (Outcome.READY, True, 0, None, 0, Outcome.READY),
        (Outcome.READY, True, None, "SIGKILL", 0, Outcome.KILLED),
        (Outcome.READY, True, 1, None, 0, Outcome.FAILED),
        (Outcome.FAILED, True, None, "SIGKILL", 0, Outcome.FAILED),
    ],
)
@pytest.mark.parametrize("zone", [0, 8, -7, 5.5])
def test_exit_status_and_silence_say_what_the_text_cannot(
    outcome: Outcome,
    ready: bool,
    code: int | None,
    signal: str | None,
    silence: int,
    expected: Outcome,
    zone: float,
) -> None:
    start, end = _ZERO, _ZERO + timedelta(minutes=2)
    last_log = end - timedelta(seconds=silence) + timedelta(hours=zone)

    refined, reason = refine(_conclusion(outcome, ready), code, signal, start, end, last_log)

    assert refined is expected, reason
    assert reason


def test_a_recording_without_an_end_is_a_launch_under_way() -> None:
    text_stops = _conclusion(Outcome.UNKNOWN, False)

    outcome, reason = refine(text_stops, None, None, _ZERO, None, None)

    assert (outcome, "no end is written yet" in reason) == (Outcome.RUNNING, True)
    assert refine(text_stops, None, None, None, None, None)[0] is Outcome.UNKNOWN
    assert refine(_conclusion(Outcome.READY, True), None, None, _ZERO, None, None)[0] is Outcome.READY
    assert refine(_conclusion(Outcome.HUNG, False), None, None, _ZERO, None, None)[0] is Outcome.HUNG


def test_a_router_that_serves_is_past_its_arguments_and_its_servers_are_unknown() -> None:
    run = run_of("""
        2026-02-03 04:00:01  INFO sglang_router_rs::server: src/server.rs:300: Starting router on 0.0.0.0:30000 | mode: Regular
        2026-02-03 04:00:02  INFO sglang_router_rs::server: src/server.rs:500: Router ready | workers: ["http://w1:8000"]
    """)

    assert (run.outcome, run.ready, run.stage) == (Outcome.UNKNOWN, False, Stage.SERVING)
    assert "a router serves (line 2)" in run.reason


def test_an_error_of_one_request_with_the_group_around_it_leaves_a_ready_server_alone() -> None:
    run = run_of("""
        [2026-02-03 04:00:00] server_args=ServerArgs(model_path='/m/demo', tp_size=1)
        [2026-02-03 04:00:53] The server is fired up and ready to roll!
        [2026-02-03 04:01:08] ERROR:    Exception in ASGI application
          + Exception Group Traceback (most recent call last):
          |   File "/x/anyio/_backends/_asyncio.py", line 815, in __aexit__
          |     raise BaseExceptionGroup(
          | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
          +-+---------------- 1 ----------------
            | Traceback (most recent call last):
            |   File "/x/sglang/srt/entrypoints/http_server.py", line 200, in stream
            |     yield out
            | ValueError: the input is longer than the context
            +------------------------------------
    """)

    assert (run.outcome, run.root_error) == (Outcome.READY, None)


def test_a_child_that_was_interrupted_with_its_parent_did_not_fail() -> None:
    run = run_of("""
        [2026-02-03 04:00:00] server_args=ServerArgs(model_path='/m/demo', tp_size=1)
        [2026-02-03 04:00:11] Load weight begin. avail mem=70.50 GB
        ^C[2026-02-03 04:00:20] Child process unexpectedly failed with an exit code 2. pid=99
        Traceback (most recent call last):
          File "<frozen runpy>", line 198, in _run_module_as_main
          File "/x/sglang/launch_server.py", line 14, in <module>
            launch_server(server_args)
        KeyboardInterrupt
    """)

    assert (run.outcome, run.root_error) == (Outcome.KILLED, None)


def test_an_error_of_the_libraries_beneath_without_a_word_of_the_server_is_still_shown() -> None:
    run = run_of("""
        [node:77   :0:99] Caught signal 11 (Segmentation fault: address not mapped to object at address 0x3)
         0  /opt/py/site-packages/torch/lib/libtorch.so(x+0x2e4)
    """)

    assert run.outcome is Outcome.FAILED
    assert run.root_error is not None and run.root_error.line == 1


def test_noise_of_collected_objects_and_futures_after_ready_ends_nothing() -> None:
    run = run_of("""
        [2026-02-03 04:00:00] server_args=ServerArgs(model_path='/m/demo', tp_size=1)
        [2026-02-03 04:00:53] The server is fired up and ready to roll!
        Exception ignored in: <function Engine.__del__ at 0x7f>
        Traceback (most recent call last):
          File "/x/sglang/srt/entrypoints/engine.py", line 3, in __del__
            self.shutdown()
        TypeError: 'NoneType' object is not callable
        Future exception was never retrieved
        future: <Future finished exception=BrokenPipeError(32, 'Broken pipe')>
        BrokenPipeError: [Errno 32] Broken pipe
    """)

    assert (run.outcome, run.root_error) == (Outcome.READY, None)


def test_a_server_that_serves_for_minutes_after_a_scheduler_s_exception_did_not_end_with_it() -> None:
    head = "[2026-02-24 10:00:{:02d}] "
    launch = [
        head.format(0) + "server_args=ServerArgs(model_path='/m/a', tp_size=1, port=30000)",
        head.format(30) + "The server is fired up and ready to roll!",
        head.format(40) + "Scheduler hit an exception: Traceback (most recent call last):",
        '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/managers/scheduler.py", line 10, in step',
        "    raise ValueError(text)",
        "ValueError: unusable parameter",
        "",
    ]
    batch = "] Decode batch, #running-req: 1, #token: 10, token usage: 0.01, gen throughput (token/s): 9.00, #queue-req: 0"
    served = [f"[2026-02-24 10:{minute:02d}:00{batch}" for minute in range(1, 9)]

    outlived = run_of("\n".join([*launch, *served, ""]))
    ended = run_of("\n".join([*launch, served[0], ""]))

    assert outlived.root_error is None
    assert outlived.outcome in ("ready", "running")
    assert ended.outcome == "failed"


def test_a_reason_is_cut_between_words() -> None:
    run = run_of(
        _ARGS + "Traceback (most recent call last):\n"
        '  File "/x/sglang/srt/server.py", line 5, in run\n'
        "ValueError: " + "several words " * 30 + "\n"
    )

    assert "several words ... (line " in run.reason or "several ... (line " in run.reason
