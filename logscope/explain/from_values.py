"""Changed variables, releases, packages, hosts, config keys and model files as candidates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from logscope.compare.clues import has_word
from logscope.compare.configs import config_values
from logscope.compare.origins import env_life
from logscope.compare.records import Change, ValueChange
from logscope.compare.values import show
from logscope.explain.candidate import Candidate
from logscope.explain.evidence import noted, root_quote, warned_before
from logscope.explain.remedies import config_back, env_back, from_gate, version_back
from logscope.explain.scene import Scene
from logscope.knowledge.mechanisms import mechanisms
from logscope.knowledge.records import Gate
from parsers.records import Json

_ON = ("1", "true", "yes", "y", "on")
_ENV_FAMILIES = {
    "NCCL_": ("parallel", "allreduce"),
    "RCCL_": ("parallel", "allreduce"),
    "GLOO_": ("parallel",),
    "CUDA_VISIBLE_DEVICES": ("parallel", "device", "memory"),
    "HIP_VISIBLE_DEVICES": ("parallel", "device", "memory"),
    "HF_": ("model",),
    "TRANSFORMERS_": ("model", "tokenizer"),
    "PYTORCH_CUDA_ALLOC_CONF": ("memory",),
    "TORCHINDUCTOR": ("graph",),
    "TRITON_": ("attention", "device"),
    "MC_": ("disaggregation",),
    "MOONCAKE_": ("disaggregation",),
    "NVSHMEM_": ("moe",),
    "OMP_": ("parallel", "device"),
}
"""Prefix of a variable -> the parts of the server that it feeds."""
_DULL = frozenset(
    (
        "SGLANG",
        "SGL",
        "ENABLE",
        "DISABLE",
        "USE",
        "ALLOW",
        "SET",
        "FORCE",
        "TEST",
        "PATH",
        "HOME",
        "TIMEOUT",
        "SIZE",
    )
)
_ARITHMETIC_PARTNERS = ("head_dim", "num_attention_heads", "num_key_value_heads", "hidden_size")


def env_candidates(scene: Scene) -> Iterator[Candidate]:
    """One candidate a changed variable."""
    for row in scene.diff.env:
        if not row.is_noise:
            yield _env_candidate(row, scene)


def _env_candidate(row: ValueChange, scene: Scene) -> Candidate:
    good, bad = ("not set" if value is None else show(value) for value in (row.good, row.bad))
    candidate = Candidate(
        "env", row.name, f"{row.name} changed from {good} to {bad}", asks=("env", row.name, row.bad)
    )
    gate = _gate(scene, row.name)
    is_advice = _is_switched_on(row.bad) and re.search(
        rf"set [^.]{{0,40}}{re.escape(row.name)}", scene.clues.message
    )
    if has_word(scene.clues.message, row.name) and not is_advice:
        candidate.add("named in the error", 0.55, f"the message names {row.name}")
    if gate is not None and str(row.bad).lower() != str(gate.avoid).lower():
        candidate.add("gates the check", 0.4, f"{row.name} decides whether this check fires")
    _env_part(row, scene, candidate)
    for hit in scene.matches[:2]:
        told = " ".join(what for kind, what in hit.rule.usually_changed if kind == "env")
        if has_word(told, row.name) and not is_advice:
            candidate.add(
                "known failure", 0.25, f"{hit.rule.title}: {row.name} is among what usually changed"
            )
    if scene.is_alone() and not is_advice and not scene.is_outside:
        candidate.add("the only change", 0.2, "nothing else that could matter differs")
    candidate.mechanism = candidate.parts[0].why if candidate.parts else ""
    if candidate.mechanism:
        candidate.mechanism = candidate.mechanism[:1].upper() + candidate.mechanism[1:] + "."
    candidate.quote(
        root_quote(scene), noted(f"{row.name}={row.bad}" if row.bad is not None else f"{row.name} is not set")
    )
    candidate.remedies = env_back(row)
    return candidate


def _is_switched_on(value: Json) -> bool:
    return str(value).lower() in _ON


def _gate(scene: Scene, name: str) -> Gate | None:
    gates = scene.finding.gates if scene.finding is not None else ()
    return next((gate for gate in gates if gate.name == name), None)


def _env_part(row: ValueChange, scene: Scene, candidate: Candidate) -> None:
    wanted = next((parts for prefix, parts in _ENV_FAMILIES.items() if row.name.startswith(prefix)), ())
    for fact in mechanisms():
        if fact.id in wanted:
            word = scene.clues.words_in_message(fact.message)
            frame, distance = scene.clues.frame_with(fact.frames)
            if word or (frame is not None and distance < 4):
                where = (
                    f"the message speaks of '{word}'" if word else f"it failed in {frame and frame.function}"
                )
                candidate.add("feeds the part that failed", 0.25, f"{row.name} acts on that part; {where}")
                return
    for token in (piece for piece in row.name.split("_") if len(piece) >= 4 and piece not in _DULL):
        frame, distance = scene.clues.frame_with((token.lower(),))
        if has_word(scene.clues.message.upper(), token) or (frame is not None and distance < 4):
            life = env_life(row.name)
            known = f" (read since {life.first})" if life is not None else ""
            candidate.add(
                "feeds the part that failed", 0.15, f"'{token.lower()}' stands where it failed{known}"
            )
            return


def version_candidates(scene: Scene) -> Iterator[Candidate]:
    """The release of SGLang, and each package that is tied to the error."""
    if not any(row.name == "sglang" for row in scene.diff.versions):
        yield from _unnamed_release(scene)
    for row in scene.diff.versions:
        if row.name == "sglang":
            yield _release_candidate(row, scene)
        elif row.name == "sglang commit":
            candidate = Candidate(
                "version", "sglang commit", f"sglang commit changed from {row.good} to {row.bad}"
            )
            candidate.add("code changed", 0.3, "the same release, another commit", links=True)
            candidate.quote(root_quote(scene))
            yield candidate
        else:
            yield _package_candidate(row, scene)


_ONE_SIDED = 6
"""One release prints one set of arguments: more one-sided names than this are two releases."""


def _unnamed_release(scene: Scene) -> Iterator[Candidate]:
    """Two releases whose versions no log names, seen by the arguments that only one of them prints."""
    rows = [
        row for row in scene.diff.args if row.change in (Change.ADDED, Change.REMOVED) and row.relevance < 0.1
    ]
    if len(rows) <= _ONE_SIDED:
        return
    names = ", ".join(row.name for row in rows[:3])
    title = f"the runs are of two SGLang releases: {len(rows)} arguments are printed by only one of them"
    candidate = Candidate("version", "sglang", title, mechanism=f"Among them {names}.")
    candidate.add("the release changed", 0.15, title)
    candidate.quote(root_quote(scene))
    yield candidate


_FINDING_POINTS = {
    "new": 0.5,
    "promoted": 0.5,
    "default-flipped": 0.6,
    "guard-changed": 0.35,
    "demoted": 0.1,
    "reworded": 0.05,
    "unchanged": -0.1,
    "foreign": -0.05,
}


def _release_candidate(row: ValueChange, scene: Scene) -> Candidate:
    title = f"sglang changed: {row.good} -> {row.bad}"
    candidate = Candidate("version", "sglang", title, asks=("version", "sglang", row.bad))
    candidate.add("the release changed", 0.15, title, links=False)
    frame, _ = scene.clues.frame_with(("/sglang/", "sgl_kernel"))
    if frame is not None:
        candidate.add("raised in its code", 0.05, f"the traceback goes through {frame.function} of sglang")
    finding = scene.finding
    if finding is not None:
        points = _FINDING_POINTS.get(finding.finding, 0.0)
        if finding.confidence in ("near miss", "shared template"):
            points *= 0.6
        candidate.add("the check between the releases", points, finding.explanation)
        candidate.mechanism = finding.explanation
        candidate.remedies = [remedy for remedy in map(from_gate, finding.gates) if remedy is not None]
        if finding.finding == "default-flipped" and finding.gates:
            candidate.title = f"{default_story(finding.gates[0])} ({title})"
        elif finding.finding in ("new", "promoted"):
            word = "is new" if finding.finding == "new" else "only warned before"
            candidate.title = f"{title}: the check that fired {word}"
    if any(kind == "version" for hit in scene.matches[:1] for kind, _ in hit.rule.usually_changed):
        candidate.add("known failure", 0.1, f"{scene.matches[0].rule.title}: often after a change of release")
    if scene.is_alone() and not scene.is_outside:
        candidate.add("the only change", 0.2, "nothing else that could matter differs")
    candidate.quote(root_quote(scene), warned_before(scene))
    candidate.remedies += version_back(row)
    return candidate


def default_story(gate: Gate) -> str:
    """How the default of a gate went over the releases, in words."""
    if len(gate.defaults) >= 2:
        *_, before, now = gate.defaults
        until = f" in {before.first} to {before.last}" if before.last else ""
        return f"{gate.name} was {before.value} by default{until} and is {now.value} since {now.first}"
    return f"{gate.name} was {gate.good_default} by default in the good run's release, now {gate.bad_default}"


def _package_candidate(row: ValueChange, scene: Scene) -> Candidate:
    name, module = row.name, row.name.replace("-", "_")
    candidate = Candidate(
        "version", name, f"{name} changed: {row.good} -> {row.bad}", asks=("version", name, row.bad)
    )
    low = scene.clues.message.lower()
    if has_word(low, name.lower()) or has_word(low, module.lower()):
        candidate.add("named in the error", 0.55, f"the message names {name}")
    frame, distance = scene.clues.frame_with((f"/{module.lower()}/",))
    if frame is not None:
        # Nearly every error ends in torch, so its frame says less than that of another package.
        points = (0.32 if name == "torch" else 0.4) if distance == 0 else 0.25 if distance < 3 else 0.1
        candidate.add(
            "in the traceback", points, f"it failed in {frame.file.rpartition('site-packages/')[2]}"
        )
    hit = next(iter(scene.matches), None)
    if hit is not None and name == "driver" and "driver" in hit.rule.cause_subject:
        candidate.add("known failure", 0.4, hit.rule.title)
    if scene.is_alone() and not scene.is_outside:
        candidate.add("the only change", 0.2, "nothing else that could matter differs")
    candidate.quote(root_quote(scene), noted(f"{name}: {row.good} -> {row.bad}"))
    candidate.remedies = version_back(row)
    return candidate


def host_candidates(scene: Scene) -> Iterator[Candidate]:
    """Host, GPUs and machine facts that differ."""
    hit = next(iter(scene.matches), None)
    for row in scene.diff.host:
        candidate = Candidate(
            "host", row.name, f"{row.name} changed from {show(row.good)} to {show(row.bad)}"
        )
        if hit is not None and any(kind == "hardware" for kind, _ in hit.rule.usually_changed):
            candidate.add("known failure", 0.15, f"{hit.rule.title}: often after a change of hardware")
        if hit is not None and hit.rule.cause_kind == "host":
            candidate.add(
                "points at the host", 0.15, "the failure points at the machine, and the machine changed"
            )
        if scene.changes == 0:
            candidate.add("the only change", 0.25, "nothing of the configuration differs")
        candidate.quote(root_quote(scene))
        yield candidate


def config_candidates(scene: Scene) -> Iterator[Candidate]:
    """One candidate a changed key of target or draft config.json."""
    for row in scene.diff.configs:
        if not row.is_noise:
            yield _config_candidate(row, scene)


def _config_candidate(row: ValueChange, scene: Scene) -> Candidate:
    subject = f"{row.role}.{row.name}"
    what = f"{row.name} in the {'draft' if row.role == 'draft' else 'model'}'s config.json"
    title = f"{what} changed from {show(row.good)} to {show(row.bad)}"
    candidate = Candidate("config", subject, title, asks=("config", subject, row.bad))
    if row.name == "config.json":
        candidate.title = f"the {row.role} config.json is no valid JSON any more"
        candidate.add("damaged", 0.6, row.note)
    clues, key = scene.clues, row.name.rpartition(".")[2]
    candidate.add("config.json changed", 0.15, f"{what} is another one", links=False)
    if has_word(clues.message, key):
        candidate.add("named in the error", 0.5, f"the message names {key}")
    values = [value for value in (row.good, row.bad) if clues.names_number(value)]
    if values:
        points = 0.4 if len(values) == 2 else 0.25
        candidate.add(
            "value in the error", points, f"{' and '.join(show(value) for value in values)} in the message"
        )
    else:
        _score_shapes(row, scene, candidate)
    for place, hit in enumerate(scene.matches):
        if _lists_key(hit.rule.evidence_config_keys, row):
            candidate.add(
                "known failure",
                0.25 if place == 0 else 0.12,
                f"{hit.rule.title}: {row.name} is looked at first",
            )
            break
    if scene.is_alone() and not scene.is_outside:
        candidate.add("the only change", 0.2, "nothing else that could matter differs")
    candidate.mechanism = "; ".join(
        part.why for part in candidate.parts if part.name != "config.json changed"
    )
    candidate.mechanism = (
        candidate.mechanism[:1].upper() + candidate.mechanism[1:] + "." if candidate.mechanism else ""
    )
    candidate.quote(root_quote(scene), noted(f"{subject}: {show(row.good)} -> {show(row.bad)}"))
    candidate.remedies = config_back(row)
    return candidate


def _lists_key(keys: tuple[str, ...], row: ValueChange) -> bool:
    for key in keys:
        role, dot, name = key.partition(".")
        if dot and role in ("draft", "target"):
            if role == row.role and (row.name == name or row.name.startswith(name + ".")):
                return True
        elif row.role == "target" and (row.name == key or row.name.startswith(key + ".")):
            return True
    return False


def _score_shapes(row: ValueChange, scene: Scene, candidate: Candidate) -> None:
    """A product of the changed key and another one gives a number of the message: a shape error."""
    good, bad = row.good, row.bad
    if not _is_count(good) or not _is_count(bad) or scene.diff.good is None:
        return
    after = config_values(scene.bad, str(row.role))
    before = config_values(scene.diff.good, str(row.role))
    for partner in _ARITHMETIC_PARTNERS:
        new, old = after.get(partner), before.get(partner)
        if partner == row.name or not _is_count(new) or not _is_count(old):
            continue
        product, was = int(str(bad)) * int(str(new)), int(str(good)) * int(str(old))
        if scene.clues.names_number(product) and scene.clues.names_number(was):
            why = f"{row.name} * {partner} is {product} now and was {was}: both stand in the message"
            candidate.add("shapes in the error", 0.4, why)
            return
        if scene.clues.names_number(product):
            candidate.add(
                "shapes in the error", 0.2, f"{row.name} * {partner} is {product}, as in the message"
            )


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def file_candidates(scene: Scene) -> Iterator[Candidate]:
    """Model files that came, went or changed."""
    for row in scene.diff.files:
        change = "is gone" if row.bad is None else "is new" if row.good is None else "changed"
        sizes = "" if row.good is None or row.bad is None else f" ({show(row.good)} to {show(row.bad)} bytes)"
        candidate = Candidate(
            "other", f"model files: {row.name}", f"{row.name} of the {row.role} {change}{sizes}"
        )
        candidate.add("model file changed", 0.3, candidate.title, links=True)
        if row.name in scene.clues.message:
            candidate.add("named in the error", 0.5, f"the message names {row.name}")
        hit = next(iter(scene.matches), None)
        about = f"{hit.rule.cause_subject} {hit.rule.title}".lower() if hit is not None else ""
        is_weights = row.name.endswith((".safetensors", ".bin", ".gguf", ".pt"))
        if ("weight" in about and is_weights) or ("tokenizer" in about and "token" in row.name):
            candidate.add("known failure", 0.4, f"{hit.rule.title if hit else ''}: such a file decides it")
        candidate.quote(
            root_quote(scene), noted(f"{row.role} {row.name}: {show(row.good)} -> {show(row.bad)}")
        )
        yield candidate
