"""Changed variables, releases and packages as candidates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from logscope.compare.clues import has_word
from logscope.compare.origins import env_default, env_life
from logscope.compare.packages import modules_of
from logscope.compare.records import Change, ValueChange
from logscope.compare.values import show
from logscope.explain.candidate import Candidate, sentence
from logscope.explain.evidence import in_package, noted, root_quote, warned_before
from logscope.explain.records import Remedy
from logscope.explain.remedies import env_back, from_gate, version_back
from logscope.explain.scene import Scene
from logscope.knowledge.mechanisms import mechanisms
from logscope.knowledge.records import Gate
from parsers.lazy_pattern import lazy_re
from parsers.records import Frame, Json

_WORD = lazy_re(r"\w+")
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
    "SGLANG_USE_CPU_ENGINE": ("device", "attention"),
}
"""Prefix of a variable -> the parts of the server that it feeds."""
_ENV_SAYS = {
    "HF_HUB_OFFLINE": (
        "outgoing traffic has been disabled",
        "offline mode is enabled",
        "offlinemodeisenabled",
    ),
    "TRANSFORMERS_OFFLINE": ("outgoing traffic has been disabled", "offline mode is enabled"),
    "HF_TOKEN": (
        "gated repo",
        "401 client error",
        "403 client error",
        "be authenticated",
        "invalid credentials",
    ),
    "HUGGING_FACE_HUB_TOKEN": ("gated repo", "401 client error", "403 client error", "be authenticated"),
    "CUDA_VISIBLE_DEVICES": (
        "invalid device ordinal",
        "no cuda gpus are available",
        "no cuda-capable device",
    ),
    "HIP_VISIBLE_DEVICES": ("invalid device ordinal", "no hip gpus are available"),
    "NCCL_SOCKET_IFNAME": ("no socket interface found", "bootstrap : no socket"),
    "GLOO_SOCKET_IFNAME": ("unable to find address for", "gloo connectfullmesh"),
    "HF_HOME": ("on the local disk", "offline mode is enabled", "in the cached files"),
    "HF_HUB_CACHE": ("on the local disk", "offline mode is enabled", "in the cached files"),
    "CUDA_HOME": ("cuda_home", "nvcc"),
    "SGLANG_USE_CPU_ENGINE": (
        "not compiled with cuda",
        "no accelerator",
        "no nvidia driver",
        "active drivers",
    ),
    "LD_LIBRARY_PATH": ("cannot open shared object file", "undefined symbol"),
    "PYTHONPATH": ("no module named", "cannot import name"),
}
"""What a variable makes SGLang and its libraries print, lower case."""
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
    said = next((words for words in _ENV_SAYS.get(row.name, ()) if words in scene.clues.text.lower()), None)
    if said is not None and not is_advice:
        candidate.add("it makes such errors", 0.5, f"{row.name} leads to '{said}'")
    if gate is not None and str(row.bad).lower() != str(gate.avoid).lower():
        candidate.add("gates the check", 0.4, f"{row.name} decides whether this check fires")
    _score_path(row, scene, candidate)
    _env_part(row, scene, candidate)
    for hit in scene.matches[:2]:
        told = " ".join(what for kind, what in hit.rule.usually_changed if kind == "env")
        if has_word(told, row.name) and not is_advice:
            candidate.add(
                "known failure", 0.25, f"{hit.rule.title}: {row.name} is among what usually changed"
            )
    if scene.is_alone() and not is_advice and not scene.is_outside:
        points = 0.3 if env_life(row.name) is not None else 0.2  # one that SGLang reads is no bystander
        candidate.add("the only change", points, "nothing else that could matter differs")
    candidate.mechanism = candidate.parts[0].why if candidate.parts else ""
    candidate.mechanism = sentence(candidate.mechanism)
    candidate.quote(
        root_quote(scene), noted(f"{row.name}={row.bad}" if row.bad is not None else f"{row.name} is not set")
    )
    candidate.remedies = env_back(row)
    default = env_default(row.name, scene.bad.sglang_version)
    if row.good is None and default is not None and _is_switched_on(default) == _is_switched_on(row.bad):
        # Taking it away would change nothing: another release had another default.
        way_out = from_gate(gate) if gate is not None else None
        candidate.remedies = [way_out] if way_out is not None else []
        also = f"in {scene.bad.sglang_version} it is {default} where it is not set"
        candidate.mechanism = f"{candidate.mechanism} {sentence(also)}".strip()
    return candidate


def _score_path(row: ValueChange, scene: Scene, candidate: Candidate) -> None:
    """The code that failed, or a file that the message names, lies under a path that the variable holds."""
    paths = [path for path in str(row.bad or "").split(":") if path.startswith("/") and path.count("/") >= 2]
    for path in (path.rstrip("/") + "/" for path in paths):
        frame, distance = scene.clues.frame_with((path.lower(),))
        if path in scene.clues.message:
            candidate.add("path in the error", 0.4, f"the message names a file under {path}")
        elif frame is not None and distance < 4:
            candidate.add("code from there", 0.5, f"the code that failed was loaded from {path}")


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
        if _is_spoken_of(token, scene) or (frame is not None and distance < 4):
            life = env_life(row.name)
            known = f" (read since {life.first})" if life is not None else ""
            candidate.add(
                "feeds the part that failed", 0.15, f"'{token.lower()}' stands where it failed{known}"
            )
            return


def _is_spoken_of(token: str, scene: Scene) -> bool:
    """The piece of a name stands in the message, also as ``deep_gemm`` for ``DEEPGEMM``."""
    message = scene.clues.message.upper()
    return has_word(message, token) or any(word.replace("_", "") == token for word in _WORD.findall(message))


def version_candidates(scene: Scene) -> Iterator[Candidate]:
    """The release of SGLang, and each package that is tied to the error."""
    if not any(row.name == "sglang" for row in scene.diff.versions):
        yield from _unnamed_release(scene)
    for row in scene.diff.versions:
        if row.name == "sglang":
            yield _release_candidate(row, scene)
        elif row.name == "sglang commit":
            yield _commit_candidate(row, scene)
        elif row.name == "image":
            yield _image_candidate(row, scene)
        else:
            yield _package_candidate(row, scene)


def _commit_candidate(row: ValueChange, scene: Scene) -> Candidate:
    title = f"sglang commit changed from {row.good} to {row.bad}"
    candidate = Candidate("version", "sglang commit", title)
    candidate.add("code changed", 0.25, "the same release, another commit")
    frame = scene.clues.frames[-1] if scene.clues.frames else None
    if frame is not None and in_package(frame.file).startswith("sglang/"):
        candidate.add("raised in its code", 0.1, f"it failed in {in_package(frame.file)} ({frame.function})")
    if scene.is_alone() and not scene.is_outside:
        candidate.add("the only change", 0.2, "nothing else that could matter differs")
    candidate.quote(root_quote(scene), noted(title))
    candidate.remedies = [
        Remedy(
            f"Go back to commit {row.good}",
            f"git checkout {row.good}",
            "quick",
            "sglang is installed from this checkout; compiled parts are built again",
        ),
        Remedy(
            "Read what changed in the file that failed",
            f"git log {row.good}..{row.bad} -- {_path_in_checkout(frame)}".rstrip(" -"),
            "lasting",
            "the checkout holds both commits",
        ),
    ]
    return candidate


def _image_candidate(row: ValueChange, scene: Scene) -> Candidate:
    """Everything in an image may differ, also what no log and no list of packages shows."""
    candidate = Candidate("version", "image", f"the image changed from {row.good} to {row.bad}")
    candidate.add("code changed", 0.2, "another image: code, packages and libraries may be others")
    if scene.is_alone() and not scene.is_outside:
        candidate.add("the only change", 0.2, "nothing else that could matter differs")
    candidate.quote(root_quote(scene), noted(candidate.title))
    candidate.remedies = [
        Remedy(
            f"Go back to the image {row.good}",
            f"docker pull {row.good}",
            "quick",
            "the registry still holds it",
            "defers the upgrade",
        )
    ]
    return candidate


def _path_in_checkout(frame: Frame | None) -> str:
    path = in_package(frame.file) if frame is not None else ""
    return f"python/{path}" if path.startswith("sglang/") else ""


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
        told = finding.explanation
        is_flip = finding.finding == "default-flipped" and bool(finding.gates)
        if scene.set_gate is not None:  # a default says nothing of a variable that is set
            is_flip, points = False, 0.1
            told = f"{told.removesuffix(', which lets it fire.')}; here it is set to {scene.set_gate}."
        candidate.add("the check between the releases", points, told)
        candidate.mechanism = told
        candidate.remedies = [remedy for remedy in map(from_gate, finding.gates) if remedy is not None]
        if (is_flip or finding.finding == "promoted") and warned_before(scene) is not None:
            candidate.add("the good run only warned", 0.15, "the good run went on after the same check")
        if is_flip:
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
    name, modules = row.name, [module.lower() for module in modules_of(row.name)]
    candidate = Candidate(
        "version", name, f"{name} changed: {row.good} -> {row.bad}", asks=("version", name, row.bad)
    )
    low = scene.clues.message.lower()
    if any(has_word(low, word) for word in (name.lower(), *modules)):
        candidate.add("named in the error", 0.55, f"the message names {name}")
    frame, distance = scene.clues.frame_with([f"/{module}/" for module in modules])
    if frame is not None:
        # Nearly every error ends in torch, so its frame says less than that of another package.
        points = (0.32 if name == "torch" else 0.4) if distance == 0 else 0.25 if distance < 3 else 0.1
        candidate.add("in the traceback", points, f"it failed in {in_package(frame.file)}")
    hit = next(iter(scene.matches), None)
    if hit is not None and name == "driver" and "driver" in hit.rule.cause_subject:
        candidate.add("known failure", 0.4, hit.rule.title)
    if scene.is_alone() and not scene.is_outside:
        candidate.add("the only change", 0.2, "nothing else that could matter differs")
    candidate.quote(root_quote(scene), noted(f"{name}: {row.good} -> {row.bad}"))
    candidate.remedies = version_back(row)
    return candidate
