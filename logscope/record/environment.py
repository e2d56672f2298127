"""Which environment variables of a launch are kept, and how secrets are made unreadable.

Must never let a secret's value through: a name that sounds like a secret is masked even when its prefix is
on the list of what is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

KEPT = (
    *("SGLANG_*", "SGL_*", "VLLM_*", "MC_*", "MOONCAKE_*", "NIXL_*", "LWS_*", "DYN_*"),
    *("NCCL_*", "RCCL_*", "GLOO_*", "UCX_*", "FI_*", "NVSHMEM_*", "MSCCLPP_*", "HCCL_*", "IB_*"),
    *("CUDA_*", "NVIDIA_*", "CUDNN_*", "CUBLAS_*", "HIP_*", "HSA_*", "ROCR_*", "ROCM_*", "AMD_*", "AITER_*"),
    *("ASCEND_*", "XPU_*", "ONEAPI_*", "SYCL_*", "ZE_*", "HABANA_*", "PT_HPU_*", "GPU_*"),
    *("TORCH_*", "TORCHINDUCTOR_*", "TORCHELASTIC_*", "PYTORCH_*", "TRITON_*", "FLASHINFER_*", "DG_*"),
    *("DEEPEP_*", "DEEP_GEMM_*", "TVM_*", "XGRAMMAR_*", "OUTLINES_*", "FLASH_*"),
    *("HF_*", "HUGGINGFACE_*", "TRANSFORMERS_*", "TOKENIZERS_*", "SAFETENSORS_*", "MODELSCOPE_*"),
    *("OMP_*", "MKL_*", "KMP_*", "OPENBLAS_*", "GOMP_*", "NUMEXPR_*", "MALLOC_*"),
    *("RAY_*", "SLURM_*", "PMI_*", "PMIX_*", "OMPI_*", "TOKEN_*"),
    *("MASTER_ADDR", "MASTER_PORT", "RANK", "LOCAL_RANK", "WORLD_SIZE", "NODE_RANK", "LOCAL_WORLD_SIZE"),
    *("KUBERNETES_SERVICE_HOST", "POD_NAME", "POD_NAMESPACE", "NODE_NAME", "HOSTNAME"),
    *("PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONHASHSEED", "LD_PRELOAD", "LD_LIBRARY_PATH", "VIRTUAL_ENV"),
    *("CONDA_PREFIX", "CONDA_DEFAULT_ENV", "XDG_CACHE_HOME", "TMPDIR", "LANG", "LC_ALL", "CC", "CXX"),
    *("http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    *("ALL_PROXY", "LOGSCOPE_NOTE"),
)
"""Patterns of names that can change a launch. Everything else stays out of the context file."""

_SECRET_WORDS = frozenset(
    {"TOKEN", "KEY", "APIKEY", "SECRET", "PASSWORD", "PASSWD", "PASS", "CREDENTIAL", "CREDENTIALS", "AUTH"}
)
_HARMLESS = frozenset({"KEY_BLOCK", "MAX_TOKEN", "KEY_CACHE"})
_SECRET_FLAG = re.compile(
    r"\A--?(?:[a-z0-9]+[-_])*(?:api[-_]?key|hf[-_]?token|auth[-_]?token|access[-_]?token|password|passwd|secret"
    r"|secret[-_]key|ssl[-_]keyfile[-_]password|credentials?|token)\Z",
    re.IGNORECASE,
)
_USER_IN_URL = re.compile(r"(?P<scheme>\b[a-zA-Z][a-zA-Z0-9+.-]{0,20}://)(?P<who>[^\s/@]{1,512})@")
_TOKEN_SHAPE = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*)\b|(?i:\bbearer\s+)\S+"
)


class Masker:
    """Replaces secrets by ``***`` and four hex digits that tell a changed value from an unchanged one."""

    def __init__(self, salt: bytes) -> None:
        from parsers.secrets import Masker as LineMasker  # regex costs 15 ms, and the launch comes first

        self._salt = salt
        self._lines = LineMasker(salt)

    def mask(self, value: str) -> str:
        """The mark of a secret; an empty value and a mark stay as they are."""
        if not value or re.fullmatch(r"\*{3}[0-9a-f]{4}", value):
            return value
        return (
            "***" + hmac.new(self._salt, value.encode("utf-8", "surrogateescape"), "sha256").hexdigest()[:4]
        )

    def text(self, value: str) -> str:
        """`value` with everything masked that is masked in a log, and users of addresses."""
        value = _USER_IN_URL.sub(lambda hit: f"{hit['scheme']}{self.mask(hit['who'])}@", value)
        value = _TOKEN_SHAPE.sub(lambda hit: self.mask(hit.group()), value)
        return self._lines.mask(value)

    def env(self, env: Mapping[str, str]) -> dict[str, str]:
        """`env` with the values of secret names masked whole."""
        return {
            name: self.mask(value) if is_secret_name(name) else self.text(value)
            for name, value in env.items()
        }

    def words(self, words: Sequence[str]) -> tuple[str, ...]:
        """A command line with secrets masked: values of secret flags, ``NAME=secret`` words, addresses."""
        masked: list[str] = []
        after_secret_flag = False
        for word in words:
            name, equals, value = word.partition("=")
            if after_secret_flag and not word.startswith("--"):
                masked.append(self.mask(word))
            elif equals and (_SECRET_FLAG.match(name) or (name.isidentifier() and is_secret_name(name))):
                masked.append(f"{name}={self.mask(value)}")
            else:
                masked.append(self.text(word))
            after_secret_flag = bool(_SECRET_FLAG.match(word))
        return tuple(masked)


def kept_environment(env: Mapping[str, str], more: Sequence[str] = ()) -> dict[str, str]:
    """The variables of `env` that a context file keeps; `more` are further name patterns (``MY_*``)."""
    patterns = (*KEPT, *more)
    return {
        name: env[name] for name in sorted(env) if any(fnmatchcase(name, pattern) for pattern in patterns)
    }


def is_secret_name(name: str) -> bool:
    """True when a variable of this name holds a secret by the sound of it (``HF_TOKEN``, ``X_API_KEY``)."""
    upper = name.upper()
    if any(word in upper for word in _HARMLESS) or upper.endswith(("_TOKENS", "_KEYS_PATH")):
        return False
    if upper.startswith("TOKENIZERS_"):
        return False
    return any(part in _SECRET_WORDS for part in re.split(r"[^A-Z0-9]+", upper)) or upper.endswith(
        ("APIKEY", "PASSWORD", "SECRET")
    )


def local_salt(folder: Path) -> bytes:
    """The salt of this user's masks, made once: equal secrets give equal marks, here and nowhere else."""
    path = folder / "mask.salt"
    with contextlib.suppress(OSError):
        held = path.read_bytes()
        if len(held) >= 16:
            return held
    fresh = secrets.token_bytes(32)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes() or fresh
    except OSError:  # a read-only home: marks of this launch cannot be compared with others
        return fresh
    with os.fdopen(descriptor, "wb") as file:
        file.write(fresh)
    return fresh


def short_hash(block: bytes) -> str:
    """sha256 in hex."""
    return hashlib.sha256(block).hexdigest()
