"""Finds wordings that share most of their words, by the rarest words first: no pass over all wordings."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from math import ceil

from logscope.knowledge.catalogue import Catalogue

_LEAST_PART = 4
"""Words of which a message must have so many to be called a piece of a wording."""


def part_of(catalogue: Catalogue, words: frozenset[int]) -> list[int]:
    """Wordings that hold all of these words: the message may be a piece of one of them."""
    places = frozenset(_places(catalogue.vocabulary, words))
    if len(places) < max(len(words), _LEAST_PART):
        return []
    rarest = min(places, key=lambda place: (catalogue.word_counts[place], place))
    return [one for one in catalogue.templates_with(rarest) if places <= set(catalogue.words(one))]


def alike(catalogue: Catalogue, words: frozenset[int], least: float) -> Iterator[tuple[float, int]]:
    """(likeness, template) of every wording with at least `least` of common words.

    Likeness is the number of common words by the larger of the two counts, so a wording has to hold one of
    any ``(1 - least) * n + 1`` words of the n asked for: only the rarest of them are looked up.
    """
    sought = frozenset(_places(catalogue.vocabulary, words))
    if not sought:
        return
    counts = catalogue.word_counts
    enough = ceil(len(words) * (1 - least)) + 1
    rarest = sorted(sought, key=lambda place: (counts[place], place))[:enough]
    seen: set[int] = set()
    for place in rarest:
        for template in catalogue.templates_with(place):
            if template in seen:
                continue
            seen.add(template)
            held = catalogue.words(template)
            share = sum(1 for word in held if word in sought) / max(len(words), len(held))
            if share >= least:
                yield share, template


def _places(vocabulary: list[int], words: Iterable[int]) -> Iterator[int]:
    for word in words:
        at = bisect_left(vocabulary, word)
        if at < len(vocabulary) and vocabulary[at] == word:
            yield at
