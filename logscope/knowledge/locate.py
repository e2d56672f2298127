"""Finds the site that a message or a traceback comes from, in one release.

A frame below ``sglang/`` is the primary key; the wording the second. Nothing found is an answer: most
messages of CUDA, NCCL, Torch and models are not SGLang's own, and must not be matched by a short wording.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from logscope.knowledge.library import ReleaseView
from logscope.knowledge.likeness import alike, part_of
from logscope.knowledge.site_records import FATAL, SiteFact, Wording
from logscope.knowledge.wording import (
    ANCHOR,
    MIN_LITERAL,
    anchor_hash,
    fold,
    piece_hash,
    split_head,
    word_hashes,
)
from parsers.lazy_dataclass import dataclass
from parsers.lazy_pattern import lazy_re

if TYPE_CHECKING:
    from parsers.records import Frame

FRAME, UNIQUE, SHARED, NEAR, NONE = "frame", "unique template", "shared template", "near miss", "none"

_LONGEST_MESSAGE = 6000
_COVERAGE = 0.35
"""Share of the message that a wording's literal text must cover when it does not begin the message."""
_BEGINNING_COVERAGE = 0.12
_LONGEST_VALUE = 60
"""Characters that may follow the last recognised piece of a cut message: a value, no more."""
_NEAR = 0.75
"""Share of common words of a near miss, by the larger of the two counts."""
_NEAR_WORDS = 6
_BELOW = lazy_re(
    r"(?:^|.*[/\\])sglang[/\\](?=(?:srt|lang|cli|jit_kernel|kernels|multimodal_gen)[/\\]|[^/\\]+\.py$)"
)
_PYTHONS_OWN = lazy_re(
    r"object has no attribute|has no attribute '|no module named|cannot import name"
    r"|unexpected keyword argument|positional arguments? |index out of range|unsupported operand"
    r"|not subscriptable|is not iterable|not callable|referenced before assignment"
    r"|cannot access local variable|is not defined\Z|division by zero|not enough values to unpack"
    r"|too many values to unpack|invalid literal for int|no such file or directory|object is not "
    r"|must be str, not|\A\[errno \d+\]|\A'[^' ]*'\Z|\A\d+\Z"
)
"""What Python says by itself; a check that copies these words is believed only where a frame shows it."""
_IMPLICIT = frozenset(
    [
        "AttributeError",
        "KeyError",
        "IndexError",
        "NameError",
        "ImportError",
        "ModuleNotFoundError",
        "ZeroDivisionError",
        "TypeError",
        "UnboundLocalError",
        "RecursionError",
        "OSError",
        "FileNotFoundError",
        "PermissionError",
        "ValueError",
    ]
)
_RANK_HEAD = lazy_re(r"\A(?:\[[^\]]{1,80}\] ?)+")


@dataclass(frozen=True, slots=True)
class Message:
    """A message taken apart."""

    type: str | None
    """Exception class, where it is known."""
    text: str
    """Folded text without the class."""
    words: frozenset[int]


@dataclass(frozen=True, slots=True)
class Match:
    """A site that a message can come from."""

    site: SiteFact
    template: int | None
    literal: int
    """Literal characters that were recognised."""
    is_cut: bool
    line: int


@dataclass(frozen=True, slots=True)
class Located:
    """What was found: matches of equal rank, how sure, and why nothing was."""

    matches: tuple[Match, ...]
    confidence: str
    reason: str = ""
    """Where nothing was found: ``foreign``, ``implicit`` or ``unknown``, and a clause."""
    note: str = ""


def take_apart(message: str, error_type: str | None) -> Message:
    """Splits the exception class off and folds the rest."""
    stripped = _RANK_HEAD.sub("", message.strip()[:_LONGEST_MESSAGE])
    head, rest = split_head(stripped)
    kind = error_type.rpartition(".")[2] if error_type else head
    if error_type and head is None and stripped.startswith(f"{error_type}:"):
        rest = stripped[len(error_type) + 1 :]
    text = fold(rest).rstrip(".…") if fold(rest).endswith(("...", "…")) else fold(rest)
    return Message(kind or None, text, word_hashes(text))


