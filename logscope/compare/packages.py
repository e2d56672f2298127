"""Under which module names a Python package stands in messages and tracebacks."""

from __future__ import annotations

from parsers.lazy_pattern import lazy_re

_MODULES = {
    "flashinfer-python": ("flashinfer",),
    "flashinfer-cubin": ("flashinfer",),
    "flashinfer-jit-cache": ("flashinfer",),
    "sglang-kernel": ("sgl_kernel", "sglang_kernel"),
    "opencv-python": ("cv2",),
    "opencv-python-headless": ("cv2",),
    "pillow": ("PIL",),
    "pyzmq": ("zmq",),
    "pyyaml": ("yaml",),
    "protobuf": ("google/protobuf", "protobuf"),
    "mooncake-transfer-engine": ("mooncake",),
    "pytorch-triton": ("triton",),
    "flash-attn": ("flash_attn",),
    "nvidia-cutlass-dsl": ("cutlass",),
}
_NVIDIA = lazy_re(r"^nvidia-(?P<library>[a-z]+)-cu\d+$")


def modules_of(package: str) -> tuple[str, ...]:
    """The module names of a package, the likeliest first: ``sgl-kernel`` -> ``sgl_kernel``."""
    low = package.lower()
    known = _MODULES.get(low)
    if known is not None:
        return known
    library = _NVIDIA.match(low)
    return (library.group("library"),) if library else (low.replace("-", "_"),)
