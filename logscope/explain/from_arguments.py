"""Changed arguments as candidates: each needs a way in which it can reach the error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from logscope.compare.records import ArgumentChange, Change
from logscope.compare.values import show
from logscope.explain.candidate import Candidate, sentence
from logscope.explain.evidence import argument_quotes, root_quote
from logscope.explain.remedies import back_to_good
from logscope.explain.scene import Scene, could_matter, family, is_off, is_switch, was_typed
from logscope.knowledge.mechanisms import MechanismFact, directions_of, mechanisms_of
from parsers.lazy_pattern import lazy_re
from parsers.records import Json

_STEM = lazy_re(r"^(?:enable|disable|use|skip)_|_(?:size|path|backend|mode|config|type|algorithm)$")
_TYPE = lazy_re(r"^(?:bf|fp|float|bfloat|int|mxfp|nvfp)(?P<bits>4|8|16|32)(?:_|$)")
_SHORTEST_STEM = 6
_INNER = 4
"""Frames this near to where the error was raised tell what failed; those further out tell who called."""


def argument_candidates(scene: Scene) -> Iterator[Candidate]:
    """One candidate an argument, or a family of arguments that was switched on together."""
    switched = {row.name for row in scene.diff.args if is_switch(row) and row.bad not in (None, False)}
    for switch in sorted(switched):
        members = [row for row in scene.diff.args if family(row.name) == switch and could_matter(row)]
        if members:
            yield _family(switch, members, scene)
    for row in scene.diff.args:
        if family(row.name) in switched and not scene.clues.names_argument(row.name):
            continue
        if could_matter(row) or scene.clues.names_argument(row.name) or _is_named_all_the_same(row, scene):
            yield argument_candidate(row, scene)


def _is_named_all_the_same(row: ArgumentChange, scene: Scene) -> bool:
    """A name, a port or a log level that hardly ever matters, and whose new value stands in the error."""
    if row.name == "random_seed" or row.was_typed is False:
        return False
    return scene.clues.names_value(row.bad) or (row.good is not None and scene.clues.names_number(row.bad))


def argument_candidate(row: ArgumentChange, scene: Scene) -> Candidate:
    """The candidate of one changed argument with all its score parts."""
    candidate = Candidate("arg", row.name, argument_title(row))
    candidate.asks = ("arg", row.name, row.bad)
    _score_names(row, scene, candidate)
    _score_parts_of_server(row, scene, candidate)
    _score_atlas(row, scene, candidate)
    _score_change(row, scene, candidate)
    candidate.mechanism = _mechanism(row, scene, candidate)
    candidate.quote(root_quote(scene), *argument_quotes(scene, row.name))
    if row.renamed_from:
        candidate.quote(*argument_quotes(scene, row.renamed_from)[:1])
    candidate.remedies = back_to_good(row)
    return candidate


def argument_title(row: ArgumentChange) -> str:
    """Names the argument with both values."""
    if row.change is Change.RENAMED:
        return f"{row.name} (before: {row.renamed_from}) is {show(row.bad)}, was {show(row.good)}"
    if row.change is Change.ADDED:
        return f"{row.name} {show(row.bad)} was added"
    if row.change is Change.REMOVED:
        return f"{row.name} {show(row.good)} was removed"
    return f"{row.name} changed from {show(row.good)} to {show(row.bad)}"


def _score_names(row: ArgumentChange, scene: Scene, candidate: Candidate) -> None:
    clues = scene.clues
    if clues.names_argument(row.name):
        candidate.add("named in the error", 0.55, f"the message names {row.name}")
    elif row.renamed_from and clues.names_argument(row.renamed_from):
        candidate.add("named in the error", 0.5, f"the message names {row.renamed_from}")
    elif clues.tail_names(row.name):
        candidate.add("read where it failed", 0.25, f"the code that raised the error reads {row.name}")
    else:
        _score_stem(row, scene, candidate)
    is_named = bool(candidate.parts)
    if clues.names_value(row.bad):
        candidate.add("value in the error", 0.3, f"the value {show(row.bad)} stands in the message")
    elif clues.names_number(row.bad):
        points = 0.25 if is_named else 0.15
        candidate.add("value in the error", points, f"the number {show(row.bad)} stands in the message")
    else:
        _score_tokens(row, scene, candidate)


def _score_stem(row: ArgumentChange, scene: Scene, candidate: Candidate) -> None:
    """What the argument is about (``dp_attention`` of ``enable_dp_attention``) in message or place."""
    stem = _STEM.sub("", row.name)
    if len(stem) < _SHORTEST_STEM or "_" not in stem:
        return
    spoken = stem.replace("_", " ")
    if spoken in scene.clues.message.lower().replace("_", " ").replace("-", " "):
        candidate.add("spoken of in the error", 0.3, f"the message speaks of '{spoken}'")
        return
    frame, distance = scene.clues.frame_with((stem,))
    if frame is not None and distance < 2:
        candidate.add("where it failed", 0.2, f"it failed in {frame.file.rpartition('/')[2]}")


def _score_tokens(row: ArgumentChange, scene: Scene, candidate: Candidate) -> None:
    """Pieces of the new value, such as ``fp4`` of ``fp4_e2m1``, in the message or near the error."""
    clues = scene.clues
    old = {token for value in (row.good,) for token in clues.value_tokens_in(value, str(value))}
    new = [token for token in clues.value_tokens_in(row.bad, str(row.bad)) if token not in old]
    in_message = [token for token in new if token in clues.text.lower()]
    if in_message:
        candidate.add(
            "value in the error", 0.3, f"'{in_message[0]}' of {show(row.bad)} stands in the message"
        )
        return
    for token in new:
        frame, distance = clues.frame_with((token,))
        if frame is not None and distance < _INNER:
            why = f"'{token}' of {show(row.bad)} is in {frame.file.rpartition('/')[2]}, where it failed"
            candidate.add("value in the traceback", 0.15, why)
            return


def _score_parts_of_server(row: ArgumentChange, scene: Scene, candidate: Candidate) -> None:
    best: tuple[float, MechanismFact | None, str] = (0.0, None, "")
    for fact in mechanisms_of(row.name):
        word = scene.clues.words_in_message(fact.message)
        frame, distance = scene.clues.frame_with(fact.frames)
        points = 0.2 * bool(word)
        if frame is not None:
            points += 0.2 if distance < _INNER else 0.07
        is_own_name = bool(word) and word.replace(" ", "_") in row.name
        why = f"the message speaks of '{word}'" if word and not is_own_name else ""
        if frame is not None and not word:
            why = f"the traceback goes through {frame.file.rpartition('/')[2]} ({frame.function})"
        if points > best[0]:
            best = (points, fact, why)
    points, found, why = best
    if found is not None:
        told = f"{row.name} {found.how}" + (f"; {why}" if why else "")
        candidate.add("feeds the part that failed", points, told)
    stage = scene.clues.stage
    if found is not None and stage is not None and str(stage) in found.stages:
        candidate.add("feeds the stage", 0.05, f"it takes effect in stage {stage}", links=False)


def _score_atlas(row: ArgumentChange, scene: Scene, candidate: Candidate) -> None:
    for place, hit in enumerate(scene.matches):
        if row.name in hit.rule.evidence_args:
            # A rule with a long list of arguments says less of each, and names the likelier ones first.
            points = 0.22 if len(hit.rule.evidence_args) <= 5 else 0.16
            points -= 0.01 * min(hit.rule.evidence_args.index(row.name), 5)
            points *= 1.0 if place == 0 else 0.6
            candidate.add(
                "known failure", points, f"{hit.rule.title}: {row.name} is among what usually changed"
            )
            break
    if scene.matches:
        score_direction(row, directions_of(scene.matches[0].rule.id), candidate)
        if isinstance(row.bad, str) and row.bad in scene.matches[0].groups.values():
            why = f"{scene.matches[0].rule.title}: it is {row.bad} that was asked for"
            candidate.add("asks for it", 0.15, why)


def score_direction(row: ArgumentChange, directions: Mapping[str, str], candidate: Candidate) -> None:
    """A change towards the failure speaks for it, one away from it against it."""
    wanted, moved = directions.get(row.name), direction(row.good, row.bad)
    if wanted is None or not moved:
        return
    if wanted == moved:
        candidate.add("towards the failure", 0.12, f"{row.name} went {moved}, which leads there")
    elif {wanted, moved} in ({"up", "down"}, {"on", "off"}):
        candidate.add(
            "away from the failure", -0.35, f"{row.name} went {moved}, which leads away", links=False
        )


def direction(good: Json, bad: Json) -> str:
    """``up`` or ``down`` for numbers, ``on`` or ``off`` for switches and names; '' for anything else."""
    if is_off(good) != is_off(bad):
        return "off" if is_off(bad) else "on"
    if isinstance(good, bool) or isinstance(bad, bool):
        return ""
    bits = (_bits(good), _bits(bad))
    if None not in bits and bits[0] != bits[1]:
        return "up" if (bits[1] or 0) > (bits[0] or 0) else "down"
    if isinstance(good, int | float) and isinstance(bad, int | float):
        if good > 0 > bad:
            return "off"  # -1 switches such limits off
        return "up" if bad > good else "down"
    return ""


def _bits(value: Json) -> int | None:
    """Bits of an element of that type: ``fp8_e5m2`` 8, ``auto`` 16; None for what is no type."""
    found = _TYPE.search(value) if isinstance(value, str) else None
    if found is None:
        return 16 if value in ("auto", "half") else None
    return int(found.group("bits"))


def _score_change(row: ArgumentChange, scene: Scene, candidate: Candidate) -> None:
    if was_typed(row):
        candidate.add("changed by a person", 0.1, "it was typed on a command line", links=False)
    elif row.was_typed is False:
        candidate.add("not typed", -0.2, "SGLang or its release set it, no person did", links=False)
    elif row.relevance <= 0.3:
        candidate.add(
            "may be the release", -0.05, "the releases differ and no command line is known", links=False
        )
    if scene.is_outside:
        return
    if scene.is_alone() and could_matter(row) and not _is_out_of_reach(row, scene, candidate):
        # Half as suspect where other things may have changed unseen and it did not fail in its part.
        is_sure = candidate.is_linked or not mechanisms_of(row.name) or scene.is_env_known
        points = 0.2 if is_sure else 0.1
        candidate.add("the only change", points, "nothing else that could matter differs", links=True)
    elif scene.is_alone(1):
        candidate.add("one of few changes", 0.08, "two things that could matter differ", links=False)


def _is_out_of_reach(row: ArgumentChange, scene: Scene, candidate: Candidate) -> bool:
    """Nothing ties it to the error, and the failure is known for other arguments, or ended elsewhere."""
    if candidate.is_linked:
        return False
    facts, stage = mechanisms_of(row.name), scene.clues.stage
    is_elsewhere = stage is not None and bool(facts) and all(str(stage) not in fact.stages for fact in facts)
    return is_elsewhere or any(hit.rule.evidence_args for hit in scene.matches[:1])


def _mechanism(row: ArgumentChange, scene: Scene, candidate: Candidate) -> str:
    reasons = {part.name: part.why for part in candidate.parts}
    told = [
        reasons[name]
        for name in (
            "named in the error",
            "read where it failed",
            "value in the error",
            "feeds the part that failed",
        )
        if name in reasons
    ]
    if not told and mechanisms_of(row.name):
        told = [f"{row.name} {mechanisms_of(row.name)[0].how}"]
    text = "; ".join(told[:2])
    return sentence(text)


def _family(switch: str, members: Sequence[ArgumentChange], scene: Scene) -> Candidate:
    """All arguments of a feature that was switched on, as one candidate under the switch's name."""
    master = next(row for row in members if row.name == switch)
    candidate = argument_candidate(master, scene)
    for member in members:
        if member is not master:
            part_of_it = argument_candidate(member, scene)
            part_of_it.parts = [part for part in part_of_it.parts if part.points > 0]
            candidate.absorb(part_of_it)
    others = ", ".join(f"{row.name} {show(row.bad)}" for row in members if row is not master)
    candidate.title = f"{argument_title(master)}" + (f", with {others}" if others else "")
    candidate.asks = ("arg", switch, master.bad)
    candidate.remedies = back_to_good(master)
    return candidate
