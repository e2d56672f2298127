"""Finds a smallest set of changes that makes a launch fail, with few tries.

Pure: a try is a function from a set of changes to a verdict. The search takes the changes in order of
suspicion and looks by halving for the first one whose presence makes the beginning of that order fail; that
change belongs to the cause. It then keeps it and looks for the next one, until what it keeps fails alone. One
cause among n costs about log2(n) + 1 tries, a pair twice that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from parsers.lazy_dataclass import dataclass


class Verdict(StrEnum):
    """What a try says about a set of changes."""

    PASS = "pass"
    FAIL = "fail"
    SKIP = "skip"
    """Cannot be tested: refused as a combination, or it failed in another way."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """One change as the search sees it."""

    weight: float
    """0 to 1, how likely it is the cause."""
    group: str
    """Changes of one group are kept together as long as possible."""


_MOST_SINGLY = 12
"""A part that cannot be halved is tried change by change up to this size."""

Test = Callable[[frozenset[int]], Verdict]


def find_cause(suspects: Sequence[Suspect], test: Test) -> tuple[frozenset[int], ...]:
    """A smallest failing subset; each of its parts is one change, or several that could not be told apart.

    All changes together must fail and none of them must pass; both are the caller's to know. `test` must
    answer the same for the same set. Raises whatever `test` raises.
    """
    order = suspicion_order(suspects)
    weights = _floored(suspects)
    culprits: list[frozenset[int]] = []
    kept: frozenset[int] = frozenset()
    end = len(order)
    while True:
        start, end = _narrow(order, suspects, weights, kept, end, test)
        part = frozenset(order[start:end])
        end = start
        culprits.append(_without_spare(part, kept | frozenset(order[:end]), test))
        kept |= culprits[-1]
        if end == 0 or test(kept) is Verdict.FAIL:
            return tuple(culprits)


def suspicion_order(suspects: Sequence[Suspect]) -> tuple[int, ...]:
    """Indices, most suspicious group first, the members of a group side by side."""
    heaviest: dict[str, float] = {}
    first: dict[str, int] = {}
    for index, suspect in enumerate(suspects):
        heaviest[suspect.group] = max(heaviest.get(suspect.group, 0.0), suspect.weight)
        first.setdefault(suspect.group, index)
    return tuple(
        sorted(
            range(len(suspects)),
            key=lambda i: (-heaviest[suspects[i].group], first[suspects[i].group], -suspects[i].weight, i),
        )
    )


def expected_tries(suspects: Sequence[Suspect]) -> int:
    """Tries that one cause among these changes takes, at most, where everything can be tested."""
    count = max(1, len(suspects))
    return (count - 1).bit_length() + 2


def _narrow(
    order: Sequence[int],
    suspects: Sequence[Suspect],
    weights: Sequence[float],
    kept: frozenset[int],
    end: int,
    test: Test,
) -> tuple[int, int]:
    """The part of the order (start, end) whose presence decides; one change unless cuts inside it cannot
    be tested. `kept` with the first `end` changes is known to fail, `kept` alone not to."""
    start = 0
    untestable: set[int] = set()
    while True:
        cut = _best_cut(order, suspects, weights, start, end, untestable)
        if cut is None:
            return start, end
        verdict = test(kept | frozenset(order[:cut]))
        if verdict is Verdict.FAIL:
            end = cut
        elif verdict is Verdict.PASS:
            start = cut
        else:
            untestable.add(cut)


def _without_spare(part: frozenset[int], rest: frozenset[int], test: Test) -> frozenset[int]:
    """A part that could not be halved, without those of its changes that are not needed."""
    if 1 < len(part) <= _MOST_SINGLY:
        for index in sorted(part):
            if len(part) > 1 and test(rest | part - {index}) is Verdict.FAIL:
                part -= {index}
    return part


def _best_cut(
    order: Sequence[int],
    suspects: Sequence[Suspect],
    weights: Sequence[float],
    start: int,
    end: int,
    untestable: set[int],
) -> int | None:
    """Where to halve the suspicion between `start` and `end`: between groups first, then inside of one."""
    cuts = [cut for cut in range(start + 1, end) if cut not in untestable]
    between = [cut for cut in cuts if suspects[order[cut - 1]].group != suspects[order[cut]].group]
    cuts = between or cuts
    if not cuts:
        return None
    total = sum(weights[index] for index in order[start:end])

    def imbalance(cut: int) -> float:
        return abs(2 * sum(weights[index] for index in order[start:cut]) - total)

    return min(cuts, key=lambda cut: (round(imbalance(cut), 9), cut))


def _floored(suspects: Sequence[Suspect]) -> list[float]:
    """Suspicions as shares, half of them spread evenly: an unsuspected change is still found in log2(2 n)."""
    total = sum(suspect.weight for suspect in suspects)
    even = 1 / max(1, len(suspects))
    if total <= 0:
        return [even] * len(suspects)
    return [0.5 * suspect.weight / total + 0.5 * even for suspect in suspects]
