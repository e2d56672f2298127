"""Model folders of a planned launch: is everything there, whole, and does it fit together.

Reads the beginnings of files only, but for tokenizer.json and the index.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from logscope.explain.records import Remedy
from logscope.record.checking import Finding, Planned, Severity
from logscope.record.models import FLAGS, ModelFolder, cache_folder, model_folders
from parsers.lazy_dataclass import dataclass
from parsers.records import Json

_WEIGHT_SUFFIXES = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
_LFS = b"version https://git-lfs"
_LARGEST_HEADER = 100 << 20
_LARGEST_TOKENIZER = 48 << 20
_MOST_WEIGHT_FILES = 400

_AGAIN = Remedy(
    "Fetch the file again and compare its size or hash.", "", "lasting", "the source is reachable"
)


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor as a safetensors header declares it."""

    dtype: str
    shape: tuple[int, ...]


def file_findings(plan: Planned) -> Iterator[Finding]:
    """Missing and damaged files of target and draft."""
    if plan.is_recorded:
        yield from _recorded_findings(plan)
        return
    for model in model_folders(plan.command, plan.env, plan.cwd):
        if model.folder is None:
            yield from _missing_model(plan, model)
            continue
        yield from _config_file(model)
        tensors: dict[str, Tensor] = {}
        yield from _weights(model, tensors)
        yield from _shapes(model, tensors)
        yield from _tokenizer(model)


def _recorded_findings(plan: Planned) -> Iterator[Finding]:
    """A recorded launch without a config.json for a model given as a path: there was no such folder."""
    for role, flags in FLAGS.items():
        name = plan.command.value(*flags)
        if name and name.startswith(("/", "./", "~")) and role not in plan.context.model_configs:
            yield _no_folder(plan, role, name)


def _missing_model(plan: Planned, model: ModelFolder) -> Iterator[Finding]:
    is_path = model.name.startswith(("/", "./", "../", "~")) or model.name.count("/") > 1
    offline = any(plan.env.get(name, "").lower() in ("1", "true", "on", "yes") for name in _OFFLINE)
    if is_path:
        yield _no_folder(plan, model.role, model.name)
    elif offline:
        yield Finding(
            "model-not-cached",
            "arg",
            _argument(model.role),
            Severity.FAILS,
            f"{model.name} is neither a folder here nor in the local cache, and the launch may not download",
            (f"looked in {cache_folder(plan.env)}", "HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set"),
            (
                Remedy(
                    "Download it first.", f"hf download {model.name}", "lasting", "the network is reachable"
                ),
            ),
        )
    else:
        yield Finding(
            "model-not-here",
            "arg",
            _argument(model.role),
            Severity.NOTE,
            f"{model.name} is not on this machine yet: the launch downloads it first",
            (f"looked in {cache_folder(plan.env)}",),
        )


_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")


def _no_folder(plan: Planned, role: str, name: str) -> Finding:
    near = _near_folder(plan.cwd / Path(name).expanduser()) if not plan.is_recorded else None
    remedies = [Remedy("Correct the path.", "", "lasting", "the model is somewhere else")]
    if near is not None:
        remedies.insert(0, Remedy(f"Did you mean {near}?", str(near), "lasting", "it is a typing error"))
    return Finding(
        "model-path-missing",
        "arg",
        _argument(role),
        Severity.FAILS,
        f"there is no model at {name}: SGLang takes it for the name of a repository and fails",
        (f"no folder {name} with a config.json",),
        tuple(remedies),
    )


def _near_folder(path: Path) -> Path | None:
    import difflib

    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.is_dir()]
    except OSError:
        return None
    near = difflib.get_close_matches(path.name, names, 1, 0.6)
    return path.parent / near[0] if near else None


def _config_file(model: ModelFolder) -> Iterator[Finding]:
    if model.folder is not None and model.config is None and not any(model.folder.glob("*.gguf")):
        yield Finding(
            "config-missing",
            "config",
            f"{model.role}.config.json",
            Severity.FAILS,
            f"{model.folder} has no config.json",
            (f"{model.role} model {model.name}",),
            (_AGAIN,),
        )


def _weights(model: ModelFolder, tensors: dict[str, Tensor]) -> Iterator[Finding]:
    assert model.folder is not None
    files = [path for path in sorted(model.folder.iterdir()) if path.suffix.lower() in _WEIGHT_SUFFIXES]
    wanted = _indexed_files(model.folder)
    missing = sorted(wanted - {path.name for path in files if path.exists()})
    if missing:
        yield _file_finding(
            model,
            "weight-file-missing",
            f"{len(missing)} of {len(wanted)} weight files are missing in {model.folder}: {missing[0]}",
            ("the index names " + ", ".join(missing[:5]),),
        )
    elif not files:
        yield _file_finding(
            model,
            "no-weights",
            f"{model.folder} holds no weight file",
            (f"looked for {', '.join(_WEIGHT_SUFFIXES)}",),
        )
    for path in files[:_MOST_WEIGHT_FILES]:
        reason = _damage(path, tensors)
        if reason:
            yield _file_finding(
                model, "weight-file-damaged", f"{path.name} is damaged: {reason}", (str(path),)
            )


