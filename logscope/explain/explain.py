"""A diff and the history in, ranked causes out. Ranking happens here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from logscope.compare.records import RunDiff
from logscope.explain.candidate import Candidate, sentence
from logscope.explain.fitting import Fit, offered
from logscope.explain.from_alone import alone_candidates
from logscope.explain.from_arguments import argument_candidates
from logscope.explain.from_configs import config_candidates, file_candidates
from logscope.explain.from_failure import (
    config_text_candidates,
    fallback_candidate,
    known_failure_candidates,
    usage_candidates,
)
from logscope.explain.from_figures import figure_candidates
from logscope.explain.from_history import weigh_by_history
from logscope.explain.from_host import host_candidates, occupied_candidates
from logscope.explain.from_mismatches import mismatch_candidates
from logscope.explain.from_outside import (
    is_same_story,
    outside_candidate,
    pressure_candidates,
    with_same_story,
)
from logscope.explain.from_values import env_candidates, version_candidates
from logscope.explain.records import Explanation, Remedy
from logscope.explain.remedies import effect, is_off_switch
from logscope.explain.scene import Scene, scene_of
from logscope.explain.verdict import verdict
from logscope.store.interface import RunHistory
from parsers.lazy_dataclass import replace
from parsers.records import Outcome

_LEAST = 0.08
"""Candidates with fewer points are rows of the diff, not causes."""
_NEAR = 0.3
_LEAST_ARGUMENT = 0.15
_LEAST_BESIDE = ((0.85, 0.5), (0.5, 0.3))
"""An argument needs the second beside a cause outside the configuration that has the first."""
_SURE = 0.7
_LEAST_BESIDE_SURE = 0.25
"""What stands beside a cause of `_SURE` points with fewer than this is a bystander."""
_OF_CONFIGURATION = ("arg", "env", "config", "version")
_MOST = 8
_KNOWN = 0.45
"""A known failure with a cause of its own explains the error from here on."""
_CERTAIN = 0.6
"""From here on nothing is said of other places to look at."""


def explain(diff: RunDiff, history: RunHistory, rules: Path | None = None) -> Explanation:
    """Ranked causes with evidence and remedies; `rules` is a file of the user's own atlas rules.

    Without `rules`, ``rules.json`` of the configuration folder is taken where there is one.
    """
    scene = scene_of(diff, history, rules)
    candidates = _merged(_candidates(scene))
    weigh_by_history(candidates, scene, history)
    if scene.clues.has_error:
        _suspect_release(candidates)
        _put_fillers_behind(candidates)
        best = max((candidate.points for candidate in candidates if candidate.is_linked), default=0.0)
        is_known = any(one.is_known_failure and one.points >= _KNOWN for one in candidates)
        if best < _CERTAIN and not is_known and not any(candidate.is_filler for candidate in candidates):
            candidates.append(fallback_candidate(scene, best))
        elif best >= _CERTAIN:
            candidates = [candidate for candidate in candidates if not candidate.is_filler]
        _add_known_remedies(candidates, scene)
    kept = _kept(candidates)
    fit = Fit(diff.bad, diff.good)
    for candidate in kept:
        candidate.remedies = fit.fitted(candidate.remedies)
    kept.sort(key=lambda candidate: (-candidate.points, candidate.kind, candidate.subject))
    causes = tuple(candidate.cause(rank) for rank, candidate in enumerate(kept[:_MOST], 1))
    return Explanation(diff, verdict(scene, causes), causes)


def _suspect_release(candidates: Sequence[Candidate]) -> None:
    """A changed release is the first suspect where nothing else comes near the error."""
    others = max((one.points for one in candidates if one.kind != "version"), default=0.0)
    code = ("sglang", "sglang commit", "image")
    release = next((one for one in candidates if one.kind == "version" and one.subject in code), None)
    if release is not None and others < _NEAR:
        release.add("nothing else explains it", 0.2, "no other change comes near the error", links=False)


def _put_fillers_behind(candidates: Sequence[Candidate]) -> None:
    """What only says what happened stands behind a change that can have made it happen."""
    changes = [
        one for one in candidates if one.is_linked and not one.is_filler and one.kind in _OF_CONFIGURATION
    ]
    best = max((one.points for one in changes), default=0.0)
    for filler in (one for one in candidates if one.is_filler):
        if _NEAR <= best <= filler.points:
            why = "a change has a way to reach it"
            filler.add("says what, not why", best - filler.points - 0.02, why, links=False)


def _kept(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Leaves out what has too few points to be blamed, arguments above all when the cause lies elsewhere."""
    elsewhere = max(
        (one.points for one in candidates if one.kind in ("host", "other", "version")), default=0.0
    )
    least = next((points for sure, points in _LEAST_BESIDE if elsewhere >= sure), _LEAST_ARGUMENT)
    best = max((one.points for one in candidates), default=0.0)
    every = _LEAST_BESIDE_SURE if best >= _SURE else _LEAST
    return [one for one in candidates if one.points >= (max(least, every) if one.kind == "arg" else every)]


