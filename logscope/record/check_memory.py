"""Will the model and its KV cache fit: free memory now, or as it was in a good run of the same setup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from logscope.explain.records import Remedy
from logscope.record.accelerators import Gpu
from logscope.record.checking import Finding, Planned, Severity
from logscope.record.models import list_files, model_folders
from logscope.store.records import StoredRun
from parsers.lazy_dataclass import dataclass
from parsers.records import Json

_GB = float(1 << 30)
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Free memory and weights of one rank, GB."""

    free: float
    free_reason: str
    weights: float
    weights_reason: str


def memory_findings(
    plan: Planned, good: Sequence[StoredRun], gpus: tuple[Gpu, ...] | None
) -> Iterator[Finding]:
    """The two ways to have no room: weights larger than the memory, and a fraction that leaves no pool.

    SGLang gives the KV pool ``free x mem_fraction_static - weights``; when that is not positive, it ends.
    """
    estimate = _estimate(plan, good, gpus)
    if estimate is None:
        return
    reasons = (estimate.free_reason, estimate.weights_reason)
    if estimate.weights > estimate.free:
        yield Finding(
            "weights-do-not-fit",
            "arg",
            "tp_size",
            Severity.RISK,
            f"weights of about {_gb(estimate.weights)} a rank do not fit into {_gb(estimate.free)}",
            reasons,
            (
                Remedy("Use more GPUs.", "--tp-size N", "lasting", "they are there, sizes divide"),
                Remedy("Free the memory that others hold.", "", "lasting", "somebody else uses it"),
            ),
        )
        return
    fraction = plan.number("mem_fraction_static")
    if fraction is None:
        return
    pool = estimate.free * fraction - estimate.weights
    if pool <= 0:
        needed = min(0.9, estimate.weights / estimate.free + 0.05)
        yield Finding(
            "no-room-for-kv-cache",
            "arg",
            "mem_fraction_static",
            Severity.FAILS,
            f"mem_fraction_static {fraction:g} leaves no memory for the KV cache",
            (*reasons, f"{fraction:g} of {_gb(estimate.free)} is {_gb(estimate.free * fraction)}"),
            (
                Remedy(
                    "Raise the fraction.",
                    f"--mem-fraction-static {needed:.2f}",
                    "lasting",
                    "activations and graphs fit into the rest",
                ),
            ),
        )


def _estimate(plan: Planned, good: Sequence[StoredRun], gpus: tuple[Gpu, ...] | None) -> Estimate | None:
    free = _free_now(plan, gpus) or _free_before(good)
    if free is None:
        return None
    weights = max(_weights(plan), default=None)
    if weights is None:
        return None
    return Estimate(free[0], free[1], weights[0], weights[1])


def _free_now(plan: Planned, gpus: tuple[Gpu, ...] | None) -> tuple[float, str] | None:
    if plan.is_recorded:
        return None
    if plan.arguments.get("device") == "cpu":
        available = plan.context.facts.get("mem_available_bytes")
        return (int(available) / _GB, "free memory of this machine now") if available else None
    known = [
        (gpu.total_mib - gpu.used_mib, gpu.index)
        for gpu in gpus or ()
        if gpu.total_mib is not None and gpu.used_mib is not None
    ]
    if not known:
        return None
    least, index = min(known)
    return least / 1024, f"free memory of GPU {index} now, the fullest one"


def _free_before(good: Sequence[StoredRun]) -> tuple[float, str] | None:
    """Memory that a good run of the setup printed before it loaded the weights."""
    for run in good:
        for milestone in run.run.milestones:
            values = dict(milestone.values)
            free = values.get("avail_mem_gb")
            if milestone.name == "load-begin" and isinstance(free, int | float):
                return float(free), f"free before loading in the good run {run.path} (line {milestone.line})"
    return None


def _weights(plan: Planned) -> Iterator[tuple[float, str]]:
    """GB of weights on one rank: by the files, and (a lower bound) by config.json."""
    ranks = max(1.0, (plan.number("tp_size", 1) or 1) * (plan.number("pp_size", 1) or 1))
    files = plan.context.model_files
    if not files and not plan.is_recorded:
        found = model_folders(plan.command, plan.env, plan.cwd)
        files = tuple(file for model in found for file in list_files(model))
    size = sum(file.size for file in files if file.name.endswith(_WEIGHTS))
    if size:
        yield size / ranks / _GB, f"weight files of {_gb(size / _GB)} on {ranks:g} ranks"
    config = plan.context.model_configs.get("target")
    parameters = _parameters(config) if isinstance(config, dict) else None
    if parameters is not None:
        yield (
            2 * parameters / ranks / _GB,
            f"about {parameters:.3g} parameters by config.json, two bytes each",
        )


def _parameters(config: Mapping[str, Json]) -> float | None:
    """Parameters of a plain decoder; None for experts, quantized weights and unknown shapes."""
    if config.get("quantization_config") or any("expert" in key for key in config):
        return None
    names = ("hidden_size", "num_hidden_layers", "intermediate_size", "vocab_size", "num_attention_heads")
    sizes = [config.get(name) for name in names]
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        return None
    hidden, layers, inner, vocabulary, heads = (int(str(size)) for size in sizes)
    given_head, given_kv = config.get("head_dim"), config.get("num_key_value_heads")
    head = given_head if isinstance(given_head, int) else hidden // heads
    key_heads = given_kv if isinstance(given_kv, int) else heads
    layer = 2 * hidden * head * (heads + key_heads) + 3 * hidden * inner
    tied = 1 if config.get("tie_word_embeddings") else 2
    return layers * layer + tied * vocabulary * hidden


def _gb(size: float) -> str:
    return f"{size:.2f} GB" if size >= 0.1 else f"{size * 1024:.3g} MB"
