"""What is known of a launch beyond its log: the context file beside it, files given by hand, local configs.

Never asks the network: model paths are looked up as folders and in the local Hugging Face cache only.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from logscope.context import Context, context_path, read_context
from logscope.errors import SourceError, UsageError
from logscope.notices import tell
from logscope.store import command_line
from parsers.lazy_dataclass import dataclass, field, replace
from parsers.records import Json, Run

DRAFT_ARGUMENTS = ("speculative_draft_model_path", "speculative_draft_model")
LARGEST_CONFIG = 1 << 22


@dataclass(frozen=True, slots=True)
class GivenFiles:
    """What `ingest` was told by hand; wins over the context file."""

    configs: Mapping[str, Path] = field(default_factory=dict)
    """Role -> config.json."""
    env_file: Path | None = None


def given_files(words: Sequence[str], env_file: Path | None) -> GivenFiles:
    """What ``--config ROLE=FILE`` and ``--env-file`` give. Raises UsageError for another role."""
    configs: dict[str, Path] = {}
    for word in words:
        role, _, file = word.partition("=")
        if role not in ("target", "draft") or not file:
            raise UsageError(f"--config {word}: not target=FILE or draft=FILE")
        configs[role] = Path(file)
    return GivenFiles(configs, env_file)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The context to apply to a log and a hash of the files it is from."""

    context: Context | None
    sha256: str | None
    """None when there were no such files."""


def gather(path: str, given: GivenFiles) -> Surroundings:
    """The context of the log at `path` (``-`` has none of its own). Raises SourceError for an unreadable
    file that was given by hand; of the context file beside the log it is only told."""
    seen = hashlib.sha256()
    context: Context | None = None
    beside = None if path == "-" else context_path(Path(path))
    if beside is not None and beside.is_file():
        try:
            context = read_context(beside)
            seen.update(beside.read_bytes())
        except SourceError as error:
            hint = f" ({error.hint})" if error.hint else ""
            _tell_once(f"{error.message}{hint}; the log is read without it")
    context, contents = with_given(context, given)
    seen.update(contents)
    return Surroundings(context, None if context is None else seen.hexdigest())


@cache
def _tell_once(text: str) -> None:
    tell(text)


def with_given(context: Context | None, given: GivenFiles) -> tuple[Context | None, bytes]:
    """The context with what was given by hand in place of its own, and what the files held.

    Raises SourceError for an unreadable file.
    """
    contents = b""
    for role, file in given.configs.items():
        config, content = _given_config(role, file)
        base = context or Context()
        context = replace(
            base,
            model_configs={**base.model_configs, role: config},
            config_origin={**base.config_origin, role: "given"},
        )
        contents += role.encode() + b"\0" + content
    if given.env_file is not None:
        env, content = _given_env(given.env_file)
        context = replace(context or Context(), env=env)
        contents += b"env\0" + content
    return context, contents


def with_local_configs(context: Context | None, run: Run) -> Context | None:
    """Adds the config.json files of the run's models as they lie on this machine now, where none is known."""
    have = context.model_configs if context is not None else {}
    found: dict[str, Json] = {}
    for role, place in model_places(run, context).items():
        if role not in have and (config := _local_config(place)) is not None:
            found[role] = config
    if not found:
        return context
    base = context or Context()
    return replace(
        base,
        model_configs={**base.model_configs, **found},
        config_origin={**base.config_origin, **dict.fromkeys(found, "now")},
    )


def model_places(run: Run, context: Context | None) -> dict[str, str]:
    """Role -> model path as the launch had it."""
    printed = {argument.name: argument.value for argument in run.server_args}
    typed = command_line.options(context.argv) if context is not None and context.argv else {}
    places: dict[str, str] = {}
    target = run.model_path or printed.get("model_path") or typed.get("model_path")
    if isinstance(target, str) and target:
        places["target"] = target
    for name in DRAFT_ARGUMENTS:
        draft = printed.get(name) or typed.get(name)
        if isinstance(draft, str) and draft:
            places["draft"] = draft
    return places


def _local_config(place: str) -> Json:
    for file in (Path(place).expanduser() / "config.json", *_in_hub_cache(place)):
        try:
            if file.is_file() and file.stat().st_size <= LARGEST_CONFIG:
                return _parse(file.read_text(encoding="utf-8", errors="replace"))
        except OSError:  # a folder of somebody else's: the same as not being there
            continue
    return None


def _in_hub_cache(name: str) -> list[Path]:
    """config.json of a hub model in the local cache; the snapshot that ``main`` points at first."""
    if name.count("/") != 1 or name.startswith(("/", ".", "~")):
        return []
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface").expanduser()
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    folder = hub / f"models--{name.replace('/', '--')}"
    try:
        newest = (folder / "refs" / "main").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        newest = ""
    snapshots = sorted(folder.glob("snapshots/*/config.json"))
    return sorted(snapshots, key=lambda file: file.parent.name != newest)


def _given_config(role: str, file: Path) -> tuple[Json, bytes]:
    content = _read(file)
    config = _parse(content.decode("utf-8", "replace"))
    if not isinstance(config, dict):
        raise SourceError(f"{file}: not a JSON object", f"given as the config of the {role} model")
    return config, content


def _given_env(file: Path) -> tuple[dict[str, str], bytes]:
    """Variables of an env file: a JSON object, or lines ``NAME=value`` (``export`` and quotes allowed)."""
    content = _read(file)
    text = content.decode("utf-8", "replace")
    whole = _parse(text)
    if isinstance(whole, dict):
        return {str(name): str(value) for name, value in whole.items()}, content
    env: dict[str, str] = {}
    for number, line in enumerate(text.replace("\0", "\n").splitlines(), start=1):
        stripped = line.strip().removeprefix("export ").strip()
        if not stripped or stripped.startswith("#"):
            continue
        name, sign, value = stripped.partition("=")
        if not sign or not name.strip().isidentifier():
            raise SourceError(
                f"{file}: line {number} is no NAME=value", "an env file holds one variable a line"
            )
        env[name.strip()] = _unquoted(value.strip())
    return env, content


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


def _read(file: Path) -> bytes:
    try:
        return file.expanduser().read_bytes()
    except OSError as error:
        raise SourceError(f"{file}: cannot be read: {error.strerror}") from error


def _parse(text: str) -> Json:
    """The JSON value, or the text itself where it is no JSON (a broken config.json is a finding, too)."""
    try:
        value: Json = json.loads(text)
    except ValueError:
        return text
    return value
