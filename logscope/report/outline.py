"""The common outline of a diff: sections of signed rows, which every format writes in its own way.

It sorts what compare found into sections and gives each row its sign; it finds nothing and weighs nothing.
Signs: ``+`` added, ``-`` gone, ``~`` changed, ``=`` same, ``!`` error, ``?`` not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from logscope.compare.records import (
    ArgumentChange,
    Change,
    MetricChange,
    Mismatch,
    Origin,
    RunDiff,
    StageChange,
    ValidationChange,
    ValueChange,
)
from logscope.report.harmless import folded, harmless, value_text
from logscope.report.names import duration, figure
from parsers.lazy_dataclass import dataclass
from parsers.records import EventRole, Json

SHOWN_ROWS = 12
"""Rows of a section that are shown at first; the others are folded with a count."""

_SIGNS = {
    Change.ADDED: "+",
    Change.REMOVED: "-",
    Change.CHANGED: "~",
    Change.RENAMED: "~",
    Change.ORIGIN: "~",
}
_ORIGIN_TITLES = (
    (Origin.USER, "args", "Arguments the user passed"),
    (Origin.DEFAULT, "args-default", "Arguments at their defaults"),
    (Origin.DERIVED, "args-derived", "Arguments that SGLang derived"),
    (Origin.UNKNOWN, "args-unknown", "Arguments of unknown origin"),
)
_NO_COMMAND_LINE = "Arguments set by you or derived by SGLang (the command line is not known)"


@dataclass(frozen=True, slots=True)
class Row:
    """One difference, or one thing that is the same."""

    sign: str
    name: str
    good: str = ""
    bad: str = ""
    note: str = ""
    is_folded: bool = False
    """Noise, known or the same: hidden at first, counted."""
    line: int | None = None
    """Line in the bad run's log, where the row stands on one."""

    @property
    def has_sides(self) -> bool:
        """True when the row is a pair of values, False when the name says it all."""
        return bool(self.good or self.bad)


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of one kind."""

    key: str
    title: str
    rows: tuple[Row, ...]

    @property
    def shown(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if not row.is_folded)

    @property
    def hidden(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.is_folded)


def sections(diff: RunDiff) -> tuple[Section, ...]:
    """All sections in the fixed order; those without a row are left out."""
    every = (
        *_argument_sections(diff),
        Section("env", "Environment", _value_rows(diff.env)),
        Section("versions", "Versions", _value_rows(diff.versions)),
        Section("host", "Host", _value_rows(diff.host)),
        Section("configs", "Model configs", _value_rows(diff.configs)),
        Section("files", "Model files", _value_rows(diff.files)),
        Section("mismatches", "Contradictions inside the failing run", _fold_long(_mismatch_rows(diff))),
        Section("validations", "Errors and warnings", _validation_rows(diff)),
        Section("stages", "Stages", tuple(_stage_row(change) for change in diff.stages)),
        Section("throughput", "Throughput and memory", _metric_rows(diff)),
    )
    return tuple(section for section in every if section.rows)


def same_section(diff: RunDiff) -> Section:
    """What was compared and is the same, and what could not be compared."""
    same = [Row("=", folded(text)) for text in diff.cleared]
    unknown = [Row("?", folded(text)) for text in diff.not_compared]
    return Section("same", "The same, or not comparable", (*same, *unknown))


def _argument_sections(diff: RunDiff) -> Iterable[Section]:
    for origin, key, title in _ORIGIN_TITLES:
        mine = [change for change in diff.args if _group(change) is origin]
        if origin is Origin.UNKNOWN and not _has_command_lines(diff):
            title = _NO_COMMAND_LINE
        yield Section(key, title, _fold_long([_argument_row(change) for change in mine]))


def _has_command_lines(diff: RunDiff) -> bool:
    contexts = (side.context for side in (diff.good, diff.bad) if side is not None)
    return all(context is not None and context.argv is not None for context in contexts)


def _group(change: ArgumentChange) -> Origin:
    """The origin that a change is listed under: the user's hand on either side counts first."""
    if Origin.USER in (change.origin_good, change.origin_bad):
        return Origin.USER
    return change.origin_good if change.change is Change.REMOVED else change.origin_bad


def _argument_row(change: ArgumentChange) -> Row:
    notes = [change.note]
    if change.renamed_from:
        notes.insert(0, f"was {change.renamed_from}")
    if change.origin_good is not change.origin_bad and change.change in (Change.CHANGED, Change.ORIGIN):
        notes.append(f"origin {change.origin_good.value} -> {change.origin_bad.value}")
    good, bad = _sides(change.good, change.bad, change.change, "(absent)")
    return Row(_SIGNS[change.change], harmless(change.name), good, bad, _joined(notes), change.is_noise)


def _value_rows(changes: Sequence[ValueChange]) -> tuple[Row, ...]:
    return _fold_long([_value_row(change) for change in changes])


