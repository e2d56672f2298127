"""All that is known against a planned launch, worst first."""

from __future__ import annotations

from collections.abc import Iterator

from logscope.knowledge import nearest_release
from logscope.record.accelerators import Gpu, read_devices
from logscope.record.check_files import file_findings
from logscope.record.check_flags import flag_findings, flags_are_known
from logscope.record.check_history import Past, history_findings, past_of
from logscope.record.check_host import host_findings
from logscope.record.check_memory import memory_findings
from logscope.record.check_packages import package_findings
from logscope.record.check_rules import rule_findings
from logscope.record.checking import Finding, Planned, Severity
from logscope.store.interface import RunHistory
from parsers.lazy_dataclass import dataclass

_ORDER = tuple(Severity)


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """The findings, and what was looked at."""

    findings: tuple[Finding, ...]
    looked_at: tuple[str, ...]
    not_looked_at: tuple[str, ...]

    @property
    def is_clear(self) -> bool:
        """Nothing is known against the launch (notes do not count)."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)


def check(plan: Planned, history: RunHistory | None) -> CheckAnswer:
    """Runs every check; starts nothing but the GPU's own tool."""
    past = past_of(plan, history) if history is not None else Past((), ())
    gpus = None if plan.is_recorded or plan.arguments.get("device") == "cpu" else read_devices(plan.env).gpus
    findings = sorted(_all(plan, past, gpus), key=lambda finding: _ORDER.index(finding.severity))
    looked, missed = _coverage(plan, past, history is not None, gpus)
    return CheckAnswer(tuple(findings), looked, missed)


def _all(plan: Planned, past: Past, gpus: tuple[Gpu, ...] | None) -> Iterator[Finding]:
    yield from flag_findings(plan)
    yield from rule_findings(plan, past.good[:3])
    yield from file_findings(plan)
    yield from package_findings(plan)
    yield from host_findings(plan, gpus)
    yield from memory_findings(plan, past.good, gpus)
    yield from history_findings(plan, past)


def _coverage(
    plan: Planned, past: Past, has_history: bool, gpus: tuple[Gpu, ...] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    looked, missed = [], []
    if plan.version is None:
        missed.append("flags: the SGLang version is not known (--sglang-version)")
    elif not flags_are_known(plan.version):
        missed.append(f"flags: nothing is known of SGLang {plan.version}")
    else:
        near = nearest_release(plan.version)
        looked.append(f"flags of SGLang {near or plan.version}")
        if near != plan.version:
            taken = f"what is known of {near}, the nearest, was taken"
            missed.append(f"SGLang {plan.version} is unknown: {taken}")
    looked += [f"config.json of the {role} model" for role in plan.context.model_configs]
    if not plan.context.model_configs:
        missed.append("config.json: no model folder was found")
    runs = len(past.good) + len(past.failed)
    if has_history and runs:
        looked.append(f"{len(past.good)} good and {len(past.failed)} differently failed runs of this model")
    else:
        missed.append("history: no run of this model in the store")
    if plan.is_recorded:
        missed.append("files, ports and GPUs: the surroundings are those of a recorded launch")
    else:
        looked.append("ports")
        if gpus:
            looked.append(f"{len(gpus)} GPUs")
    return tuple(looked), tuple(missed)
