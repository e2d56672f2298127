"""The HTML report of a diff: one file, no script, nothing loaded from outside, every foreign text escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from logscope.compare.records import Evidence, RunDiff
from logscope.explain.records import Cause, Explanation, Remedy
from logscope.report.harmless import clip, folded, harmless, harmless_lines
from logscope.report.html_style import STYLE
from logscope.report.names import (
    clock,
    counted,
    evidence_place,
    first_failure_words,
    frame_text,
    headline,
    history_sentences,
    remedy_terms,
    run_name,
    run_path,
    told_once,
)
from logscope.report.outline import Row, Section, same_section, sections
from logscope.report.plots import stage_plot, throughput_plot
from logscope.store.records import SeriesPoint, StoredRun, short_id

_SIGN_CLASSES = {"!": "s-bad", "-": "s-bad", "+": "s-good", "~": "s-hint", "=": "s-same", "?": "s-hint"}
_WIDEST = 2000
"""Characters of one cell; a value is hardly ever longer, and a page must open."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Even if a text got through unescaped, a browser would load and run nothing."""


def diff_html(
    explanation: Explanation,
    series: Mapping[str, Sequence[SeriesPoint]] | None = None,
    why: bool = False,
) -> str:
    """The page; `series` gives ``good`` and ``bad`` -> throughput over time."""
    diff = explanation.diff
    body = [
        f"<h1>{_text(explanation.verdict)}</h1>",
        _runs(diff),
        _root(diff),
        "<h2>Causes</h2>",
        *(_cause(cause, diff, why, elsewhere) for cause, elsewhere in told_once(explanation.causes)),
        *([] if explanation.causes else ["<p>No cause found.</p>"]),
        *(_section(section) for section in sections(diff)),
        _plots(diff, series or {}),
        _section(same_section(diff)),
    ]
    title = f"LogScope: {run_name(diff.bad)}"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{_text(title)}</title><style>{STYLE}</style></head><body>",
            *(part for part in body if part),
            "</body></html>",
            "",
        ]
    )


def _text(text: str) -> str:
    return escape(clip(folded(text), _WIDEST))


def _code(text: str) -> str:
    return f"<code>{escape(clip(harmless(text), _WIDEST))}</code>"


def _quote(text: str) -> str:
    return f"<pre>{escape(chr(10).join(harmless_lines(text.strip(chr(10)))))}</pre>"


def _runs(diff: RunDiff) -> str:
    rows = [("baseline", _text(diff.baseline.reason)), ("bad", _side(diff.bad))]
    if diff.good is not None:
        rows.append(("good", _side(diff.good)))
    first = first_failure_words(diff, lambda run_id: _code(short_id(run_id)))
    rows += [("first", first)] if first else []
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows) + "</dl>"


def _side(stored: StoredRun) -> str:
    version = f", sglang {_text(stored.sglang_version)}" if stored.sglang_version else ""
    begun = f", started {clock(stored.started_at)}" if stored.started_at else ""
    ordinal = "" if stored.run.ordinal == 1 else f"#{stored.run.ordinal}"
    place = f"{_code(run_path(stored) + ordinal)} ({_code(short_id(stored.run_id))})"
    return f"<b>{headline(stored)}</b>{version}{begun}, {place}"


def _root(diff: RunDiff) -> str:
    root = diff.bad.run.root_error
    if root is None:
        return ""
    rank = f" on {_code(root.rank)}" if root.rank else ""
    head = f"<h2>Root error</h2><p>{_code(root.type)}{rank}, {_code(f'{run_name(diff.bad)}:{root.line}')}</p>"
    frames = "\n".join(frame_text(frame) for frame in root.traceback)
    details = _details(counted(len(root.traceback), "frame"), _quote(frames)) if frames else ""
    reason = f'<p class="soft">{_text(root.reason)}</p>' if root.reason else ""
    return head + _quote(root.message or root.type) + reason + details


