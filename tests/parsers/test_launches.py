"""Where a launch begins and ends, and whose line is whose."""

from __future__ import annotations

from parsers.records import Outcome
from tests.parsers.reading import read

ARGS = "server_args=ServerArgs(model_path='/m/demo', tokenizer_path='/m/demo', tp_size=1, port={port}, random_seed={seed})"


def _banner(time: str, port: int = 30000, seed: int = 1) -> str:
    return f"[2026-02-03 {time}] " + ARGS.format(port=port, seed=seed)


READY = "[2026-02-03 {time}] The server is fired up and ready to roll!"


def test_launches_appended_to_one_file_are_counted_in_their_order() -> None:
    lines = [
        _banner("04:00:00", seed=1),
        "[2026-02-03 04:00:09 TP0] Load weight begin. avail mem=70.50 GB",
        "[2026-02-03 04:00:10] Received sigquit from a child process. It usually means the child failed.",
        "user@host:~$ SGLANG_DEMO=1 python3 -m sglang.launch_server --model-path /m/demo",
        "WARNING: something of a library",
        _banner("05:00:00", seed=2),
        READY.format(time="05:00:30"),
    ]

    first, second = read("\n".join(lines) + "\n").log.runs

    assert (first.ordinal, first.first_line, first.last_line, first.ready) == (1, 1, 3, False)
    assert (second.ordinal, second.first_line, second.last_line, second.ready) == (2, 4, 7, True)
    assert [(one.name, one.value, one.line) for one in second.env] == [("SGLANG_DEMO", "1", 4)]
    assert first.env == ()


def test_the_offline_engine_prints_its_arguments_twice_for_one_launch() -> None:
    lines = [
        _banner("04:00:00", seed=1),
        _banner("04:00:01", seed=2),
        "[2026-02-03 04:00:09] Load weight begin.",
    ]

    run = read("\n".join(lines) + "\n").run

    assert run.server_args_line == 2
    assert {one.name: one.value for one in run.server_args}["random_seed"] == 2
    assert [one.name for one in run.milestones] == ["args", "load-begin"]


def test_the_same_arguments_much_later_are_a_new_launch() -> None:
    lines = [_banner("04:00:00", seed=1), _banner("05:00:00", seed=2), READY.format(time="05:00:30")]

    assert [run.ready for run in read("\n".join(lines) + "\n").log.runs] == [False, True]


def test_the_same_arguments_after_the_server_was_ready_are_a_new_launch() -> None:
    lines = [
        _banner("04:00:00"),
        READY.format(time="04:00:10"),
        _banner("04:00:12"),
        READY.format(time="04:00:20"),
    ]

    assert len(read("\n".join(lines) + "\n").log.runs) == 2


def test_another_port_is_another_server() -> None:
    lines = [_banner("04:00:00", port=30000), _banner("04:00:01", port=30001)]

    assert len(read("\n".join(lines) + "\n").log.runs) == 2


def test_a_preamble_belongs_to_the_launch_that_follows() -> None:
    lines = [
        "Requirement already satisfied: sglang==0.5.3 in /usr/lib/python3/site-packages",
        "export NCCL_DEBUG=INFO",
        _banner("04:00:00"),
        READY.format(time="04:00:10"),
    ]

    run = read("\n".join(lines) + "\n").run

    assert (run.first_line, run.coverage.lines) == (1, 4)
    assert (run.version.kind, run.version.version) == ("exact", "0.5.3")
    assert [(one.name, one.value) for one in run.env] == [("NCCL_DEBUG", "INFO")]


def test_a_tail_of_an_earlier_run_and_a_new_launch_are_two() -> None:
    lines = [
        "[2026-02-03 03:00:00 TP0] Decode batch. #running-req: 1, #token: 5, token usage: 0.01, #queue-req: 0",
        _banner("04:00:00"),
        READY.format(time="04:00:10"),
    ]

    first, second = read("\n".join(lines) + "\n").log.runs

    assert (first.server_args, second.ready) == ((), True)


def test_a_usage_error_behind_a_finished_run_is_a_launch_of_its_own() -> None:
    lines = [
        _banner("04:00:00"),
        READY.format(time="04:00:10"),
        "[2026-02-03 04:10:00] SIGTERM received. signum=15 frame=None. Draining requests and shutting down...",
        "usage: launch_server.py [-h] --model-path MODEL_PATH",
        "launch_server.py: error: unrecognized arguments: --demo",
    ]

    first, second = read("\n".join(lines) + "\n").log.runs

    assert (first.outcome, second.outcome) == (Outcome.READY, Outcome.FAILED)
    assert second.first_line == 4


