"""The fine part of a distance: changed arguments, variables and config keys between a run and a few others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from logscope.store import command_line

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NOISE_ARGUMENTS = frozenset(
    {"random_seed", "nccl_port", "port", "host", "log_level", "log_level_http", "dist_init_addr"}
)
"""Differ between launches that nobody would call different; ports count as a coarse fact."""
COARSE_ARGUMENTS = frozenset(
    [
        "model_path",
        "tokenizer_path",
        "served_model_name",
        "device",
        "tp_size",
        "dp_size",
        "pp_size",
        "ep_size",
        "nnodes",
        "speculative_algorithm",
        "quantization",
    ]
)
"""Counted as coarse facts already."""
NOISE_ENV = frozenset({"PWD", "OLDPWD", "SHLVL", "_", "HOSTNAME", "PPID", "INVOCATION_ID", "JOURNAL_STREAM"})

EACH, MOST = 0.05, 0.6
"""Distance of one difference, and of any number of one kind."""


@dataclass(frozen=True, slots=True)
class FineDifferences:
    """What differs in small between a run and another."""

    arguments: tuple[str, ...] = ()
    """``name: old -> new``; of the typed command lines where both are known, else of the printed args."""
    compared_arguments: bool = False
    env: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()

    @property
    def distance(self) -> float:
        return sum(min(MOST, EACH * len(part)) for part in (self.arguments, self.env, self.configs))

    @property
    def words(self) -> tuple[str, ...]:
        arguments = (f"arg {text}" for text in self.arguments)
        env = (f"env {text}" for text in self.env)
        configs = (f"config {text}" for text in self.configs)
        return (*arguments, *env, *configs)


def fine_differences(
    connection: DuckDBPyConnection, run: Mapping[str, Any], others: Sequence[Mapping[str, Any]]
) -> dict[int, FineDifferences]:
    """run_no -> differences from that run to `run`. Few queries whatever the number of others."""
    numbers = [int(other["run_no"]) for other in others]
    everyone = [int(run["run_no"]), *numbers]
    printed = _pairs(connection, "SELECT run_no, name, text FROM server_args", everyone)
    env = _pairs(connection, "SELECT run_no, name, value FROM env", everyone)
    configs = _pairs(connection, "SELECT run_no, role || '.' || key, value FROM model_configs", everyone)
    own = everyone[0]
    answer: dict[int, FineDifferences] = {}
    for other in others:
        number = int(other["run_no"])
        arguments, compared = _argument_changes(run, other, printed)
        answer[number] = FineDifferences(
            arguments=arguments,
            compared_arguments=compared,
            env=_changes(env[number], env[own], NOISE_ENV) if env[number] and env[own] else (),
            configs=_common_changes(configs[number], configs[own]),
        )
    return answer


def _argument_changes(
    run: Mapping[str, Any], other: Mapping[str, Any], printed: Mapping[int, Mapping[str, Any]]
) -> tuple[tuple[str, ...], bool]:
    skipped = NOISE_ARGUMENTS | COARSE_ARGUMENTS
    if run["argv"] and other["argv"]:
        typed = [command_line.options(each["argv"]) for each in (other, run)]
        return _changes(typed[0], typed[1], skipped), True
    old, new = printed[int(other["run_no"])], printed[int(run["run_no"])]
    if not old or not new:
        return (), False
    if run["sglang_version"] != other["sglang_version"]:  # fields come and go with releases
        return _common_changes(old, new, skipped), True
    return _changes(old, new, skipped), True


def _pairs(connection: DuckDBPyConnection, select: str, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
    gathered: dict[int, dict[str, Any]] = {number: {} for number in numbers}
    rows = connection.execute(
        f"{select} WHERE run_no IN ({', '.join(str(number) for number in numbers)})"
    ).fetchall()
    for number, name, value in rows:
        gathered[number][name] = value
    return gathered


def _changes(old: Mapping[str, Any], new: Mapping[str, Any], skipped: frozenset[str]) -> tuple[str, ...]:
    names = [*new, *(name for name in old if name not in new)]
    return tuple(
        f"{name}: {_shown(old, name)} -> {_shown(new, name)}"
        for name in names
        if name not in skipped and old.get(name, _ABSENT) != new.get(name, _ABSENT)
    )


def _common_changes(
    old: Mapping[str, Any], new: Mapping[str, Any], skipped: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    return tuple(
        f"{name}: {old[name]} -> {new[name]}"
        for name in new
        if name in old and name not in skipped and old[name] != new[name]
    )


_ABSENT = object()


def _shown(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name, _ABSENT)
    return "None" if value is _ABSENT else str(value)
