"""Is the check behind a message new between two releases, was it only a warning, or why does it fire now.

The order of the questions is fixed: where does the message come from in the bad release, which check of the
good release is the same, and what differs between the two. A doubt ends in ``unknown`` or ``foreign``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from logscope.knowledge import library
from logscope.knowledge.counterpart import Counterpart, counterparts, ends_server, is_gone
from logscope.knowledge.environment import deprecated_names
from logscope.knowledge.gates import Flip, changed_defaults, flips, gates_of
from logscope.knowledge.library import ReleaseView
from logscope.knowledge.locate import (
    NEAR,
    NONE,
    SHARED,
    Located,
    Match,
    Message,
    is_piece,
    locate,
    take_apart,
)
from logscope.knowledge.parser_errors import parser_finding
from logscope.knowledge.periods import in_words
from logscope.knowledge.records import Gate, ValidationFinding
from logscope.knowledge.site_records import FATAL, SiteFact
from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from parsers.records import Frame

_MOST_JUDGED = 8
"""Sites with one text that are compared one by one; more share one fate or none can be told."""


def validation(
    good_version: str | None,
    bad_version: str | None,
    message: str,
    frames: Sequence[Frame] = (),
    error_type: str | None = None,
) -> ValidationFinding:
    """The finding for one message; never raises for content."""
    good, bad = library.view(good_version), library.view(bad_version)
    if good is None or bad is None:
        return _unknown_release(good_version, bad_version, good, bad)
    return _known_releases(good, bad, message, tuple(frames), error_type)


@lru_cache(maxsize=32)
def _known_releases(
    good: ReleaseView, bad: ReleaseView, message: str, frames: tuple[Frame, ...], error_type: str | None
) -> ValidationFinding:
    """Kept, since a report asks for the root error more than once."""
    told = take_apart(message, error_type)
    notes = _release_notes(good, bad)
    said_by_parser = parser_finding(good, bad, message, told.type, notes)
    if said_by_parser is not None:
        return said_by_parser
    located = locate(bad, told, frames)
    if not located.matches:
        return _not_found(good, bad, told, located, notes)
    return _judged(good, bad, told, located, notes)


@dataclass(frozen=True, slots=True)
class _Judgement:
    finding: str
    match: Match
    pair: Counterpart | None
    flips: tuple[Flip, ...] = ()


def _judged(
    good: ReleaseView, bad: ReleaseView, told: Message, located: Located, notes: tuple[str, ...]
) -> ValidationFinding:
    notes += (located.note,) if located.note else ()
    judgements = [_judge(good, bad, match) for match in located.matches[:_MOST_JUDGED]]
    if told.type and any(one.match.site.kind in FATAL for one in judgements):
        judgements = [one for one in judgements if one.match.site.kind in FATAL]
    if not told.type and len({one.finding for one in judgements}) > 1:
        fatal = [one for one in judgements if one.match.site.kind in FATAL]
        if fatal and len(fatal) < len(judgements):
            judgements = fatal
            notes += ("judged as an error: without its class it may also be the warning of the same words",)
    if located.confidence == NEAR:
        path = judgements[0].match.site.path
        why = f"Close to a check in {path} of {bad.version}, but not its text: another build, or reworded."
        return _finding(good, bad, judgements[0], "unknown", NEAR, notes, why)
    # The same text in several places: a copy that is new says nothing about the message.
    older = [one for one in judgements if one.finding != "new"] or judgements
    if len({one.finding for one in older}) > 1:
        listed = ", ".join(sorted({one.match.site.path for one in older}))
        why = f"Several checks of {bad.version} say this, and they fared differently: {listed}."
        return _finding(good, bad, older[0], "unknown", SHARED, notes, why)
    return _finding(good, bad, older[0], older[0].finding, located.confidence, notes, "")


def _judge(good: ReleaseView, bad: ReleaseView, match: Match) -> _Judgement:
    site = match.site
    pairs = counterparts(good, site, bad)
    if not pairs:
        return _Judgement("new", match, None)
    same = [one for one in pairs if ends_server(one.site) == ends_server(site)]
    if not same and ends_server(site):
        return _Judgement("promoted", match, pairs[0])
    if not same:
        # Where the bad release still raises the same, this message is a branch beside it, no softer form.
        gone = [one for one in pairs if is_gone(one.site, good, bad)]
        return _Judgement("demoted", match, gone[0]) if gone else _Judgement("new", match, None)
    pair = same[0]
    if "c" in pair.site.flags and "c" not in site.flags and pair.is_same_text:
        return _Judgement("promoted", match, pair)
    flipped = flips(site, [one.site for one in _close(same, site)], good, bad)
    if flipped:
        return _Judgement("default-flipped", match, pair, flipped)
    # A helper that can also only warn carries a condition of its own.
    if pair.site.guard != site.guard or ("t" in pair.site.flags) != ("t" in site.flags):
        return _Judgement("guard-changed", match, pair)
    return _Judgement("unchanged" if pair.is_same_text else "reworded", match, pair)


def _close(pairs: Sequence[Counterpart], site: SiteFact) -> list[Counterpart]:
    """The counterparts whose guards are compared: the best, and others of the same function with words."""
    return [
        pairs[0],
        *(one for one in pairs[1:3] if site.templates and one.site.function == pairs[0].site.function),
    ]


def _finding(
    good: ReleaseView, bad: ReleaseView, one: _Judgement, finding: str, confidence: str,
    notes: tuple[str, ...], explanation: str,
) -> ValidationFinding:  # fmt: skip
    site = one.match.site
    gates = gates_of(site, one.pair.site if one.pair else None, good, bad)
    for flip in reversed(one.flips):
        gates = (flip.gate, *(gate for gate in gates if gate.name != flip.gate.name))
    since = _introduced(good, bad, one, finding)
    from parsers.records import (
        Frame,
    )  # with it comes the whole package of parsers, which most callers have loaded

    return ValidationFinding(
        finding, confidence, Frame(site.path, one.match.line, site.function), gates, since,
        good.asked, bad.asked, explanation or _explained(good, bad, one, gates, since),
        notes + _more_notes(one, gates, bad),
    )  # fmt: skip


def _explained(
    good: ReleaseView, bad: ReleaseView, one: _Judgement, gates: tuple[Gate, ...], since: str | None
) -> str:
    a, b = good.version, bad.version
    where = f"{one.match.site.path} ({one.match.site.function})"
    began = f", since {since}" if since and since != b else ""
    if one.finding == "new":
        return f"The check in {where} does not exist in {a}; {b} has it{began}."
    if one.finding == "promoted":
        softer = one.pair.site.kind if one.pair else "warning"
        return f"In {a} this was only a message ({softer}); {b} raises it{began} in {where}."
    if one.finding == "demoted":
        return f"In {a} this ended the server; {b} only says it{began} in {where}."
    if one.finding == "default-flipped":
        gate = one.flips[0].gate
        spans = in_words(gate.defaults, bad.catalogue.releases[-1])
        return (
            f"The check in {where} exists in both; the default of {gate.name} changed "
            f"from {gate.good_default} to {gate.bad_default}"
            + (f" ({spans})" if spans else "")
            + ", which lets it fire."
        )
    if one.finding == "guard-changed":
        named = ", ".join(gate.name for gate in gates[:3])
        return f"The check in {where} exists in {a} too, but its condition changed{began}" + (
            f"; it depends on {named}." if named else "."
        )
    if one.finding == "reworded":
        return f"The check in {where} exists in {a} under the same condition; only its text changed{began}."
    return (
        f"{a} has the same check in {where}: something else changed "
        "(values, arguments, environment, model files)."
    )


def _more_notes(one: _Judgement, gates: tuple[Gate, ...], bad: ReleaseView) -> tuple[str, ...]:
    notes: list[str] = []
    if one.match.is_cut:
        notes.append("the message is cut off; its beginning was recognised")
    for flip in one.flips:
        if flip.set_by_sglang:
            notes.append(
                f"{flip.gate.name} was set to {flip.set_by_sglang} by SGLang itself in the good release"
            )
        if flip.is_early:
            notes.append(f"{flip.gate.name} stands in front of an early return, not around the check")
    for gate in gates:
        notes += _turned_round(gate, bad)
    if "e" in one.match.site.flags:
        notes.append("the check is reached only past an early return: a condition may lie outside of it")
    if "t" in one.match.site.flags:
        notes.append("it goes through a helper that can also only warn")
    if one.finding != "default-flipped":
        for gate in changed_defaults(gates):
            if gate.good_default is not None and gate.bad_default is not None:
                notes.append(
                    f"the default of {gate.name} changed from {gate.good_default} to {gate.bad_default}, "
                    "which does not decide this check by itself"
                )
    if one.finding == "unchanged" and one.pair is not None:
        here = next(
            (p.body for p in bad.catalogue.places_in(bad.catalogue.path_of(one.match.site.row), bad.index)
             if p.row == one.match.site.row), None,
        )  # fmt: skip
        if here is not None and here != one.pair.body:
            notes.append("the function around it was edited between the two releases (weak evidence)")
    notes += _commit_notes(one, bad)
    return tuple(notes)


def _turned_round(gate: Gate, bad: ReleaseView) -> list[str]:
    """An old DISABLE_X that a release copies into ENABLE_X as it stands: setting it does the opposite."""
    if gate.kind != "env":
        return []
    return [
        f"{bad.version} copies {old} into {gate.name} as it stands, so {old}=1 now switches it on"
        for old, is_inverted in deprecated_names(gate.name, bad.asked)
        if not is_inverted and ("_DISABLE_" in old) != ("_DISABLE_" in gate.name) and "_ENABLE_" in gate.name
    ]


def _commit_notes(one: _Judgement, bad: ReleaseView) -> list[str]:
    """For a build that was taken in from a git checkout: who last touched the check and its condition."""
    checkout = bad.catalogue.meta.get("checkout")
    if not checkout:
        return []
    from logscope.knowledge.commits import touched

    told = touched(Path(checkout), one.match.site.path, one.match.line)
    return [
        f"{what} was last changed by {commit.id[:12]} ({commit.date}): {commit.subject}"
        for what, commit in told
    ]


def _introduced(good: ReleaseView, bad: ReleaseView, one: _Judgement, finding: str) -> str | None:
    """The first release in which what the finding says holds."""
    if finding == "default-flipped" and one.flips:
        spans = [span for span in one.flips[0].gate.defaults if span.value == one.flips[0].gate.bad_default]
        return spans[-1].first if spans else None
    catalogue = bad.catalogue
    held = catalogue.releases_of(one.match.site.row)
    for template in one.match.site.templates:
        for row in catalogue.rows_with(template):
            site = catalogue.site(row)
            same_guard = finding != "guard-changed" or site.guard == one.match.site.guard
            if (site.kind in FATAL) == (one.match.site.kind in FATAL) and same_guard:
                held += catalogue.releases_of(row)
    low = (
        good.index
        if catalogue is good.catalogue and good.index < bad.index and finding not in ("unchanged",)
        else -1
    )
    after = sorted(at for at in set(held) if low < at <= bad.index)
    return catalogue.releases[after[0]] if after else None


def _doubt(good: ReleaseView, bad: ReleaseView, message: Message) -> str:
    """Why a text that no check of the bad release has may be SGLang's all the same; '' for no reason."""
    before = locate(good, message, ())
    if before.matches and before.confidence != NEAR:
        return (
            f"a check of {good.version} has this text and none of {bad.version} has it; "
            "are the two releases swapped, or is the message of another run"
        )
    for view in (bad, good):
        if is_piece(view, message):
            return f"too short, it may be a piece of a text of {view.version}; give the whole message"
    return ""


