"""The fine part of a distance: changed arguments, variables and config keys between runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from logscope.store import command_line
from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NOISE_ARGUMENTS = frozenset(
    ("random_seed", "nccl_port", "port", "host", "log_level", "log_level_http", "dist_init_addr")
)
"""Differ between launches that nobody would call different; ports count as a coarse fact."""
COARSE_ARGUMENTS = frozenset(
    (
        "model_path", "tokenizer_path", "served_model_name", "device", "tp_size", "dp_size", "pp_size",
        "ep_size",
        "nnodes", "speculative_algorithm", "quantization",
    )
)  # fmt: skip
"""Counted as coarse facts already."""
NOISE_ENV = frozenset(
    (
        "PWD", "OLDPWD", "SHLVL", "_", "HOSTNAME", "PPID", "INVOCATION_ID", "JOURNAL_STREAM", "TERM",
        "COLORTERM",
        "LS_COLORS", "DISPLAY", "WINDOWID", "STY", "COLUMNS", "LINES", "MAIL", "LOGNAME", "USER", "HOME",
        "SHELL",
        "PS1", "HISTFILE", "EDITOR", "PAGER",
    )
)  # fmt: skip
NOISE_ENV_BEGINS = (
    "SSH_",
    "XDG_",
    "LESS",
    "DBUS_",
    "VSCODE_",
    "TMUX",
    "TERM_",
    "KUBERNETES_",
    "SLURM_",
    "LC_",
    "GPG_",
)
"""Variables of a session, a terminal or a scheduler's job: they differ and explain nothing."""

EACH, MOST = 0.05, 0.6
"""Distance of one difference, and of any number of one kind."""

_SKIPPED = NOISE_ARGUMENTS | COARSE_ARGUMENTS


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


class FineValues:
    """Arguments, variables and config keys of a few runs, fetched with three queries at most."""

    def __init__(self, connection: DuckDBPyConnection, runs: Iterable[Mapping[str, Any]]) -> None:
        known = {int(run["run_no"]): run for run in runs}
        has_untyped = any(not run["argv"] for run in known.values())
        standing = {run["args_key"]: number for number, run in known.items() if run["args_key"]}
        printed = _pairs(
            connection,
            "SELECT run_no, name, text FROM server_args",
            list(standing.values()) if has_untyped else [],
        )
        self._printed = {key: printed.get(number, {}) for key, number in standing.items()}
        self._env = _pairs(connection, "SELECT run_no, name, value FROM env", list(known))
        self._configs = _pairs(
            connection, "SELECT run_no, role || '.' || key, value FROM model_configs", list(known)
        )

    def between(self, earlier: Mapping[str, Any], later: Mapping[str, Any]) -> FineDifferences:
        """The differences from one of the runs to another."""
        old, new = int(earlier["run_no"]), int(later["run_no"])
        arguments, compared = self._arguments(earlier, later)
        knows_env = all(run["env_known"] or self._env[int(run["run_no"])] for run in (earlier, later))
        return FineDifferences(
            arguments=arguments,
            compared_arguments=compared,
            env=_env_changes(self._env[old], self._env[new]) if knows_env else (),
            configs=_common_changes(self._configs[old], self._configs[new]),
        )

    def _arguments(
        self, earlier: Mapping[str, Any], later: Mapping[str, Any]
    ) -> tuple[tuple[str, ...], bool]:
        if earlier["argv"] and later["argv"]:
            typed = [command_line.options(run["argv"]) for run in (earlier, later)]
            return _changes(typed[0], typed[1], _SKIPPED), True
        if not earlier["args_key"] or not later["args_key"]:
            return (), False
        old, new = self._printed[earlier["args_key"]], self._printed[later["args_key"]]
        if earlier["sglang_version"] != later["sglang_version"]:  # fields come and go with releases
            return _common_changes(old, new, _SKIPPED), True
        return _changes(old, new, _SKIPPED), True


def values_key(values: Mapping[str, Any]) -> str | None:
    """A hash of the arguments that count, equal for equal ones; None without any."""
    if not values:
        return None
    import hashlib  # 2 ms, and only an ingest asks

    text = "\0".join(f"{name}={values[name]}" for name in sorted(values) if name not in _SKIPPED)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _pairs(connection: DuckDBPyConnection, select: str, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
    gathered: dict[int, dict[str, Any]] = {number: {} for number in numbers}
    if not numbers:
        return gathered
    rows = connection.execute(
        f"{select} WHERE run_no IN ({', '.join(str(number) for number in numbers)})"
    ).fetchall()
    for number, name, value in rows:
        gathered[number][name] = value
    return gathered


def _env_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    session = {name for name in (*old, *new) if name.startswith(NOISE_ENV_BEGINS)}
    return _changes(old, new, NOISE_ENV | session)


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