def below_package(file: str) -> str | None:
    """Path below ``sglang/`` of a frame's file; None for files outside of SGLang."""
    found = _BELOW.match(file)
    return file[found.end() :].replace("\\", "/") if found else None


def locate(view: ReleaseView, message: Message, frames: Sequence[Frame]) -> Located:
    """The site in the release of `view`."""
    if frames:
        found = _by_frame(view, message, frames)
        if found is not None:
            return found
    return by_wording(view, message)


# -- by frame ------------------------------------------------------------------------------------------


def _by_frame(view: ReleaseView, message: Message, frames: Sequence[Frame]) -> Located | None:
    own = [(at, below_package(frame.file)) for at, frame in enumerate(frames)]
    inside = [(at, path) for at, path in own if path is not None]
    if not inside:
        return Located((), NONE, "foreign: no frame of the traceback lies in SGLang")
    last, path = inside[-1]
    is_innermost = last == len(frames) - 1
    exact, named = _at_frame(view, path, frames[last])
    worded = [one for one in (*exact, *named) if _words_fit(view, one, message)]
    if is_innermost:
        fitting = [one for one in exact if _type_fits(one.site, message) and _may_say(view, one, message)]
        if fitting:
            best = [one for one in worded if one in fitting]
            if best:
                return Located((best[0],), FRAME)
            # Without words the line is all there is, and lines of another release say little.
            return Located(tuple(fitting), FRAME if view.is_exact else NEAR)
    # Raised through a helper: the call in the frame before holds the words.
    for at, above in reversed(inside[-3:]):
        at_line, elsewhere = _at_frame(view, above, frames[at])
        said = [one for one in at_line + elsewhere if _words_fit(view, one, message)]
        said = [one for one in said if _type_fits(one.site, message)]
        if said:
            note = "" if said[0] in at_line else _dated(view, said[0].site, frames[at].line)
            return Located((said[0],), FRAME, note=note)
    if not is_innermost:
        return _outside(view, message, frames[-1])
    if view.catalogue.path_index(path) is None or not _has_path(view, path):
        return None  # a file this release does not have: only the wording can tell
    worded_anywhere = by_wording(view, message)
    if worded_anywhere.matches and worded_anywhere.confidence != NEAR:
        return worded_anywhere
    if not exact and not named:
        return Located((), NONE, f"implicit: {frames[last].function} raises nothing by itself")
    return Located((), NONE, f"implicit: line {frames[last].line} of {path} holds no check with this text")


def _dated(view: ReleaseView, site: SiteFact, line: int) -> str:
    """A check that stands on another line than the traceback says: in which releases the line fits."""
    catalogue = view.catalogue
    path = catalogue.path_of(site.row)
    fits = [
        catalogue.releases[release]
        for release in catalogue.releases_of(site.row)
        if any(
            one.row == site.row and one.line <= line <= one.last_line
            for one in catalogue.places_in(path, release)
        )
    ]
    if not fits:
        return f"no known release has this check on line {line}: another build"
    span = fits[0] if len(fits) == 1 else f"{fits[0]} to {fits[-1]}"
    return f"the traceback's line {line} fits {span}, not {view.version}"


def _outside(view: ReleaseView, message: Message, frame: Frame) -> Located:
    found = by_wording(view, message)
    if found.matches and found.confidence in (UNIQUE, SHARED) and not found.matches[0].is_cut:
        return found  # a re-raise: the innermost frame of a chained traceback may lie elsewhere
    return Located((), NONE, f"foreign: it was raised in {frame.file}, outside of SGLang")


def _has_path(view: ReleaseView, path: str) -> bool:
    at = view.catalogue.path_index(path)
    return at is not None and view.catalogue.state_at(at, view.index) is not None


