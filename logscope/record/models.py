"""The model folders of a launch: config.json, weight files with sizes, hashes of small files.

Looks in local folders and in the local Hugging Face cache; never at the network.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from logscope.context import WeightFile
from logscope.record.command_line import Command
from parsers.lazy_dataclass import dataclass
from parsers.records import Json

FLAGS = {
    "target": ("--model-path", "--model"),
    "draft": ("--speculative-draft-model-path", "--speculative-draft-model", "--draft-model-path"),
}
_REVISION_FLAGS = {"target": ("--revision",), "draft": ("--speculative-draft-model-revision",)}
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
_SMALL = (".json", ".txt", ".model", ".jinja", ".tiktoken", ".py", ".yaml", ".yml")
_HASHED_BYTES = 64 << 20
_MOST_FILES = 4000


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """One model as it lies on this machine."""

    role: str
    """``target`` or ``draft``."""
    name: str
    """As given on the command line."""
    folder: Path | None
    """None when neither a folder nor a cached snapshot of that name exists here."""
    config: Json = None
    """The parsed config.json; its text where it is no JSON; None without one."""
    revision: str | None = None
    """Commit of a snapshot from the Hugging Face cache."""


def model_folders(command: Command, env: Mapping[str, str], cwd: Path) -> tuple[ModelFolder, ...]:
    """Target and draft that the command line names, in that order."""
    folders = []
    for role, flags in FLAGS.items():
        name = command.value(*flags)
        if name:
            folders.append(find_model(role, name, command.value(*_REVISION_FLAGS[role]), env, cwd))
    return tuple(folders)


def find_model(role: str, name: str, revision: str | None, env: Mapping[str, str], cwd: Path) -> ModelFolder:
    """The folder `name`, else the snapshot of that repository in the local cache."""
    local = cwd / Path(name).expanduser()
    if local.is_dir():
        return ModelFolder(role, name, local, read_config(local / "config.json"))
    if local.is_file():  # one GGUF file
        return ModelFolder(role, name, local.parent, read_config(local.parent / "config.json"))
    snapshot = _cached_snapshot(name, revision or "main", env)
    if snapshot is None:
        return ModelFolder(role, name, None)
    return ModelFolder(role, name, snapshot, read_config(snapshot / "config.json"), snapshot.name)


def read_config(path: Path) -> Json:
    """The parsed file; its text where it is no JSON; None where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    try:
        parsed: Json = json.loads(text)
    except ValueError:
        return text
    return parsed


def list_files(model: ModelFolder) -> tuple[WeightFile, ...]:
    """Weight files with sizes and small files with sizes and hashes, by name."""
    if model.folder is None:
        return ()
    files = []
    for path in sorted(model.folder.iterdir())[:_MOST_FILES]:
        suffix = path.suffix.lower()
        if suffix not in _WEIGHTS and suffix not in _SMALL:
            continue
        try:
            size = path.stat().st_size
            is_small = suffix in _SMALL and size <= _HASHED_BYTES
            files.append(WeightFile(model.role, path.name, size, file_hash(path) if is_small else None))
        except OSError:  # a link of the cache that leads nowhere: an unfinished download
            files.append(WeightFile(model.role, path.name, 0))
    return tuple(files)


def file_hash(path: Path) -> str:
    """sha256 in hex. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache_folder(env: Mapping[str, str]) -> Path:
    """The local Hugging Face cache of a launch with this environment."""
    for name, below in (("HF_HUB_CACHE", ""), ("HUGGINGFACE_HUB_CACHE", ""), ("HF_HOME", "hub")):
        if env.get(name):
            return Path(env[name]).expanduser() / below
    cache = Path(env.get("XDG_CACHE_HOME") or Path(env.get("HOME", "~")) / ".cache").expanduser()
    return cache / "huggingface" / "hub"


def _cached_snapshot(name: str, revision: str, env: Mapping[str, str]) -> Path | None:
    repository = cache_folder(env) / ("models--" + name.strip("/").replace("/", "--"))
    try:
        commit = (repository / "refs" / revision).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        commit = revision
    snapshot = repository / "snapshots" / commit
    return snapshot if snapshot.is_dir() else None
