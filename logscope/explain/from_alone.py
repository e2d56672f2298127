"""A failing run without any run to compare with: the arguments that its own error points at."""

from __future__ import annotations

from collections.abc import Iterator

from logscope.compare.arguments import typed_of
from logscope.compare.facts import RunFacts
from logscope.compare.origins import argument_origins
from logscope.compare.records import Origin
from logscope.compare.values import show
from logscope.explain.candidate import Candidate
from logscope.explain.evidence import argument_quote, root_quote
from logscope.explain.fitting import offered
from logscope.explain.records import Remedy
from logscope.explain.remedies import flag_of, flag_with
from logscope.explain.scene import Scene, is_off
from parsers.records import Json

_OF_EVERY_RUN = ("model_path", "tokenizer_path", "host", "port")
"""Typed for every server: that they are there says nothing."""


def alone_candidates(scene: Scene) -> Iterator[Candidate]:
    """Typed arguments that the error names, by name or by value; nothing where a good run is known."""
    if scene.diff.good is not None:
        return
    for name, value in _chosen(scene).items():
        candidate = Candidate("arg", name, f"the error speaks of {flag_of(name)} {show(value)}")
        if scene.clues.names_argument(name):
            candidate.add("named in the error", 0.4, f"the message names {name}")
        if scene.clues.names_value(value) or scene.clues.names_number(value):
            candidate.add("value in the error", 0.25, f"{show(value)} stands in the message")
        if not candidate.parts and scene.clues.tail_names(name):
            candidate.add("read where it failed", 0.25, f"the code that raised the error reads {name}")
        is_listed = any(name in hit.rule.evidence_args for hit in scene.matches[:1])
        if is_listed and (candidate.parts or (name not in _OF_EVERY_RUN and value != 1)):
            points = 0.1 if candidate.parts else 0.2
            candidate.add(
                "known failure", points, f"{scene.matches[0].rule.title}: {name} is looked at first"
            )
        if not candidate.parts:
            continue
        if len(candidate.parts) == 1 and is_listed:
            candidate.title = f"{flag_of(name)} {show(value)} was typed, and decides such a failure"
        candidate.mechanism = "It was typed on the command line; no earlier run shows another value."
        candidate.quote(root_quote(scene), argument_quote(scene.bad, "bad", name))
        candidate.remedies = [
            remedy
            for hit in scene.matches[:1]
            for remedy in offered(hit.rule.remedies, scene, hit.groups)
        ]
        if not candidate.remedies:
            candidate.remedies = [_leave_out(name, value)]
        yield candidate


def _leave_out(name: str, value: Json) -> Remedy:
    action = f"Leave out {flag_of(name)}, or give it another value than {show(value)}"
    return Remedy(action, flag_with(name, None), "quick", f"the default of {name} serves this model")


def _chosen(scene: Scene) -> dict[str, Json]:
    """The arguments that a person chose: what was typed, else what is named and no default."""
    typed = typed_of(scene.bad)
    facts = RunFacts(scene.bad)
    if typed is not None:
        return {name: value for name, value in typed.items() if not is_off(value)}
    near = {
        name: value
        for name, value in facts.arguments.items()
        if not is_off(value) and (scene.clues.names_argument(name) or scene.clues.tail_names(name))
    }
    origins = argument_origins(scene.bad, near)
    return {name: value for name, value in near.items() if origins.get(name) is not Origin.DEFAULT}
