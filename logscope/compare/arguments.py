"""Server arguments of two runs, one row for each that differs."""

from __future__ import annotations

from collections.abc import Mapping

from logscope.compare import noise
from logscope.compare.command_line import typed_arguments
from logscope.compare.origins import argument_life, argument_origins, renamed_arguments
from logscope.compare.records import ArgumentChange, Change, Origin
from logscope.compare.values import element_note, is_same
from logscope.store.records import StoredRun
from parsers.lazy_dataclass import dataclass
from parsers.records import Json

_MANY_UNKNOWN_FIELDS = 5
"""Two runs of one release print the same fields; more one-sided ones than this mean two releases."""


@dataclass(frozen=True, slots=True)
class ArgumentDiff:
    """Rows, and how the comparison was made."""

    rows: tuple[ArgumentChange, ...]
    cleared: str = ""
    not_compared: str = ""


@dataclass(frozen=True, slots=True)
class _Side:
    values: Mapping[str, Json]
    typed: Mapping[str, Json] | None
    origins: Mapping[str, Origin]
    version: str | None
    is_printed: bool

    def origin(self, name: str) -> Origin:
        known = self.origins.get(name, Origin.UNKNOWN)
        if known is Origin.UNKNOWN and self.typed is not None and name in self.typed:
            return Origin.USER
        return known


def argument_diff(good: StoredRun, bad: StoredRun) -> ArgumentDiff:
    """Compares the printed arguments; where one run printed none, the command lines."""
    printed = [{one.name: one.value for one in run.run.server_args} for run in (good, bad)]
    typed = [typed_of(run) for run in (good, bad)]
    asked = _worth_asking(*printed) | (set(typed[0] or ()) ^ set(typed[1] or ()))
    left, right = (
        _Side(values, words, argument_origins(run, asked), run.sglang_version, bool(values))
        for run, values, words in zip((good, bad), printed, typed, strict=True)
    )
    if not left.is_printed or not right.is_printed:
        return _by_command_line(left, right)
    rows = _rows(left, right, renamed_arguments(left.version, right.version))
    cleared = (
        ""
        if any(not row.is_noise for row in rows)
        else (
            f"server arguments: {len(right.values)} compared, the same" + (" but for noise" if rows else "")
        )
    )
    partial = [name for name, run in (("good", good), ("bad", bad)) if not run.run.server_args_complete]
    torn = f"arguments: the line is cut in the {' and '.join(partial)} log" if partial else ""
    gaps = [torn, _gap_of_command_lines(rows, left, right)]
    return ArgumentDiff(rows, cleared, "; ".join(gap for gap in gaps if gap))


def _gap_of_command_lines(rows: tuple[ArgumentChange, ...], left: _Side, right: _Side) -> str:
    """Said only where a row's origin hangs on it."""
    if not any(Origin.UNKNOWN in (row.origin_good, row.origin_bad) and not row.is_noise for row in rows):
        return ""
    silent = " and ".join(name for name, side in (("good", left), ("bad", right)) if side.typed is None)
    advice = "`logscope record` or a context file tells who set an argument"
    return f"command line: not known of the {silent} run; {advice}" if silent else ""


def typed_of(run: StoredRun) -> Mapping[str, Json] | None:
    """What the recorded command line sets; None when there is none."""
    return typed_arguments(run.context.argv if run.context is not None else None, run.sglang_version)


def _worth_asking(good: Mapping[str, Json], bad: Mapping[str, Json]) -> set[str]:
    """Names whose values differ: an origin costs a look-up, and a release prints five hundred arguments."""
    one_sided = set(good.keys() ^ bad.keys())
    return one_sided | {name for name in good.keys() & bad.keys() if not is_same(good[name], bad[name])}


def _by_command_line(left: _Side, right: _Side) -> ArgumentDiff:
    """Only what was typed: the failing run ended before it printed its arguments."""
    silent = " and ".join(name for name, side in (("good", left), ("bad", right)) if not side.is_printed)
    if left.typed is not None and right.typed is not None:
        one = _Side(left.typed, left.typed, left.origins, left.version, False)
        other = _Side(right.typed, right.typed, right.origins, right.version, False)
        rows = _rows(one, other, renamed_arguments(left.version, right.version))
        cleared = "" if rows else "command lines: the same"
        return ArgumentDiff(
            rows, cleared, f"arguments: the {silent} run printed none, so the command lines were compared"
        )
    if right.typed is not None and left.is_printed:
        kept = {name: value for name, value in left.values.items() if name in right.typed}
        other = _Side(right.typed, right.typed, right.origins, right.version, False)
        one = _Side(kept, left.typed, left.origins, left.version, True)
        note = (
            f"arguments: the {silent} run printed none; what was typed is compared with the good run's values"
        )
        return ArgumentDiff(_rows(one, other, {}), "", note)
    return ArgumentDiff((), "", f"arguments: the {silent} run printed none and its command line is not known")


def _rows(left: _Side, right: _Side, renamed: Mapping[str, str]) -> tuple[ArgumentChange, ...]:
    rows: list[ArgumentChange] = []
    taken: set[str] = set()
    releases_differ = _releases_differ(left, right)
    for name in _names(left, right):
        old = renamed.get(name)
        if (
            name in right.values
            and old in left.values
            and old not in right.values
            and name not in left.values
        ):
            rows.append(_renamed(name, str(old), left, right))
            taken.add(str(old))
    renamed_now = {row.name for row in rows}
    for name in _names(left, right):
        if name not in taken and name not in renamed_now:
            row = _row(name, left, right, releases_differ)
            if row is not None:
                rows.append(row)
    return tuple(sorted(rows, key=lambda row: (row.is_noise, -row.relevance, row.name)))


