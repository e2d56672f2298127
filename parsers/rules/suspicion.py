"""The cheap filter before all rules: most lines hold no word of an error or a warning."""

from __future__ import annotations

from parsers.lazy_pattern import lazy_pattern

TRIGGERS: tuple[str, ...] = (
    "error", "warn", "fail", "exception", "killed", "sigquit", "sigterm", "sigint", "sigsegv", "*** sig",
    "abort", "terminat", "assert", "timeout", "timed out", "exit code", "exitcode", "exited with", "crash",
    "not supported", "unsupported", "fallback", "fall back", "falling back", "deprecat", "ignor",
    "out of memory", "oom", "cannot", "can't", "could not", "unable", "dead", "died", "closed by peer",
    "reset by peer", "panic", "leak", "nan in", "invalid", "not found", "not available", "not avail",
    "not installed", "not enough", "no module named", "disabled", "utomatically", "adjusted", "reset to",
    "already in use", "eaddrinuse", "command not found", "segfault", "segmentation", "core dumped",
    "cancelled", "due to ", " us: ", "hsa", "corrupt", "free()", "double free", "smashing", "xid",
    "peer ranks", "rope_scaling", "slow ", "fast processor", "scaling factors", "default moe", "moe kernel",
    "pre-compile", "deepgemm", "will be removed", "retract", "larger than the profiled", "params_dict",
    "root' user", "running pip", "index-url", "resolver", "unauthenticated", "sub-optimal", "not fully",
    "may lead", "might", "roll back", "memory leak", "turned o", "libibverbs", "/plugin", "torch_cuda_arch",
    "init ok", "kill_process_tree", "py-spy", "pyspy", "coredump", "live scheduler", "dumping", "pending",
    "event loop", "back-off", "crashloop", "curesult", "cuda_error", "acl api", "aclnn", "inner error",
    "ccl warn", "remoteerror", "broken pipe", "terminate called", "ion fault", "ess fault",
    "generation config", "backoff", "stopping container", "dump signal", "signal", "unexpected",
    "didn't finish", "not connected", "hip error", "remote peer", "non-zero status", "null value",
    "code=exited", "code=dumped", "low on memory", "probe", "stopping",
    "已杀死", "已砍掉", "段错误", "段錯誤", "已放", "speicher", "abgebrochen", "task ended",
)  # fmt: skip
"""In lower case. A line without any of them is no error or warning, glog and c10d letters apart."""

MAX_LOOK = 4000

_GLOG = lazy_pattern(r"^[EFW]\d{4}")
_C10D = lazy_pattern(r"\[[EWF] ?\d{3}|\[[EWF] \w+\.cpp")


def is_suspicious(body: str) -> bool:
    """False when no rule can take the line."""
    low = body[:MAX_LOOK].lower()
    for word in TRIGGERS:
        if word in low:
            return True
    return _GLOG.match(body) is not None or _C10D.search(body, 0, 400) is not None
