"""Lines that say how far a launch is, under names that stay the same over all releases.

Names, in the order of a launch: ``args``, ``router-start``, ``dp-controller``, ``distributed-begin``,
``distributed-end``, ``memory-baseline``, ``load-begin``, ``load-progress``, ``load-end``, ``hybrid-pool``,
``kv-reserved``, ``kv-cache``, ``state-cache``, ``memory-pool-end``, ``graph-begin``, ``graph-progress``,
``graph-end``, ``limits``, ``engine-timings``, ``pd-bootstrap``, ``http-started``, ``http-waiting``,
``http-complete``, ``http-running``, ``pd-warmup``,
``pd-warmup-end``, ``ready``, ``router-ready``, ``sigterm``, ``drained``,
``http-shutdown``, ``sigquit``, ``subprocess-death``.

``load-progress`` and ``graph-progress`` are the first progress bar of their kind; ``args`` is the banner.
Only ``ready`` says that the server serves.
"""

from __future__ import annotations

import functools

import regex

from parsers.lazy_dataclass import dataclass
from parsers.records import Stage
from parsers.rules.milestone_table import MILESTONES, MilestoneRule


@dataclass(frozen=True, slots=True)
class MilestoneHit:
    """What a message says, without the place where it stands."""

    name: str
    stage: Stage
    seconds: float | None
    role: str
    values: tuple[tuple[str, float | str], ...]
    counts_as_sglang: bool


FIGURES: tuple[tuple[str, str, str], ...] = (
    ("avail_mem_gb", "avail mem=", r"avail mem=(-?\d{1,9}(?:\.\d{1,6})?)"),
    ("mem_usage_gb", "mem usage=", r"mem usage=(-?\d{1,9}(?:\.\d{1,6})?)"),
    ("type", "type=", r"\btype=(\w{1,100})"),
    ("dtype", "dtype", r"\bdtype(?:=|: )([\w.]{1,60})"),
    ("quant", "quant=", r"\bquant=([\w.-]{1,60})"),
    ("tokens", "#tokens: ", r"#tokens: (\d{1,15})"),
    ("k_size_gb", "K size: ", r"\bK size: (\d{1,9}(?:\.\d{1,6})?)"),
    ("v_size_gb", "V size: ", r"\bV size: (\d{1,9}(?:\.\d{1,6})?)"),
    ("kv_size_gb", "KV size: ", r"\bKV size: (\d{1,9}(?:\.\d{1,6})?)"),
    ("max_mamba_cache_size", "max_mamba_cache_size: ", r"max_mamba_cache_size: (\d{1,12})"),
    ("conv_state_gb", "conv_state size: ", r"conv_state size: (\d{1,9}(?:\.\d{1,6})?)"),
    ("ssm_state_gb", "ssm_state size: ", r"ssm_state size: (\d{1,9}(?:\.\d{1,6})?)"),
    ("full_layer_tokens", "full_layer_tokens=", r"full_layer_tokens=(\d{1,15})"),
    ("swa_layer_tokens", "swa_layer_tokens=", r"swa_layer_tokens=(\d{1,15})"),
    ("max_total_num_tokens", "max_total_num_token", r"max_total_num_tokens?=(\d{1,15})"),
    ("chunked_prefill_size", "chunked_prefill_size=", r"chunked_prefill_size=(-?\d{1,12})"),
    ("max_prefill_tokens", "max_prefill_", r"max_prefill_(?:num_)?tokens?=(\d{1,12})"),
    ("max_running_requests", "max_running_requests=", r"max_running_requests=(\d{1,12})"),
    ("context_len", "context_len=", r"context_len=(\d{1,12})"),
    ("available_gpu_mem_gb", "available_gpu_mem=", r"available_gpu_mem=(-?\d{1,9}(?:\.\d{1,6})?)"),
    ("available_cpu_mem_gb", "available_cpu_mem=", r"available_cpu_mem=(-?\d{1,9}(?:\.\d{1,6})?)"),
    ("load_weight_s", "load_weight=", r"load_weight=(\d{1,9}(?:\.\d{1,6})?)"),
    ("kv_cache_allocation_s", "kv_cache_allocation=", r"kv_cache_allocation=(\d{1,9}(?:\.\d{1,6})?)"),
    ("scheduler_e2e_s", "scheduler_e2e=", r"scheduler_e2e=(\d{1,9}(?:\.\d{1,6})?)"),
    ("tokenizer_e2e_s", "tokenizer_e2e=", r"tokenizer_e2e=(\d{1,9}(?:\.\d{1,6})?)"),
)
"""Canonical name, text that must be in the message, and the pattern whose group is the figure."""
_WORD_FIGURES = frozenset({"type", "dtype", "quant"})
_LONGEST = 4000
"""Characters of a message that are looked at."""


def parse_milestone(body: str) -> MilestoneHit | None:
    """Read a record's message as a milestone, or None when it is none."""
    for rule, pattern in _by_first().get(body[:1], ()):
        if not body.startswith(rule.begins):
            continue
        if pattern is not None:
            length = max(len(text) for text in rule.begins if body.startswith(text))
            if pattern.match(body, length, min(len(body), _LONGEST)) is None:
                continue
        shown = body if len(body) <= _LONGEST else body[:_LONGEST]
        return MilestoneHit(
            rule.name, rule.stage, _seconds(shown), _role(shown), _values(shown), rule.counts_as_sglang
        )
    return None


def _values(body: str) -> tuple[tuple[str, float | str], ...]:
    found: list[tuple[str, float | str]] = []
    for name, literal, _ in FIGURES:
        if literal in body:
            match = _figure(name).search(body)
            if match is not None:
                found.append((name, match[1] if name in _WORD_FIGURES else float(match[1])))
    return tuple(found)


def _seconds(body: str) -> float | None:
    if "elapsed" not in body:
        return None
    match = _elapsed().search(body)
    return float(match[1]) if match is not None else None


def _role(body: str) -> str:
    words = body[:80].lower()
    if not words.startswith(("capture", "draft")):
        return ""
    if "draft" in words:
        return "draft"
    return "target" if "target" in words else ""


@functools.cache
def _by_first() -> dict[str, tuple[tuple[MilestoneRule, regex.Pattern[str] | None], ...]]:
    table: dict[str, list[tuple[MilestoneRule, regex.Pattern[str] | None]]] = {}
    for rule in MILESTONES:
        pattern = regex.compile(rule.pattern) if rule.pattern else None
        firsts = {text[:1] for text in rule.begins}
        for first in "DEFSTU" if firsts == {""} else firsts:
            table.setdefault(first, []).append((rule, pattern))
    return {first: tuple(rules) for first, rules in table.items()}


@functools.cache
def _figure(name: str) -> regex.Pattern[str]:
    return regex.compile(next(pattern for figure, _, pattern in FIGURES if figure == name))


@functools.cache
def _elapsed() -> regex.Pattern[str]:
    return regex.compile(r"elapsed(?:=|: )(\d{1,9}(?:\.\d{1,6})?)")


_LOAD_BARS = (
    "Loading safetensors",
    "Loading pt ",
    "Multi-thread loading shards",
    "Loading checkpoint",
    "Loading gguf",
    "Loading npcache",
    "Loading bitsandbytes",
)
_GRAPH_BARS = ("Capturing",)


def bar_milestone(label: str) -> tuple[str, Stage] | None:
    """The milestone that the label of a progress bar stands for."""
    if label.startswith(_LOAD_BARS):
        return "load-progress", Stage.LOAD
    if label.startswith(_GRAPH_BARS):
        return "graph-progress", Stage.GRAPH_CAPTURE
    return None
