"""The rows of the Diff screen: the outline that all reports share, with the log lines a row leads to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from logscope.compare.records import Evidence, RunDiff
from logscope.explain.records import Cause, Explanation, Remedy
from logscope.report import outline
from logscope.report.cause_text import history_lines
from logscope.store.records import StoredRun
from logscope.tui.harmless import fit
from logscope.tui.headline import root_row, side_line
from logscope.tui.rows import Place, Row, Sign, Tone
from parsers.lazy_dataclass import dataclass

_TONES = {
    "+": Tone.GOOD,
    "-": Tone.BAD,
    "~": Tone.CHANGED,
    "=": Tone.MUTED,
    "!": Tone.BAD,
    "?": Tone.MUTED,
}


@dataclass(frozen=True, slots=True)
class DiffView:
    """What the user chose to see."""

    width: int
    unchanged: bool = False
    volatile: bool = False


def diff_rows(explanation: Explanation, view: DiffView) -> list[Row]:
    """All rows of the screen."""
    diff = explanation.diff
    root = root_row(diff.bad.path, diff.bad.run.root_error, diff.bad.run.reason)
    rows = [_heading("Root error"), root, *_causes(explanation)]
    for section in outline.sections(diff):
        rows += _section(section, diff, view)
    return [*rows, *_same(diff, view)]


def side_title(run: StoredRun | None, side: str, width: int) -> str:
    """``good: s02.log 0.5.23 ready`` in at most `width` columns; the name of the log is cut in its middle."""
    if run is None:
        return f"{side}: none"
    return side_line(side, run.path, run.sglang_version, run.run.outcome, width)


def _heading(title: str, note: str = "") -> Row:
    return Row(f"{title}  {note}".rstrip(), tone=Tone.HEADING, key=f"heading:{title}")


def _causes(explanation: Explanation) -> Iterator[Row]:
    yield _heading("Causes", f"({len(explanation.causes)})")
    if not explanation.causes:
        yield Row("no cause to offer: see what differs below", Sign.UNKNOWN, Tone.MUTED, "cause:none")
    for cause in explanation.causes:
        yield _cause(cause, explanation.diff)
        for number, remedy in enumerate(cause.remedies, 1):
            yield _remedy(cause, number, remedy)


def _cause(cause: Cause, diff: RunDiff) -> Row:
    told = " ".join(line.strip() for line in history_lines(cause))
    detail = (cause.title, "", cause.mechanism, *((told,) if told else ()))
    parts = tuple(f"{part.points:+.2f} {part.name}: {part.why}" for part in cause.parts)
    return Row(
        f"{cause.rank}. {cause.title}",
        Sign.ERROR if cause.rank == 1 else Sign.UNKNOWN,
        Tone.BAD if cause.rank == 1 else Tone.NORMAL,
        f"cause:{cause.rank}",
        tuple(_places(cause.evidence, diff)),
        detail,
        ("", f"score {cause.score:.2f} of {cause.kind} {cause.subject}:", *parts),
        copy=cause.title,
        is_difference=True,
    )


def _remedy(cause: Cause, number: int, remedy: Remedy) -> Row:
    told = (
        ("type:", remedy.apply),
        ("assumes:", remedy.assumes),
        ("risks:", remedy.risks),
        ("worked before:", remedy.worked_before),
    )
    return Row(
        f"   {remedy.durability}: {remedy.action}",
        tone=Tone.GOOD,
        key=f"remedy:{cause.rank}:{number}",
        detail=(remedy.action, "", *(f"{word} {text}" for word, text in told if text)),
        copy=remedy.apply or remedy.action,
    )


def _section(section: outline.Section, diff: RunDiff, view: DiffView) -> Iterator[Row]:
    rows = [row for row in section.rows if _is_shown(row, section.key, view)]
    hidden = len(section.rows) - len(rows)
    key = "v" if section.key.startswith(("args", "env", "host", "versions")) else "u"
    yield _heading(
        section.title, f"({len(rows)})" + (f"  {hidden} hidden, {key} shows them" if hidden else "")
    )
    for row in rows:
        yield _row(row, section.key, diff, view)


def _is_shown(row: outline.Row, section: str, view: DiffView) -> bool:
    if section.startswith(("args", "env", "host", "versions")):
        return view.volatile or not row.is_folded
    return view.unchanged or not (row.is_folded or row.sign == "=")


def _row(row: outline.Row, section: str, diff: RunDiff, view: DiffView) -> Row:
    detail = (row.name, *((f"good: {row.good}", f"bad:  {row.bad}") if row.has_sides else ()), "", row.note)
    return Row(
        _pair(row, view.width) if row.has_sides else row.name,
        Sign(row.sign),
        Tone.MUTED if row.is_folded else _TONES[row.sign],
        f"{section}:{_level(row)}:{row.name}",
        tuple(_row_places(row, section, diff)),
        detail,
        copy=row.bad if row.has_sides else row.name,
        search=f"{row.name} {row.good} {row.bad} {row.note}",
        is_difference=not row.is_folded and row.sign != "=",
    )


def _level(row: outline.Row) -> str:
    return "warning" if " warning" in row.note[:20] else "error" if row.sign == "!" else ""


def _pair(row: outline.Row, width: int) -> str:
    """``name  good -> bad  note`` in `width` columns; the name is never cut, the note goes first."""
    room = max(width - 4, 40)
    name_width = max(len(row.name), min(30, room // 3))
    value_width = max(6, (room - name_width - 8) // 2 if room < 90 else (room - name_width - 34) // 2)
    good, bad = fit(row.good, value_width).rstrip(), fit(row.bad, value_width).rstrip()
    text = f"{row.name:<{name_width}}  {good} -> {bad}"
    return f"{text}  {row.note}" if row.note else text


def _row_places(row: outline.Row, section: str, diff: RunDiff) -> Iterator[Place]:
    if section.startswith("args"):
        for side, run in (("good", diff.good), ("bad", diff.bad)):
            if run is not None and run.run.server_args_line:
                yield Place(side, run.path, run.run.server_args_line)
    elif row.line is not None:
        run = diff.good if row.sign == "-" and diff.good is not None else diff.bad
        yield Place("good" if run is diff.good else "bad", run.path, row.line)


def _same(diff: RunDiff, view: DiffView) -> Iterator[Row]:
    section = outline.same_section(diff)
    yield _heading(section.title, "" if view.unchanged else f"({len(section.rows)})  u shows them")
    for number, row in enumerate(section.rows if view.unchanged else ()):
        yield Row(row.name, Sign(row.sign), Tone.MUTED, f"same:{number}")


def _places(evidence: Iterable[Evidence], diff: RunDiff) -> Iterator[Place]:
    for item in evidence:
        if item.line is not None:
            run = diff.good if item.run == "good" and diff.good is not None else diff.bad
            yield Place(item.run, run.path, item.line, item.text)
