"""What earlier runs say: seen before, fixed by, contrast with the good runs, and when it began."""

from __future__ import annotations

from collections.abc import Sequence

from logscope.compare.facts import RunFacts
from logscope.compare.values import is_same
from logscope.explain.candidate import Candidate
from logscope.explain.records import Remedy
from logscope.explain.scene import Scene
from logscope.store.interface import RunHistory
from logscope.store.records import Contrast
from parsers.lazy_dataclass import replace

_MOST_ASKED = 8
"""Contrast is asked for the best candidates only: each question costs a query."""


def weigh_by_history(candidates: Sequence[Candidate], scene: Scene, history: RunHistory) -> None:
    """Adds what history says to the candidates, in place."""
    ordered = sorted(candidates, key=lambda candidate: -candidate.points)
    for candidate in ordered[:_MOST_ASKED]:
        candidate.seen = scene.seen
        _fixed_by(candidate, scene)
        _began(candidate, scene)
        if candidate.asks is not None and scene.clues.fingerprint:
            kind, name, value = candidate.asks
            contrast = history.contrast(scene.bad.run_id, kind, name, value, scene.clues.fingerprint)
            candidate.contrast = contrast
            _contrast(candidate, contrast)


def _fixed_by(candidate: Candidate, scene: Scene) -> None:
    key = candidate.subject.rpartition(".")[2]
    for difference in scene.seen.fixed_by if scene.seen is not None else ():
        if key in difference.replace(":", " ").replace("=", " ").split() or candidate.subject in difference:
            candidate.add(
                "fixed by it before",
                0.2,
                f"an earlier run with this error was followed by a good one: {difference}",
            )
            worked = f"an earlier run with this error got ready after: {difference}"
            candidate.remedies = [_with_proof(remedy, difference, worked) for remedy in candidate.remedies]
            return


def _with_proof(remedy: Remedy, difference: str, worked: str) -> Remedy:
    after = difference.rpartition("->")[2].strip()
    fits = after and after not in ("None", "") and after in remedy.apply
    return replace(remedy, worked_before=worked) if fits or not remedy.apply else remedy


def _began(candidate: Candidate, scene: Scene) -> None:
    """The first failing run since the good one already had the same value, or it had not."""
    if scene.first_bad is None or candidate.asks is None or candidate.asks[0] not in ("arg", "env", "config"):
        return
    kind, name, value = candidate.asks
    facts = RunFacts(scene.first_bad)
    held = facts.env(name) if kind == "env" else facts.value(name if "." in name else f"args.{name}")
    if held is None and value is not None:
        return
    if is_same(held, value):
        candidate.add("since the first failure", 0.05, "the first failing run had it too", links=False)
    else:
        candidate.add(
            "came later", -0.3, "the first run that failed this way did not have it yet", links=False
        )


def _contrast(candidate: Candidate, contrast: Contrast) -> None:
    if contrast.failures < 1 or contrast.successes < 2:
        return
    with_it = contrast.failures_with / contrast.failures
    without = contrast.successes_with / contrast.successes
    good = f"in {contrast.successes_with} of {contrast.successes} good runs"
    failed = f"in {contrast.failures_with} of {contrast.failures} failures with this error"
    why = f"the first run with this error; {good}" if contrast.failures == 1 else f"{failed}, {good}"
    if without >= 0.5:
        candidate.add("stood in good runs too", -0.15, why, links=False)
    elif with_it - without > 0.5 and contrast.failures >= 2:
        candidate.add("contrast", round(0.15 * (with_it - without), 3), why, links=False)
