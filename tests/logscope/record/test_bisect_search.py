"""The search for a smallest failing set: finds it, and with few tries."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from logscope.record.search import Suspect, Verdict, find_cause, suspicion_order

Asked = dict[frozenset[int], Verdict]


def _counting(rule: Callable[[frozenset[int]], Verdict]) -> tuple[Callable[[frozenset[int]], Verdict], Asked]:
    asked: Asked = {}

    def test(chosen: frozenset[int]) -> Verdict:
        if chosen not in asked:
            asked[chosen] = rule(chosen)
        return asked[chosen]

    return test, asked


def _fails_with(*cause: int) -> Callable[[frozenset[int]], Verdict]:
    return lambda chosen: Verdict.FAIL if chosen.issuperset(cause) else Verdict.PASS


def _plain(count: int) -> list[Suspect]:
    return [Suspect(0.0, str(index)) for index in range(count)]


@given(st.data(), st.integers(1, 120))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_single_cause_takes_at_most_twice_log2_and_a_few(data: st.DataObject, count: int) -> None:
    cause = data.draw(st.integers(0, count - 1))
    weights = data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count))
    groups = data.draw(st.lists(st.sampled_from("abcdefgh"), min_size=count, max_size=count))
    test, asked = _counting(_fails_with(cause))

    found = find_cause([Suspect(w, g) for w, g in zip(weights, groups, strict=True)], test)

    assert found == (frozenset({cause}),)
    assert len(asked) <= 2 * count.bit_length() + 8


@given(st.data(), st.integers(2, 40))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_smallest_set_of_several_is_found_exactly(data: st.DataObject, count: int) -> None:
    cause = data.draw(st.sets(st.integers(0, count - 1), min_size=2, max_size=4))
    test, asked = _counting(_fails_with(*cause))

    found = find_cause(_plain(count), test)

    assert frozenset().union(*found) == cause
    assert len(asked) <= len(cause) * (count.bit_length() + 2)


def test_strong_suspect_is_confirmed_with_two_tries() -> None:
    suspects = [Suspect(0.9 if index == 11 else 0.05, str(index)) for index in range(16)]
    test, asked = _counting(_fails_with(11))

    found = find_cause(suspects, test)

    assert found == (frozenset({11}),)
    assert len(asked) <= 2


def test_members_of_a_group_are_kept_side_by_side() -> None:
    suspects = [Suspect(0.1, "a"), Suspect(0.5, "b"), Suspect(0.9, "a"), Suspect(0.5, "b")]

    assert suspicion_order(suspects) == (2, 0, 1, 3)


def test_changes_that_only_run_together_are_not_told_apart() -> None:
    def rule(chosen: frozenset[int]) -> Verdict:
        together = chosen & {3, 4}
        if len(together) == 1:
            return Verdict.SKIP
        return Verdict.FAIL if together else Verdict.PASS

    found = find_cause(_plain(8), _counting(rule)[0])

    assert found == (frozenset({3, 4}),)


def test_companion_without_which_the_culprit_does_not_run_is_named_with_it() -> None:
    def rule(chosen: frozenset[int]) -> Verdict:
        if 5 in chosen and 1 not in chosen:
            return Verdict.SKIP
        return Verdict.FAIL if 5 in chosen else Verdict.PASS

    found = find_cause(_plain(8), _counting(rule)[0])

    assert frozenset().union(*found) == {1, 5}


@given(st.integers(2, 12), st.data())
def test_search_ends_whatever_the_tries_say(count: int, data: st.DataObject) -> None:
    drawn: Asked = {}

    def test(chosen: frozenset[int]) -> Verdict:
        if chosen not in drawn:
            drawn[chosen] = data.draw(st.sampled_from(list(Verdict)))
        return drawn[chosen]

    found = find_cause(_plain(count), test)

    assert found
    assert frozenset().union(*found) <= frozenset(range(count))
