"""The machine of a planned launch: ports, GPUs, and what an earlier launch left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from logscope.explain.records import Remedy
from logscope.record.accelerators import Gpu, read_devices
from logscope.record.checking import Finding, Planned, Severity
from logscope.record.ports import holder_of, is_port_free
from logscope.record.processes import command_of, read_process

_PORTS = {
    "--port": "port",
    "--nccl-port": "nccl_port",
    "--disaggregation-bootstrap-port": "disaggregation_bootstrap_port",
}
_LAST_PORT = 65535
_BUSY_MIB = 512
"""Memory in use of an idle GPU (driver, display) stays below this."""


def host_findings(plan: Planned, gpus: tuple[Gpu, ...] | None = None) -> Iterator[Finding]:
    """What of this machine is against the launch; nothing for a recorded one."""
    if plan.is_recorded:
        return
    yield from _ports(plan)
    if plan.arguments.get("device") == "cpu":
        yield from _numa(plan)
        return
    devices = read_devices(plan.env).gpus if gpus is None else gpus
    yield from _gpu_count(plan, devices)
    yield from _gpu_memory(plan, devices)


def _ports(plan: Planned) -> Iterator[Finding]:
    if plan.command.entry is None:
        return
    host = plan.command.value("--host") or "127.0.0.1"
    for flag, name in _PORTS.items():
        given = plan.command.value(flag) or ("30000" if flag == "--port" else None)
        if given is not None and given.isdigit() and int(given) > _LAST_PORT:
            yield _no_port(flag, name, given)
            continue
        if given is None or not given.isdigit() or is_port_free((host, int(given))):
            continue
        holder = holder_of(int(given))
        who = f", held by {holder}" if holder else ""
        yield Finding(
            "port-in-use",
            "host",
            name,
            Severity.FAILS,
            f"port {given} is in use: the launch cannot listen there",
            (f"binding {host}:{given} is refused{who}",),
            (
                Remedy("End the process that holds it.", "", "lasting", "it is an old server of yours"),
                Remedy("Take another port.", f"{flag} {int(given) + 1}", "quick", "clients can be told"),
            ),
        )


def _no_port(flag: str, name: str, given: str) -> Finding:
    return Finding(
        "port-out-of-range",
        "arg",
        name,
        Severity.FAILS,
        f"{flag} {given} is no port: the launch cannot listen there",
        (f"ports end at {_LAST_PORT}",),
        (Remedy("Take a port that exists.", f"{flag} 30000", "quick", "clients can be told"),),
    )


def _numa(plan: Planned) -> Iterator[Finding]:
    """On CPUs each rank needs a NUMA node of its own, unless cores are bound by hand."""
    wanted = plan.number("tp_size", 1) or 1
    nodes = len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) or 1
    if wanted > nodes and not plan.env.get("SGLANG_CPU_OMP_THREADS_BIND"):
        yield numa_finding(int(wanted), nodes)


def numa_finding(wanted: int, nodes: int) -> Finding:
    """tp_size is larger than what the cores can be shared out to."""
    return Finding(
        "tp-above-numa-nodes",
        "arg",
        "tp_size",
        Severity.FAILS,
        f"tp_size {wanted} is larger than the number of NUMA nodes ({nodes}) and no cores are bound by hand",
        ("device is cpu, SGLANG_CPU_OMP_THREADS_BIND is not set",),
        (
            Remedy("Lower tp_size.", f"--tp-size {nodes}", "lasting", "one rank a NUMA node is wanted"),
            Remedy(
                "Bind cores by hand, one list a rank.",
                "SGLANG_CPU_OMP_THREADS_BIND='0-15|16-31'",
                "quick",
                "there are enough cores",
            ),
        ),
    )


def _gpu_count(plan: Planned, gpus: tuple[Gpu, ...]) -> Iterator[Finding]:
    visible = _visible(plan, gpus)
    ranks = (plan.number("tp_size", 1) or 1) * (plan.number("pp_size", 1) or 1)
    here = int(ranks / (plan.number("nnodes", 1) or 1))
    if gpus and here > len(visible):
        yield Finding(
            "too-few-gpus",
            "arg",
            "tp_size",
            Severity.FAILS,
            f"{here} GPUs are asked for on this machine, {len(visible)} are visible",
            (f"CUDA_VISIBLE_DEVICES is {plan.env.get('CUDA_VISIBLE_DEVICES') or 'not set'}",),
            (
                Remedy(
                    "Lower tp_size or use more nodes.",
                    f"--tp-size {len(visible)}",
                    "lasting",
                    "the model fits",
                ),
            ),
        )


def _gpu_memory(plan: Planned, gpus: tuple[Gpu, ...]) -> Iterator[Finding]:
    """Memory that somebody holds on the GPUs of the launch: mostly an earlier server's workers."""
    for gpu in _visible(plan, gpus):
        if gpu.used_mib is None or gpu.used_mib < _BUSY_MIB:
            continue
        holders = [_holder(process.pid, process.name) for process in gpu.processes]
        yield Finding(
            "gpu-memory-in-use",
            "host",
            f"gpu{gpu.index}",
            Severity.RISK,
            f"GPU {gpu.index} has {gpu.used_mib} MiB in use before the launch",
            tuple(holders) or ("no process of this container holds it",),
            (
                Remedy("End what is left of the old launch.", "", "lasting", "the processes are yours"),
                Remedy("Use other GPUs.", "CUDA_VISIBLE_DEVICES=...", "quick", "others are free"),
            ),
        )


def _holder(pid: int, name: str) -> str:
    process = read_process(pid)
    command = command_of(pid)[:100] or name
    orphan = ", its parent is gone" if process is not None and process.parent == 1 else ""
    return f"held by {pid} ({command}){orphan}"


def _visible(plan: Planned, gpus: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    for name in (
        "CUDA_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
        "ASCEND_RT_VISIBLE_DEVICES",
    ):
        chosen = plan.env.get(name)
        if chosen is not None:
            wanted = {word.strip() for word in chosen.split(",") if word.strip()}
            numbered = tuple(gpu for gpu in gpus if gpu.index in wanted)
            return numbered if all(word.isdigit() for word in wanted) else gpus
    return gpus