def _cause(cause: Cause, diff: RunDiff, why: bool, elsewhere: str) -> str:
    head = f"<h3>{cause.rank}. {_text(cause.title)}</h3>"
    kind = f'<p class="soft">{_text(cause.kind)} {_code(cause.subject)}, score {cause.score:.2f}</p>'
    parts = [head, kind, f"<p>{_text(cause.mechanism)}</p>" if cause.mechanism else ""]
    parts += [_evidence(evidence, diff) for evidence in cause.evidence]
    if cause.remedies:
        parts.append(
            "<h4>What to do</h4><ul class='do'>"
            + "".join(_remedy(remedy) for remedy in cause.remedies)
            + "</ul>"
        )
    parts.append(f'<p class="soft">{_text(elsewhere)}</p>' if elsewhere else "")
    parts.append(_history(cause))
    if cause.parts:
        rows = "".join(
            f"<dt>{part.points:+.2f} {_text(part.name)}</dt><dd>{_text(part.why)}</dd>"
            for part in cause.parts
        )
        parts.append(_details("how the score was made", f"<dl>{rows}</dl>", why))
    return f'<section class="cause">{"".join(parts)}</section>'


def _evidence(evidence: Evidence, diff: RunDiff) -> str:
    if evidence.line is None:
        return f'<p class="soft">{_text(evidence.run)} run, beside the log: {_code(evidence.text)}</p>'
    place = _code(evidence_place(evidence, diff))
    return f'<p class="soft">{_text(evidence.run)} run, {place}</p>{_quote(evidence.text)}'


def _remedy(remedy: Remedy) -> str:
    parts = [f"<li>{_text(remedy.action)} <span class='soft'>({_text(remedy.durability)})</span>"]
    if remedy.apply:
        parts.append(f"<pre class='type'>{_text(remedy.apply)}</pre>")
    told = "<br>".join(
        f"<span class='soft'>{word}:</span> {_text(text)}" for word, text in remedy_terms(remedy)
    )
    return "".join(parts) + (f"<div>{told}</div>" if told else "") + "</li>"


def _history(cause: Cause) -> str:
    words = history_sentences(cause, _code)
    return f'<p class="soft">{" ".join(words)}</p>' if words else ""


def _section(section: Section) -> str:
    if not section.rows:
        return ""
    head = f"<h2>{_text(section.title)}</h2>"
    shown, hidden = section.shown, section.hidden
    table = _table(shown) if shown else ""
    return head + table + (_details(counted(len(hidden), "more row"), _table(hidden)) if hidden else "")


def _table(rows: Sequence[Row]) -> str:
    if not any(row.has_sides for row in rows):
        return f"<table>{''.join(_list_row(row) for row in rows)}</table>"
    head = "<tr><th></th><th>name</th><th>good</th><th>bad</th><th>note</th></tr>"
    return f'<div class="wide"><table>{head}{"".join(_pair_row(row) for row in rows)}</table></div>'


def _sign(row: Row) -> str:
    return f'<td class="sign {_SIGN_CLASSES[row.sign]}">{escape(row.sign)}</td>'


def _pair_row(row: Row) -> str:
    sides = f"<td>{_code(row.good)}</td><td>{_code(row.bad)}</td>"
    return f"<tr>{_sign(row)}<td>{_code(row.name)}</td>{sides}<td class='soft'>{_text(row.note)}</td></tr>"


def _list_row(row: Row) -> str:
    place = f"<span class='soft'>line {row.line}</span> " if row.line is not None else ""
    note = f"<br><span class='soft'>{_text(row.note)}</span>" if row.note else ""
    return f"<tr>{_sign(row)}<td>{place}{_text(row.name)}{note}</td></tr>"


def _details(summary: str, inner: str, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{_text(summary)}</summary>{inner}</details>"


def _plots(diff: RunDiff, series: Mapping[str, Sequence[SeriesPoint]]) -> str:
    ordered = [(side, series[side]) for side in ("good", "bad") if side in series]
    drawn = [("Stages, seconds", stage_plot(diff.stages)), ("Throughput over time", throughput_plot(ordered))]
    return "".join(f"<h2>{title}</h2>{plot}" for title, plot in drawn if plot)
