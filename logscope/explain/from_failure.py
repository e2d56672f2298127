"""What the failure itself points at: usage errors, known failures outside the configuration, a fallback."""

from __future__ import annotations

from collections.abc import Iterator

from logscope.compare.command_line import argument_name
from logscope.compare.origins import argument_life, flags_of
from logscope.compare.values import show
from logscope.explain.candidate import Candidate
from logscope.explain.evidence import (
    argument_quote,
    event_quote,
    in_package,
    milestone_named,
    milestone_quote,
    noted,
    root_quote,
)
from logscope.explain.fitting import offered
from logscope.explain.records import Remedy
from logscope.explain.remedies import fill, flag_of, flag_with
from logscope.explain.rule_values import rule_values
from logscope.explain.scene import Scene
from logscope.knowledge.atlas import AtlasMatch
from parsers.lazy_pattern import lazy_re

_UNKNOWN_FLAGS = lazy_re(r"unrecognized arguments?:\s*(?P<words>.+)")
_BAD_ARGUMENT = lazy_re(r"argument (?P<flags>--[\w-]+(?:/--?[\w-]+)*): (?P<why>.+)")
_NO_SUCH_ARGUMENT = lazy_re(
    r"ServerArgs\S* got an unexpected keyword argument '(?P<name>\w+)'"
    r"|Removed server argument\(s\)\W+(?P<flag>[\w-]+)"
)
_MOST_KNOWN = 3


def usage_candidates(scene: Scene) -> Iterator[Candidate]:
    """Flags that the argument parser refused."""
    message = scene.clues.message
    unknown = _UNKNOWN_FLAGS.search(message)
    if unknown:
        words = unknown.group("words").split()
        for place, word in enumerate(words):
            if word.startswith("--"):
                flag, _, value = word.partition("=")
                following = words[place + 1] if place + 1 < len(words) else ""
                yield _unknown_flag(flag, value or ("" if following.startswith("--") else following), scene)
        return
    refused = _BAD_ARGUMENT.search(message)
    if refused:
        yield _refused_value(refused.group("flags").split("/")[0], refused.group("why"), scene)
        return
    removed = _NO_SUCH_ARGUMENT.search(message)
    if removed:
        yield _unknown_flag(flag_of((removed.group("name") or removed.group("flag")).lstrip("-")), "", scene)


def _unknown_flag(flag: str, value: str, scene: Scene) -> Candidate:
    name = flag.lstrip("-").replace("-", "_")
    good, bad = scene.diff.good, scene.bad
    is_known_to_good = good is not None and (
        argument_quote(good, "good", name) is not None or flag in flags_of(good.sglang_version)
    )
    release = f"sglang {bad.sglang_version}" if bad.sglang_version else "this release"
    if is_known_to_good and good is not None:
        before = (
            f", which {good.sglang_version} accepted"
            if good.sglang_version
            else ", which the good run's accepted"
        )
        candidate = Candidate("version", name, f"{release} does not know {flag}{before}")
        candidate.mechanism = f"The command line is older than the release: {flag} {_fate(name)}."
        candidate.quote(root_quote(scene), argument_quote(good, "good", name))
    else:
        candidate = Candidate("arg", name, f"{flag} {value}".rstrip() + f" is no flag of {release}")
        candidate.mechanism = "The argument parser refuses the flag before anything else happens."
        candidate.quote(root_quote(scene))
    candidate.add("named in the error", 0.95, f"the usage error names {flag}")
    candidate.remedies = _flag_remedies(flag, value, is_known_to_good, scene)
    nearest = _nearest(flag, scene)
    if nearest and not is_known_to_good:
        candidate.title += f" (the nearest is {nearest})"
    return candidate


def _fate(name: str) -> str:
    """What became of an argument that a release no longer has."""
    life = argument_life(name)
    if life is not None and life.renamed_to:
        return f"is {flag_of(life.renamed_to)} now"
    if life is not None and life.last:
        return f"was removed after {life.last}"
    return "was removed or renamed"


def _flag_remedies(flag: str, value: str, was_known: bool, scene: Scene) -> list[Remedy]:
    remedies = []
    life = argument_life(flag.lstrip("-").replace("-", "_"))
    if life is not None and life.renamed_to:
        new = flag_with(life.renamed_to, value or True)
        remedies.append(
            Remedy(f"Use {new}: the flag was renamed", new, "lasting", "the new flag means the same")
        )
    nearest = _nearest(flag, scene)
    if nearest and not was_known:
        text = f"{nearest} {value}".rstrip()
        remedies.append(Remedy(f"Write {text}", text, "lasting", f"{nearest} is what was meant"))
    remedies.append(
        Remedy(
            f"Leave out {flag}", f"drop {flag}", "quick", "the feature is not needed or is the default now"
        )
    )
    if was_known and scene.diff.good is not None and scene.diff.good.sglang_version:
        version = scene.diff.good.sglang_version
        pin = f"pip install sglang=={version}"
        remedies.append(
            Remedy(
                f"Stay on sglang {version}", pin, "quick", "it still runs on this host", "defers the upgrade"
            )
        )
    return remedies


def _nearest(flag: str, scene: Scene) -> str:
    """The known flag that is spelled most alike; '' when none is near."""
    known = set(flags_of(scene.bad.sglang_version))
    if not known and scene.diff.good is not None:
        known = {flag_of(argument.name) for argument in scene.diff.good.run.server_args}
    import difflib  # 1 ms, and few runs end by an unknown flag

    close = difflib.get_close_matches(flag, sorted(known), n=1, cutoff=0.8)
    return close[0] if close else ""