def _candidates(scene: Scene) -> Iterable[Candidate]:
    if scene.clues.has_error:
        return (candidate for candidate in _of_error(scene) if candidate.is_linked)
    if scene.bad.run.outcome in (Outcome.READY, Outcome.RUNNING) and scene.bad.run.ready:
        return figure_candidates(scene)
    return _without_error(scene)


def _of_error(scene: Scene) -> Iterable[Candidate]:
    usage = list(usage_candidates(scene))
    yield from usage
    if usage:
        return
    yield from argument_candidates(scene)
    yield from alone_candidates(scene)
    yield from mismatch_candidates(scene)
    yield from env_candidates(scene)
    yield from config_candidates(scene)
    yield from config_text_candidates(scene)
    yield from file_candidates(scene)
    yield from version_candidates(scene)
    yield from host_candidates(scene)
    yield from occupied_candidates(scene)
    yield from known_failure_candidates(scene)


def _without_error(scene: Scene) -> Iterable[Candidate]:
    outside = outside_candidate(scene)
    known = list(known_failure_candidates(scene))
    yield with_same_story(outside, known)
    yield from (one for one in known if not is_same_story(outside, one))
    yield from pressure_candidates(scene)


def _merged(candidates: Iterable[Candidate]) -> list[Candidate]:
    """One candidate a thing: what a change and a contradiction say of it adds up."""
    found: dict[tuple[str, str], Candidate] = {}
    for candidate in candidates:
        key = (candidate.kind, candidate.subject.lower())
        held = found.get(key)
        if held is None:
            found[key] = candidate
            continue
        names = {part.name for part in candidate.parts}
        if "contradiction" in names and (candidate.kind == "config" or "values in the error" in names):
            # It says both values and why they clash: better words than 'changed from A to B'.
            candidate.absorb(held)
            found[key] = candidate
        elif "contradiction" in names:
            # The contradiction may be another one than the error's: told, but not as the title.
            held.mechanism = f"{held.mechanism} {sentence(candidate.title)}".strip()
            held.absorb(candidate)
        else:
            held.absorb(candidate)
    return list(found.values())


def _say_what_it_assumes(candidate: Candidate, known: Sequence[Remedy]) -> None:
    """What switches a check off assumes what the known failure says of it."""
    told = {effect(remedy): remedy for remedy in known}
    candidate.remedies = [
        replace(held, worked_before=remedy.worked_before)
        if is_off_switch(remedy) and (held := told.get(effect(remedy))) is not None
        else remedy
        for remedy in candidate.remedies
    ]


def _add_known_remedies(candidates: list[Candidate], scene: Scene) -> None:
    """The ways out of the known failure, for candidates that it lists and that have few of their own."""
    hit = next(iter(scene.matches), None)
    if hit is None:
        return
    told = set[object]()
    for candidate in sorted(candidates, key=lambda one: -one.points):
        is_listed = any(part.name == "known failure" for part in candidate.parts)
        if is_listed and len(candidate.remedies) < 3 and candidate.kind in _OF_CONFIGURATION:
            extra = offered(hit.rule.remedies, scene, hit.groups, most=3)
            _say_what_it_assumes(candidate, extra)
            candidate.remedies += [remedy for remedy in extra if effect(remedy) not in told]
        told |= {effect(remedy) for remedy in candidate.remedies}
