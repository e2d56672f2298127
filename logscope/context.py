"""The context file beside a log: what a log never holds. Written by ``record``, read by ``ingest``.

Every key is optional and unknown keys are ignored; a file that is no JSON object is an error that
names it, never a crash.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from logscope.errors import SourceError
from parsers.lazy_dataclass import dataclass, field
from parsers.records import Json

T = TypeVar("T")

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
    recorder: str | None = None
    """``PID START NAMESPACE`` of the process that will write the end (START in ticks after boot); None once
    that is written, and in the store."""


def context_path(log: Path) -> Path:
    """``NAME.context.json`` for ``NAME.log`` (also ``NAME.log.gz``)."""
    name = log.name
    for suffix in (".gz", ".zst", ".xz", ".bz2"):
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

    argv = _typed(held, "argv", list, where)
    env = _typed(held, "env", dict, where)
    configs = _typed(held, "model_configs", dict, where) or {}
    origin = _typed(held, "config_origin", dict, where) or {}
    return Context(
        argv=None if argv is None else tuple(str(word) for word in argv),
        env=None if env is None else {str(k): str(v) for k, v in env.items()},
        sglang_version=_typed(held, "sglang_version", str, where),
        sglang_commit=_typed(held, "sglang_commit", str, where),
        packages={str(k): str(v) for k, v in (_typed(held, "packages", dict, where) or {}).items()},
        host=_typed(held, "host", str, where),
        kernel=_typed(held, "kernel", str, where),
        image=_typed(held, "image", str, where),
        gpus=tuple(str(gpu) for gpu in _typed(held, "gpus", list, where) or []),
        driver=_typed(held, "driver", str, where),
        model_configs={str(k): v for k, v in configs.items() if v is not None},
        config_origin={str(k): str(origin.get(k, "launch")) for k in configs},
        model_files=tuple(_weight_files(_typed(held, "model_files", list, where) or [])),
        facts={str(k): str(v) for k, v in (_typed(held, "facts", dict, where) or {}).items()},
        start_time=_time(_typed(held, "start_time", str, where), where),
        end_time=_time(_typed(held, "end_time", str, where), where),
        exit_code=_typed(held, "exit_code", int, where),
        exit_signal=_typed(held, "exit_signal", str, where),
        recorder=_typed(held, "recorder", str, where),
    )


def _typed(held: Mapping[str, Json], key: str, kind: type[T], where: str) -> T | None:
    value = held.get(key)
    if value is None or isinstance(value, kind):
        return value
    raise SourceError(f"{where}: {key} is a {type(value).__name__}", f"expected a {kind.__name__}")


def _weight_files(held: list[Json]) -> Iterator[WeightFile]:
    for entry in held:
        if isinstance(entry, dict):
            size, digest = entry.get("size"), entry.get("sha256")
            yield WeightFile(
                role=str(entry.get("role", "target")),
                name=str(entry.get("name", "")),
                size=size if isinstance(size, int) else 0,
                sha256=None if digest is None else str(digest),
            )


def _time(value: str | None, where: str) -> datetime | None:
    """ISO 8601 with or without zone, as UTC without zone (how the store keeps every time of a context)."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise SourceError(f"{where}: {value!r} is no ISO 8601 time") from error
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def context_to_json(context: Context) -> dict[str, Json]:
    """The JSON object that `context_from_json` reads back as an equal Context; unknown facts stay out."""
    held: dict[str, Json] = {
        "schema": SCHEMA,
        "argv": None if context.argv is None else list(context.argv),
        "env": None if context.env is None else dict(context.env),
        "sglang_version": context.sglang_version,
        "sglang_commit": context.sglang_commit,
        "packages": dict(context.packages),
        "host": context.host,
        "kernel": context.kernel,
        "image": context.image,
        "gpus": list(context.gpus),
        "driver": context.driver,
        "model_configs": dict(context.model_configs),
        "config_origin": dict(context.config_origin),
        "model_files": [_file_to_json(file) for file in context.model_files],
        "facts": dict(context.facts),
        "start_time": _iso(context.start_time),
        "end_time": _iso(context.end_time),
        "exit_code": context.exit_code,
        "exit_signal": context.exit_signal,
        "recorder": context.recorder,
    }
    always = ("schema", "argv", "env", "exit_code", "exit_signal")
    return {key: value for key, value in held.items() if key in always or value not in (None, {}, [])}


def write_context(path: Path, context: Context) -> None:
    """Writes the context file so that a reader sees the old or the new one, never a part. Raises OSError."""
    text = json.dumps(context_to_json(context), indent=1, ensure_ascii=False) + "\n"
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_text(text, encoding="utf-8", errors="replace")
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def _file_to_json(file: WeightFile) -> Json:
    held: dict[str, Json] = {"role": file.role, "name": file.name, "size": file.size}
    return held if file.sha256 is None else held | {"sha256": file.sha256}


def _iso(moment: datetime | None) -> str | None:
    """UTC without zone, as the record keeps it, with the zone written out."""
    return None if moment is None else moment.isoformat() + "+00:00"
