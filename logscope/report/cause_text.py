"""Causes as text: title, evidence with its place, remedies with what each assumes and risks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from logscope.compare.records import Evidence, RunDiff
from logscope.report.harmless import folded, harmless_lines
from logscope.report.layout import Ink, limited, page_width, wrapped
from logscope.report.names import (
    clock,
    contrast_words,
    counted,
    evidence_place,
    fixed_words,
    remedy_terms,
    told_once,
)
from logscope.store.records import short_id

if TYPE_CHECKING:
    from logscope.explain.records import Cause, Remedy

EVIDENCE_LINES = 4
"""Lines of one quote that a report shows."""
SHOWN_REMEDIES = 3
"""Remedies of a cause in a short report."""


def cause_lines(
    cause: Cause, diff: RunDiff, ink: Ink, why: bool, full: bool, elsewhere: str = ""
) -> list[str]:
    """One cause; `why` adds the parts of its score, without `full` only the first remedies are given.

    `elsewhere` says which ways out stand under another cause.
    """
    head = f"{cause.rank:>2}. "
    title = wrapped(f"{folded(cause.title)}  [{cause.kind}, {cause.score:.2f}]", head)
    lines = [ink.paint(line, "title") for line in title]
    if cause.mechanism:
        lines += wrapped(folded(cause.mechanism), "    ")
    for evidence in cause.evidence:
        lines += evidence_lines(evidence, diff)
    remedies = cause.remedies if full else cause.remedies[:SHOWN_REMEDIES]
    for remedy in remedies:
        lines += remedy_lines(remedy)
    left = len(cause.remedies) - len(remedies)
    if left:
        lines += wrapped(f"{counted(left, 'more remedy')} (logscope explain, or --all)", "    ")
    lines += wrapped(elsewhere, "    ") if elsewhere else []
    lines += history_lines(cause)
    if why:
        lines += score_lines(cause)
    return lines


def evidence_lines(evidence: Evidence, diff: RunDiff) -> list[str]:
    """The place of the quote, then the quote itself; what stands in no log is said in one line."""
    if evidence.line is None:
        beside = wrapped(folded(evidence.text), f"    {evidence.run} run, beside the log: ", "      ")
        return limited(beside, EVIDENCE_LINES, "      ")
    lines = wrapped(f"{evidence.run} run, {evidence_place(evidence, diff)}", "    at ")
    quoted: list[str] = []
    for line in harmless_lines(evidence.text.strip("\n")):
        quoted += wrapped(line, "     | ", "     |   ")
    return lines + limited(quoted, EVIDENCE_LINES, "     | ")


def remedy_lines(remedy: Remedy) -> list[str]:
    """What to do, what to type, what it assumes and risks, where it worked before."""
    lines = wrapped(f"{folded(remedy.action)}", f"    do ({remedy.durability}) ", "       ")
    if remedy.apply:
        lines += wrapped(folded(remedy.apply), "       $ ", "         ")
    for word, text in remedy_terms(remedy):
        lines += wrapped(folded(text), f"       {word}: ", "         ")
    return lines


def history_lines(cause: Cause) -> list[str]:
    """What earlier runs say of this cause."""
    lines: list[str] = []
    seen, contrast = cause.seen_before, cause.contrast
    if seen is not None and seen.runs:
        first = "" if seen.first_run is None else f", first in {short_id(seen.first_run)}"
        when = "" if seen.first_at is None else f" at {clock(seen.first_at)}"
        fixed = fixed_words(seen, folded)
        lines += wrapped(f"{counted(seen.runs, 'earlier run')}{first}{when}; {fixed}", "    seen before: ")
    if contrast is not None and contrast.failures + contrast.successes:
        lines += wrapped(contrast_words(contrast), "    history: ")
    return lines


def score_lines(cause: Cause) -> list[str]:
    """The summands of the score."""
    lines = ["    score:"]
    for part in cause.parts:
        lines += wrapped(f"{folded(part.name)}: {folded(part.why)}", f"      {part.points:+.2f}  ")
    return lines if cause.parts else []


def causes_block(
    causes: Sequence[Cause], diff: RunDiff, ink: Ink, why: bool, everything: bool, shown: int
) -> list[str]:
    """The causes under a title; those after the first `shown` by title only unless `everything`."""
    lines = [ink.paint("Causes", "title")]
    if not causes:
        return [*lines, "  ? no cause found"]
    for cause, elsewhere in told_once(causes):
        if everything or cause.rank <= shown:
            lines += [*cause_lines(cause, diff, ink, why, everything, elsewhere), ""]
        else:
            title = f"{folded(cause.title)}  [{cause.kind}, {cause.score:.2f}]"
            lines += limited(wrapped(title, f"{cause.rank:>2}. "), 2, " " * 4)
    return lines if lines[-1] else lines[:-1]


def rule(title: str = "") -> str:
    """A line of dashes that separates two runs of a report."""
    return f"-- {title} ".ljust(page_width(), "-") if title else "-" * page_width()
