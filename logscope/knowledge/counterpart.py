"""Finds the same check in another release: equal wording, then like wording, then its rank in a function.

A check that was copied (into a new model, a new quantization method) is not the check it was copied from;
a check that moved is. The difference: after a move the old place no longer has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from logscope.knowledge.library import ReleaseView
from logscope.knowledge.likeness import alike
from logscope.knowledge.site_records import FATAL, SiteFact, Wording
from logscope.knowledge.wording import MIN_LITERAL
from parsers.lazy_dataclass import dataclass

LIKE = 0.65
"""Least share of common words of two wordings of one check in one function."""
_LIKE_ELSEWHERE = 0.8
"""The same for checks in different functions."""
_CONTAINED = 0.4
"""Least share with which a wording is looked at at all outside of its file."""
_LEAST_WORDS = 3
_LEAST_WORDS_ELSEWHERE = 6


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A site of the other release that stands for the same check."""

    site: SiteFact
    is_same_text: bool
    likeness: float
    body: int


def ends_server(site: SiteFact) -> bool:
    """Whether a site stops what it is part of: a raise, or a message followed by one."""
    return site.kind in FATAL or "r" in site.flags


def is_gone(other: SiteFact, view: ReleaseView, home: ReleaseView) -> bool:
    """Whether `home` has no check with the text of `other`, a site of `view`, where `view` has it."""
    catalogue = home.catalogue
    at = catalogue.path_index(other.path)
    said = _wordings(other, view)
    for row in catalogue.rows_in(at, home.index) if at is not None else ():
        held = catalogue.site(row)
        same_place = held.function == other.function and ends_server(held) == ends_server(other)
        if same_place and (not said or said & _wordings(held, home)):
            return False
    return True


def _wordings(site: SiteFact, view: ReleaseView) -> set[Wording]:
    return {view.catalogue.wording(one) for one in site.templates}


def counterparts(view: ReleaseView, site: SiteFact, home: ReleaseView) -> tuple[Counterpart, ...]:
    """Sites of `view` that stand for `site` of `home`, best first; empty when the check is not there."""
    if not site.templates:
        return tuple(_wordless(view, site, home)) or tuple(_same_condition(view, site))
    equal = [one for one in _equal(view, site, home) if _is_same_check(one, site, view, home)]
    found = equal
    if not any(ends_server(one.site) == ends_server(site) for one in equal):
        found = equal + [
            one for one in _like(view, site, home) if all(one.site != other.site for other in equal)
        ]
    found = found or list(_same_condition(view, site))
    return tuple(sorted(found, key=lambda one: _closeness(one, site), reverse=True))


def _same_condition(view: ReleaseView, site: SiteFact) -> Iterator[Counterpart]:
    """The check of the same function, kind and class under the very same condition, whatever it says."""
    at = view.catalogue.path_index(site.path)
    for place in view.catalogue.places_in(at, view.index) if at is not None and site.guard else ():
        held = view.catalogue.site(place.row)
        if (held.function, held.kind, held.type, held.guard) == (
            site.function,
            site.kind,
            site.type,
            site.guard,
        ):
            yield Counterpart(held, False, LIKE, place.body)
            return


def _closeness(one: Counterpart, site: SiteFact) -> tuple[bool, bool, float, bool, bool]:
    other = one.site
    same_kind = ends_server(other) == ends_server(site)
    same_guard = other.guard == site.guard
    return same_kind, _same_function(other, site), one.likeness, same_guard, other.path == site.path


def _same_function(one: SiteFact, other: SiteFact) -> bool:
    return one.function.rpartition(".")[2] == other.function.rpartition(".")[2]


def _is_same_check(one: Counterpart, site: SiteFact, view: ReleaseView, home: ReleaseView) -> bool:
    """In the same function, or moved from a place that `home` no longer has."""
    in_place = one.site.path == site.path and _same_function(one.site, site)
    return in_place or is_gone(one.site, view, home)