def test_a_killed_note_of_the_shell_belongs_to_the_run_before_it() -> None:
    lines = [
        _banner("04:00:00"),
        "[2026-02-03 04:00:10] Received sigquit from a child process. It usually means the child failed.",
        "./run.sh: line 9:    41 Killed                  python3 -m sglang.launch_server",
    ]

    assert read("\n".join(lines) + "\n").run.last_line == 3


def test_ray_actors_of_one_server_with_different_ranks_are_one_run() -> None:
    lines = [
        f"(Worker pid={pid}, ip=10.0.0.1) [2026-02-03 04:00:09 TP{rank}] Load weight begin. avail mem=70.50 GB"
        for rank, pid in enumerate((11, 12, 13, 14))
    ]

    run = read("\n".join(lines) + "\n").run

    assert run.ranks == ("TP0", "TP1", "TP2", "TP3")


def test_a_draft_model_is_told_from_its_target() -> None:
    lines = [
        _banner("04:00:00"),
        "[2026-02-03 04:00:01 TP0] Load weight begin. avail mem=70.50 GB",
        "[2026-02-03 04:00:02 TP0] Load weight end. type=Big, avail mem=50.50 GB, mem usage=20.00 GB.",
        "[2026-02-03 04:00:03 TP0] KV Cache is allocated. #tokens: 300, K size: 1.25 GB, V size: 1.25 GB",
        "[2026-02-03 04:00:04 TP0] Load weight begin. avail mem=48.00 GB",
        "[2026-02-03 04:00:05 TP0] Load weight end. type=Small, avail mem=47.00 GB, mem usage=1.00 GB.",
        "[2026-02-03 04:00:06 TP0] KV Cache is allocated. #tokens: 300, K size: 0.25 GB, V size: 0.25 GB",
    ]

    run = read("\n".join(lines) + "\n").run

    ends = [one for one in run.milestones if one.name == "load-end"]
    assert [(one.role, dict(one.values)["type"]) for one in ends] == [("target", "Big"), ("draft", "Small")]
    assert [one.role for one in run.milestones if one.name == "kv-cache"] == ["target", "draft"]


def test_weights_that_are_loaded_again_while_serving_are_no_draft() -> None:
    lines = [
        _banner("04:00:00"),
        "[2026-02-03 04:00:01] Load weight begin. avail mem=70.50 GB",
        READY.format(time="04:00:10"),
        "[2026-02-03 04:00:11] Load weight begin. avail mem=70.50 GB",
    ]

    run = read("\n".join(lines) + "\n").run

    assert {one.role for one in run.milestones if one.name == "load-begin"} == {""}


def test_stages_have_their_printed_or_measured_length() -> None:
    lines = [
        _banner("04:00:00"),
        "[2026-02-03 04:00:05 TP0] Init torch distributed begin.",
        "[2026-02-03 04:00:06 TP0] Init torch distributed ends. elapsed=1.25 s, mem usage=0.25 GB",
        "[2026-02-03 04:00:06 TP0] Load weight begin. avail mem=70.50 GB",
        "[2026-02-03 04:00:16 TP0] Load weight end. elapsed=9.50 s, type=A, avail mem=55.25 GB, mem usage=15.25 GB.",
        "[2026-02-03 04:00:17 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=5.00 GB",
    ]

    run = read("\n".join(lines) + "\n").run

    spans = {(span.stage.value, span.rank): span for span in run.stages}
    assert spans["distributed", "TP0"].seconds == 1.25
    assert spans["load", "TP0"].seconds == 9.5
    assert (spans["load", "TP0"].mem_gb, spans["load", "TP0"].avail_gb) == (15.25, 55.25)
    assert not spans["graph-capture", "TP0"].complete


def test_times_without_a_date_give_lengths_but_no_moments() -> None:
    lines = [
        "[23:59:58] server_args=ServerArgs(model_path='/m/demo', tp_size=1)",
        "[23:59:59 TP0] Load weight begin. avail mem=70.50 GB",
        "[00:00:09 TP0] Load weight end. type=A, dtype=torch.bfloat16, avail mem=55.25 GB",
    ]

    run = read("\n".join(lines) + "\n").run

    assert (run.started_at, run.ended_at) == (None, None)
    assert {one.at for one in run.milestones} == {None}
    assert next(span for span in run.stages if span.stage.value == "load" and not span.rank).seconds == 10.0