def _names(left: _Side, right: _Side) -> list[str]:
    """In the failing run's printed order, then what only the good run has."""
    return [*right.values, *(name for name in left.values if name not in right.values)]


def _releases_differ(left: _Side, right: _Side) -> bool:
    if left.version and right.version:
        return left.version != right.version
    return (
        left.is_printed
        and right.is_printed
        and len(left.values.keys() ^ right.values.keys()) > _MANY_UNKNOWN_FIELDS
    )


def _renamed(name: str, old: str, left: _Side, right: _Side) -> ArgumentChange:
    good, bad = left.values[old], right.values[name]
    is_equal = is_same(good, bad)
    return ArgumentChange(
        name=name,
        good=good,
        bad=bad,
        change=Change.RENAMED,
        origin_good=left.origin(old),
        origin_bad=right.origin(name),
        relevance=0.05 if is_equal else 0.4,
        renamed_from=old,
        note=f"renamed from {old} between the releases" + ("" if is_equal else ", and another value"),
        was_typed=True if Origin.USER in (left.origin(old), right.origin(name)) else None,
    )


def _row(name: str, left: _Side, right: _Side, releases_differ: bool) -> ArgumentChange | None:
    in_good, in_bad = name in left.values, name in right.values
    good, bad = left.values.get(name), right.values.get(name)
    origin_good, origin_bad = left.origin(name), right.origin(name)
    if in_good and in_bad and is_same(good, bad):
        if origin_good is origin_bad or Origin.UNKNOWN in (origin_good, origin_bad):
            return None
        if (left.typed is None) is not (right.typed is None):
            return None  # one command line is not known: its origins are guesses, the other's are not
        note = f"same value, {origin_good} before and {origin_bad} now"
        return ArgumentChange(name, good, bad, Change.ORIGIN, origin_good, origin_bad, 0.02, note=note)
    change = Change.CHANGED if in_good and in_bad else Change.ADDED if in_bad else Change.REMOVED
    was_typed = _was_typed(name, left, right)
    if (
        change is not Change.CHANGED
        and releases_differ
        and _is_a_new_default(bad if in_bad else good, left, right)
    ):
        was_typed = None
    note, relevance = _judge(name, good, bad, change, was_typed, releases_differ, left, right)
    is_noise = noise.is_noise_argument(name, good, bad) and relevance < 0.9
    return ArgumentChange(
        name=name,
        good=good,
        bad=bad,
        change=change,
        origin_good=origin_good,
        origin_bad=origin_bad,
        relevance=0.0 if is_noise else relevance,
        is_noise=is_noise,
        note=note,
        was_typed=was_typed,
    )


def _is_a_new_default(value: Json, left: _Side, right: _Side) -> bool:
    """A one-sided field of another release with an empty value, and no command line that holds it."""
    return (left.typed is None or right.typed is None) and value in (None, False, "auto", "", [], {})


def _was_typed(name: str, left: _Side, right: _Side) -> bool | None:
    """Whether a person typed it on either side; None when no command line is known."""
    origins = (left.origin(name), right.origin(name))
    if Origin.USER in origins:
        return True
    if left.typed is None or right.typed is None:
        # Without the command line 'derived' is a guess: many such values can be typed as well.
        return None if {Origin.UNKNOWN, Origin.DERIVED} & set(origins) else False
    return False


def _judge(
    name: str,
    good: Json,
    bad: Json,
    change: Change,
    was_typed: bool | None,
    releases_differ: bool,
    left: _Side,
    right: _Side,
) -> tuple[str, float]:
    """A note in words and a first relevance, before anything is known of the error."""
    if change is not Change.CHANGED and releases_differ and not was_typed:
        return _release_note(name, change), 0.03
    if name in noise.INERT_ARGUMENTS:
        return "names, logs or metrics only", 0.05
    elements = element_note(good, bad)
    if was_typed is False and releases_differ:
        default = " or ".join(
            sorted({str(side.origin(name)) for side in (left, right)} - {str(Origin.UNKNOWN)})
        )
        return elements or f"not typed in either run ({default or 'resolved'}): the release sets it", 0.1
    if was_typed is False:
        return elements or "not typed in either run: SGLang derived it", 0.2
    if follows_model(name, good, bad, left.values, right.values):
        return "follows the model path", 0.1
    return elements, 0.5 if was_typed or not releases_differ else 0.3


def _release_note(name: str, change: Change) -> str:
    life = argument_life(name)
    if change is Change.ADDED:
        return (
            f"new in SGLang {life.first}" if life is not None else "only the failing run's release knows it"
        )
    last = f" (last in {life.last})" if life is not None and life.last else ""
    return f"no longer in the failing run's release{last}"


def follows_model(
    name: str, good: Json, bad: Json, left: Mapping[str, Json], right: Mapping[str, Json]
) -> bool:
    """True for the tokenizer path and served name that default to the model path."""
    if name not in ("tokenizer_path", "served_model_name"):
        return False
    return good == left.get("model_path") and bad == right.get("model_path") and good is not None
