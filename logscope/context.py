"""The context file beside a log: what a log never holds. Written by ``record``, read by ``ingest``.

Every key is optional and unknown keys are ignored; a file that is no JSON object is an error that
names it, never a crash.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from logscope.errors import SourceError
from parsers.records import Json

SCHEMA = "logscope.context/1"


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One file of a model folder at launch time."""

    role: str
    """``target`` or ``draft``."""
    name: str
    size: int
    """Bytes."""
    sha256: str | None = None
    """Of small files (config, tokenizer); None for weights."""


@dataclass(frozen=True, slots=True)
class Context:
    """The surroundings of one launch."""

    argv: tuple[str, ...] | None = None
    """The command line, program first; None when it is not known."""
    env: Mapping[str, str] | None = None
    """Environment of the launch; None when it is not known ({} is known to be empty)."""
    sglang_version: str | None = None
    sglang_commit: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    host: str | None = None
    kernel: str | None = None
    image: str | None = None
    gpus: tuple[str, ...] = ()
    driver: str | None = None
    model_configs: Mapping[str, Json] = field(default_factory=dict)
    """Role -> the parsed config.json, or its text where it was no JSON."""
    config_origin: Mapping[str, str] = field(default_factory=dict)
    """Role -> ``launch`` (recorded at launch), ``now`` (read from disk at ingest) or ``given``."""
    model_files: tuple[WeightFile, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    """Other recorded facts, flat: ``ulimit_nofile``, ``shm_bytes``, ``gpu0_used_mib`` ..."""
    start_time: datetime | None = None
    end_time: datetime | None = None
    exit_code: int | None = None
    exit_signal: str | None = None


def context_path(log: Path) -> Path:
    """``NAME.context.json`` for ``NAME.log`` (also ``NAME.log.gz``)."""
    name = log.name
    for suffix in (".gz", ".zst", ".xz"):
        name = name.removesuffix(suffix)
    return log.with_name(name.removesuffix(".log") + ".context.json")


def read_context(path: Path) -> Context:
    """The context file at `path`. Raises SourceError when it is no JSON object or a key has a wrong shape."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: not readable as a context file: {error}") from error
    if not isinstance(held, dict):
        raise SourceError(f"{path}: a context file is a JSON object, this is a {type(held).__name__}")
    return context_from_json(held, str(path))


def context_from_json(held: Mapping[str, Json], where: str) -> Context:
    """Builds a Context from the parsed JSON; `where` names the source in errors."""

    def typed(key: str, kind: type | tuple[type, ...]) -> Json:
        value = held.get(key)
        if value is not None and not isinstance(value, kind):
            raise SourceError(f"{where}: {key} is a {type(value).__name__}", f"expected {kind}")
        return value

    argv, env = typed("argv", list), typed("env", dict)
    configs = typed("model_configs", dict) or {}
    origin = typed("config_origin", dict) or {}
    files = typed("model_files", list) or []
    return Context(
        argv=None if argv is None else tuple(str(word) for word in argv),
        env=None if env is None else {str(k): str(v) for k, v in env.items()},
        sglang_version=_text(typed("sglang_version", str)),
        sglang_commit=_text(typed("sglang_commit", str)),
        packages={str(k): str(v) for k, v in (typed("packages", dict) or {}).items()},
        host=_text(typed("host", str)),
        kernel=_text(typed("kernel", str)),
        image=_text(typed("image", str)),
        gpus=tuple(str(gpu) for gpu in typed("gpus", list) or []),
        driver=_text(typed("driver", str)),
        model_configs={str(k): v for k, v in configs.items() if v is not None},
        config_origin={str(k): str(origin.get(k, "launch")) for k in configs},
        model_files=tuple(
            WeightFile(
                str(f.get("role", "target")), str(f.get("name", "")), int(f.get("size") or 0), f.get("sha256")
            )
            for f in files
            if isinstance(f, dict)
        ),
        facts={str(k): str(v) for k, v in (typed("facts", dict) or {}).items()},
        start_time=_time(typed("start_time", str), where),
        end_time=_time(typed("end_time", str), where),
        exit_code=typed("exit_code", int),
        exit_signal=_text(typed("exit_signal", (str, int))),
    )


def _text(value: Json) -> str | None:
    return None if value is None else str(value)


def _time(value: Json, where: str) -> datetime | None:
    """ISO 8601 with or without zone, as UTC without zone (how the store keeps every time of a context)."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise SourceError(f"{where}: {value!r} is no ISO 8601 time") from error
    return moment if moment.tzinfo is None else (moment - moment.utcoffset()).replace(tzinfo=None)
