"""Release candidates come before, post releases after; an unknown one is answered by the nearest lower."""

from __future__ import annotations

import pytest

from logscope.knowledge.periods import in_words, periods
from logscope.knowledge.versions import newest_not_above, version_key

IN_ORDER = (
    "0.4.9.post6",
    "0.4.10",
    "0.5.0rc0",
    "0.5.0rc2",
    "0.5.1",
    "0.5.1.post1",
    "0.5.9",
    "0.5.10rc0",
    "0.5.10",
)


def test_names_sort_as_they_were_published() -> None:
    shuffled = sorted(frozenset(IN_ORDER), key=lambda one: version_key(one) or (0, 0, 0, 0, 0, 0, ""))

    assert tuple(shuffled) == IN_ORDER


@pytest.mark.parametrize(
    ("asked", "answers"),
    [
        ("0.5.1", "0.5.1"),
        ("0.5.1.post3", "0.5.1.post1"),
        ("0.5.2", "0.5.1.post1"),
        ("0.5.10.dev3", "0.5.9"),
        ("0.5.9+cu129", "0.5.9"),
        ("0.5.10.post1", "0.5.10"),
        ("9.9", "0.5.10"),
        ("0.1.3", None),
        ("main", None),
    ],
)
def test_the_nearest_lower_release_answers(asked: str, answers: str | None) -> None:
    assert newest_not_above(asked, IN_ORDER) == answers


def test_spans_join_equal_values_and_end_where_the_thing_is_gone() -> None:
    changes: list[list[object]] = [[0, "a"], [2, None], [3, "a"], [5, "b"], [7, None]]

    spans = periods(changes, IN_ORDER)

    assert [(one.first, one.last, one.value) for one in spans] == [
        ("0.4.9.post6", "0.5.1", "a"),
        ("0.5.1.post1", "0.5.9", "b"),
    ]
    assert in_words(spans, "0.5.10") == "a in 0.4.9.post6 to 0.5.1, b in 0.5.1.post1 to 0.5.9"