def _indexed_files(folder: Path) -> set[str]:
    names: set[str] = set()
    for index in folder.glob("*.index.json"):
        try:
            held = json.loads(index.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        weight_map = held.get("weight_map") if isinstance(held, dict) else None
        if isinstance(weight_map, dict):
            names |= {str(name) for name in weight_map.values()}
    return names


def _damage(path: Path, tensors: dict[str, Tensor]) -> str:
    """Why the file cannot be whole; '' when nothing speaks against it."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(64)
            if size == 0:
                return "it is empty"
            if start.startswith(_LFS):
                return "it is a Git LFS pointer, not the weights"
            if path.suffix != ".safetensors":
                return ""
            length = int.from_bytes(start[:8], "little")
            if size < 8 or length > min(_LARGEST_HEADER, size - 8):
                return f"its header would end behind the end of the file ({size} bytes)"
            file.seek(8)
            header = json.loads(file.read(length))
    except OSError as error:
        return error.strerror or "it cannot be read"
    except ValueError:
        return "its header is no JSON"
    return _check_header(header, size - 8 - length, tensors)


def _check_header(header: Json, held: int, tensors: dict[str, Tensor]) -> str:
    if not isinstance(header, dict):
        return "its header is no JSON object"
    end = 0
    for name, entry in header.items():
        if name == "__metadata__" or not isinstance(entry, dict):
            continue
        offsets, shape = entry.get("data_offsets"), entry.get("shape")
        if isinstance(offsets, list) and len(offsets) == 2 and isinstance(offsets[1], int):
            end = max(end, offsets[1])
        if isinstance(shape, list):
            tensors[name] = Tensor(str(entry.get("dtype")), tuple(int(str(width)) for width in shape))
    if end > held:
        return f"it is cut off, {held} of {end} bytes of tensors"
    return ""


def _shapes(model: ModelFolder, tensors: Mapping[str, Tensor]) -> Iterator[Finding]:
    """config.json against the shapes of the weights, for plain layers of full precision."""
    if not isinstance(model.config, dict) or not tensors:
        return
    config = model.config
    for ending, key, width in _shape_rules(config):
        for name, tensor in tensors.items():
            is_plain = tensor.dtype in ("F16", "BF16", "F32", "F64") and len(tensor.shape) == 2
            if name.endswith(ending) and is_plain and tensor.shape[0] != width:
                yield Finding(
                    "config-against-weights",
                    "config",
                    f"{model.role}.{key}",
                    Severity.FAILS,
                    f"config.json of the {model.role} model says {key} {config.get(key)}, its weights do not",
                    (f"{name} has {tensor.shape[0]} rows, {key} asks for {width}",),
                    (
                        Remedy(
                            "Take config.json and weights from one place.",
                            "",
                            "lasting",
                            "one of them was changed",
                        ),
                    ),
                )
                break


def _shape_rules(config: Mapping[str, Json]) -> Iterator[tuple[str, str, int]]:
    """(end of a tensor's name, config key, rows that it must have)."""
    hidden, heads = config.get("hidden_size"), config.get("num_attention_heads")
    if not isinstance(hidden, int) or not isinstance(heads, int) or heads < 1:
        return
    head = config.get("head_dim")
    head = head if isinstance(head, int) else hidden // heads
    key_heads = config.get("num_key_value_heads")
    if config.get("kv_lora_rank") is None:
        if isinstance(key_heads, int):
            yield ".self_attn.k_proj.weight", "num_key_value_heads", key_heads * head
        yield ".self_attn.o_proj.weight", "hidden_size", hidden
    inner = config.get("intermediate_size")
    if isinstance(inner, int):
        yield ".mlp.gate_proj.weight", "intermediate_size", inner


def _tokenizer(model: ModelFolder) -> Iterator[Finding]:
    assert model.folder is not None
    path = model.folder / "tokenizer.json"
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_TOKENIZER:
            return
        held = json.loads(path.read_bytes())
    except ValueError as error:
        yield _file_finding(
            model, "tokenizer-unreadable", f"{path} is no JSON: the tokenizer cannot be loaded", (str(error),)
        )
        return
    except OSError:
        return
    yield from _added_tokens(model, held)


def _added_tokens(model: ModelFolder, tokenizer: Json) -> Iterator[Finding]:
    """Token ids that the model's embedding has no row for."""
    size = model.config.get("vocab_size") if isinstance(model.config, dict) else None
    added = tokenizer.get("added_tokens") if isinstance(tokenizer, dict) else None
    if not isinstance(size, int) or not isinstance(added, list):
        return
    for token in added:
        if isinstance(token, dict) and isinstance(number := token.get("id"), int) and number >= size:
            yield Finding(
                "token-outside-vocabulary",
                "config",
                f"{model.role}.tokenizer.json",
                Severity.RISK,
                f"tokenizer.json has a token {number}, the model has {size}: using it ends the server",
                (f"added token {token.get('content')!r} has the id {number}", f"vocab_size is {size}"),
                (
                    Remedy(
                        "Use the tokenizer that belongs to the model.",
                        "",
                        "lasting",
                        "it was replaced or edited",
                    ),
                ),
            )
            return


def _file_finding(model: ModelFolder, rule: str, title: str, evidence: tuple[str, ...]) -> Finding:
    return Finding(rule, "other", f"{model.role} files", Severity.FAILS, title, evidence, (_AGAIN,))


def _argument(role: str) -> str:
    return "model_path" if role == "target" else "speculative_draft_model_path"
