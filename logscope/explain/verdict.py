"""The one sentence a person could paste into a ticket."""

from __future__ import annotations

from collections.abc import Sequence

from logscope.compare.records import RunDiff
from logscope.explain.from_figures import figure_text, main_figure, moved_figures, suspect_figures
from logscope.explain.records import Cause
from logscope.explain.scene import Scene
from parsers.records import Outcome

_MET = 0.4
"""A contradiction with this score is told beside the release that began to refuse it."""
_SURE = 0.55
"""From this score on the first cause is told as the cause, below it as the likeliest."""


def verdict(scene: Scene, causes: Sequence[Cause]) -> str:
    """What happened and why, in one sentence."""
    diff, run = scene.diff, scene.bad.run
    if not diff.matters and diff.good is not None:
        return "Nothing that matters differs" + (f" ({_count_noise(diff)})." if _count_noise(diff) else ".")
    if not scene.clues.has_error and run.outcome not in (Outcome.READY, Outcome.RUNNING):
        return _without_error(scene, causes)
    if scene.clues.has_error or run.outcome is Outcome.FAILED:
        return f"{_what_happened(scene)}{_because(causes)}{_since(scene, causes)}."
    moved = moved_figures(scene)
    if moved:
        return f"Ready, but {_figures(scene)}{_because(causes)}."
    if run.outcome in (Outcome.READY, Outcome.RUNNING):
        suspect = next(iter(suspect_figures(scene)), None) if causes else None
        if suspect is not None:
            return f"Ready, but {figure_text(suspect)}, {suspect.noise}; likeliest: {causes[0].title}."
        return _ready(diff)
    return _without_error(scene, causes)


def _without_error(scene: Scene, causes: Sequence[Cause]) -> str:
    """How a run ended that names no error, and whether anything differs."""
    ended = next((cause.title for cause in causes if cause.kind in ("other", "host")), "")
    told = ended or scene.bad.run.reason.rstrip(".") or "the log does not tell how the run ended"
    text = told[:1].upper() + told[1:]
    if causes and causes[0].kind not in ("other", "host"):
        return f"{text}; likeliest: {causes[0].title}."
    if scene.diff.good is not None and scene.changes == 0 and scene.is_all_known:
        return f"{text}; nothing of the configuration differs from the good run."
    return f"{text}."


def _what_happened(scene: Scene) -> str:
    run = scene.bad.run
    stage = f" in stage {run.stage}" if run.stage is not None else ""
    when = " after it was ready" if run.ready else ""
    if scene.clues.has_error:
        return f"Failed{stage if not when else ''}{when} with {scene.clues.type or 'an error'}"
    return f"Failed{stage}{when}"


def _because(causes: Sequence[Cause]) -> str:
    if not causes:
        return "; no cause found"
    first = causes[0]
    if first.title.startswith(("nothing of the", "nothing that could", "none of the changes")):
        return f": {first.title}"
    return f": {first.title}" if first.score >= _SURE else f"; likeliest: {first.title}"


def _since(scene: Scene, causes: Sequence[Cause]) -> str:
    """The contradiction that a release stops at, or what the releases say of the check that fired."""
    finding = scene.finding
    if causes and causes[0].kind == "version":
        met = next((cause for cause in causes[1:3] if cause.kind == "config" and cause.score >= _MET), None)
        return f"; {met.title}" if met is not None else ""
    if finding is None or scene.set_gate is not None:
        return ""
    if finding.finding not in ("new", "promoted", "default-flipped", "guard-changed"):
        return ""
    return f" ({finding.explanation.rstrip('.')})" if finding.explanation else ""


def _figures(scene: Scene) -> str:
    moved = moved_figures(scene)
    first = main_figure(moved)
    others = [
        row for row in moved if row is not first and row.metric in ("accept length", "cuda graph share")
    ]
    story = f" ({first.noise})" if first.noise and "reproduce" in first.noise else ""
    return "; ".join([figure_text(first) + story, *(figure_text(row) for row in others)])


def _ready(diff: RunDiff) -> str:
    if diff.good is None:
        return "Ready; there is no earlier comparable run."
    rows = [row for row in diff.args if not row.is_noise and row.relevance >= 0.05]
    others = [row for row in (*diff.env, *diff.versions, *diff.configs, *diff.files) if not row.is_noise]
    names = [row.name for row in others] + [row.name for row in rows]
    as_good = "Ready, as the good run" if diff.good.run.ready else "Ready, which the other run did not get"
    if not names:
        return f"{as_good}; only figures or warnings differ."
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return f"{as_good}; {shown} {'differs' if len(names) == 1 else 'differ'}."


def _count_noise(diff: RunDiff) -> str:
    noise = sum(row.is_noise for row in diff.args) + sum(row.is_noise for row in diff.env)
    return f"{noise} differences of noise such as seeds and ports" if noise > 1 else ""
