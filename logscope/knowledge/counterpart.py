"""Finds the same check in another release: equal wording first, then like wording, then the same guard."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from logscope.knowledge.catalogue import FATAL, SiteFact, Wording
from logscope.knowledge.library import ReleaseView
from logscope.knowledge.wording import MIN_LITERAL

LIKE = 0.65
"""Least share of common words of two wordings of one check."""
_SAME_FUNCTION_BONUS = 0.1


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A site of the other release that stands for the same check."""

    site: SiteFact
    is_same_text: bool
    likeness: float
    body: int


def counterparts(view: ReleaseView, site: SiteFact, home: ReleaseView) -> tuple[Counterpart, ...]:
    """Sites of `view` that stand for `site` of `home`, best first; empty when the check is not there."""
    equal = list(_equal(view, site, home))
    if any(one.site.kind in FATAL for one in equal) or (equal and site.kind not in FATAL):
        return tuple(sorted(equal, key=lambda one: _closeness(one, site), reverse=True))
    like = list(_like(view, site, home))
    return tuple(sorted([*equal, *like], key=lambda one: _closeness(one, site), reverse=True))


def _closeness(one: Counterpart, site: SiteFact) -> tuple[bool, float, bool, bool, bool]:
    other = one.site
    same_function = other.path == site.path and other.function == site.function
    same_name = other.function.rpartition(".")[2] == site.function.rpartition(".")[2]
    return (
        (other.kind in FATAL) == (site.kind in FATAL),
        one.likeness,
        same_function,
        same_name,
        other.guard == site.guard,
    )


def _equal(view: ReleaseView, site: SiteFact, home: ReleaseView) -> Iterator[Counterpart]:
    """Sites that can print exactly one of the wordings of `site`; without a wording: path, function and type."""
    wanted = {home.catalogue.wording(one) for one in site.templates}
    if not wanted:
        yield from _wordless(view, site)
        return
    same_file = view.catalogue is home.catalogue
    for template in _templates_like(view, site, wanted, same_file):
        for row in view.catalogue.rows_with(template):
            body = _body(view, row)
            if body is not None:
                held = view.catalogue.site(row)
                if home.catalogue.wording(site.templates[0]).literal >= MIN_LITERAL or (
                    held.function == site.function and held.path == site.path
                ):
                    yield Counterpart(held, True, 1.0, body)


def _templates_like(
    view: ReleaseView, site: SiteFact, wanted: set[Wording], same_file: bool
) -> Iterator[int]:
    if same_file:
        yield from site.templates
        return
    # Another file numbers its wordings by itself; they agree in their hashes.
    for template in range(view.catalogue.templates):
        if view.catalogue.wording(template) in wanted:
            yield template


def _wordless(view: ReleaseView, site: SiteFact) -> Iterator[Counterpart]:
    at = view.catalogue.path_index(site.path)
    for place in view.catalogue.places_in(at, view.index) if at is not None else ():
        held = view.catalogue.site(place.row)
        if (
            held.function == site.function
            and held.kind == site.kind
            and held.type == site.type
            and not held.templates
        ):
            likeness = 1.0 if held.guard == site.guard else 0.7
            yield Counterpart(held, True, likeness, place.body)


def _body(view: ReleaseView, row: int) -> int | None:
    """Hash of the enclosing function in that release; None when the release does not have the row."""
    for place in view.catalogue.places_in(view.catalogue.path_of(row), view.index):
        if place.row == row:
            return place.body
    return None


def _like(view: ReleaseView, site: SiteFact, home: ReleaseView) -> Iterator[Counterpart]:
    """Sites with a similar wording: in the same file first, then anywhere."""
    wanted = [home.catalogue.word_hashes(one) for one in site.templates]
    wanted = [one for one in wanted if len(one) >= 3]
    if not wanted:
        return
    at = view.catalogue.path_index(site.path)
    near = list(_alike(view, site, wanted, view.catalogue.rows_in(at, view.index) if at is not None else []))
    if near:
        yield from near
        return
    yield from _alike(view, site, wanted, view.catalogue.all_rows(view.index))


def _alike(
    view: ReleaseView, site: SiteFact, wanted: list[frozenset[int]], rows: Iterable[int]
) -> Iterator[Counterpart]:
    catalogue = view.catalogue
    vocabulary = catalogue.vocabulary
    sought = [frozenset(_places(vocabulary, one)) for one in wanted]
    sizes = [len(one) for one in wanted]
    for row in rows:
        best = 0.0
        for template in catalogue.templates_of(row):
            words = catalogue.words(template)
            for target, size in zip(sought, sizes, strict=True):
                shared = sum(1 for word in words if word in target)
                best = max(best, shared / max(size, len(words)))
        if best < LIKE - _SAME_FUNCTION_BONUS:
            continue
        held = catalogue.site(row)
        same = held.function.rpartition(".")[2] == site.function.rpartition(".")[2]
        likeness = best + (_SAME_FUNCTION_BONUS if same else 0.0)
        body = _body(view, row)
        if likeness >= LIKE and body is not None:
            yield Counterpart(held, False, min(likeness, 0.99), body)


def _places(vocabulary: list[int], words: frozenset[int]) -> Iterator[int]:
    for word in words:
        at = bisect_left(vocabulary, word)
        if at < len(vocabulary) and vocabulary[at] == word:
            yield at