def _release_notes(good: ReleaseView, bad: ReleaseView) -> tuple[str, ...]:
    return tuple(
        f"no facts of {view.asked}; those of {view.version}, the nearest lower release, were used"
        for view in (good, bad)
        if not view.is_exact
    )


def _unknown_release(
    good_version: str | None, bad_version: str | None, good: ReleaseView | None, bad: ReleaseView | None
) -> ValidationFinding:
    missing = [
        name or "(not given)" for name, view in ((good_version, good), (bad_version, bad)) if view is None
    ]
    return ValidationFinding(
        "unknown", NONE, None, (), None, good_version or "", bad_version or "",
        f"No facts of SGLang {' and '.join(missing)}.",
        ("take in that build with 'logscope knowledge add PATH'",),
    )  # fmt: skip


def _not_found(
    good: ReleaseView, bad: ReleaseView, message: Message, located: Located, notes: tuple[str, ...]
) -> ValidationFinding:
    word, _, clause = located.reason.partition(": ")
    if word == "foreign" and (doubt := _doubt(good, bad, message)):
        word, clause = "unknown", doubt
    clause = clause.replace("this release", bad.version)
    finding = "unknown" if word == "unknown" else "foreign"
    told = {
        "foreign": "This is not SGLang's own message",
        "implicit": "No check of SGLang raised this (the interpreter or native code did)",
        "unknown": "This cannot be told",
    }[word]
    return ValidationFinding(
        finding, NONE, None, (), None, good.asked, bad.asked, f"{told}: {clause}.", notes
    )
