"""What differs of the machine as candidates: its GPUs, its facts, and memory that somebody else holds."""

from __future__ import annotations

from collections.abc import Iterator

from logscope.compare.values import show
from logscope.explain.candidate import Candidate
from logscope.explain.evidence import milestone_named, milestone_quote, root_quote
from logscope.explain.fitting import offered
from logscope.explain.scene import Scene
from logscope.knowledge.atlas import atlas
from parsers.lazy_pattern import lazy_re

_OF_A_GPU = lazy_re(
    r"(?i)\bSM ?[<>=]+ ?\d+|\bSM ?_?\d{2,3}\b|\bsm_?\d{2,3}a?\b|\bcc ?\d\.\d|\bMP>=|compute capability|"
    r"Blackwell|Hopper|Ampere|\bAda\b|no kernel image|unsupported (?:gpu )?arch|invalid device ordinal|"
    r"no CUDA GPUs|shared memory, Required|nvcc fatal"
)
"""An error that speaks of the kind of GPU."""
_OUT_OF_MEMORY = lazy_re(r"(?i)out of memory|outofmemory|Not enough memory|max_running_request is zero")
_CAPACITY = lazy_re(
    r"(?i)total capacity of (?P<total>[\d.]+) GiB of which (?P<free>[\d.]+) (?P<unit>[GM])iB is free"
)
_OWN = lazy_re(r"(?i)Of the allocated memory (?P<own>[\d.]+) (?P<unit>[GM])iB is allocated by PyTorch")
_CONTEXT_GIB = 4.0
"""What a process takes of a GPU beside PyTorch's memory, at most: CUDA context, NCCL, kernels."""
_FOREIGN_SHARE = 0.15
"""Of the GPU's memory; less may be another reading of the same numbers."""
_LESS = 0.85
"""Memory free at the begin of loading below this share of the good run's is somebody else's doing."""


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
        if row.name == "gpus":
            _score_gpus(scene, candidate)
        if scene.is_alone(0 if row.name == "gpus" else -1):
            candidate.add("the only change", 0.25, "nothing of the configuration differs")
        candidate.quote(root_quote(scene))
        if hit is not None:
            candidate.remedies = offered(hit.rule.remedies, scene, hit.groups)
        yield candidate


def _score_gpus(scene: Scene, candidate: Candidate) -> None:
    spoken = _OF_A_GPU.search(scene.clues.text)
    if spoken is not None:
        candidate.add("speaks of the GPU", 0.45, f"the message speaks of '{spoken.group(0)}'")
    elif _OUT_OF_MEMORY.search(scene.clues.text) and _less_at_begin(scene):
        candidate.add("less memory", 0.4, "the GPU has less memory than the good run's")


def occupied_candidates(scene: Scene) -> Iterator[Candidate]:
    """Memory of the GPU that another process holds, by the numbers of the logs."""
    if not _OUT_OF_MEMORY.search(scene.clues.text) or any(row.name == "gpus" for row in scene.diff.host):
        return
    candidate = Candidate("host", "GPU memory", "other processes hold memory on the GPU")
    less, foreign = _less_at_begin(scene), _foreign_gib(scene.clues.message)
    if less:
        candidate.title = f"other processes hold memory on the GPU: {less}"
        candidate.add("memory gone before loading", 0.6, less)
        for side, run in (("good", scene.diff.good), ("bad", scene.bad)):
            candidate.quote(milestone_quote(milestone_named(run, "load-begin", "target"), side))
    if foreign:
        candidate.add("more is in use than this process took", 0.4, foreign)
    if not candidate.parts:
        return
    candidate.mechanism = "What others hold is missing for weights, KV pool and graphs."
    candidate.quote(root_quote(scene))
    rule = next((rule for rule in atlas() if rule.id == "gpu-memory-occupied"), None)
    candidate.remedies = offered(rule.remedies, scene) if rule is not None else []
    yield candidate


def _less_at_begin(scene: Scene) -> str:
    """How much less was free when loading began, in words; '' when not clearly less."""
    row = next((row for row in scene.diff.metrics if row.metric == "memory at load begin"), None)
    if row is None or row.good is None or row.bad is None or row.bad >= row.good * _LESS:
        return ""
    return f"{row.bad:.1f} GB were free when loading began, {row.good:.1f} GB in the good run"


def _foreign_gib(message: str) -> str:
    """What is neither free nor PyTorch's own of a GPU, by an out-of-memory message; '' when little."""
    capacity, own = _CAPACITY.search(message), _OWN.search(message)
    if capacity is None or own is None:
        return ""
    total, free, mine = (
        float(capacity["total"]),
        _gib(capacity["free"], capacity["unit"]),
        _gib(own["own"], own["unit"]),
    )
    foreign = total - free - mine - _CONTEXT_GIB
    if foreign < total * _FOREIGN_SHARE:
        return ""
    return f"of {total:.0f} GiB {free:.1f} are free and {mine:.1f} are this process's own"


def _gib(text: str, unit: str) -> float:
    return float(text) / (1024 if unit.upper() == "M" else 1)
