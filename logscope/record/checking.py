"""A planned launch and what is known against it before anything is started."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from logscope.compare.command_line import argument_name, typed_arguments
from logscope.compare.origins import flags_of
from logscope.context import Context
from logscope.explain.records import Remedy
from logscope.record.command_line import Command
from logscope.store.records import RunId, StoredRun, Throughput
from parsers.lazy_dataclass import dataclass, field
from parsers.records import Coverage, Json, Outcome, Run, VersionGuess


class Severity(StrEnum):
    """How much a finding says against the launch."""

    FAILS = "fails"
    """The launch will be refused or cannot start."""
    RISK = "risk"
    """It failed so before, or is likely to."""
    NOTE = "note"
    """Worth knowing; nothing against the launch."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is known about the planned launch."""

    rule: str
    kind: str
    """``arg``, ``env``, ``config``, ``version``, ``host`` or ``other``."""
    subject: str
    """``context_length``, ``draft.max_position_embeddings``, ``port`` ..."""
    severity: Severity
    title: str
    """One sentence."""
    evidence: tuple[str, ...] = ()
    """What it rests on: values, files, earlier runs."""
    remedies: tuple[Remedy, ...] = ()


@dataclass(frozen=True, slots=True)
class Planned:
    """The launch to be checked."""

    command: Command
    context: Context
    """Its surroundings: of this machine now, or of a recorded launch."""
    env: Mapping[str, str]
    cwd: Path
    version: str | None
    """SGLang's; None when it cannot be told."""
    is_recorded: bool = False
    """The surroundings are of a recorded launch: files, ports and GPUs of this machine say nothing of it."""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    """Argument name -> value, for what is typed."""

    def number(self, name: str, default: float | None = None) -> float | None:
        """A typed argument as a number."""
        value = self.arguments.get(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(str(value)) if is_number else default

    def as_run(self) -> StoredRun:
        """The plan in the shape of a run, for what is asked of runs."""
        guess = VersionGuess(self.version, "exact" if self.version else "unknown")
        model = self.arguments.get("model_path")
        run = Run(
            ordinal=1,
            first_line=0,
            last_line=0,
            label="",
            carrier="plain",
            outcome=Outcome.UNKNOWN,
            ready=False,
            stage=None,
            reason="planned",
            started_at=None,
            ready_at=None,
            ended_at=None,
            version=guess,
            model_path=model if isinstance(model, str) else None,
            ranks=(),
            server_args=(),
            server_args_line=None,
            server_args_complete=False,
            env=(),
            root_error=None,
            events=(),
            milestones=(),
            stages=(),
            coverage=Coverage(0, 0, 0, 0, 0),
        )
        return StoredRun(RunId(""), "", run, self.context, Throughput())


def planned(
    command: Command, context: Context, env: Mapping[str, str], cwd: Path, version: str | None
) -> Planned:
    """A plan with its typed arguments under the names of its release."""
    words = command.words()
    context = dataclasses.replace(context, argv=words, sglang_version=version or context.sglang_version)
    typed = typed_arguments(words, version) or {}
    return Planned(command, context, env, cwd, version, arguments=typed)


def flag_names(plan: Planned) -> dict[str, str]:
    """Flag as typed -> argument name."""
    known = flags_of(plan.version)
    return {option.flag: argument_name(option.flag, known) for option in plan.command.options if option.flag}
