"""Makes the plan of a launch out of a command line and this machine, or out of a recorded launch."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from logscope.context import Context, read_context
from logscope.errors import SourceError
from logscope.record.checking import Planned, planned
from logscope.record.command_line import interpreter_of, parse_command
from logscope.record.environment import kept_environment
from logscope.record.machine import machine_facts
from logscope.record.models import model_folders
from logscope.record.packages import read_installed


def plan_here(
    words: Sequence[str], environment: Mapping[str, str], cwd: Path, version: str | None
) -> Planned:
    """The launch as it would run on this machine now."""
    command = parse_command(words)
    env = {**environment, **command.assignments}
    interpreter = interpreter_of(command.words(), env)
    packages = read_installed(interpreter, env).packages if interpreter is not None else {}
    folders = model_folders(command, env, cwd)
    context = Context(
        argv=command.words(),
        env={**kept_environment(env), **command.assignments},
        sglang_version=version or packages.get("sglang"),
        packages=packages,
        facts=machine_facts(),
        model_configs={model.role: model.config for model in folders if model.config is not None},
        config_origin={model.role: "now" for model in folders},
    )
    return planned(command, context, env, cwd, context.sglang_version)


def plan_of_context(path: Path, words: Sequence[str], version: str | None) -> Planned:
    """A recorded launch, or another command line in its surroundings. Raises SourceError."""
    context = read_context(path)
    command_line = tuple(words) or context.argv
    if not command_line:
        raise SourceError(f"{path}: holds no argv", "give the command behind --")
    command = parse_command(command_line)
    env = {**(context.env or {}), **command.assignments}
    context = dataclasses.replace(context, env=env)
    plan = planned(
        command, context, env, Path(context.facts.get("cwd", os.curdir)), version or context.sglang_version
    )
    return dataclasses.replace(plan, is_recorded=True)
