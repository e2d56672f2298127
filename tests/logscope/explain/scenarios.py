"""Launches that worked and then failed, as life changes them: one change that matters among innocent ones.

The texts of the errors are what SGLang and its libraries print; places are ``file:function`` beneath
``site-packages``, outermost first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

USUAL: dict[str, Any] = {
    "model_path": "/models/demo-8b",
    "tp_size": 4,
    "attention_backend": "flashinfer",
    "mem_fraction_static": 0.85,
    "chunked_prefill_size": 8192,
    "max_running_requests": 64,
    "cuda_graph_max_bs": 128,
    "kv_cache_dtype": "auto",
    "quantization": None,
    "dtype": "auto",
    "context_length": None,
    "page_size": 1,
    "host": "0.0.0.0",
    "port": 30000,
    "log_level": "info",
    "served_model_name": "demo",
    "random_seed": 1,
    "enable_metrics": False,
    "tokenizer_worker_num": 1,
    "schedule_policy": "fcfs",
    "disable_custom_all_reduce": True,
    "watchdog_timeout": 300,
    "revision": None,
    "dist_init_addr": None,
    "chat_template": None,
    "json_model_override_args": "{}",
    "lora_paths": None,
    "enable_deterministic_inference": False,
    "enable_torch_compile": False,
    "max_total_tokens": None,
    "disaggregation_mode": "null",
    "disaggregation_ib_device": None,
}
INNOCENT: dict[str, Any] = {
    "port": 30001,
    "log_level": "debug",
    "served_model_name": "demo-prod",
    "random_seed": 77,
    "enable_metrics": True,
}
PACKAGES = {"torch": "2.8.0", "transformers": "4.57.1", "flashinfer-python": "0.5.0", "numpy": "2.2.6"}
LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
    "vocab_size": 128256,
}
EAGLE: dict[str, Any] = {
    "speculative_algorithm": "EAGLE3",
    "speculative_draft_model_path": "/models/demo-eagle3",
    "speculative_num_steps": 3,
    "speculative_eagle_topk": 1,
    "speculative_num_draft_tokens": 4,
}
LOADING = ("load-begin",)
LOADED = ("load-begin", "load-end")
CAPTURING = (*LOADED, "kv-cache", "graph-begin")
SERVING = (*CAPTURING, "graph-end", "ready")


@dataclass(frozen=True)
class Scenario:
    """One good run, one failing run, and what an engineer would say of them."""

    name: str
    cause: str
    """``kind:`` and words of subject or title, ``|`` between alternatives."""
    message: str
    type: str
    places: tuple[str, ...] = ()
    reached: tuple[str, ...] = LOADED
    base: dict[str, Any] = field(default_factory=dict)
    change: dict[str, Any] = field(default_factory=dict)
    env: tuple[dict[str, str], dict[str, str]] = ({}, {})
    packages: dict[str, tuple[str, str]] = field(default_factory=dict)
    gpus: tuple[tuple[str, ...], tuple[str, ...]] = (("NVIDIA H100",), ("NVIDIA H100",))
    configs: tuple[dict[str, Any], dict[str, Any]] = ({"target": LLAMA}, {"target": LLAMA})
    commits: tuple[str, str] | None = None
    free: tuple[float, float] = (78.1, 78.1)
    """GB free on the GPU when loading began, in the good and the bad run."""
    never: tuple[str, ...] = ()


FA3 = "FlashAttention v3 Backend requires SM>=80 and SM<=90. Please use `--attention-backend flashinfer`."
OOM = (
    "CUDA out of memory. Tried to allocate {asked}. GPU 0 has a total capacity of 79.11 GiB of which {free} is "
    "free. Process 3412 has {used} memory in use. Of the allocated memory {own} is allocated by PyTorch"
)
OFFLINE = (
    "Cannot find an appropriate cached snapshot folder for the specified revision on the local disk and outgoing "
    "traffic has been disabled. To enable repo look-ups and downloads online, pass 'local_files_only=False'."
)
SHORT_DRAFT = (
    "Warning: Target model's context_length (262144) is greater than the derived context_length (131072). This may "
    "lead to incorrect model outputs or CUDA errors. To allow overriding this maximum, set the env var "
    "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1"
)
LONG = {"target": {**LLAMA, "max_position_embeddings": 262144}, "draft": LLAMA}


def with_config(**keys: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The model's config.json with and without these keys."""
    return {"target": LLAMA}, {"target": {**LLAMA, **keys}}


