"""How runs, times and figures are named in every report. Formats what is there; decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

from logscope.compare.records import Evidence, RunDiff
from logscope.report.harmless import harmless
from logscope.store.records import Contrast, Seen, StoredRun, short_id
from parsers.lazy_dataclass import replace
from parsers.records import Frame, Outcome

if TYPE_CHECKING:
    from logscope.explain.records import Cause, Remedy


def run_name(stored: StoredRun) -> str:
    """``s03.log``, or ``s03.log#2`` for the second launch of a log."""
    name = harmless(PurePath(stored.path).name or stored.path)
    return name if stored.run.ordinal == 1 else f"{name}#{stored.run.ordinal}"


def run_path(stored: StoredRun) -> str:
    """The log's path as it was given, harmless."""
    return harmless(stored.path)


def clock(moment: datetime | None) -> str:
    """``2026-11-30 17:23:33``; ``?`` when it is not known."""
    return "?" if moment is None else moment.isoformat(sep=" ", timespec="seconds")


def duration(seconds: float | None) -> str:
    """``1.25 s``, ``2 min 05 s``; ``?`` when it is not known."""
    if seconds is None:
        return "?"
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"


def figure(number: float | None, unit: str = "") -> str:
    """A figure with three or four digits that matter; ``?`` when it is not known."""
    if number is None:
        return "?"
    text = f"{number:.4g}" if abs(number) < 10_000 else f"{number:.0f}"
    text = "0" if text == "-0" else text
    return f"{text} {unit}".rstrip()


def percent(share: float | None) -> str:
    """A share of 0 to 1 in per cent."""
    return "?" if share is None else f"{share * 100:.0f} %"


def counted(number: int, noun: str) -> str:
    """``1 error``, ``3 errors``."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}es" if noun.endswith("s") else f"{number} {noun}s"


def headline(stored: StoredRun) -> str:
    """``failed at load``: the outcome and the stage it got to."""
    run = stored.run
    if run.stage is None or run.outcome.value == "ready":
        return run.outcome.value
    when = "after ready, while " if run.ready and run.outcome.value != "ready" else "at "
    return f"{run.outcome.value} {when}{run.stage.value}"


def evidence_place(evidence: Evidence, diff: RunDiff) -> str:
    """``s03.log:512``."""
    stored = diff.good if evidence.run == "good" else diff.bad
    name = run_name(stored) if stored is not None else evidence.run
    return f"{name}:{evidence.line}"


def evidence_path(evidence: Evidence, diff: RunDiff) -> str:
    """The full path of the log that holds `evidence`."""
    stored = diff.good if evidence.run == "good" else diff.bad
    return run_path(stored) if stored is not None else ""


def where(stored: StoredRun) -> str:
    """``path, lines 1-402``."""
    return f"{run_path(stored)}, lines {stored.run.first_line}-{stored.run.last_line}"


def frame_text(frame: Frame) -> str:
    """``sglang/srt/configs/model_config.py:955 from_server_args``, without the way to the packages."""
    file = harmless(frame.file)
    for folder in ("/site-packages/", "/dist-packages/"):
        file = file.rpartition(folder)[2]
    return f"{file}:{frame.line} {harmless(frame.function)}"


def first_failure_words(diff: RunDiff, shown: Callable[[str], str]) -> str:
    """Which runs failed first since the last good one, ids as `shown`; empty when it is the failing run."""
    same, failed, error = diff.first_bad, diff.first_failed, diff.bad.run.root_error
    if failed is None or diff.bad.run.outcome in (Outcome.READY, Outcome.RUNNING):
        return ""
    if error is None:
        return f"the first failed run since the last good one is {shown(failed)}"
    if same is None:
        return (
            f"the first failed run since the last good one is {shown(failed)}, with another error; "
            "this run is the first with this one"
        )
    text = f"the first run with this error since the last good one is {shown(same)}"
    text += ": the change lies before it"
    return text if same == failed else f"{text}; {shown(failed)} failed before, with another error"


def contrast_words(contrast: Contrast) -> str:
    """How often a value stood in runs with this error, the failing run counted, and in good ones."""
    told = []
    if contrast.failures == 1:
        told.append("the first run with this error")
    elif contrast.failures:
        told.append(f"in {contrast.failures_with} of {contrast.failures} failures with this error")
    if contrast.successes:
        runs = f"{contrast.successes_with} of {counted(contrast.successes, 'good run')}"
        told.append(f"the same stood in {runs}" if contrast.failures == 1 else f"in {runs}")
    return ("; " if contrast.failures == 1 else ", ").join(told)


def remedy_terms(remedy: Remedy) -> list[tuple[str, str]]:
    """What is said of a way out beside what to do and to type: word and text, those that are known."""
    terms = (("assumes", remedy.assumes), ("risks", remedy.risks), ("worked before", remedy.worked_before))
    return [(word, text) for word, text in terms if text]


def told_once(causes: Sequence[Cause]) -> list[tuple[Cause, str]]:
    """The causes with the remedies that none before them has; in words, where the others stand."""
    from logscope.explain.remedies import effect  # loaded wherever there are causes

    first: dict[object, int] = {}
    told: list[tuple[Cause, str]] = []
    for cause in causes:
        new = tuple(remedy for remedy in cause.remedies if effect(remedy) not in first)
        places = sorted({first[effect(one)] for one in cause.remedies if effect(one) in first})
        for remedy in new:
            first.setdefault(effect(remedy), cause.rank)
        left = counted(len(cause.remedies) - len(new), "remedy")
        words = f"{left} told under cause {' and '.join(map(str, places))}" if places else ""
        told.append((replace(cause, remedies=new), words))
    return told


def fixed_words(seen: Seen, shown: Callable[[str], str]) -> str:
    """What fixed an error, as far as later good runs tell; `shown` writes names as the report does."""
    if seen.fixed_by:
        return f"fixed by {', '.join(map(shown, seen.fixed_by))}"
    if seen.fixed_in is not None:
        return f"gone in {short_id(seen.fixed_in)} without a change that bears on it"
    return "never fixed"


def history_sentences(cause: Cause, code: Callable[[str], str]) -> list[str]:
    """What earlier runs say of a cause; `code` marks names in the format of the report."""
    seen, contrast, told = cause.seen_before, cause.contrast, []
    if seen is not None and seen.runs:
        told.append(f"Seen in {counted(seen.runs, 'earlier run')}, {fixed_words(seen, code)}.")
    if contrast is not None and contrast.failures + contrast.successes:
        words = contrast_words(contrast)
        told.append(f"{words[:1].upper()}{words[1:]}.")
    return told