def _refused_value(flag: str, why: str, scene: Scene) -> Candidate:
    name = argument_name(flag, flags_of(scene.bad.sglang_version))
    candidate = Candidate("arg", name, f"{flag} ({name}): {why[:120]}")
    candidate.add("named in the error", 0.95, f"the usage error names {flag}")
    candidate.mechanism = "The argument parser refuses the value before anything else happens."
    candidate.quote(root_quote(scene))
    if scene.diff.good is not None:
        candidate.quote(argument_quote(scene.diff.good, "good", name))
        held = scene.diff.good.argument(name)
        if held is not None:
            text = flag_with(name, held)
            candidate.remedies = [
                Remedy(f"Use {text}, as in the good run", text, "quick", "this release still takes it")
            ]
    return candidate


def known_failure_candidates(scene: Scene) -> Iterator[Candidate]:
    """Known failures whose cause lies outside the configuration, and the best one that only names itself."""
    place = 0
    for hit in scene.matches:
        if place < (_MOST_KNOWN if hit.rule.cause_kind else 1):
            is_own = hit.rule.origin != "package"
            candidate = known_failure(hit, scene, 1.0 if place == 0 or is_own else 0.6)
            _weigh_shards(candidate, scene)
            yield candidate
            place += 1


def _weigh_shards(candidate: Candidate, scene: Scene) -> None:
    """Other counts of weight files in the two logs speak for the weight files."""
    row = next((row for row in scene.diff.metrics if row.metric == "weight shards"), None)
    if "weight" not in candidate.subject or row is None or not row.is_significant:
        return
    why = f"the loader counts {show(row.bad)} weight files, {show(row.good)} in the good run"
    candidate.add("weight files differ", 0.35, why)
    candidate.title = f"{why}; the model weight files are incomplete or others"
    for side, run in (("good", scene.diff.good), ("bad", scene.bad)):
        candidate.quote(milestone_quote(milestone_named(run, "load-progress"), side))


def known_failure(hit: AtlasMatch, scene: Scene, weight: float = 1.0) -> Candidate:
    """The candidate of one atlas rule."""
    values = rule_values(scene, hit.groups)
    title = fill(hit.rule.cause_title or hit.rule.title, values)
    subject = " ".join(fill(hit.rule.cause_subject or hit.rule.id, values).split())
    candidate = Candidate(hit.rule.cause_kind or "other", subject, title)
    # A rule without a cause of its own says what happened, not why: it only stands above 'unexplained'.
    points = hit.rule.cause_score if hit.rule.cause_kind else 0.36
    candidate.add("known failure", points * weight, hit.rule.root_signal or hit.rule.title)
    candidate.is_filler = not hit.rule.cause_kind
    candidate.is_known_failure = not candidate.is_filler
    signal = hit.rule.root_signal
    known = "Known failure." if title == hit.rule.title else f"Known failure: {hit.rule.title}."
    candidate.mechanism = known + (f" It shows in {signal}." if signal else "")
    candidate.quote(root_quote(scene) or event_quote(hit.text, hit.line))
    candidate.remedies = offered(hit.rule.remedies, scene, hit.groups)
    return candidate


def fallback_candidate(scene: Scene, best_linked: float) -> Candidate:
    """Says that nothing that changed explains the error, and where to look instead."""
    clues = scene.clues
    place = _place(scene)
    is_told = not clues.message or clues.message.startswith(clues.type)
    what = (clues.message or clues.type) if is_told else f"{clues.type}: {clues.message}"
    shown = " ".join(what.split())
    shown = shown if len(shown) <= 110 else shown[:109] + "…"
    if scene.diff.good is None:
        title = f"{shown} (no earlier run to compare with)"
    elif scene.changes == 0:
        compared = "of the configuration" if scene.is_all_known else "that could be compared"
        title = f"nothing {compared} differs; {shown}"
    else:
        title = f"none of the changes explains {shown}"
    candidate = Candidate("other", place or "code or host", title)
    candidate.add(
        "no mechanism found",
        0.3 if scene.changes else 0.4,
        "what differs has no tie to the error",
        links=True,
    )
    if best_linked < 0.3 and scene.changes:
        candidate.add("nothing near", 0.05, "no change comes near the error", links=False)
    where = f"It was raised in {place}. " if place else ""
    candidate.mechanism = (
        f"{where}Look at the code (commit, local patches, builds), the versions of the packages, the host "
        "and the model files: none of them is fully visible in a log."
    )
    candidate.quote(root_quote(scene))
    for hit in scene.matches[:1]:
        candidate.remedies = offered(hit.rule.remedies, scene, hit.groups)
    if not candidate.remedies and scene.diff.good is not None:
        candidate.remedies = [
            Remedy(
                "Launch the good run's command line again on this host",
                "logscope bisect GOOD BAD -- COMMAND",
                "quick",
                "the good run's code and files are still there",
            )
        ]
    return candidate


def _place(scene: Scene) -> str:
    """``file:function`` of the innermost frame, from the package on."""
    if not scene.clues.frames:
        return ""
    frame = scene.clues.frames[-1]
    return f"{in_package(frame.file)}:{frame.function}"


def config_text_candidates(scene: Scene) -> Iterator[Candidate]:
    """A config.json that was recorded as text, because it was no valid JSON."""
    context = scene.bad.context
    for role, held in (context.model_configs if context is not None else {}).items():
        if isinstance(held, str):
            candidate = Candidate(
                "config", f"{role}.config.json", f"config.json of the {role} is no valid JSON"
            )
            candidate.add("damaged", 0.6, "it could not be parsed at launch")
            candidate.quote(root_quote(scene), noted(f"{role} config.json: {held[:80]}"))
            yield candidate
