"""Lines that look bad and stand in good launches too: never an error of the launch."""

from __future__ import annotations

from parsers.rules.message_rule import MessageRule, Weight, rule

BENIGN_RULES: tuple[MessageRule, ...] = (
    rule(
        "ignored-import",
        Weight.NOTICE,
        ("Ignore import error", "Failed to import from", "Failed to import"),
        r"Ignore import error when loading|Failed to import from \S+ with (?:ImportError|ModuleNotFoundError)"
        r"|Failed to import \S+(?: (?:with|:|due to)|, )",
        "Ignore import error when loading sglang.srt.models.demo: No module named 'tilelang'",
        "Ignore import error when loading sglang.srt.models.demo. ",
        "Failed to import from custom_ar with ImportError('libcuda.so.1: cannot open shared object file')",
        type="ImportError",
    ),
    rule(
        "leaked-resources",
        Weight.NOTICE,
        "resource_tracker",
        r"resource_tracker: (?:There appear to be \d+ leaked|'?[/\w-]+'?: |process died)",
        "/x/multiprocessing/resource_tracker.py:224: UserWarning: resource_tracker: There appear to be 1 "
        "leaked semaphore objects to clean up at shutdown",
        type="UserWarning",
    ),
    rule(
        "python-warning",
        Weight.NOTICE,
        "Warning:",
        r"(?:^|[\s|])(?:<[^>]{1,80}>|[^\s:]+):\d+: (?P<type>(?!resource)[\w.]*Warning): "
        r"(?P<message>(?!resource_tracker: ).*)",
        "/x/site-packages/demo/quant.py:73: UserWarning: Only CUDA, HIP and XPU support it currently.",
        "<frozen importlib._bootstrap_external>:1297: FutureWarning: The module is deprecated",
        "/x/torch_npu/contrib/transfer.py:347: ImportWarning: ",
    ),
    rule(
        "c10d-warning",
        Weight.NOTICE,
        ("[W", "NOT been destroyed"),
        r"(?:\[rank\d+\]:)?\[W(?:\d{3,4})? ?[^\]]{0,100}?(?P<type>\w+)\.(?:cpp|h|ts"
        r"|cc):\d+\] *(?P<message>(?!.*(?:dump signal|HeartbeatMonitor|recvValue|\[c10d\])).*)",
        "[rank0]:[W312 15:31:31.9 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been "
        "destroyed before we destruct ProcessGroupNCCL.",
        "[W422 21:28:53.2 HIPAllocatorConfig.h:29] Warning: expandable_segments not supported on this "
        "platform (function operator())",
    ),
    rule(
        "glog-warning",
        Weight.NOTICE,
        "W",
        r"^W(?:\d{4}|\d{8}) \d\d:\d\d:\d\d\.\d+ +\d+ (?P<type>[\w.-]+):\d+\] (?P<message>.+)",
        "W0203 04:05:06.123456  4242 topology.cpp:9] no RDMA device",
    ),
    rule(
        "triton-operands",
        Weight.NOTICE,
        "operation scheduled before its operands",
        r"operation scheduled before its operands",
        'loc("/x/decode_attention.py":310:16): error: operation scheduled before its operands',
        "The following error message 'operation scheduled before its operands' can be ignored.",
        type="triton",
    ),
    rule(
        "gloo-rank-connected",
        Weight.NOTICE,
        "[Gloo] Rank",
        r"\[Gloo\] Rank \d+ is connected to \d+ peer ranks",
        "[Gloo] Rank 0 is connected to 0 peer ranks. Expected number of connected peer ranks is : 0",
        type="gloo",
    ),
    rule(
        "rope-unrecognized-keys",
        Weight.NOTICE,
        "rope_scaling",
        r"Unrecognized keys in `rope_scaling`|`rope_scaling`'s \w+ field must be",
        "Unrecognized keys in `rope_scaling` for 'rope_type'='yarn': {'truncate'}",
        "`rope_scaling`'s beta_fast field must be a float, got 32",
        type="transformers",
    ),
    rule(
        "slow-tokenizer",
        Weight.NOTICE,
        ("slow tokenizer", "slow processor", "slow image processor", "fast processor", "use_fast"),
        r"[Uu]sing a slow (?:tokenizer|(?:image )?processor)|is now loaded as a fast processor"
        r"|`use_fast` is set",
        "Using a slow image processor as `use_fast` is unset and a slow processor was saved with this model.",
        type="transformers",
    ),
    rule(
        "fp8-kv-no-scales",
        Weight.NOTICE,
        "scaling factors",
        r"Using FP8 KV cache but no scaling factors",
        "Using FP8 KV cache but no scaling factors provided. Defaulting to scaling factors of 1.0.",
        type="kv-scales",
    ),
    rule(
        "default-moe-config",
        Weight.NOTICE,
        ("Using default MoE", "Using MoE kernel config", "Config file not found at"),
        r"Using default MoE (?:kernel )?config|Config file not found at",
        "Using default MoE config. Performance might be sub-optimal! Config file not found at "
        "/x/E=160,N=192.json",
        type="moe-config",
    ),
    rule(
        "custom-allreduce-off",
        Weight.NOTICE,
        ("ustom allreduce is disabled", "Setup Custom allreduce failed"),
        r"[Cc]ustom allreduce is disabled|Setup Custom allreduce failed",
        "Custom allreduce is disabled because it's not supported on more than two PCIe-only GPUs.",
        type="custom-allreduce",
    ),
    rule(
        "argument-adjusted",
        Weight.NOTICE,
        (
            "adjusted to",
            "reset to",
            "utomatically",
            "is disabled because",
            "are disabled because",
            "scheduler is disabled",
            "is turned o",
            "is ignored",
        ),
        r"^(?!Custom allreduce).*\b(?:is|are) (?:adjusted to|reset to|automatically \w+)"
        r"|\bAutomatically (?:reduce|turn|set|disab|enabl)\w*|Overlap schedul\w+ is (?:disabled|turned)"
        r"|^(?!.*ustom allreduce).*(?:is|are) disabled because|is turned o(?:n|ff)\b|\bis ignored\b",
        "DP attention is enabled. The chunked prefill size is adjusted to 256 to avoid MoE kernel issues. ",
        "Automatically reduce --mem-fraction-static to 0.827 because this is a multimodal model.",
        "Overlap scheduler is disabled for multimodal models.",
        "Cuda graph is disabled because of using torch native attention backend",
        type="argument",
    ),
    rule(
        "context-override",
        Weight.WARNING,
        "greater than the derived context_length",
        r"^Warning: .{0,40}context_length \(\d+\) is greater than the derived context_length(?!.*To allow "
        r"overriding this maximum)",
        "Warning: Target model's context_length (262144) is greater than the derived context_length "
        "(131072). This may lead to incorrect model outputs.",
        type="context_length",
    ),
    rule(
        "deepgemm-precompile",
        Weight.NOTICE,
        ("DeepGEMM JIT Pre-Compile", "DeepGemm is enabled"),
        r"DeepGEMM JIT Pre-Compile session|DeepGemm is enabled but",
        "Entering DeepGEMM JIT Pre-Compile session. It may take a long time",
        type="deepgemm",
    ),
    rule(
        "library-deprecation",
        Weight.NOTICE,
        ("is deprecated", "are deprecated", "TORCH_CUDA_ARCH_LIST", "be deprecated", "will be removed"),
        r"^(?!.*Warning:).*\b(?:is|are|be) deprecated\b|TORCH_CUDA_ARCH_LIST is not set"
        r"|^(?!.*Warning:).*will be removed in",
        "`torch_dtype` is deprecated! Use `dtype` instead!",
        "Endpoint '/get_server_info' is a thing that will be removed in a future version.",
        type="deprecation",
    ),
    rule(
        "optional-package-missing",
        Weight.NOTICE,
        (
            "not installed",
            "Module Not Found",
            "not available",
            "is not found",
            "No module named",
            "not avail",
        ),
        r"(?<![\w.-])[\w.-]++ (?:package |library |module )?is not (?:installed"
        r"|available|avail\b)|Module Not Found"
        r"|^(?:Warning: )?[\w.-]+ is not found\b",
        "opentelemetry package is not installed, tracing disabled",
        "FlashInfer is not available on Non-NV platforms. Fallback to other kernel libraries.",
        "flash_attn: Module Not Found",
        type="optional package",
    ),
    rule(
        "nccl-plugin",
        Weight.NOTICE,
        ("/Plugin", "libibverbs", "plugin"),
        r"NCCL INFO .*(?:No plugin found|Could not find|cannot open shared object)|Failed to open libibverbs",
        "host-0:100:1012 [1] NCCL INFO NET/Plugin: No plugin found (libnccl-net.so)",
        type="NCCL plugin",
    ),
    rule(
        "retraction",
        Weight.NOTICE,
        ("Retract requests", "out of memory happened"),
        r"KV cache pool is full\. Retract requests|[Dd]ecode out of memory happened",
        "KV cache pool is full. Retract requests. #retracted_reqs: 2, #new_tokens_gained: 900, "
        "#new_token_ratio: 0.5 -> 0.8",
        "Decode out of memory happened. #retracted_reqs: 1, #new_token_ratio: 0.50 -> 0.80",
        type="retraction",
    ),
    rule(
        "max-total-tokens-clipped",
        Weight.NOTICE,
        "larger than the profiled value",
        r"max_total_tokens=\d+ is larger than the profiled value",
        "max_total_tokens=99999999 is larger than the profiled value 65536. Use the profiled value instead.",
        type="argument",
    ),
    rule(
        "params-dict-skip",
        Weight.NOTICE,
        "params_dict",
        r"[Pp]arameter \S+ not found in params_dict|not found in params_dict",
        "Parameter model.layers.0.demo not found in params_dict",
        type="weights",
    ),
    rule(
        "rlimit",
        Weight.NOTICE,
        "Fail to set RLIMIT",
        r"Fail to set RLIMIT_\w+",
        "Fail to set RLIMIT_NOFILE: current limit exceeds maximum limit",
        type="rlimit",
    ),
    rule(
        "generation-config-missing",
        Weight.NOTICE,
        "generation config",
        r"Failed to load generation config",
        "Failed to load generation config for /m/demo: /m/demo does not appear to have a file named "
        "generation_config.json",
        type="generation config",
    ),
    rule(
        "pip-notice",
        Weight.NOTICE,
        ("pip as the 'root' user", "Running pip", "extra-index-url", "dependency resolver"),
        r"Running pip (?:as the|install)|--extra-index-url option is used|pip's dependency resolver",
        "WARNING: Running pip as the 'root' user can result in broken permissions",
        type="pip",
    ),
    rule(
        "hub-unauthenticated",
        Weight.NOTICE,
        "unauthenticated requests",
        r"sending unauthenticated requests to the HF Hub",
        "Warning: You are sending unauthenticated requests to the HF Hub. Please set a HF_TOKEN to enable "
        "higher rate limits",
        type="hub",
    ),
)