def _at_frame(view: ReleaseView, path: str, frame: Frame) -> tuple[list[Match], list[Match]]:
    """Sites on the frame's line, and other sites of its function."""
    at = view.catalogue.path_index(path)
    exact: list[Match] = []
    named: list[Match] = []
    for place in view.catalogue.places_in(at, view.index) if at is not None else ():
        name = view.catalogue.functions[view.catalogue.site_function[place.row]]
        if name.rpartition(".")[2] != frame.function.rpartition(".")[2]:
            continue
        site = view.catalogue.site(place.row)
        made = Match(site, site.templates[0] if site.templates else None, 0, False, place.line)
        (exact if place.line <= frame.line <= place.last_line else named).append(made)
    return exact, named


def _type_fits(site: SiteFact, message: Message) -> bool:
    if message.type is None:
        return True
    return site.kind in FATAL and (site.type == message.type or site.type in ("argparse", "SystemExit", "?"))


def _may_say(view: ReleaseView, match: Match, message: Message) -> bool:
    """A site with words of its own has to have said these; one without may say anything."""
    return not match.site.templates or not message.text or _words_fit(view, match, message)


def _words_fit(view: ReleaseView, match: Match, message: Message) -> bool:
    return any(_fit(view, template, message) is not None for template in match.site.templates)


# -- by wording ----------------------------------------------------------------------------------------


def by_wording(view: ReleaseView, message: Message) -> Located:
    """The site by its literal pieces alone."""
    if len(message.text) < MIN_LITERAL:
        return Located((), NONE, "unknown: too few words to recognise a check by")
    if message.type in _IMPLICIT and _PYTHONS_OWN.search(message.text):
        return Located((), NONE, "implicit: these are the interpreter's own words")
    found = [
        one for one in _worded(view, message) if _type_fits(one.site, message) or one.site.kind not in FATAL
    ]
    if not found:
        return _near(view, message) or Located((), NONE, "foreign: no check of this release has this text")
    found.sort(key=lambda one: _rank(one, message), reverse=True)
    best = _plainest([one for one in found if _rank(one, message)[:3] == _rank(found[0], message)[:3]])
    return Located(tuple(best), UNIQUE if len(best) == 1 else SHARED)


def _plainest(found: Sequence[Match]) -> list[Match]:
    """One match a site; of a function's sites those with the fewest wordings.

    Where a name is given several messages in turn, the later sites are taken to print the earlier ones too.
    """
    fewest: dict[tuple[str, str], int] = {}
    for one in found:
        place = (one.site.path, one.site.function)
        fewest[place] = min(fewest.get(place, len(one.site.templates)), len(one.site.templates))
    kept: dict[int, Match] = {}
    for one in found:
        if len(one.site.templates) == fewest[one.site.path, one.site.function]:
            kept.setdefault(one.site.row, one)
    return list(kept.values())


def _near(view: ReleaseView, message: Message) -> Located | None:
    """A wording that shares nearly all of its words with the message: another build's, or a reworded one."""
    if len(message.words) < _NEAR_WORDS:
        return None
    catalogue = view.catalogue
    found: list[tuple[float, Match]] = []
    for likeness, template in alike(catalogue, message.words, _NEAR):
        for row in catalogue.rows_with(template):
            site = catalogue.site(row)
            line = _line_of(view, row)
            if line is not None and _type_fits(site, message):
                found.append((likeness, Match(site, template, 0, False, line)))
    if not found:
        return None
    best = max(found, key=lambda one: one[0])
    return Located((best[1],), NEAR)


def is_piece(view: ReleaseView, message: Message) -> bool:
    """True when all words of the message stand in one wording of the release: it may be cut out of it."""
    rows = (row for one in part_of(view.catalogue, message.words) for row in view.catalogue.rows_with(one))
    return any(_line_of(view, row) is not None for row in rows)


def _line_of(view: ReleaseView, row: int) -> int | None:
    catalogue = view.catalogue
    places = catalogue.places_in(catalogue.path_of(row), view.index)
    return next((place.line for place in places if place.row == row), None)


