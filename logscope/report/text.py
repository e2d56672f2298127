"""The text report of a diff and of an explanation: 80 columns, the verdict first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logscope.report.cause_text import causes_block
from logscope.report.harmless import folded, harmless, harmless_lines
from logscope.report.layout import Ink, limited, name_width, row_lines, wrapped
from logscope.report.names import clock, counted, first_failure_words, frame_text, headline, run_name
from logscope.report.outline import Section, same_section, sections
from logscope.store.records import StoredRun, short_id
from parsers.records import RootError

if TYPE_CHECKING:
    from logscope.explain.records import Explanation

SHOWN_CAUSES = 3
"""Causes with evidence and remedies; the others are listed by title."""


def diff_text(
    explanation: Explanation, color: bool = False, why: bool = False, everything: bool = False
) -> str:
    """The report of ``logscope diff``; `everything` unfolds all rows and causes."""
    ink = Ink(color)
    lines = _opening(explanation, ink)
    lines += ["", *causes_block(explanation.causes, explanation.diff, ink, why, everything, SHOWN_CAUSES)]
    for section in sections(explanation.diff):
        block = _section_lines(section, ink, everything)
        lines += ["", *block] if block else []
    lines += ["", *_same_lines(explanation, ink)]
    lines += _folded_lines(explanation, everything)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def explanation_text(explanation: Explanation, color: bool = False, why: bool = False) -> str:
    """The report of ``logscope explain``: the verdict and every cause with all its remedies."""
    ink = Ink(color)
    lines = _opening(explanation, ink)
    lines += ["", *causes_block(explanation.causes, explanation.diff, ink, why, True, 0)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def root_lines(root: RootError, ink: Ink, stored: StoredRun) -> list[str]:
    """The root error with its place, its innermost frames and why it is the root."""
    ranks = f" on {', '.join(root.ranks)}" if len(root.ranks) > 1 else f" on {root.rank}" if root.rank else ""
    place = f"{run_name(stored)}:{root.line}{harmless(ranks)}"
    lines = [ink.paint(line, "!") for line in wrapped(f"{harmless(root.type)} at {place}", "! ")]
    quoted: list[str] = []
    for line in harmless_lines(root.message.strip("\n") or root.type):
        quoted += wrapped(line, "   | ", "   |   ")
    lines += limited(quoted, 6, "   | ")
    for frame in root.traceback[-3:]:
        lines += wrapped(frame_text(frame), "   in ", "      ")
    return lines + (wrapped(folded(root.reason), "   why this error: ", "   ") if root.reason else [])


def _opening(explanation: Explanation, ink: Ink) -> list[str]:
    diff = explanation.diff
    lines = [ink.paint(line, "title") for line in wrapped(folded(explanation.verdict), "")]
    lines += wrapped(folded(diff.baseline.reason), "baseline: ")
    lines += ["", *wrapped(_side(diff.bad), "bad   ")]
    if diff.good is not None:
        lines += wrapped(_side(diff.good), "good  ")
    first = first_failure_words(diff, short_id)
    lines += wrapped(first, "since ") if first else []
    root = diff.bad.run.root_error
    return lines if root is None else [*lines, "", *root_lines(root, ink, diff.bad)]


def _side(stored: StoredRun) -> str:
    version = f", sglang {harmless(stored.sglang_version)}" if stored.sglang_version else ""
    begun = f", started {clock(stored.started_at)}" if stored.started_at else ""
    mark = f", marked {stored.mark.verdict}" if stored.mark else ""
    return f"{run_name(stored)} ({short_id(stored.run_id)}): {headline(stored)}{version}{begun}{mark}"


def _section_lines(section: Section, ink: Ink, everything: bool) -> list[str]:
    rows = section.rows if everything else section.shown
    if not rows:
        return []
    names = name_width(rows)
    lines = [ink.paint(section.title, "title")]
    for row in rows:
        lines += row_lines(row, ink, names)
    return lines


def _same_lines(explanation: Explanation, ink: Ink) -> list[str]:
    section = same_section(explanation.diff)
    if not section.rows:
        return []
    lines = [ink.paint(section.title, "title")]
    for row in section.rows:
        lines += row_lines(row, ink, 0)
    return lines


def _folded_lines(explanation: Explanation, everything: bool) -> list[str]:
    """One line that counts what is not shown."""
    folds = [
        f"{counted(len(section.hidden), 'row')} of {section.title.lower()}"
        for section in sections(explanation.diff)
        if section.hidden
    ]
    if everything or not folds:
        return []
    return ["", *wrapped(f"{', '.join(folds)} (--all shows them)", "folded: ")]
