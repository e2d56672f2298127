"""Origins of printed arguments, lives, renames and flags."""

from __future__ import annotations

import ast

import pytest

from logscope import knowledge
from parsers.records import Argument
from tests.logscope.knowledge.conftest import Publish
from tests.logscope.knowledge.made_release import ARGUMENTS


@pytest.fixture(autouse=True)
def _releases(publish: Publish) -> None:
    later = ARGUMENTS.replace("page_size: int = 1", "page_size: int = 16").replace("kv_layout", "pool_layout")
    publish(
        {
            "9.0.0": {},
            "9.1.0": {"srt/server_args.py": later.replace('"--kv-layout"', '"--pool-layout", "--kv-layout"')},
        }
    )


def _printed(**values: object) -> list[Argument]:
    return [Argument(name, value, repr(value)) for name, value in values.items()]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words",
    [
        ["--page-size", "8"],
        ["--page-size=8"],
        ["--page_size", "8"],
        ["--page", "8"],
        ["python", "-m", "sglang.launch_server", "--model", "m", "--page-size", "-8"],
    ],
)
def test_what_the_command_line_names_is_the_users(words: list[str]) -> None:
    told = knowledge.origins(_printed(page_size=8, tp_size=1, draft_depth=4), words, "9.0.0")

    assert told == {"page_size": "user", "tp_size": "default", "draft_depth": "derived"}


def test_an_alias_and_a_flag_of_another_name_reach_their_argument() -> None:
    told = knowledge.origins(_printed(tp_size=2, model_path="m"), ["--tp", "2", "--model", "m"], "9.0.0")

    assert told == {"tp_size": "user", "model_path": "user"}


def test_a_user_may_pass_the_default() -> None:
    assert knowledge.origins(_printed(page_size=1), ["--page-size", "1"], "9.0.0") == {"page_size": "user"}


def test_without_a_command_line_the_release_decides_and_what_it_may_rewrite_stays_open() -> None:
    told = knowledge.origins(_printed(page_size=8, tp_size=1, draft_depth=4, model_path="m"), None, "9.0.0")

    assert told == {"page_size": "user", "tp_size": "default", "draft_depth": "unknown", "model_path": "user"}


def test_a_mask_that_sglang_prints_says_nothing_of_the_value() -> None:
    masked = _printed(page_size="<redacted>")

    assert knowledge.origins(masked, None, "9.0.0") == {"page_size": "unknown"}
    assert knowledge.origins(masked, [], "9.0.0") == {"page_size": "default"}
    assert knowledge.origins(masked, ["--page-size", "4"], "9.0.0") == {"page_size": "user"}


def test_an_unknown_release_or_argument_is_said_to_be_unknown() -> None:
    assert knowledge.origins(_printed(page_size=8), None, None) == {"page_size": "unknown"}
    assert knowledge.origins(_printed(of_a_fork=8), None, "9.0.0") == {"of_a_fork": "unknown"}


def test_true_is_not_one() -> None:
    assert knowledge.origins(_printed(tp_size=True), None, "9.0.0") == {"tp_size": "user"}


def test_a_rename_is_followed_in_both_directions() -> None:
    assert knowledge.renamed_arguments("9.0.0", "9.1.0") == {"pool_layout": "kv_layout"}
    assert knowledge.renamed_arguments("9.1.0", "9.0.0") == {"kv_layout": "pool_layout"}
    assert knowledge.renamed_arguments("9.0.0", "9.0.0") == {}


def test_a_life_has_spans_and_the_rename() -> None:
    life = knowledge.argument_life("page_size")
    assert life is not None
    assert [(span.value, span.first, span.last) for span in life.defaults] == [
        ("1", "9.0.0", "9.0.0"),
        ("16", "9.1.0", None),
    ]
    old = knowledge.argument_life("kv_layout")
    assert old is not None
    assert (old.last, old.renamed_to) == ("9.0.0", "pool_layout")


def test_flags_include_retired_ones() -> None:
    flags = knowledge.flags_of("9.0.0")

    assert flags["--depth"] == "draft_depth"
    assert flags["--tensor-parallel-size"] == flags["--tp"] == "tp_size"


def test_a_fact_is_that_of_the_nearest_lower_release() -> None:
    fact = knowledge.argument_fact("page_size", "9.0.7")

    assert fact is not None
    assert ast.literal_eval(fact.default or "") == 1
    assert knowledge.argument_fact("page_size", "8.0.0") is None
    assert knowledge.nearest_release("9.0.7") == "9.0.0"
