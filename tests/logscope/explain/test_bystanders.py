"""Among several changed arguments the one that can reach the error stands first."""

from __future__ import annotations

from typing import Any

import pytest

from logscope.compare import compare
from logscope.explain import explain
from parsers.records import Stage
from tests.logscope.making import ListHistory, error, frames, make_run, milestone

USUAL: dict[str, Any] = {
    "model_path": "a/demo",
    "tp_size": 8,
    "attention_backend": "flashinfer",
    "mem_fraction_static": 0.85,
    "chunked_prefill_size": 8192,
    "max_running_requests": 64,
    "cuda_graph_max_bs": 64,
    "kv_cache_dtype": "auto",
    "quantization": None,
    "disable_cuda_graph": True,
    "moe_runner_backend": "auto",
    "page_size": 1,
    "random_seed": 1,
    "served_model_name": "x",
    "context_length": None,
    "disable_radix_cache": False,
    "enable_torch_compile": False,
    "dtype": "auto",
    "sampling_backend": "flashinfer",
    "disable_custom_all_reduce": True,
    "trust_remote_code": True,
    "enable_dp_attention": False,
    "dp_size": 1,
}
SRT = "/x/site-packages/sglang/srt/"
LOADED = ("load-begin", "load-end")
CAPTURING = (*LOADED, "kv-cache", "graph-begin")
SERVING = (*LOADED, "kv-cache", "ready")

CASES: list[tuple[dict[str, Any], str, str, str, tuple[str, ...], Stage]] = [
    (
        {"attention_backend": "fa3", "page_size": 16},
        "this backend requires another SM. Please use `--attention-backend flashinfer`.",
        "AssertionError",
        "layers/attention/attention_registry.py:create",
        LOADED,
        Stage.KV_CACHE,
    ),
    (
        {"attention_backend": "triton", "mem_fraction_static": 0.8},
        "out of resource: shared memory, Required: 120000, Hardware limit: 101376.",
        "OutOfResources",
        "layers/attention/triton_ops/decode.py:run",
        CAPTURING,
        Stage.GRAPH_CAPTURE,
    ),
    (
        {"quantization": "fp8", "max_running_requests": 128},
        "no fp8 kernel for this arch",
        "RuntimeError",
        "layers/quantization/fp8_utils.py:apply",
        CAPTURING,
        Stage.GRAPH_CAPTURE,
    ),
    (
        {"mem_fraction_static": 0.95, "disable_radix_cache": True},
        "CUDA out of memory. Tried to allocate 2.00 GiB.",
        "torch.OutOfMemoryError",
        "model_executor/cuda_graph_runner.py:capture",
        CAPTURING,
        Stage.GRAPH_CAPTURE,
    ),
    (
        {"enable_torch_compile": True, "max_running_requests": 32},
        "backend='inductor' raised: TypeError: unhashable",
        "BackendCompilerFailed",
        "../torch/_inductor/graph.py:run",
        CAPTURING,
        Stage.GRAPH_CAPTURE,
    ),
    (
        {"dtype": "float16", "random_seed": 3},
        "expected scalar type Half but found BFloat16",
        "RuntimeError",
        "../torch/nn/functional.py:linear",
        LOADED,
        Stage.LOAD,
    ),
    (
        {"moe_runner_backend": "flashinfer_trtllm", "page_size": 64},
        "trtllm moe does not support this gpu",
        "NotImplementedError",
        "layers/moe/layer.py:forward",
        SERVING,
        Stage.WARMUP,
    ),
    (
        {"kv_cache_dtype": "fp8_e5m2", "chunked_prefill_size": 4096},
        "unsupported dtype float8_e5m2",
        "ValueError",
        "../flashinfer/prefill.py:plan",
        CAPTURING,
        Stage.GRAPH_CAPTURE,
    ),
    (
        {"disable_custom_all_reduce": False, "mem_fraction_static": 0.8},
        "CUDA error: peer access is not supported between these two devices",
        "RuntimeError",
        "distributed/device_communicators/custom_all_reduce.py:__init__",
        (),
        Stage.DISTRIBUTED,
    ),
    (
        {"enable_dp_attention": True, "dp_size": 8, "max_running_requests": 256},
        "gather: size mismatch",
        "AssertionError",
        "layers/dp_attention.py:dp_gather",
        LOADED,
        Stage.WARMUP,
    ),
    (
        {"tp_size": 16, "disable_radix_cache": True},
        "Weight output_partition_size = 192 is not divisible by weight quantization block_n = 128.",
        "ValueError",
        "layers/quantization/fp8.py:create_weights",
        ("load-begin",),
        Stage.LOAD,
    ),
    (
        {"trust_remote_code": False, "page_size": 16},
        "custom code in the repository. Pass the argument `trust_remote_code=True`",
        "ValueError",
        "../transformers/dynamic_module_utils.py:resolve",
        (),
        Stage.ARGS,
    ),
    (
        {"max_running_requests": 1024, "served_model_name": "y"},
        "CUDA out of memory. Tried to allocate 9.00 GiB.",
        "torch.OutOfMemoryError",
        "layers/logits_processor.py:forward",
        SERVING,
        Stage.SERVING,
    ),
    (
        {"context_length": 1000000, "mem_fraction_static": 0.9},
        "the context length (1000000) exceeds the pool: max_total_num_tokens=300000",
        "ValueError",
        "managers/scheduler.py:init",
        LOADED,
        Stage.KV_CACHE,
    ),
    (
        {"disable_cuda_graph": False, "served_model_name": "y"},
        "Capture cuda graph failed: invalid argument",
        "Exception",
        "model_executor/cuda_graph_runner.py:__init__",
        CAPTURING,
        Stage.GRAPH_CAPTURE,
    ),
]


@pytest.mark.parametrize(
    ("changes", "message", "type_", "place", "marks", "stage"),
    CASES,
    ids=[next(iter(case[0])) for case in CASES],
)
def test_the_change_that_can_reach_the_error_stands_first(
    changes: dict[str, Any], message: str, type_: str, place: str, marks: tuple[str, ...], stage: Stage
) -> None:
    culprit = next(iter(changes))
    good = make_run("good", USUAL)
    bad = make_run(
        "bad",
        {**USUAL, "random_seed": 2, **changes},
        [error(message, type_, stage=stage, traceback=frames(SRT + place))],
        milestones=[milestone(name, 10 + number) for number, name in enumerate(("args", *marks))],
    )
    history = ListHistory(good, bad)

    told = explain(compare(history, bad, good), history)

    subjects = [cause.subject for cause in told.causes]
    assert subjects[0] == culprit
    assert not {"random_seed", "served_model_name"} & set(subjects)
