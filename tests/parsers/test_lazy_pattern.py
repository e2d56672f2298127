"""A pattern that is compiled late is the same pattern."""

from __future__ import annotations

import pickle

import pytest
import regex

from parsers.lazy_pattern import lazy_pattern


def test_every_method_answers_as_that_of_the_compiled_pattern() -> None:
    text, made, late = "a1 b22", regex.compile(r"[A-Z](\d+)", regex.I), lazy_pattern(r"[A-Z](\d+)", regex.I)

    found = late.search(text, 1)

    assert found is not None
    assert found[1] == "22"
    assert late.match(text) is not None
    assert late.fullmatch(text) is None
    assert late.findall(text) == made.findall(text) == ["1", "22"]
    assert late.sub("-", text) == made.sub("-", text)
    assert [one[0] for one in late.finditer(text)] == ["a1", "b22"]
    assert late.pattern == made.pattern


def test_a_pattern_of_bytes_looks_into_bytes() -> None:
    late = lazy_pattern(rb"\d+")

    assert late.findall(b"a1 b22") == [b"1", b"22"]
    assert pickle.loads(pickle.dumps(late)).search(b"a7")[0] == b"7"


def test_a_pattern_can_be_pickled_before_and_after_its_first_use() -> None:
    late = lazy_pattern("b+", regex.I)

    assert pickle.loads(pickle.dumps(late)).search("aBB")[0] == "BB"
    assert late.search("ab") is not None
    assert pickle.loads(pickle.dumps(late)).search("aBB")[0] == "BB"


def test_what_a_pattern_does_not_have_is_no_attribute() -> None:
    with pytest.raises(AttributeError):
        _ = lazy_pattern("b").nothing  # type: ignore[attr-defined]