def _rank(match: Match, message: Message) -> tuple[bool, bool, int, bool]:
    is_fatal = match.site.kind in FATAL
    agrees = is_fatal or message.type is None  # without a class it may be a warning, or an error cut from it
    return not match.is_cut, agrees, match.literal, match.site.type == message.type


def _worded(view: ReleaseView, message: Message) -> Iterator[Match]:
    catalogue = view.catalogue
    seen: set[int] = set()
    for template in _candidates(view, message):
        if template in seen:
            continue
        seen.add(template)
        fit = _fit(view, template, message)
        if fit is None:
            continue
        for row in catalogue.rows_with(template):
            line = _line_of(view, row)
            if line is not None:
                yield Match(catalogue.site(row), template, fit[0], fit[1], line)


def _candidates(view: ReleaseView, message: Message) -> Iterator[int]:
    """Templates one of whose longer pieces may begin somewhere in the text."""
    anchors = view.catalogue.anchors
    text = message.text
    for at in range(len(text) - ANCHOR + 1):
        wanted = anchor_hash(text[at : at + ANCHOR])
        found = bisect_left(anchors, wanted)
        while found < len(anchors) and anchors[found] == wanted:
            yield view.catalogue.anchored(found)
            found += 1


def _fit(view: ReleaseView, template: int, message: Message) -> tuple[int, bool] | None:
    """Literal characters recognised and whether the message is cut; None when the wording does not fit."""
    wording = view.catalogue.wording(template)
    if wording.literal < MIN_LITERAL:
        return None
    matched, begins, end = _pieces_in(wording, message.text)
    if matched == len(wording.pieces):
        literal, is_cut = wording.literal, False
    else:
        literal, begins = _cut_literal(view, template, matched, begins, end, message)
        is_cut = True
    share = literal / max(len(message.text), 1)
    needed = _BEGINNING_COVERAGE if begins and wording.starts else _COVERAGE
    return (literal, is_cut) if literal >= MIN_LITERAL and share >= needed else None


def _cut_literal(
    view: ReleaseView, template: int, matched: int, begins: bool, end: int, message: Message
) -> tuple[int, bool]:
    """Literal characters of a message that ends inside the wording, 0 where it does not: its pieces so far in
    order, then the beginning of the next piece (told by its first characters and its words), or a value."""
    wording = view.catalogue.wording(template)
    text = message.text
    literal = sum(size for size, _ in wording.pieces[:matched])
    size, _ = wording.pieces[matched]
    begun = _anchor_at(text, end, view.catalogue.anchors_of(template)[matched])
    if begun is None or (matched == 0 and wording.starts and begun > 0):
        is_at_end = (
            matched > 0 and begins and literal >= 2 * MIN_LITERAL and len(text) - end <= _LONGEST_VALUE
        )
        return (literal if is_at_end else 0), begins
    tail = text[begun:]
    words = word_hashes(tail.rpartition(" ")[0])  # the last word may be cut itself
    if len(tail) > size or not words or not words <= view.catalogue.word_hashes(template):
        return 0, begins
    return literal + len(tail), begins or (matched == 0 and begun == 0)


def _anchor_at(text: str, start: int, anchor: int) -> int | None:
    """Where the first characters of a piece stand."""
    if anchor == 0:
        return None
    places = range(start, len(text) - ANCHOR + 1)
    return next((at for at in places if anchor_hash(text[at : at + ANCHOR]) == anchor), None)


def _pieces_in(wording: Wording, text: str) -> tuple[int, bool, int]:
    """How many pieces occur in order, whether the first stands at the beginning, and where the last ends."""
    at = 0
    begins = False
    for number, (size, wanted) in enumerate(wording.pieces):
        found = _find(text, at, size, wanted)
        if found is None:
            return number, begins, at
        if number == 0:
            begins = found == 0
        at = found + size
    return len(wording.pieces), begins, at


def _find(text: str, start: int, size: int, wanted: int) -> int | None:
    high = wanted >> 8
    for at in range(start, len(text) - size + 1):
        piece = text[at : at + size]
        if anchor_hash(piece) == high and piece_hash(piece) == wanted:
            return at
    return None