def _equal(view: ReleaseView, site: SiteFact, home: ReleaseView) -> Iterator[Counterpart]:
    """Sites that can print exactly one of the wordings of `site`."""
    wanted = _wordings(site, home)
    is_long = max(one.literal for one in wanted) >= MIN_LITERAL
    seen: set[int] = set()
    for template in _same_templates(view, site, wanted, view.catalogue is home.catalogue):
        for row in view.catalogue.rows_with(template):
            body = _body(view, row) if row not in seen else None
            seen.add(row)
            if body is not None:
                held = view.catalogue.site(row)
                if is_long or (held.function == site.function and held.path == site.path):
                    yield Counterpart(held, True, 1.0, body)


def _same_templates(
    view: ReleaseView, site: SiteFact, wanted: set[Wording], is_one_file: bool
) -> Iterator[int]:
    if is_one_file:
        yield from site.templates
        return
    # Another file numbers its wordings by itself; they agree in their hashes.
    for template in range(view.catalogue.templates):
        if view.catalogue.wording(template) in wanted:
            yield template


def _wordless(view: ReleaseView, site: SiteFact, home: ReleaseView) -> Iterator[Counterpart]:
    """A check without words: the one with the same condition, else the one of the same rank there."""
    mine = _silent(home, site)
    others = _silent(view, site)
    for held, body in others:
        if held.guard == site.guard:
            yield Counterpart(held, True, 1.0, body)
            return
    rank = next((at for at, (held, _) in enumerate(mine) if held.row == site.row), None)
    if rank is not None and len(mine) == len(others):
        yield Counterpart(others[rank][0], True, 0.7, others[rank][1])


def _silent(view: ReleaseView, site: SiteFact) -> list[tuple[SiteFact, int]]:
    """Checks without words of the same kind and class in the function of `site`, by line."""
    at = view.catalogue.path_index(site.path)
    found: list[tuple[SiteFact, int]] = []
    for place in view.catalogue.places_in(at, view.index) if at is not None else ():
        held = view.catalogue.site(place.row)
        if (held.function, held.kind, held.type, held.templates) == (site.function, site.kind, site.type, ()):
            found.append((held, place.body))
    return found


def _body(view: ReleaseView, row: int) -> int | None:
    """Hash of the enclosing function in that release; None when the release does not have the row."""
    for place in view.catalogue.places_in(view.catalogue.path_of(row), view.index):
        if place.row == row:
            return place.body
    return None


def _like(view: ReleaseView, site: SiteFact, home: ReleaseView) -> Iterator[Counterpart]:
    """Sites with a similar wording that `home` no longer has: of the same file where one is, else of any.

    A site that `home` still has in its place is a sibling of `site`, however alike.
    """
    wanted = [
        words for one in site.templates if len(words := home.catalogue.word_hashes(one)) >= _LEAST_WORDS
    ]
    catalogue = view.catalogue
    at = catalogue.path_index(site.path)
    near = catalogue.rows_in(at, view.index) if at is not None else []
    found = [one for row in near if (one := _alike(view, site, row, wanted, home))]
    if not found:
        templates = {template for words in wanted for _, template in alike(catalogue, words, _CONTAINED)}
        rows = sorted({row for template in templates for row in catalogue.rows_with(template)})
        found = [one for row in rows if (one := _alike(view, site, row, wanted, home))]
    yield from found


def _alike(
    view: ReleaseView, site: SiteFact, row: int, wanted: Sequence[frozenset[int]], home: ReleaseView
) -> Counterpart | None:
    held = view.catalogue.site(row)
    is_same = _same_function(held, site)
    likeness = 0.0
    for template in held.templates:
        words = view.catalogue.word_hashes(template)
        for other in wanted:
            shared = len(words & other)
            if is_same or shared >= _LEAST_WORDS_ELSEWHERE:
                likeness = max(likeness, shared / max(len(words), len(other)))
            # A text that was only added to or cut down, in the same function.
            if is_same and shared >= _LEAST_WORDS + 1 and shared >= 0.9 * min(len(words), len(other)):
                likeness = max(likeness, LIKE)
    if likeness < (LIKE if is_same else _LIKE_ELSEWHERE) or not is_gone(held, view, home):
        return None
    body = _body(view, row)
    return None if body is None else Counterpart(held, False, min(likeness, 0.99), body)
