"""Rows of server arguments."""

from __future__ import annotations

from typing import Any

import pytest

from logscope.compare.arguments import argument_diff
from logscope.compare.command_line import typed_arguments
from logscope.compare.records import ArgumentChange, Change
from logscope.compare.values import element_note, is_same
from tests.logscope.making import make_run


def rows(good: dict[str, Any], bad: dict[str, Any], **context: Any) -> dict[str, ArgumentChange]:
    found = argument_diff(make_run("good", good, **context), make_run("bad", bad, **context)).rows
    return {row.name: row for row in found}


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (0.9, 0.90, True),
        (8, 8.0, True),
        ("8", 8, True),
        (True, 1, False),
        (None, "None", False),
        (None, False, False),
        ([1, 2], [1.0, 2], True),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"b": 1}, False),
        ("auto", "auto", True),
        ("auto", "fp8", False),
    ],
)
def test_values_are_compared_by_type(left: Any, right: Any, same: bool) -> None:
    assert is_same(left, right) is same
    assert is_same(right, left) is same


def test_text_that_spells_a_number_differs_where_types_matter() -> None:
    assert not is_same("4", 4, strict=True)


def test_a_run_against_itself_has_no_rows() -> None:
    values = {"tp_size": 2, "mem_fraction_static": 0.9, "lora_paths": None}

    assert rows(values, values) == {}


def test_swapping_the_sides_mirrors_the_rows() -> None:
    good, bad = {"tp_size": 2, "a_flag": True}, {"tp_size": 4, "b_flag": True}

    forward, backward = rows(good, bad), rows(bad, good)

    assert {name: (row.good, row.bad) for name, row in forward.items()} == {
        name: (row.bad, row.good) for name, row in backward.items()
    }
    assert forward["a_flag"].change is Change.REMOVED
    assert backward["a_flag"].change is Change.ADDED


def test_an_absent_argument_is_not_one_that_is_none() -> None:
    found = rows({"tp_size": 1}, {"tp_size": 1, "quantization": None})

    assert found["quantization"].change is Change.ADDED


def test_elements_of_lists_and_objects_are_named() -> None:
    assert element_note([1, 2, 4], [1, 2, 8]) == "added 8; removed 4"
    assert element_note({"a": {"b": 1}}, {"a": {"b": 2}}) == "a.b: 1 -> 2"


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("random_seed", 17, 42),
        ("port", 30000, 30001),
        ("nccl_port", None, 29500),
        ("dist_init_addr", "10.0.0.1:5000", "10.0.0.2:5000"),
        ("model_path", "/old/place/demo-7b", "/new/place/demo-7b"),
    ],
)
def test_seeds_ports_and_moved_paths_are_noise(name: str, good: Any, bad: Any) -> None:
    found = rows({name: good}, {name: bad})

    assert found[name].is_noise
    assert found[name].relevance == 0.0


def test_another_model_is_no_noise() -> None:
    found = rows({"model_path": "/m/demo-7b"}, {"model_path": "/m/demo-13b"})

    assert not found["model_path"].is_noise


def test_what_only_one_release_prints_is_the_release_s_and_what_was_typed_is_the_user_s() -> None:
    old = {f"field_{n}": n for n in range(3)} | {"tp_size": 1}
    new = {f"new_{n}": n for n in range(9)} | {"tp_size": 2}
    good = make_run("good", old, sglang_version="0.5.4", argv=("python", "-m", "sglang.launch_server"))
    bad = make_run(
        "bad", new, sglang_version="0.5.9", argv=("python", "-m", "sglang.launch_server", "--tp", "2")
    )

    found = {row.name: row for row in argument_diff(good, bad).rows}

    assert found["new_3"].relevance < 0.1
    assert found["tp_size"].relevance >= 0.5
    assert found["tp_size"].was_typed is True


def test_without_printed_arguments_the_command_lines_are_compared() -> None:
    command = ("python", "-m", "sglang.launch_server", "--tp", "2")
    good = make_run("good", {"tp_size": 2}, argv=command)
    bad = make_run("bad", {}, argv=(*command, "--max-runing-requests", "32"))

    diff = argument_diff(good, bad)

    assert [(row.name, row.change, row.bad) for row in diff.rows] == [
        ("max_runing_requests", Change.ADDED, 32)
    ]
    assert "command lines were compared" in diff.not_compared


def test_without_any_arguments_nothing_is_guessed() -> None:
    diff = argument_diff(make_run("good", {"tp_size": 2}), make_run("bad", {}))

    assert diff.rows == ()
    assert "not known" in diff.not_compared


def test_flags_are_read_with_equals_signs_lists_and_switches() -> None:
    typed = typed_arguments(
        ("python", "-m", "sglang.launch_server", "--tp=2", "--lora-paths", "a", "b", "--enable-metrics"), None
    )

    assert typed == {"tp_size": 2, "lora_paths": ["a", "b"], "enable_metrics": True}


def test_a_known_command_line_is_not_held_against_guessed_origins() -> None:
    values = {"tp_size": 2, "chunked_prefill_size": 4096}
    version = "0.5.4"
    argv = ("--tp-size", "2", "--chunked-prefill-size", "4096")
    plain = make_run("plain", values, version=version)
    recorded = make_run("recorded", {**values, "tp_size": 3}, version=version, argv=argv)
    again = make_run("again", values, version=version, argv=("--tp-size", "2"))

    guessed = {row.name for row in argument_diff(recorded, plain).rows}
    known = {row.name: row.change for row in argument_diff(recorded, again).rows}

    assert guessed == {"tp_size"}
    assert known["tp_size"] is Change.CHANGED
    assert known["chunked_prefill_size"] is Change.ORIGIN
