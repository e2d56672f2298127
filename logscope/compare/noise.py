"""Which differences are noise: kept, but never a reason and hidden at first."""

from __future__ import annotations

import posixpath
import re

from parsers.lazy_pattern import lazy_re
from parsers.records import Json

# fmt: off
NOISE_ARGUMENTS = frozenset(
    [
        "random_seed", "port", "nccl_port", "dist_init_addr", "host", "base_gpu_id_offset",
        "additional_ports", "http_port", "grpc_port", "disaggregation_bootstrap_port", "log_dir",
        "crash_dump_folder", "file_storage_path", "log_requests_target", "export_metrics_to_file_dir",
        "dist_init_method", "gpu_id_start", "engine_info_bootstrap_port", "prometheus_port",
        "metrics_port", "weight_version", "instance_id",
    ]
)
# fmt: on
"""Arguments that differ from launch to launch without changing what is served."""

# fmt: off
INERT_ARGUMENTS = frozenset(
    [
        "served_model_name", "log_level", "log_level_http", "log_requests", "log_requests_level",
        "log_requests_format", "show_time_cost", "enable_metrics", "enable_metrics_for_all_schedulers",
        "decode_log_interval", "api_key", "admin_api_key", "bucket_time_to_first_token",
        "bucket_inter_token_latency", "bucket_e2e_request_latency", "collect_tokens_histogram",
        "gc_warning_threshold_secs", "enable_trace", "oltp_traces_endpoint", "otlp_traces_endpoint",
        "stream_interval", "storage_path", "kv_events_config", "uvicorn_access_log_exclude_prefixes",
        "enable_request_time_stats_logging", "prompt_tokens_buckets", "generation_tokens_buckets",
        "tool_call_parser", "reasoning_parser", "enable_cache_report", "show_deprecated",
        "preferred_sampling_params", "sleep_on_idle", "custom_sigquit_handler",
        "debug_tensor_dump_output_folder", "fastapi_root_path", "smg_grpc_log_level",
        "tokenizer_metrics_custom_labels_header", "tokenizer_metrics_allowed_custom_labels",
        "extra_metric_labels", "enable_forward_pass_metrics",
    ]
)
# fmt: on
"""Arguments of logging, naming and metrics: real changes that hardly ever make a launch fail."""

# fmt: off
NOISE_ENV = frozenset(
    [
        "PWD", "OLDPWD", "SHLVL", "_", "HOSTNAME", "TERM", "COLUMNS", "LINES", "SSH_CLIENT",
        "SSH_CONNECTION", "SSH_TTY", "SSH_AUTH_SOCK", "XDG_SESSION_ID", "XDG_RUNTIME_DIR",
        "DBUS_SESSION_BUS_ADDRESS", "TMUX", "TMUX_PANE", "STY", "WINDOWID", "LS_COLORS",
        "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "LOGSCOPE_DB", "PS1", "MAIL",
        "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_STEP_ID", "SLURM_TASK_PID", "SLURM_NODELIST",
        "SLURM_JOB_NODELIST", "RAY_JOB_ID", "MASTER_PORT", "MASTER_ADDR",
    ]
)
# fmt: on

NOISE_CONFIG_KEYS = frozenset(
    (
        "transformers_version",
        "_name_or_path",
        "_commit_hash",
        "use_cache",
        "pad_token_id",
        "_attn_implementation_autoset",
    )
)

_PATH = lazy_re(r"/[^\s,'\"\[\]{}()=]+")
_TIME = lazy_re(r"\d{4}-\d\d-\d\d[T ]?\d\d[:.]?\d\d|\b1[5-9]\d{8}\b")
_ADDRESS = lazy_re(r"0x[0-9a-f]{6,}|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\bpid[=: ]\d+", re.IGNORECASE)


def is_noise_argument(name: str, good: Json, bad: Json) -> bool:
    """True when the two values of this argument differ only in what never matters."""
    return name in NOISE_ARGUMENTS or only_moved(good, bad)


def only_moved(good: Json, bad: Json) -> bool:
    """True when two texts are equal once folders of paths, times and addresses are taken out."""
    if not isinstance(good, str) or not isinstance(bad, str) or good == bad:
        return False
    return _still(good) == _still(bad)


def _still(text: str) -> str:
    text = _PATH.sub(lambda found: posixpath.basename(found.group(0).rstrip("/")), text)
    return _ADDRESS.sub("ADDRESS", _TIME.sub("TIME", text))


def is_noise_env(name: str, good: str | None, bad: str | None) -> bool:
    """True for variables of the shell and session, and for values that only moved."""
    return name in NOISE_ENV or (name not in _PATHS_THAT_MATTER and only_moved(good, bad))


_PATHS_THAT_MATTER = frozenset(
    (
        "LD_LIBRARY_PATH", "PYTHONPATH", "PATH", "CUDA_HOME", "CUDA_PATH", "LD_PRELOAD", "VIRTUAL_ENV",
        "CONDA_PREFIX", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE",
        "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "FLASHINFER_WORKSPACE_BASE", "TMPDIR",
    )
)  # fmt: skip
"""Variables whose folder decides which code, libraries or files are found."""