def test_text_that_is_of_no_launch_has_no_run() -> None:
    for text in (
        "",
        "\n",
        "hello\nworld\n",
        "[2026-02-03 04:00:00] some other program\n",
        "\x00\x01\xff" * 500,
    ):
        reading = read(text)

        assert not reading.log.is_sglang
        assert reading.log.runs == ()


def test_a_bare_import_error_of_sglang_is_a_launch() -> None:
    lines = [
        "Traceback (most recent call last):",
        '  File "/usr/lib/python3/site-packages/sglang/launch_server.py", line 3, in <module>',
        "    import demo",
        "ModuleNotFoundError: No module named 'demo'",
    ]

    run = read("\n".join(lines) + "\n").run

    assert run.outcome is Outcome.FAILED
    assert run.root_error is not None
    assert run.root_error.line == 4


def test_a_diffusion_server_is_ready_when_its_port_is_open() -> None:
    lines = [
        '[02-03 04:05:06] server_args: {"model_path": "/m/paint", "num_gpus": 2}',
        "[2026-02-03 04:05:09] INFO:     Application startup complete.",
        "[2026-02-03 04:05:09] INFO:     Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)",
    ]

    run = read("\n".join(lines) + "\n").run

    assert [one.name for one in run.milestones] == ["args", "http-complete", "http-running", "ready"]
    assert (run.ready, str(run.ready_at)) == (True, "2026-02-03 04:05:09")


def test_an_open_port_of_a_language_server_is_not_ready() -> None:
    lines = [_banner("04:00:00"), "[2026-02-03 04:00:09] INFO:     Uvicorn running on http://127.0.0.1:30000"]

    assert not read("\n".join(lines) + "\n").run.ready


def test_a_router_beside_its_workers_is_a_run_of_its_own() -> None:
    lines = [
        "w-1  | " + _banner("04:00:00"),
        "r-1  | 2026-02-03 04:00:01  INFO smg::server: src/server.rs:794: Starting router on 0.0.0.0:8000 | mode: Regular",
        "w-1  | " + READY.format(time="04:00:30"),
        "r-1  | 2026-02-03 04:00:31  INFO smg::server: src/server.rs:985: Router ready | workers: []",
    ]

    worker, router = read("\n".join(lines) + "\n").log.runs

    assert (worker.label, worker.ready, worker.coverage.lines) == ("w-1", True, 2)
    assert (router.label, [one.name for one in router.milestones]) == (
        "r-1",
        ["router-start", "router-ready"],
    )


def test_a_newest_first_file_with_two_launches_has_them_in_time_order() -> None:
    lines = [
        "INFO 2026-02-03T05:00:30.000000000Z " + READY.format(time="05:00:30"),
        "INFO 2026-02-03T05:00:00.000000000Z " + _banner("05:00:00", seed=2),
        "ERROR 2026-02-03T04:00:10.000000000Z [2026-02-03 04:00:10] Received sigquit from a child process.",
        "INFO 2026-02-03T04:00:00.000000000Z " + _banner("04:00:00", seed=1),
    ]

    reading = read("\n".join(lines) + "\n")

    assert reading.log.newest_first
    assert [(run.ordinal, run.ready, run.first_line, run.last_line) for run in reading.log.runs] == [
        (1, False, 3, 4),
        (2, True, 1, 2),
    ]


def test_a_container_that_starts_again_is_a_new_launch_without_an_end_of_the_old_one() -> None:
    lines = [
        "== SGLang ==",
        "SGLang Version 0.5.9",
        _banner("04:00:00"),
        READY.format(time="04:00:10"),
        "== SGLang ==",
        "SGLang Version 0.5.10",
        _banner("05:00:00"),
        READY.format(time="05:00:10"),
    ]

    first, second = read("\n".join(lines) + "\n").log.runs

    assert (first.version.version, first.first_line, first.last_line) == ("0.5.9", 1, 4)
    assert (second.version.version, second.first_line, second.last_line) == ("0.5.10", 5, 8)


def test_an_error_before_any_arguments_and_a_launch_after_it_are_two() -> None:
    lines = [
        "[2026-02-03 04:00:00] Scheduler hit an exception: Traceback (most recent call last):",
        '  File "/opt/sglang/srt/x.py", line 3, in f',
        "ValueError: demo",
        _banner("05:00:00"),
        READY.format(time="05:00:10"),
    ]

    first, second = read("\n".join(lines) + "\n").log.runs

    assert (first.outcome, second.ready) == (Outcome.FAILED, True)
