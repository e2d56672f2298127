"""The wordings of milestones over all releases, as data; see `parsers.rules.milestones`."""

from __future__ import annotations

from parsers.lazy_dataclass import dataclass
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


_D, _L, _K, _G = Stage.DISTRIBUTED, Stage.LOAD, Stage.KV_CACHE, Stage.GRAPH_CAPTURE
_W, _S, _Z = Stage.WARMUP, Stage.SERVING, Stage.SHUTDOWN

MILESTONES: tuple[MilestoneRule, ...] = (
    MilestoneRule(
        "distributed-begin",
        _D,
        ("Init torch distributed begin", "Init parallel begin", "Init nccl begin", "Init torch begin"),
        "",
        (("Init torch distributed begin.", ()), ("Init nccl begin.", ()), ("Init parallel begin.", ())),
    ),
    MilestoneRule(
        "distributed-end",
        _D,
        ("Init torch distributed ends", "Init parallel ends", "Init nccl ends", "Init torch end"),
        "",
        (
            ("Init torch distributed ends. mem usage=0.25 GB", (("mem_usage_gb", 0.25),)),
            ("Init torch distributed ends. elapsed=1.25 s, mem usage=0.25 GB", (("mem_usage_gb", 0.25),)),
            ("Init parallel ends. elapsed=1.25 s", ()),
        ),
    ),
    MilestoneRule(
        "memory-baseline",
        _D,
        ("Memory baseline taken",),
        "",
        (("Memory baseline taken. mem usage=0.25 GB", (("mem_usage_gb", 0.25),)),),
    ),
    MilestoneRule(
        "load-begin",
        _L,
        ("Load weight begin", "load weight begin"),
        "",
        (("Load weight begin. avail mem=70.50 GB", (("avail_mem_gb", 70.5),)), ("load weight begin.", ())),
    ),
    MilestoneRule(
        "load-end",
        _L,
        ("Load weight end", "load weight end"),
        "",
        (
            (
                "Load weight end. type=DemoForCausalLM, dtype=torch.bfloat16, avail mem=55.25 GB",
                (("type", "DemoForCausalLM"), ("dtype", "torch.bfloat16"), ("avail_mem_gb", 55.25)),
            ),
            (
                "Load weight end. elapsed=9.50 s, type=DemoForCausalLM, quant=fp8, fmt=e4m3, "
                "avail mem=55.25 GB, mem usage=15.25 GB.",
                (
                    ("type", "DemoForCausalLM"),
                    ("quant", "fp8"),
                    ("avail_mem_gb", 55.25),
                    ("mem_usage_gb", 15.25),
                ),
            ),
        ),
    ),
    MilestoneRule(
        "kv-cache",
        _K,
        ("KV Cache is allocated", "Full KV Cache is allocated", "SWA KV Cache is allocated"),
        "",
        (
            (
                "KV Cache is allocated. K size: 20.25 GB, V size: 20.25 GB.",
                (("k_size_gb", 20.25), ("v_size_gb", 20.25)),
            ),
            (
                "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 300000, KV size: 40.50 GB",
                (("dtype", "torch.bfloat16"), ("tokens", 300000.0), ("kv_size_gb", 40.5)),
            ),
        ),
    ),
    MilestoneRule(
        "kv-cache",
        _K,
        ("",),
        r"[A-Z]\w{1,20} KV Cache is allocated",
        (
            (
                "Draft KV Cache is allocated. #tokens: 30, K size: 1.25 GB, V size: 1.25 GB",
                (("tokens", 30.0), ("k_size_gb", 1.25), ("v_size_gb", 1.25)),
            ),
        ),
    ),
    MilestoneRule(
        "kv-reserved",
        _K,
        ("KV Cache VA upper bound",),
        "",
        (
            (
                "KV Cache VA upper bound. dtype: torch.bfloat16, #tokens: 300000, K size: 20.25 GB",
                (("tokens", 300000.0),),
            ),
        ),
    ),
    MilestoneRule(
        "state-cache",
        _K,
        ("Mamba Cache is allocated",),
        "",
        (
            (
                "Mamba Cache is allocated. max_mamba_cache_size: 64, conv_state size: 0.50GB, "
                "ssm_state size: 4.25GB ",
                (("max_mamba_cache_size", 64.0), ("conv_state_gb", 0.5), ("ssm_state_gb", 4.25)),
            ),
        ),
    ),
    MilestoneRule(
        "hybrid-pool",
        _K,
        ("Use Sliding window memory pool", "Use sliding window memory pool"),
        "",
        (
            (
                "Use Sliding window memory pool. full_layer_tokens=100, swa_layer_tokens=80",
                (("full_layer_tokens", 100.0), ("swa_layer_tokens", 80.0)),
            ),
        ),
    ),
    MilestoneRule(
        "memory-pool-end",
        _K,
        ("Memory pool end",),
        "",
        (("Memory pool end. avail mem=14.25 GB", (("avail_mem_gb", 14.25),)),),
    ),
    MilestoneRule(
        "graph-begin",
        _G,
        ("Capture ",),
        r"(?:(?:the )?[\w-]{1,20} ){0,5}(?i:graph) begin",
        (
            (
                "Capture cuda graph begin. This can take up to several minutes. avail mem=14.25 GB",
                (("avail_mem_gb", 14.25),),
            ),
            (
                "Capture draft extend cuda graph begin. This can take several minutes. avail mem=1.25 GB",
                (("avail_mem_gb", 1.25),),
            ),
            (
                "Capture target decode CUDA graph begin. backend=full, num_tokens_per_req=1, bs=[1, 2], "
                "avail mem=14.25 GB",
                (("avail_mem_gb", 14.25),),
            ),
        ),
    ),
    MilestoneRule(
        "graph-end",
        _G,
        ("Capture ",),
        r"(?:(?:the )?[\w-]{1,20} ){0,5}(?i:graph) end",
        (
            (
                "Capture cuda graph end. Time elapsed: 12.50 s. avail mem=12.25 GB. mem usage=2.00 GB.",
                (("avail_mem_gb", 12.25), ("mem_usage_gb", 2.0)),
            ),
            (
                "Capture cuda graph end. Time elapsed: 12.50 s. mem usage=2.00 GB. avail mem=12.25 GB.",
                (("avail_mem_gb", 12.25), ("mem_usage_gb", 2.0)),
            ),
            (
                "Capture target decode CUDA graph end. elapsed=12.5 s, mem usage=2.0 GB, avail mem=12.25 GB.",
                (("avail_mem_gb", 12.25), ("mem_usage_gb", 2.0)),
            ),
        ),
    ),
    MilestoneRule(
        "limits",
        _K,
        ("max_total_num_token",),
        r"s?=\d",
        (
            (
                "max_total_num_tokens=300000, chunked_prefill_size=8192, max_prefill_tokens=16384, "
                "max_running_requests=2048, context_len=32768, available_gpu_mem=12.25 GB",
                (
                    ("max_total_num_tokens", 300000.0),
                    ("context_len", 32768.0),
                    ("available_gpu_mem_gb", 12.25),
                ),
            ),
            (
                "max_total_num_token=300, max_prefill_num_token=100, context_len=64, ",
                (("max_total_num_tokens", 300.0), ("context_len", 64.0)),
            ),
        ),
    ),
    MilestoneRule(
        "engine-timings",
        _W,
        ("Engine startup timings",),
        "",
        (
            (
                "Engine startup timings (s): load_weight=9.50, kv_cache_allocation=0.25, scheduler_e2e=30.5, "
                "cuda_graph={decode=12.50}, tokenizer_e2e=31.00",
                (
                    ("load_weight_s", 9.5),
                    ("kv_cache_allocation_s", 0.25),
                    ("scheduler_e2e_s", 30.5),
                    ("tokenizer_e2e_s", 31.0),
                ),
            ),
        ),
    ),
    MilestoneRule(
        "pd-bootstrap",
        _K,
        ("CommonKVBootstrapServer", "Bootstrap server", "KV bootstrap server", "Prefill bootstrap"),
        r".{0,40}(?:start|listen|running)",
        (("Bootstrap server started on port 8998", ()),),
    ),
    MilestoneRule(
        "dp-controller",
        Stage.ENV,
        ("Launch DP", "DataParallelController", "Launching DP"),
        r".{0,60}(?:start|rank|launch|ready)",
        (("Launch DP0 starting at GPU #0.", ()),),
    ),
    MilestoneRule(
        "http-started", _W, ("Started server process",), "", (("Started server process [4242]", ()),), False
    ),
    MilestoneRule(
        "http-waiting",
        _W,
        ("Waiting for application startup",),
        "",
        (("Waiting for application startup.", ()),),
        False,
    ),
    MilestoneRule(
        "http-complete",
        _W,
        ("Application startup complete",),
        "",
        (("Application startup complete.", ()),),
        False,
    ),
    MilestoneRule(
        "http-running",
        _W,
        ("Uvicorn running on", "Granian started", "[granian] ", "Rust server listening", "Rust HTTP server"),
        "",
        (("Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)", ()),),
        False,
    ),
    MilestoneRule(
        "pd-warmup",
        _W,
        ("Start of pd disaggregation warmup", "Start of prefill warmup", "Start of prefill/decode"),
        "",
        (("Start of pd disaggregation warmup ...", ()),),
    ),
    MilestoneRule(
        "pd-warmup-end",
        _W,
        (
            "End of prefill warmup",
            "End of prefill disaggregation mode warmup",
            "End of pd disaggregation warmup",
            "End of prefill/decode",
        ),
        "",
        (("End of prefill disaggregation mode warmup with status 200", ()),),
    ),
    MilestoneRule(
        "ready",
        _S,
        ("The server is fired up and ready to roll",),
        "",
        (("The server is fired up and ready to roll!", ()),),
    ),
    MilestoneRule(
        "router-start",
        Stage.ARGS,
        (
            "Starting router",
            "✅ Starting router",
            "Starting sgl-router",
            "Initializing router",
            "Starting SGLang router",
        ),
        "",
        (("Starting router on 0.0.0.0:8000 | mode: PrefillDecode | max_payload: 256MB", ()),),
        False,
    ),
    MilestoneRule(
        "router-ready",
        _S,
        (
            "Router ready",
            "✅ Serving router",
            "Serving router on",
            "All workers are healthy",
            "✅ Router ready",
            "Starting server on 0.0.0.0",
        ),
        "",
        (('Router ready | workers: ["http://10.0.0.1:1"]', ()),),
        False,
    ),
    MilestoneRule(
        "sigterm",
        _Z,
        ("SIGTERM received", "SIGINT received", "Signal SIGTERM received"),
        "",
        (("SIGTERM received. signum=15 frame=None. Draining requests and shutting down...", ()),),
    ),
    MilestoneRule(
        "drained",
        _Z,
        ("Gracefully exiting...",),
        "",
        (
            (
                "Gracefully exiting... Remaining number of requests 0. Remaining requests remaining_rids=[].",
                (),
            ),
            ("Gracefully exiting... remaining number of requests 0", ()),
        ),
    ),
    MilestoneRule(
        "http-shutdown",
        _Z,
        (
            "Application shutdown complete",
            "Finished server process",
            "Waiting for application shutdown",
            "Shutting down",
        ),
        r"\.?(?: \[\d+\])?\s*\Z",
        (("Shutting down", ()), ("Finished server process [42]", ())),
        False,
    ),
    MilestoneRule(
        "sigquit",
        _Z,
        ("Received sigquit from a child proces", "SIGQUIT received"),
        "",
        (
            ("Received sigquit from a child process. It usually means the child failed.", ()),
            ("SIGQUIT received. signum=None, frame=None. It usually means one child failed.", ()),
        ),
    ),
    MilestoneRule(
        "subprocess-death",
        _Z,
        ("Subprocess ",),
        r"\w{1,40} \(pid=\d+\) crashed with exit code",
        (
            (
                "Subprocess scheduler_0 (pid=4243) crashed with exit code -9. Triggering SIGQUIT for cleanup",
                (),
            ),
        ),
    ),
)
