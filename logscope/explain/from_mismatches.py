"""Contradictions inside the failing run as candidates: nothing need have changed for them to be the cause."""

from __future__ import annotations

from collections.abc import Iterator

from logscope.compare.clues import has_word
from logscope.compare.facts import RunFacts
from logscope.compare.records import Mismatch, ValueChange
from logscope.compare.values import show
from logscope.explain.candidate import Candidate, sentence
from logscope.explain.evidence import (
    argument_quote,
    milestone_named,
    milestone_quote,
    noted,
    root_quote,
    warned_before,
)
from logscope.explain.fitting import offered
from logscope.explain.rule_values import side_values
from logscope.explain.scene import Scene
from logscope.knowledge.config_rules import config_rules
from parsers.records import Json

_RELEASE_MADE = ("new", "promoted", "default-flipped", "guard-changed")
_READABLE = {
    "derived_context": "context length by the ROLE's config.json",
    "context": "context length of the ROLE",
    "target_hidden": "hidden size that the ROLE expects",
    "head_total": "head_dim * num_attention_heads of the ROLE",
    "quantization_method": "quantization method in the ROLE's config.json",
    "padded_vocab": "padded vocabulary of the ROLE",
    "expert_shard": "width of an expert shard of the ROLE",
    "block_n": "quantization block of the ROLE",
}
"""Derived facts in words; plain keys stand for themselves."""


def mismatch_candidates(scene: Scene) -> Iterator[Candidate]:
    """One candidate a contradiction."""
    for found in scene.diff.mismatches:
        yield _candidate(found, scene)


def _candidate(found: Mismatch, scene: Scene) -> Candidate:
    kind = "config" if "." in found.subject else "arg"
    row = _config_row(found, scene)
    was = f"; it was {show(row.good)} in the good run" if row is not None and row.good is not None else ""
    candidate = Candidate(kind, found.subject, f"{_named(found)}{was}")
    candidate.asks = (kind, found.subject, _value_of(found, scene))
    clues, key = scene.clues, found.subject.rpartition(".")[2]
    numbers = [(name, value) for name, value in found.values if clues.names_number(value)]
    if len(numbers) == len(found.values):
        shown = " and ".join(show(value) for _, value in numbers)
        candidate.add("values in the error", 0.5, f"both values, {shown}, stand in the message")
    elif numbers:
        candidate.add("values in the error", 0.2, f"{show(numbers[0][1])} stands in the message")
    if has_word(clues.message, key) or clues.names_argument(key):
        candidate.add("named in the error", 0.3, f"the message names {key}")
    for place, hit in enumerate(scene.matches):
        keys = (*hit.rule.evidence_config_keys, *hit.rule.evidence_args)
        if found.subject in keys or key in keys:
            candidate.add("known failure", 0.25 if place == 0 else 0.12, hit.rule.title)
            break
    if candidate.is_linked:
        candidate.add("contradiction", 0.15, found.reason, links=False)
    if row is not None:
        candidate.add("changed since the good run", 0.2, f"{row.name} was {show(row.good)}", links=False)
    if found.in_good_too:
        # Where the release changed the check, the contradiction is what it stops at, not what changed.
        is_of_release = scene.finding is not None and scene.finding.finding in _RELEASE_MADE
        points = -0.5 if is_of_release else -0.35
        why = "the good run had the same contradiction"
        candidate.add("stood in the good run too", points, why, links=False)
    candidate.mechanism = sentence(found.reason)
    _quote(found, scene, candidate)
    _add_remedies(found, scene, candidate)
    return candidate


def _named(found: Mismatch) -> str:
    """The text of the contradiction, with the name of its subject where the text does not hold it."""
    key = found.subject.rpartition(".")[2]
    if key in found.text or key.replace("_", "-") in found.text:
        return found.text
    return f"{found.subject}: {found.text}"


def _value_of(found: Mismatch, scene: Scene) -> Json:
    """The value that history knows under the subject's name."""
    name = found.subject if "." in found.subject else f"args.{found.subject}"
    held = RunFacts(scene.bad).value(name)
    return found.values[0][1] if held is None else held


def _config_row(found: Mismatch, scene: Scene) -> ValueChange | None:
    role, _, key = found.subject.partition(".")
    return next((row for row in scene.diff.configs if row.role == role and row.name == key), None)


def _quote(found: Mismatch, scene: Scene, candidate: Candidate) -> None:
    candidate.quote(root_quote(scene), warned_before(scene))
    for name, value in found.values:
        room, _, key = name.partition(".")
        if room == "args":
            candidate.quote(argument_quote(scene.bad, "bad", key))
        elif key:
            candidate.quote(
                noted(f"{_READABLE.get(key, f'{room}.{key}')} = {show(value)}".replace("ROLE", room))
            )
    if "context" in found.rule or "shorter" in found.rule:
        candidate.quote(milestone_quote(milestone_named(scene.diff.good, "limits"), "good"))


def _add_remedies(found: Mismatch, scene: Scene, candidate: Candidate) -> None:
    rule = next((rule for rule in config_rules() if rule.id == found.rule), None)
    if rule is not None:
        values = side_values(found.values[0][1], found.values[1][1])
        candidate.remedies = offered(rule.remedies, scene, values, most=6)