SCENARIOS = (
    Scenario(
        "another kind of GPU",
        "host:gpus",
        FA3,
        "AssertionError",
        ("sglang/srt/layers/attention/attention_registry.py:create_flashattention_v3_backend",),
        (*LOADED, "kv-cache"),
        base={"attention_backend": "fa3"},
        change={"tokenizer_worker_num": 2},
        gpus=(("NVIDIA H100",), ("NVIDIA B200",)),
        never=("tokenizer_worker_num",),
    ),
    Scenario(
        "a smaller GPU",
        "host:gpus",
        OOM.format(asked="224.00 MiB", free="190.62 MiB", used="44.30 GiB", own="43.7 GiB").replace(
            "79.11", "44.5"
        ),
        "torch.OutOfMemoryError",
        ("sglang/srt/models/llama.py:__init__",),
        LOADING,
        gpus=(("NVIDIA H100",), ("NVIDIA L40S",)),
        free=(78.1, 43.9),
    ),
    Scenario(
        "memory that another process holds",
        "host:GPU memory",
        OOM.format(asked="1002.00 MiB", free="411.06 MiB", used="69.20 GiB", own="8.1 GiB"),
        "torch.OutOfMemoryError",
        ("sglang/srt/models/llama.py:__init__",),
        LOADING,
        change={"tokenizer_worker_num": 2},
        free=(78.1, 9.3),
        never=("tokenizer_worker_num", "mem_fraction_static"),
    ),
    Scenario(
        "unbalanced ranks",
        "host:GPU memory",
        "The memory capacity is unbalanced. Some GPUs may be occupied by other processes. "
        "pre_model_load_memory=12.03, local_gpu_memory=78.42, local_gpu_memory * 0.9=70.58",
        "ValueError",
        ("sglang/srt/model_executor/model_runner.py:init_torch_distributed",),
        (),
        change={"mem_fraction_static": 0.84},
        never=("mem_fraction_static",),
    ),
    Scenario(
        "one of three speculation numbers is missing",
        "arg:speculative_num_steps",
        "",
        "AssertionError",
        ("sglang/srt/server_args.py:__post_init__", "sglang/srt/server_args.py:_handle_speculative_decoding"),
        (),
        base=EAGLE,
        change={"speculative_num_steps": None},
    ),
    Scenario(
        "a pool of too few tokens",
        "arg:max_total_tokens",
        "max_running_request is zero",
        "AssertionError",
        ("sglang/srt/managers/tp_worker.py:__init__",),
        (*LOADED, "kv-cache"),
        change={"max_total_tokens": 512, "tokenizer_worker_num": 2},
    ),
    Scenario(
        "the hub is not asked any more",
        "env:HF_HUB_OFFLINE",
        OFFLINE,
        "huggingface_hub.errors.LocalEntryNotFoundError",
        ("huggingface_hub/file_download.py:_raise_on_head_call_error",),
        (),
        env=({}, {"HF_HUB_OFFLINE": "1"}),
    ),
    Scenario(
        "another cache folder, and the hub is not asked",
        "env:HF_HOME",
        OFFLINE,
        "huggingface_hub.errors.LocalEntryNotFoundError",
        ("huggingface_hub/file_download.py:_raise_on_head_call_error",),
        (),
        env=(
            {"HF_HUB_OFFLINE": "1", "HF_HOME": "/cache/hf"},
            {"HF_HUB_OFFLINE": "1", "HF_HOME": "/scratch/hf"},
        ),
    ),
    Scenario(
        "a token that is gone",
        "env:HF_TOKEN",
        "401 Client Error. Cannot access gated repo for url https://huggingface.co/a/demo/resolve/main/config.json.",
        "huggingface_hub.errors.GatedRepoError",
        ("huggingface_hub/utils/_http.py:hf_raise_for_status",),
        (),
        env=({"HF_TOKEN": "***a1f3"}, {}),
    ),
    Scenario(
        "fewer GPUs are visible",
        "env:CUDA_VISIBLE_DEVICES",
        "CUDA error: invalid device ordinal",
        "torch.AcceleratorError",
        (
            "sglang/srt/model_executor/model_runner.py:init_torch_distributed",
            "torch/cuda/__init__.py:set_device",
        ),
        (),
        env=({"CUDA_VISIBLE_DEVICES": "0,1,2,3"}, {"CUDA_VISIBLE_DEVICES": "0,1"}),
    ),
    Scenario(
        "a variable that switches a kernel library on",
        "env:SGLANG_ENABLE_JIT_DEEPGEMM",
        "NVCC compilation failed: deep_gemm jit found no compiler",
        "AssertionError",
        (
            "sglang/srt/layers/quantization/fp8_kernel.py:w8a8_block_fp8_matmul",
            "deep_gemm/jit/compiler.py:compile",
        ),
        env=({"SGLANG_ENABLE_JIT_DEEPGEMM": "0"}, {"SGLANG_ENABLE_JIT_DEEPGEMM": "1"}),
    ),
    Scenario(
        "code from somebody's checkout",
        "env:PYTHONPATH",
        "get_model() got an unexpected keyword argument 'load_config2'",
        "TypeError",
        ("/home/ann/sglang/python/sglang/srt/model_executor/model_runner.py:load_model",),
        LOADING,
        env=({}, {"PYTHONPATH": "/home/ann/sglang/python"}),
    ),
    Scenario(
        "a library folder that is not searched",
        "env:LD_LIBRARY_PATH|host:libnvrtc",
        "libnvrtc.so.12: cannot open shared object file: No such file or directory",
        "ImportError",
        ("sgl_kernel/__init__.py:<module>",),
        (),
        env=({"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"}, {}),
    ),
    Scenario(
        "a package under its module's name",
        "version:flashinfer-python",
        "plan() takes 17 positional arguments but 19 were given",
        "TypeError",
        ("sglang/srt/layers/attention/flashinfer_backend.py:call_begin_forward", "flashinfer/decode.py:plan"),
        CAPTURING,
        packages={"flashinfer-python": ("0.5.0", "0.5.3"), "numpy": ("2.2.6", "2.3.0")},
        never=("numpy", "attention_backend"),
    ),
    Scenario(
        "another commit of the same release",
        "version:sglang commit",
        "'LlamaModel' object has no attribute 'layers_to_capture_ids'",
        "AttributeError",
        ("sglang/srt/model_executor/model_runner.py:load_model", "sglang/srt/models/llama.py:__init__"),
        LOADING,
        change={"mem_fraction_static": 0.84},
        commits=("a1b2c3d4", "e5f6a7b8"),
        never=("mem_fraction_static",),
    ),
    Scenario(
        "a rope type that is not known",
        "config:rope_scaling",
        "Unknown RoPE scaling type longrope2",
        "ValueError",
        ("sglang/srt/models/llama.py:__init__", "sglang/srt/layers/rotary_embedding.py:get_rope"),
        LOADING,
        configs=with_config(rope_scaling={"rope_type": "longrope2", "factor": 8.0}),
    ),
    Scenario(
        "an architecture with a slip of the pen",
        "config:architectures",
        "Model architectures ['LlamaForCausalLmX'] are not supported for now.",
        "ValueError",
        ("sglang/srt/models/registry.py:_raise_for_unsupported",),
        LOADING,
        configs=with_config(architectures=["LlamaForCausalLmX"]),
    ),
    Scenario(
        "other heads than the weights have",
        "config:num_key_value_heads",
        "",
        "AssertionError",
        ("sglang/srt/models/llama.py:load_weights", "sglang/srt/layers/linear.py:weight_loader"),
        LOADING,
        configs=with_config(num_key_value_heads=4),
    ),
    Scenario(
        "more tokens a rank than the dispatch takes",
        "arg:cuda_graph_max_bs",
        "Failed: Assertion error deep_ep.cpp:1105 'x.size(0) <= num_max_dispatch_tokens_per_rank'",
        "RuntimeError",
        (
            "sglang/srt/layers/moe/token_dispatcher/deepep.py:_dispatch_core",
            "deep_ep/buffer.py:low_latency_dispatch",
        ),
        CAPTURING,
        change={"cuda_graph_max_bs": 512},
    ),
    Scenario(
        "a log level that uvicorn does not know",
        "arg:log_level",
        "Unknown level: 'VERBOSE'",
        "ValueError",
        ("/usr/lib/python3.12/logging/__init__.py:_checkLevel",),
        (),
        change={"log_level": "verbose", "mem_fraction_static": 0.84},
        never=("mem_fraction_static",),
    ),
    Scenario(
        "a port below 1024",
        "host:port 80|arg:port",
        "[Errno 13] error while attempting to bind on address ('0.0.0.0', 80): permission denied",
        "OSError",
        (),
        (*CAPTURING, "graph-end"),
        change={"port": 80, "mem_fraction_static": 0.84},
        never=("mem_fraction_static",),
    ),
    Scenario(
        "a port in use beside real changes",
        "host:port",
        "[Errno 98] error while attempting to bind on address ('0.0.0.0', 30001): address already in use",
        "OSError",
        (),
        (*CAPTURING, "graph-end"),
        change={
            "port": 30001,
            "attention_backend": "triton",
            "cuda_graph_max_bs": 64,
            "mem_fraction_static": 0.88,
        },
        never=("attention_backend", "cuda_graph_max_bs", "mem_fraction_static"),
    ),
    Scenario(
        "a faulty GPU beside real changes",
        "host:GPU hardware",
        "CUDA error: uncorrectable ECC error encountered",
        "torch.AcceleratorError",
        ("sglang/srt/model_executor/cuda_graph_runner.py:capture",),
        CAPTURING,
        change={"attention_backend": "triton", "cuda_graph_max_bs": 64},
        never=("attention_backend", "cuda_graph_max_bs"),
    ),
    Scenario(
        "a quota that is used up",
        "host:disk",
        "[Errno 122] Disk quota exceeded",
        "OSError",
        ("huggingface_hub/file_download.py:_download_to_tmp_and_move",),
        (),
        change={"mem_fraction_static": 0.84},
        never=("mem_fraction_static",),
    ),
    Scenario(
        "the address of another node",
        "arg:dist_init_addr",
        "The client socket has timed out after 600000ms while trying to connect to (10.0.0.9, 5000).",
        "torch.distributed.DistNetworkError",
        (
            "sglang/srt/model_executor/model_runner.py:init_torch_distributed",
            "torch/distributed/rendezvous.py:_create",
        ),
        (),
        base={"dist_init_addr": "10.0.0.3:5000"},
        change={"dist_init_addr": "10.0.0.9:5000"},
    ),
    Scenario(
        "a node that never started",
        "host:network",
        "Timed out after 601 seconds waiting for clients. 8/16 clients joined.",
        "torch.distributed.DistStoreError",
        ("torch/distributed/rendezvous.py:_create_c10d_store",),
        ("distributed-begin",),
        change={"mem_fraction_static": 0.84},
        never=("mem_fraction_static",),
    ),
    Scenario(
        "an adapter that is not there",
        "arg:lora_paths",
        "[Errno 2] No such file or directory: '/adapters/sqll/adapter_config.json'",
        "FileNotFoundError",
        ("sglang/srt/lora/lora_config.py:get_lora_config",),
        base={"lora_paths": ["sql=/adapters/sql"]},
        change={"lora_paths": ["sql=/adapters/sqll"]},
    ),
    Scenario(
        "a device that the host has not",
        "arg:disaggregation_ib_device",
        "Invalid IB devices specified: ['mlx5_9']. Available devices: ['mlx5_0', 'mlx5_1']",
        "ValueError",
        ("sglang/srt/disaggregation/utils.py:validate_ib_devices",),
        (),
        base={"disaggregation_mode": "prefill", "disaggregation_ib_device": "mlx5_0"},
        change={"disaggregation_ib_device": "mlx5_9"},
    ),
    Scenario(
        "a revision that the hub has not",
        "arg:revision",
        "404 Client Error. (Request ID: Root=1-68e2)",
        "huggingface_hub.errors.RevisionNotFoundError",
        ("huggingface_hub/utils/_http.py:hf_raise_for_status",),
        (),
        change={"revision": "v9.9"},
    ),
    Scenario(
        "a backend whose package is missing",
        "arg:attention_backend",
        "No module named 'flashinfer'",
        "ModuleNotFoundError",
        ("sglang/srt/layers/attention/attention_registry.py:create_flashinfer_backend",),
        base={"attention_backend": "triton"},
        change={"attention_backend": "flashinfer"},
    ),
    Scenario(
        "more of the host's memory than there is",
        "arg:mem_fraction_static",
        "[enforce fail at alloc_cpu.cpp:121] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
        "allocate 26843545600 bytes. Error code 12 (Cannot allocate memory)",
        "RuntimeError",
        ("sglang/srt/mem_cache/memory_pool.py:_create_buffers",),
        change={"mem_fraction_static": 0.99},
    ),
    Scenario(
        "override arguments that are no JSON",
        "arg:json_model_override_args",
        "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        "json.decoder.JSONDecodeError",
        (
            "sglang/srt/configs/model_config.py:from_server_args",
            "/usr/lib/python3.12/json/decoder.py:raw_decode",
        ),
        (),
        change={"json_model_override_args": "{'rope_scaling': None}"},
    ),
    Scenario(
        "the override is gone",
        "env:SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN",
        SHORT_DRAFT,
        "ValueError",
        ("sglang/srt/configs/model_config.py:_derive_context_length",),
        base=EAGLE,
        env=({"SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN": "1"}, {}),
        configs=(LONG, LONG),
        never=("context_length",),
    ),
    Scenario(
        "speculation with a short draft",
        "config:draft.max_position_embeddings",
        SHORT_DRAFT,
        "ValueError",
        ("sglang/srt/configs/model_config.py:_derive_context_length",),
        change=EAGLE,
        configs=({"target": LONG["target"]}, LONG),
    ),
    Scenario(
        "half the GPUs, and a cache that takes less",
        "arg:tp_size",
        "Not enough memory. Please try to increase --mem-fraction-static. Current value: 0.85",
        "RuntimeError",
        ("sglang/srt/model_executor/model_runner.py:init_memory_pool",),
        change={"tp_size": 2, "kv_cache_dtype": "fp8_e4m3"},
        never=("kv_cache_dtype",),
    ),
    Scenario(
        "a bug, and nothing that is tied to it",
        "other:",
        "The size of tensor a (17) must match the size of tensor b (16) at non-singleton dimension 0",
        "RuntimeError",
        (
            "sglang/srt/managers/scheduler.py:run_batch",
            "sglang/srt/managers/schedule_batch.py:prepare_for_decode",
        ),
        SERVING,
        change={"schedule_policy": "lpm", "kv_cache_dtype": "bfloat16"},
        never=("schedule_policy", "kv_cache_dtype"),
    ),
)
