"""GPUs and NPUs as their own tools show them. Each tool has a time limit; without one there are no facts."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from parsers.lazy_dataclass import dataclass, field

_STEP_MIB = 256
"""Used memory is kept in such steps: an idle GPU's few MiB come and go."""
_TOOL_SECONDS = 8.0
"""nvidia-smi takes seconds on a machine with many GPUs and no persistence mode."""


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that holds memory of a GPU."""

    pid: int
    name: str
    used_mib: int | None


@dataclass(frozen=True, slots=True)
class Gpu:
    """One device."""

    index: str
    name: str
    total_mib: int | None = None
    used_mib: int | None = None
    processes: tuple[GpuProcess, ...] = ()


@dataclass(frozen=True, slots=True)
class Devices:
    """All devices of the machine and their driver."""

    gpus: tuple[Gpu, ...] = ()
    driver: str | None = None
    notes: tuple[str, ...] = ()
    """What could not be asked, and why."""

    def facts(self) -> dict[str, str]:
        """``gpu0_total_mib``, ``gpu0_used_mib``, ``gpu0_processes`` ..."""
        held: dict[str, str] = {}
        for gpu in self.gpus:
            if gpu.total_mib is not None:
                held[f"gpu{gpu.index}_total_mib"] = str(gpu.total_mib)
            if gpu.used_mib is not None:
                held[f"gpu{gpu.index}_used_mib"] = str(round(gpu.used_mib / _STEP_MIB) * _STEP_MIB)
            if gpu.processes:
                held[f"gpu{gpu.index}_processes"] = "; ".join(
                    f"{p.pid} {p.name}" + (f" {p.used_mib} MiB" if p.used_mib is not None else "")
                    for p in gpu.processes
                )
        for note in self.notes:
            held.setdefault("gpu_note", note)
        return held


def read_devices(env: Mapping[str, str] | None = None) -> Devices:
    """Asks the first of nvidia-smi, rocm-smi and npu-smi that is on the PATH of `env`."""
    path = env.get("PATH") if env is not None else None
    for tool, ask in (("nvidia-smi", _ask_nvidia), ("rocm-smi", _ask_rocm), ("npu-smi", _ask_npu)):
        found = shutil.which(tool, path=path)
        if found is None:
            continue
        try:
            return ask(found)
        except subprocess.TimeoutExpired:
            return Devices(notes=(f"{tool} gave no answer in {_TOOL_SECONDS:g} s",))
        except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
            return Devices(notes=(f"{tool}: {error}",))
    return Devices()


@dataclass(slots=True)
class _Rows:
    """Rows of GPU facts as nvidia-smi prints them, by uuid."""

    by_uuid: dict[str, list[GpuProcess]] = field(default_factory=dict)


def _ask_nvidia(tool: str) -> Devices:
    cards = _csv(
        tool,
        "--query-gpu=index,name,uuid,memory.total,memory.used,driver_version",
        "--format=csv,noheader,nounits",
    )
    held = _Rows()
    for uuid, pid, name, used in (
        row[:4]
        for row in _csv(
            tool,
            "--query-compute-apps=gpu_uuid,pid,process_name,used_memory",
            "--format=csv,noheader,nounits",
        )
        if len(row) >= 4
    ):
        if pid.isdigit():
            held.by_uuid.setdefault(uuid, []).append(GpuProcess(int(pid), name, _number(used)))
    gpus = tuple(
        Gpu(row[0], row[1], _number(row[3]), _number(row[4]), tuple(held.by_uuid.get(row[2], ())))
        for row in cards
        if len(row) >= 6
    )
    return Devices(gpus, next((row[5] for row in cards if len(row) >= 6), None))


def _ask_rocm(tool: str) -> Devices:
    held = json.loads(
        _run(tool, "--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--json")
    )
    gpus = []
    for card, facts in sorted(held.items()):
        if not card.startswith("card"):
            continue
        name = facts.get("Card Series") or facts.get("Card series") or facts.get("Card Model") or "AMD GPU"
        total, used = (
            _number(str(facts.get(key, "")))
            for key in ("VRAM Total Memory (B)", "VRAM Total Used Memory (B)")
        )
        gpus.append(Gpu(card.removeprefix("card"), str(name), _mib(total), _mib(used)))
    driver = held.get("system", {}).get("Driver version")
    return Devices(tuple(gpus), None if driver is None else str(driver))


def _ask_npu(tool: str) -> Devices:
    """``npu-smi info`` prints a table: two lines a chip, the first with the name, the second with HBM use."""
    text = _run(tool, "info")
    version = re.search(r"Version:\s*(\S+)", text)
    gpus: list[Gpu] = []
    named: tuple[str, str] | None = None
    for row in text.splitlines():
        cells = [cell.strip() for cell in row.strip("| \t").split("|")]
        if len(cells) < 3:
            continue
        head = cells[0].split()
        if len(head) == 2 and head[0].isdigit() and not head[1].isdigit():
            named = (head[0], head[1])
        elif named is not None:
            sizes = re.findall(r"(\d+)\s*/\s*(\d+)", cells[2])
            used, total = sizes[-1] if sizes else ("", "")
            gpus.append(Gpu(named[0], f"Ascend {named[1]}", _number(total), _number(used)))
            named = None
    return Devices(tuple(gpus), version[1] if version is not None else None)


def _csv(tool: str, *words: str) -> list[list[str]]:
    return [[cell.strip() for cell in row] for row in csv.reader(_run(tool, *words).splitlines()) if row]


def _run(tool: str, *words: str) -> str:
    command: Sequence[str] = (tool, *words)
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TOOL_SECONDS, check=True
    )
    return done.stdout.decode("utf-8", "replace")


def _number(text: str) -> int | None:
    hit = re.match(r"\s*(\d+)", text)
    return int(hit[1]) if hit is not None else None


def _mib(size: int | None) -> int | None:
    return None if size is None else size >> 20
