"""Facts about the machine and the container that a launch runs in. Linux; elsewhere fewer facts."""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Mapping
from pathlib import Path

_LIMITS = {
    "nofile": resource.RLIMIT_NOFILE,
    "nproc": resource.RLIMIT_NPROC,
    "memlock": resource.RLIMIT_MEMLOCK,
    "stack": resource.RLIMIT_STACK,
    "core": resource.RLIMIT_CORE,
    "as": resource.RLIMIT_AS,
}
_IMAGE_VARIABLES = (
    "APPTAINER_CONTAINER",
    "SINGULARITY_CONTAINER",
    "SLURM_CONTAINER_IMAGE",
    "PYXIS_IMAGE",
    "CONTAINER_IMAGE",
    "IMAGE_NAME",
    "DOCKER_IMAGE",
)


def machine_facts() -> dict[str, str]:
    """Flat facts: limits, memory, shared memory, processors, container. Sizes in bytes."""
    facts = {"cpus": str(_usable_cpus())}
    facts |= _limits()
    facts |= _memory()
    facts |= _shared_memory()
    facts |= _cgroup()
    container = container_kind()
    if container is not None:
        facts["container"] = container
    return facts


def steady(facts: Mapping[str, str]) -> dict[str, str]:
    """The facts as they are kept for comparison: what moves all the time becomes tenths of its whole, so that
    two launches on an idle machine have the same."""
    held = dict(facts)
    for part, whole, name in (
        ("mem_available_bytes", "mem_total_bytes", "mem_available_percent"),
        ("shm_free_bytes", "shm_bytes", "shm_free_percent"),
    ):
        free = held.pop(part, None)
        total = int(held.get(whole, "0"))
        if free is not None and total > 0:
            held[name] = str(round(10 * int(free) / total) * 10)
    return held


def kernel() -> str:
    """``Linux 6.8.0-41-generic``."""
    return f"{platform.system()} {platform.release()}"


def image(env: Mapping[str, str]) -> str | None:
    """The container image, where something tells it; else the kind of container; None outside of one."""
    for name in _IMAGE_VARIABLES:
        if env.get(name):
            return env[name]
    try:  # podman writes the image's name
        for row in Path("/run/.containerenv").read_text(encoding="utf-8").splitlines():
            if row.startswith("image="):
                return row.partition("=")[2].strip('"')
    except (OSError, UnicodeDecodeError):
        pass
    return container_kind()


def container_kind() -> str | None:
    """``kubernetes``, ``docker``, ``podman``, ``apptainer``, ``enroot`` ... or None."""
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    if os.environ.get("APPTAINER_CONTAINER") or os.environ.get("SINGULARITY_CONTAINER"):
        return "apptainer"
    if Path("/.dockerenv").exists():
        return "docker"
    if Path("/run/.containerenv").exists():
        return "podman"
    if os.environ.get("ENROOT_ROOTFS") or os.environ.get("SLURM_CONTAINER_IMAGE"):
        return "enroot"
    return os.environ.get("container")  # noqa: SIM112 - systemd-nspawn and podman set it so


def _usable_cpus() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _limits() -> dict[str, str]:
    held = {}
    for name, number in _LIMITS.items():
        soft, hard = resource.getrlimit(number)
        held[f"ulimit_{name}"] = _limit(soft)
        if name in ("nofile", "memlock"):
            held[f"ulimit_{name}_hard"] = _limit(hard)
    return held


def _limit(value: int) -> str:
    return "unlimited" if value == resource.RLIM_INFINITY else str(value)


def _memory() -> dict[str, str]:
    wanted = {"MemTotal": "mem_total_bytes", "MemAvailable": "mem_available_bytes"}
    held = {}
    for row in _read("/proc/meminfo").splitlines():
        name, _, rest = row.partition(":")
        if name in wanted:
            held[wanted[name]] = str(int(rest.split()[0]) * 1024)
    return held


def _shared_memory() -> dict[str, str]:
    try:
        space = os.statvfs("/dev/shm")
    except OSError:
        return {}
    return {
        "shm_bytes": str(space.f_blocks * space.f_frsize),
        "shm_free_bytes": str(space.f_bavail * space.f_frsize),
    }


def _cgroup() -> dict[str, str]:
    """The container's or unit's memory limit (cgroup 2, else 1)."""
    place = _read("/proc/self/cgroup").strip().rpartition("::")[2].lstrip("/")
    for path in (
        Path("/sys/fs/cgroup") / place / "memory.max",
        Path("/sys/fs/cgroup/memory.max"),
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
    ):
        text = _read(str(path)).strip()
        if text:
            return {"cgroup_memory_max": text}
    return {}


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
