"""Fills the context file of a launch: at its start what is known at once, then the rest, then its end.

Must never disturb the launch: whatever fails here is told and left out.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from logscope.context import Context, write_context
from logscope.record.accelerators import read_devices
from logscope.record.command_line import interpreter_of, parse_command
from logscope.record.environment import Masker, kept_environment
from logscope.record.machine import image, kernel, machine_facts, steady
from logscope.record.models import list_files, model_folders
from logscope.record.packages import read_installed
from logscope.store.recorder import mark_of
from parsers.lazy_dataclass import dataclass

_JOIN_SECONDS = 10.0
"""How long the end of a launch waits for facts that are still being collected."""


@dataclass(frozen=True, slots=True)
class Watched:
    """The launch whose surroundings are kept."""

    words: Sequence[str]
    env: Mapping[str, str]
    keep_env: Sequence[str]
    path: Path
    """The context file."""
    masker: Masker


class Surroundings:
    """Writes the context file of one launch."""

    def __init__(self, watched: Watched, tell: Callable[[str], None]) -> None:
        self._watched = watched
        self._tell = tell
        self._told: set[str] = set()
        self._lock = threading.Lock()
        self._context = Context(start_time=_now(), recorder=mark_of(os.getpid()))
        self._thread = threading.Thread(target=self._collect, name="surroundings", daemon=True)

    def start(self) -> None:
        """Begins to collect; the first file is written by the thread at once."""
        self._thread.start()

    def end(self, code: int, number: int | None) -> None:
        """Keeps how and when the command ended."""
        self._update(
            end_time=_now(),
            recorder=None,
            exit_code=None if number is not None else code,
            exit_signal=None if number is None else _signal_name(number),
        )

    def finish(self) -> None:
        """Waits for the thread, a limited time."""
        self._thread.join(_JOIN_SECONDS)

    def _collect(self) -> None:
        for part in (_command, _packages, _machine, _models, _devices):
            try:
                self._update(**part(self._watched))
            except Exception as error:  # the outermost edge of a worker: the launch must not notice
                self._tell(f"{part.__name__.strip('_')} of this launch not recorded: {error}")

    def _update(self, **held: object) -> None:
        with self._lock:
            facts = held.pop("facts", None)
            merged = {**self._context.facts, **facts} if isinstance(facts, dict) else self._context.facts
            self._context = dataclasses.replace(self._context, facts=merged, **held)  # type: ignore[arg-type]
            try:
                write_context(self._watched.path, self._context)
            except OSError as error:
                self._tell_once(f"{self._watched.path} not written: {error.strerror or error}")

    def _tell_once(self, text: str) -> None:
        """The file is written at every step: what is wrong with its folder is told at the first one."""
        if text not in self._told:
            self._told.add(text)
            self._tell(text)


def _command(watched: Watched) -> dict[str, object]:
    return {
        "argv": watched.masker.words(watched.words),
        "env": watched.masker.env(kept_environment(watched.env, watched.keep_env)),
        "host": platform.node() or None,
        "kernel": kernel(),
        "image": image(watched.env),
        "facts": {"cwd": str(Path.cwd())},
    }


def _packages(watched: Watched) -> dict[str, object]:
    interpreter = interpreter_of(watched.words, watched.env)
    if interpreter is None:
        return {}
    installed = read_installed(interpreter, watched.env)
    facts = {"interpreter": str(interpreter)}
    if installed.python_version is not None:
        facts["python"] = installed.python_version
    if installed.sglang_folder is not None:
        facts["sglang_folder"] = str(installed.sglang_folder)
    return {
        "packages": installed.packages,
        "sglang_version": installed.packages.get("sglang"),
        "sglang_commit": installed.sglang_commit,
        "facts": facts,
    }


def _machine(watched: Watched) -> dict[str, object]:
    return {"facts": steady(machine_facts())}


def _models(watched: Watched) -> dict[str, object]:
    folders = model_folders(parse_command(watched.words), watched.env, Path.cwd())
    return {
        "model_configs": {f.role: f.config for f in folders if f.config is not None},
        "config_origin": {f.role: "launch" for f in folders if f.config is not None},
        "model_files": tuple(file for folder in folders for file in list_files(folder)),
        "facts": {
            **{f"{f.role}_folder": str(f.folder) for f in folders if f.folder is not None},
            **{f"{f.role}_revision": f.revision for f in folders if f.revision is not None},
        },
    }


def _devices(watched: Watched) -> dict[str, object]:
    devices = read_devices(watched.env)
    return {
        "gpus": tuple(gpu.name for gpu in devices.gpus),
        "driver": devices.driver,
        "facts": devices.facts(),
    }


def _now() -> datetime:
    now = datetime.now(UTC).replace(tzinfo=None)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
