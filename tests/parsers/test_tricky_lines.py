"""Twelve small inputs with one difficulty each, and the right reading of each."""

from __future__ import annotations

import math

from parsers.records import Outcome
from tests.parsers.reading import TRICKY, read


def _args(run: object) -> dict[str, object]:
    from parsers.records import Run

    assert isinstance(run, Run)
    return {argument.name: argument.value for argument in run.server_args}


def test_a_compose_prefix_also_stands_before_empty_lines() -> None:
    run = read(TRICKY / "01_compose_prefix.log").run

    assert (run.label, run.carrier, run.model_path) == ("api-1", "docker", "/m/demo-7b")
    assert run.coverage.lines == 7
    assert run.root_error is not None
    assert (run.root_error.type, run.root_error.message, run.root_error.line) == (
        "KeyError",
        "'blk.3.scale'",
        5,
    )
    assert run.root_error.rank == "TP1"


def test_two_ray_actors_with_one_rank_are_two_servers_and_repeats_are_a_count() -> None:
    reading = read(TRICKY / "02_ray_colour_repeats.log")

    assert [run.label for run in reading.log.runs] == ["Engine pid=4101", "Engine pid=4102"]
    assert [(row.ordinal, row.gen_throughput, row.other) for row in reading.batches] == [
        (1, 210.5, ""),
        (2, 198.25, ""),
    ]
    assert "the carrier folded 3 repeats into single lines" in reading.log.notes
    assert reading.log.runs[0].root_error is not None
    assert reading.log.runs[0].root_error.message == "demo allocator is empty"


def test_a_newest_first_export_is_turned_round_and_keeps_its_line_numbers() -> None:
    reading = read(TRICKY / "03_newest_first.log")

    assert reading.log.newest_first
    assert reading.run.carrier == "gcp"
    assert reading.run.root_error is not None
    assert (reading.run.root_error.line, reading.run.root_error.rank) == (3, "TP3")
    assert (reading.run.first_line, reading.run.last_line) == (1, 7)


def test_the_inner_time_counts_and_ranks_are_kept_as_printed() -> None:
    reading = read(TRICKY / "04_timestamp_kinds.log")

    run = reading.log.runs[0]
    assert len(reading.log.runs) == 1
    assert run.ranks == ("TP0", "TP1", "gpu=3", "DP1 TP9 EP9", "PP1 TP0")
    assert str(run.started_at) == "2025-06-01 10:00:01"
    assert [row.gen_throughput for row in reading.batches] == [55.1, 12.0]
    assert run.root_error is None


def test_a_busy_port_is_the_root_of_the_failed_warm_up() -> None:
    run = read(TRICKY / "05_port_busy_then_warmup.log").run

    assert run.root_error is not None
    assert run.root_error.line == 2
    assert "9100" in run.root_error.message
    assert not run.ready


def test_arguments_wrapped_inside_a_word_are_joined() -> None:
    run = read(TRICKY / "06_args_wrapped_mid_word.log").run

    args = _args(run)
    assert run.server_args_complete
    assert args["quantization_param_path"] is None
    assert args["disable_cuda_graph"] is True
    assert args["lora_paths"] == ["a=/m/a, with comma", "b=/m/b"]
    assert args["node_rank"] == 1
    assert run.ranks == ("TP8",)


def test_cut_off_arguments_keep_their_complete_pairs() -> None:
    run = read(TRICKY / "07_args_as_dict_cut.log").run

    assert _args(run) == {
        "model_path": "/m/demo-moe",
        "tokenizer_path": "/m/demo-moe",
        "tp_size": 4,
        "trust_remote_code": True,
    }
    assert not run.server_args_complete
    assert (run.outcome, run.root_error) == (Outcome.FAILED, None)


def test_a_message_behind_a_progress_bar_is_read() -> None:
    run = read(TRICKY / "08_progress_bar_shares_line.log").run

    assert run.root_error is not None
    assert "Watchdog caught collective operation timeout" in run.root_error.message
    assert [(one.name, one.rank) for one in run.milestones if one.name == "graph-begin"] == [
        ("graph-begin", "TP1")
    ]


def test_an_orderly_stop_is_no_failure() -> None:
    run = read(TRICKY / "09_clean_stop.log").run

    assert (run.outcome, run.ready, run.root_error) == (Outcome.READY, True, None)


def test_a_usage_error_is_a_launch_without_arguments() -> None:
    run = read(TRICKY / "10_usage_error.log").run

    assert (run.outcome, run.model_path, run.server_args) == (Outcome.FAILED, None, ())
    assert run.root_error is not None
    assert "--demo_switch 3" in run.root_error.message


def test_two_interleaved_workers_are_two_launches() -> None:
    reading = read(TRICKY / "11_two_workers_interleaved.log")

    first, second = reading.log.runs
    assert (first.label, _args(first)["port"], first.outcome) == ("worker_0", 9201, Outcome.FAILED)
    assert (second.label, _args(second)["port"], second.outcome) == ("worker_1", 9202, Outcome.READY)
    assert _args(second)["custom_sigquit_handler"] is None


def test_the_decode_line_is_read_in_four_shapes() -> None:
    reading = read(TRICKY / "12_decode_line_kinds.log")

    assert [row.gen_throughput for row in reading.batches] == [101.0, 88.0, 77.0, 66.0]
    assert all(not math.isnan(row.gen_throughput) for row in reading.batches)
    assert {row.running_req for row in reading.batches} == {3}