def _value_row(change: ValueChange) -> Row:
    name = f"{change.role}.{change.name}" if change.role else change.name
    good, bad = _sides(change.good, change.bad, change.change, "(not set)")
    return Row(_SIGNS[change.change], harmless(name), good, bad, folded(change.note), change.is_noise)


def _sides(good: Json, bad: Json, change: Change, absent: str) -> tuple[str, str]:
    left = absent if change is Change.ADDED else value_text(good)
    right = absent if change is Change.REMOVED else value_text(bad)
    return left, right


def _mismatch_rows(diff: RunDiff) -> list[Row]:
    return [_mismatch_row(mismatch) for mismatch in diff.mismatches]


def _mismatch_row(mismatch: Mismatch) -> Row:
    notes = [mismatch.reason, "the good run has it too" if mismatch.in_good_too else ""]
    sign = "=" if mismatch.in_good_too else "!"
    return Row(sign, folded(mismatch.text), note=_joined(notes), is_folded=mismatch.in_good_too)


def _validation_rows(diff: RunDiff) -> tuple[Row, ...]:
    echoes = {event.fingerprint for event in diff.bad.run.events if event.role is EventRole.ECHO}
    return _fold_long([_validation_row(change, change.fingerprint in echoes) for change in diff.validations])


def _validation_row(change: ValidationChange, is_echo: bool) -> Row:
    signs = {"new": "!" if change.level == "error" else "+", "promoted": "!", "gone": "-", "known": "="}
    kind = f"{harmless(change.type)}: " if change.type and not change.message.startswith(change.type) else ""
    notes = [f"{change.status} {change.level}"]
    if change.seen_before:
        notes.append(f"in {change.seen_before} earlier run{'s' if change.seen_before > 1 else ''}")
    if change.introduced_in:
        notes.append(f"raised since {change.introduced_in}")
    if change.benign:
        notes.append("in good launches too")
    if is_echo:
        notes.append("an echo of another error")
    notes.append(change.explanation)
    hidden = change.benign or is_echo or change.status in ("known", "gone")
    line = change.good_line if change.status == "gone" else change.line
    name = kind + folded(change.message)
    return Row(signs.get(change.status, "?"), name, note=_joined(notes), is_folded=hidden, line=line)


def _stage_row(change: StageChange) -> Row:
    sign = "="
    notes = []
    if change.first_missing:
        sign = "!"
        notes.append("the first stage that this run never reached")
    elif change.good_reached and not change.bad_reached:
        sign = "-"
    elif change.bad_reached and not change.good_reached:
        sign = "+"
    elif change.is_outside:
        sign = "~"
    if change.bad_reached and not change.bad_complete:
        sign = "!"
        has_ended_once = change.bad_seconds is not None  # the target's load, where the draft's failed
        notes.append("the run ended in this stage" if has_ended_once else "began and did not end")
    if change.usual_seconds is not None and change.is_outside:
        usual = change.usual_seconds
        notes.append(f"usual {duration(usual.low)} to {duration(usual.high)} over {usual.runs} good runs")
    memory = (figure(change.good_mem_gb), figure(change.bad_mem_gb))
    if not set(memory) <= {"0", "?"}:
        notes.append(f"memory {memory[0]} -> {memory[1]} GB")
    good = _reached(change.good_reached, change.good_seconds)
    bad = _reached(change.bad_reached, change.bad_seconds)
    return Row(sign, change.stage.value, good, bad, _joined(notes))


def _reached(reached: bool, seconds: float | None) -> str:
    if not reached:
        return "never"
    return "reached" if seconds is None else duration(seconds)


def _metric_rows(diff: RunDiff) -> tuple[Row, ...]:
    """Figures within the noise are worth a look only where both runs served."""
    both_served = diff.good is not None and diff.good.run.ready and diff.bad.run.ready
    return tuple(_metric_row(change, both_served) for change in diff.metrics)


def _metric_row(change: MetricChange, both_served: bool) -> Row:
    sign = "~" if change.is_significant else "="
    if change.good is None or change.bad is None:
        sign = "?"
    notes = [] if change.ratio is None else [f"x {change.ratio:.2f}"]
    notes.append(change.noise)
    good, bad = figure(change.good, change.unit), figure(change.bad, change.unit)
    return Row(
        sign,
        harmless(change.metric),
        good,
        bad,
        _joined(notes),
        is_folded=sign == "?" or (sign == "=" and not both_served),
    )


def _fold_long(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Folds what lies beyond the first rows of a long section."""
    kept, shown = [], 0
    for row in rows:
        shown += not row.is_folded
        if shown > SHOWN_ROWS and not row.is_folded:
            row = Row(row.sign, row.name, row.good, row.bad, row.note, True, row.line)
        kept.append(row)
    return tuple(kept)


def _joined(notes: Iterable[str]) -> str:
    return "; ".join(folded(note) for note in notes if note)
