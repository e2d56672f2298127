"""Markdown for a ticket: the verdict, the causes with evidence, and what changed, as tables.

Foreign text stands only in code spans and fenced blocks whose fence is longer than any in the text, so that
nothing in a log can become a link, an image, a mention or markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from logscope.compare.records import Evidence, RunDiff
from logscope.explain.records import Cause, Explanation, Remedy
from logscope.report.harmless import clip, folded, harmless, harmless_lines
from logscope.report.names import (
    clock,
    counted,
    duration,
    evidence_path,
    figure,
    first_failure_words,
    headline,
    history_sentences,
    remedy_terms,
    run_path,
    told_once,
)
from logscope.report.outline import Row, Section, same_section, sections
from logscope.report.run_text import set_by_somebody
from logscope.store.records import StoredRun, short_id
from parsers.lazy_pattern import lazy_re

_SPECIAL = lazy_re(r"([\\`*{}\[\]<>#|~!&$]|(?<![^\W_])_|_(?![^\W_]))")
_LINK = lazy_re(r"(?i)(https?|ftp|www)([:.])")
_MENTION = lazy_re(r"(@|#(?=\d))")
_WIDEST = 400
"""Characters of one table cell."""


def diff_markdown(explanation: Explanation, why: bool = False, everything: bool = False) -> str:
    """The report of ``logscope diff`` and ``logscope explain`` for a ticket."""
    diff = explanation.diff
    parts = [f"## {escaped(explanation.verdict)}", _sides(diff), _root(diff)]
    if explanation.causes:
        parts += ["### Causes", *(_cause(*told, diff, why) for told in told_once(explanation.causes))]
    else:
        parts += ["### Causes", "No cause found."]
    parts += [_section(section, everything) for section in sections(diff)]
    parts.append(_same(same_section(diff)))
    return "\n\n".join(part for part in parts if part) + "\n"


def runs_markdown(runs: Sequence[StoredRun], origins: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """The report of ``logscope show`` for a ticket."""
    known = origins or {}
    return "\n\n".join(_run(stored, known.get(stored.run_id, {})) for stored in runs) + "\n"


def escaped(text: str) -> str:
    """`text` as plain words: nothing in it is markup, a mention or a link."""
    plain = _SPECIAL.sub(r"\\\1", folded(text))
    unlinked = _LINK.sub(r"\1\\\2", plain)
    return _MENTION.sub(r"\1<!-- -->", unlinked)


def code(text: str) -> str:
    """`text` in a code span that nothing in it can end."""
    plain = clip(harmless(text), _WIDEST)
    if not plain.strip():
        return "(empty)" if not plain else "(blank)"
    fence = "`" * (_longest_run(plain) + 1)
    gap = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{gap}{plain}{gap}{fence}"


def cell(text: str) -> str:
    """`text` as a code span in a table cell."""
    return code(text).replace("|", "\\|")


def block(text: str) -> str:
    """`text` in a fenced block that nothing in it can end."""
    lines = "\n".join(harmless_lines(text.strip("\n")))
    fence = "`" * max(3, _longest_run(lines) + 1)
    return f"{fence}text\n{lines}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(found) for found in re.findall(r"`+", text)), default=0)


def _sides(diff: RunDiff) -> str:
    rows = [f"- baseline: {escaped(diff.baseline.reason)}", f"- bad: {_side(diff.bad)}"]
    if diff.good is not None:
        rows.append(f"- good: {_side(diff.good)}")
    first = first_failure_words(diff, lambda run_id: code(short_id(run_id)))
    rows += [f"- first: {first}"] if first else []
    return "\n".join(rows)


def _side(stored: StoredRun) -> str:
    version = f", sglang {escaped(stored.sglang_version)}" if stored.sglang_version else ""
    begun = f", started {clock(stored.started_at)}" if stored.started_at else ""
    ordinal = "" if stored.run.ordinal == 1 else f"#{stored.run.ordinal}"
    run_id = code(short_id(stored.run_id))
    return f"{code(run_path(stored) + ordinal)} ({run_id}): **{headline(stored)}**{version}{begun}"


def _root(diff: RunDiff) -> str:
    return _root_of(diff.bad)


def _root_of(stored: StoredRun) -> str:
    root = stored.run.root_error
    if root is None:
        return ""
    rank = f" on {code(root.rank)}" if root.rank else ""
    place = code(f"{stored.path}:{root.line}")
    reason = f"\n\n{escaped(root.reason)}" if root.reason else ""
    return f"**Root error:** {code(root.type)}{rank} at {place}\n\n{block(root.message or root.type)}{reason}"


def _cause(cause: Cause, elsewhere: str, diff: RunDiff, why: bool) -> str:
    title = f"**{cause.rank}. {escaped(cause.title)}** ({cause.kind}, score {cause.score:.2f})"
    parts = [title, escaped(cause.mechanism) if cause.mechanism else ""]
    parts += [_evidence(evidence, diff) for evidence in cause.evidence]
    parts.append("\n".join([*map(_remedy, cause.remedies), *([f"- {elsewhere}"] if elsewhere else [])]))
    parts.append(_history(cause))
    if why and cause.parts:
        rows = [f"- {part.points:+.2f} {escaped(part.name)}: {escaped(part.why)}" for part in cause.parts]
        parts.append("Score:\n\n" + "\n".join(rows))
    return "\n\n".join(part for part in parts if part)


def _evidence(evidence: Evidence, diff: RunDiff) -> str:
    if evidence.line is None:
        return f"{evidence.run.capitalize()} run, beside the log: {code(evidence.text)}"
    place = code(f"{evidence_path(evidence, diff)}:{evidence.line}")
    return f"{evidence.run.capitalize()} run, {place}:\n\n{block(evidence.text)}"


def _remedy(remedy: Remedy) -> str:
    parts = [f"- {escaped(remedy.action)} ({remedy.durability})"]
    if remedy.apply:
        parts.append(f"apply {code(remedy.apply)}")
    parts += [f"{word}: {escaped(text)}" for word, text in remedy_terms(remedy)]
    return "; ".join(parts)


def _history(cause: Cause) -> str:
    return " ".join(history_sentences(cause, code))


def _section(section: Section, everything: bool) -> str:
    shown = section.rows if everything else section.shown
    if not shown:
        return ""
    hidden = len(section.rows) - len(shown)
    note = f"\n\n{counted(hidden, 'more row')} folded." if hidden else ""
    if any(row.has_sides for row in shown):
        table = ["|   | name | good | bad | note |", "|---|---|---|---|---|", *map(_table_row, shown)]
        return f"### {section.title}\n\n" + "\n".join(table) + note
    return f"### {section.title}\n\n" + "\n".join(_list_row(row) for row in shown) + note


def _table_row(row: Row) -> str:
    note = escaped(clip(row.note, _WIDEST))
    return f"| {code(row.sign)} | {cell(row.name)} | {cell(row.good)} | {cell(row.bad)} | {note} |"


def _list_row(row: Row) -> str:
    place = f"line {row.line}: " if row.line is not None else ""
    note = f" ({escaped(row.note)})" if row.note else ""
    return f"- {code(row.sign)} {place}{code(row.name)}{note}"


def _same(section: Section) -> str:
    rows = [f"- {code(row.sign)} {escaped(row.name)}" for row in section.rows]
    return f"### {section.title}\n\n" + "\n".join(rows) if rows else ""


def _run(stored: StoredRun, origins: Mapping[str, str]) -> str:
    run, figures = stored.run, stored.throughput
    facts = [
        f"- log: {code(run_path(stored))}, lines {run.first_line}-{run.last_line}",
        f"- run: {code(short_id(stored.run_id))}",
        f"- sglang: {escaped(stored.sglang_version or '?')}",
        f"- model: {code(run.model_path or '?')}",
        f"- started {clock(stored.started_at)}, ready {clock(run.ready_at)}, ended {clock(run.ended_at)}",
        f"- {counted(len(run.errors), 'error')}, {counted(len(run.warnings), 'warning')}",
    ]
    if figures.decode_lines:
        facts.append(f"- decode: median {figure(figures.gen_median, 'tokens/s')}")
    parts = [f"## {headline(stored)}: {escaped(run.reason)}", "\n".join(facts), _root_of(stored)]
    stages = [
        f"| {span.stage.value} | {duration(span.seconds)} | {'yes' if span.complete else 'no'} |"
        for span in sorted(run.stages, key=lambda each: each.first_line)
        if span.rank == ""
    ]
    if stages:
        parts.append("\n".join(["| stage | time | complete |", "|---|---|---|", *stages]))
    typed = [argument for argument in run.server_args if origins.get(argument.name) == "user"]
    if typed:
        rows = [f"| {cell(argument.name)} | {cell(str(argument.value))} |" for argument in typed]
        parts.append("\n".join(["| argument passed by the user | value |", "|---|---|", *rows]))
    rows = [f"| {cell(one.name)} | {cell(str(one.value))} |" for one in set_by_somebody(stored, origins)]
    if rows:
        heading = "| argument set by the user or derived by SGLang (no command line known) | value |"
        parts.append("\n".join([heading, "|---|---|", *rows]))
    return "\n\n".join(part for part in parts if part)
