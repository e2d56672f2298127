"""Lines that say how far a launch is, under names that stay the same over all releases.

Names, in the order of a launch: ``args``, ``router-start``, ``dp-controller``, ``distributed-begin``,
``distributed-end``, ``memory-baseline``, ``load-begin``, ``load-progress``, ``load-end``, ``hybrid-pool``,
``kv-reserved``, ``kv-cache``, ``state-cache``, ``memory-pool-end``, ``graph-begin``, ``graph-progress``,
``graph-end``, ``limits``, ``engine-timings``, ``pd-bootstrap``, ``http-started``, ``http-waiting``,
``http-complete``, ``http-running``, ``pd-warmup``, ``ready``, ``router-ready``, ``sigterm``, ``drain``,
``drained``, ``http-shutdown``, ``shutdown``, ``sigquit``, ``subprocess-death``.

``load-progress`` and ``graph-progress`` are the first progress bar of their kind; ``args`` is the banner.
Only ``ready`` says that the server serves.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import regex

from parsers.records import Stage


@dataclass(frozen=True, slots=True)
class MilestoneRule:
    """One wording of a milestone; the message must begin with it."""

    name: str
    stage: Stage
    begins: tuple[str, ...]
    """What the message can begin with, literally: tested before the pattern."""
    pattern: str
    """The rest of the message, matched behind what it begins with ('' = nothing more is asked)."""
    samples: tuple[tuple[str, tuple[tuple[str, float | str], ...]], ...]
    """(message, figures that must come out)."""
    counts_as_sglang: bool = True
    """False for wordings that other programs print too."""


@dataclass(frozen=True, slots=True)
class MilestoneHit:
    """What a message says, without the place where it stands."""

    name: str
    stage: Stage
    seconds: float | None
    role: str
    values: tuple[tuple[str, float | str], ...]
    counts_as_sglang: bool


_D, _L, _K, _G = Stage.DISTRIBUTED, Stage.LOAD, Stage.KV_CACHE, Stage.GRAPH_CAPTURE
_W, _S, _Z = Stage.WARMUP, Stage.SERVING, Stage.SHUTDOWN

MILESTONES: tuple[MilestoneRule, ...] = (
    MilestoneRule("distributed-begin", _D, ("Init torch distributed begin", "Init parallel begin",
                                             "Init nccl begin"), "",
                  (("Init torch distributed begin.", ()), ("Init nccl begin.", ()), ("Init parallel begin.", ()))),
    MilestoneRule("distributed-end", _D, ("Init torch distributed ends", "Init parallel ends", "Init nccl ends"), "",
                  (("Init torch distributed ends. mem usage=0.25 GB", (("mem_usage_gb", 0.25),)),
                   ("Init torch distributed ends. elapsed=1.25 s, mem usage=0.25 GB", (("mem_usage_gb", 0.25),)),
                   ("Init parallel ends. elapsed=1.25 s", ()))),
    MilestoneRule("memory-baseline", _D, ("Memory baseline taken",), "",
                  (("Memory baseline taken. mem usage=0.25 GB", (("mem_usage_gb", 0.25),)),)),
    MilestoneRule("load-begin", _L, ("Load weight begin", "load weight begin"), "",
                  (("Load weight begin. avail mem=70.50 GB", (("avail_mem_gb", 70.5),)), ("load weight begin.", ()))),
    MilestoneRule("load-end", _L, ("Load weight end", "load weight end"), "",
                  (("Load weight end. type=DemoForCausalLM, dtype=torch.bfloat16, avail mem=55.25 GB",
                    (("type", "DemoForCausalLM"), ("dtype", "torch.bfloat16"), ("avail_mem_gb", 55.25))),
                   ("Load weight end. elapsed=9.50 s, type=DemoForCausalLM, quant=fp8, fmt=e4m3, "
                    "avail mem=55.25 GB, mem usage=15.25 GB.",
                    (("type", "DemoForCausalLM"), ("quant", "fp8"), ("avail_mem_gb", 55.25),
                     ("mem_usage_gb", 15.25))))),
    MilestoneRule("kv-cache", _K, ("KV Cache is allocated", "Full KV Cache is allocated", "SWA KV Cache is allocated"), "",
                  (("KV Cache is allocated. K size: 20.25 GB, V size: 20.25 GB.",
                    (("k_size_gb", 20.25), ("v_size_gb", 20.25))),
                   ("KV Cache is allocated. dtype: torch.bfloat16, #tokens: 300000, KV size: 40.50 GB",
                    (("dtype", "torch.bfloat16"), ("tokens", 300000.0), ("kv_size_gb", 40.5))))),
    MilestoneRule("kv-cache", _K, ("",), r"[A-Z]\w{1,20} KV Cache is allocated",
                  (("Draft KV Cache is allocated. #tokens: 30, K size: 1.25 GB, V size: 1.25 GB",
                    (("tokens", 30.0), ("k_size_gb", 1.25), ("v_size_gb", 1.25))),)),
    MilestoneRule("kv-reserved", _K, ("KV Cache VA upper bound",), "",
                  (("KV Cache VA upper bound. dtype: torch.bfloat16, #tokens: 300000, K size: 20.25 GB",
                    (("tokens", 300000.0),)),)),
    MilestoneRule("state-cache", _K, ("Mamba Cache is allocated",), "",
                  (("Mamba Cache is allocated. max_mamba_cache_size: 64, conv_state size: 0.50GB, "
                    "ssm_state size: 4.25GB ", (("max_mamba_cache_size", 64.0), ("conv_state_gb", 0.5),
                                               ("ssm_state_gb", 4.25))),)),
    MilestoneRule("hybrid-pool", _K, ("Use Sliding window memory pool", "Use sliding window memory pool"), "",
                  (("Use Sliding window memory pool. full_layer_tokens=100, swa_layer_tokens=80",
                    (("full_layer_tokens", 100.0), ("swa_layer_tokens", 80.0))),)),
    MilestoneRule("memory-pool-end", _K, ("Memory pool end",), "",
                  (("Memory pool end. avail mem=14.25 GB", (("avail_mem_gb", 14.25),)),)),
    MilestoneRule("graph-begin", _G, ("Capture ",),
                  r"(?:(?:the )?[\w-]{1,20} ){0,5}(?i:graph) begin",
                  (("Capture cuda graph begin. This can take up to several minutes. avail mem=14.25 GB",
                    (("avail_mem_gb", 14.25),)),
                   ("Capture draft extend cuda graph begin. This can take up to several minutes. avail mem=1.25 GB",
                    (("avail_mem_gb", 1.25),)),
                   ("Capture target decode CUDA graph begin. backend=full, num_tokens_per_req=1, bs=[1, 2], "
                    "avail mem=14.25 GB", (("avail_mem_gb", 14.25),)))),
    MilestoneRule("graph-end", _G, ("Capture ",),
                  r"(?:(?:the )?[\w-]{1,20} ){0,5}(?i:graph) end",
                  (("Capture cuda graph end. Time elapsed: 12.50 s. avail mem=12.25 GB. mem usage=2.00 GB.",
                    (("avail_mem_gb", 12.25), ("mem_usage_gb", 2.0))),
                   ("Capture cuda graph end. Time elapsed: 12.50 s. mem usage=2.00 GB. avail mem=12.25 GB.",
                    (("avail_mem_gb", 12.25), ("mem_usage_gb", 2.0))),
                   ("Capture target decode CUDA graph end. elapsed=12.50 s, mem usage=2.00 GB, avail mem=12.25 GB.",
                    (("avail_mem_gb", 12.25), ("mem_usage_gb", 2.0))))),
    MilestoneRule("limits", _K, ("max_total_num_token",), r"s?=\d",
                  (("max_total_num_tokens=300000, chunked_prefill_size=8192, max_prefill_tokens=16384, "
                    "max_running_requests=2048, context_len=32768, available_gpu_mem=12.25 GB",
                    (("max_total_num_tokens", 300000.0), ("context_len", 32768.0), ("available_gpu_mem_gb", 12.25))),
                   ("max_total_num_token=300, max_prefill_num_token=100, context_len=64, ",
                    (("max_total_num_tokens", 300.0), ("context_len", 64.0))))),
    MilestoneRule("engine-timings", _W, ("Engine startup timings",), "",
                  (("Engine startup timings (s): load_weight=9.50, kv_cache_allocation=0.25, scheduler_e2e=30.50, "
                    "cuda_graph={decode=12.50}, tokenizer_e2e=31.00",
                    (("load_weight_s", 9.5), ("kv_cache_allocation_s", 0.25), ("scheduler_e2e_s", 30.5),
                     ("tokenizer_e2e_s", 31.0))),)),
    MilestoneRule("pd-bootstrap", _K, ("CommonKVBootstrapServer", "Bootstrap server", "KV bootstrap server",
                                       "Prefill bootstrap"), r".{0,40}(?:start|listen|running)",
                  (("Bootstrap server started on port 8998", ()),)),
    MilestoneRule("dp-controller", Stage.ENV, ("Launch DP", "DataParallelController", "Launching DP"),
                  r".{0,60}(?:start|rank|launch|ready)", (("Launch DP0 starting at GPU #0.", ()),)),
    MilestoneRule("http-started", _W, ("Started server process",), "", (("Started server process [4242]", ()),), False),
    MilestoneRule("http-waiting", _W, ("Waiting for application startup",), "",
                  (("Waiting for application startup.", ()),), False),
    MilestoneRule("http-complete", _W, ("Application startup complete",), "",
                  (("Application startup complete.", ()),), False),
    MilestoneRule("http-running", _W, ("Uvicorn running on", "Granian started", "[granian] ", "Rust server listening",
                                       "Rust HTTP server"), "",
                  (("Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)", ()),), False),
    MilestoneRule("pd-warmup", _W, ("Start of pd disaggregation warmup", "Start of prefill warmup",
                                    "Start of prefill/decode"), "",
                  (("Start of pd disaggregation warmup ...", ()),)),
    MilestoneRule("pd-warmup-end", _W, ("End of prefill warmup", "End of prefill disaggregation mode warmup",
                                        "End of pd disaggregation warmup", "End of prefill/decode"), "",
                  (("End of prefill disaggregation mode warmup with status 200", ()),)),
    MilestoneRule("ready", _S, ("The server is fired up and ready to roll",), "",
                  (("The server is fired up and ready to roll!", ()),)),
    MilestoneRule("router-start", Stage.ARGS, ("Starting router", "✅ Starting router", "Starting sgl-router",
                                               "Initializing router", "Starting SGLang router"), "",
                  (("Starting router on 0.0.0.0:8000 | mode: PrefillDecode | max_payload: 256MB", ()),)),
    MilestoneRule("router-ready", _S, ("Router ready", "✅ Serving router", "Serving router on",
                                       "All workers are healthy", "✅ Router ready", "Starting server on 0.0.0.0"), "",
                  (('Router ready | workers: ["http://10.0.0.1:1"]', ()),)),
    MilestoneRule("sigterm", _Z, ("SIGTERM received", "SIGINT received", "Signal SIGTERM received"), "",
                  (("SIGTERM received. signum=15 frame=None. Draining requests and shutting down...", ()),)),
    MilestoneRule("drained", _Z, ("Gracefully exiting...",), "",
                  (("Gracefully exiting... Remaining number of requests 0. Remaining requests remaining_rids=[].", ()),
                   ("Gracefully exiting... remaining number of requests 0", ()))),
    MilestoneRule("http-shutdown", _Z, ("Application shutdown complete", "Finished server process",
                                        "Waiting for application shutdown", "Shutting down"), r"\.?(?: \[\d+\])?\s*\Z",
                  (("Shutting down", ()), ("Finished server process [42]", ())), False),
    MilestoneRule("sigquit", _Z, ("Received sigquit from a child proces", "SIGQUIT received"), "",
                  (("Received sigquit from a child process. It usually means the child failed.", ()),
                   ("SIGQUIT received. signum=None, frame=None. It usually means one child failed.", ()))),
    MilestoneRule("subprocess-death", _Z, ("Subprocess ",), r"\w{1,40} \(pid=\d+\) crashed with exit code",
                  (("Subprocess scheduler_0 (pid=4243) crashed with exit code -9. Triggering SIGQUIT for cleanup...",
                    ()),)),
)

_FIGURES: tuple[tuple[str, str, str], ...] = (
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
    for name, literal, _ in _FIGURES:
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
    return regex.compile(next(pattern for figure, _, pattern in _FIGURES if figure == name))


@functools.cache
def _elapsed() -> regex.Pattern[str]:
    return regex.compile(r"elapsed(?:=|: )(\d{1,9}(?:\.\d{1,6})?)")


_LOAD_BARS = ("Loading safetensors", "Loading pt ", "Multi-thread loading shards", "Loading checkpoint", "Loading gguf",
              "Loading npcache", "Loading bitsandbytes")
_GRAPH_BARS = ("Capturing",)


def bar_milestone(label: str) -> tuple[str, Stage] | None:
    """The milestone that the label of a progress bar stands for."""
    if label.startswith(_LOAD_BARS):
        return "load-progress", Stage.LOAD
    if label.startswith(_GRAPH_BARS):
        return "graph-progress", Stage.GRAPH_CAPTURE
    return None
