"""Changed keys of config.json and changed model files as candidates."""

from __future__ import annotations

from collections.abc import Iterator

from logscope.compare.clues import has_word
from logscope.compare.configs import config_values
from logscope.compare.records import ValueChange
from logscope.compare.values import show
from logscope.explain.candidate import Candidate, sentence
from logscope.explain.evidence import in_package, noted, root_quote
from logscope.explain.remedies import config_back
from logscope.explain.scene import Scene
from parsers.records import Json

_READ_BY = {
    "rope": ("rotary_embedding", "get_rope", "rope"),
    "quantization_config": ("quantization/", "_verify_quantization", "get_quant_config"),
    "architectures": ("models/registry", "resolve_model", "get_model_architecture"),
    "model_type": ("configuration_auto", "transformers/configuration"),
    "vision_config": ("vision", "multimodal", "visual"),
    "moe": ("layers/moe", "fused_moe"),
    "expert": ("layers/moe", "fused_moe"),
    "sliding_window": ("swa_memory_pool", "sliding"),
    "kv_lora_rank": ("mla", "deepseek"),
    "eagle": ("eagle", "speculative/"),
    "torch_dtype": ("_get_and_verify_dtype",),
    "dtype": ("_get_and_verify_dtype",),
}
"""Begin of a config key -> pieces of ``path:function`` of the code that reads it, lower case."""
_SIZES = frozenset(
    (
        "hidden_size", "intermediate_size", "moe_intermediate_size", "num_attention_heads",
        "num_key_value_heads", "head_dim", "vocab_size", "draft_vocab_size", "num_experts",
        "n_routed_experts", "num_local_experts", "q_lora_rank", "kv_lora_rank",
    )
)  # fmt: skip
"""Keys that give the shapes of the weights."""
_ARITHMETIC_PARTNERS = ("head_dim", "num_attention_heads", "num_key_value_heads", "hidden_size")


def config_candidates(scene: Scene) -> Iterator[Candidate]:
    """One candidate a changed key of target or draft config.json."""
    for row in scene.diff.configs:
        if not row.is_noise:
            yield _config_candidate(row, scene)


def _config_candidate(row: ValueChange, scene: Scene) -> Candidate:
    subject = f"{row.role}.{row.name}"
    what = f"{row.name} in the {'draft' if row.role == 'draft' else 'model'}'s config.json"
    title = f"{what} changed from {show(row.good)} to {show(row.bad)}"
    candidate = Candidate("config", subject, title, asks=("config", subject, row.bad))
    if row.name == "config.json":
        candidate.title = f"the {row.role} config.json is no valid JSON any more"
        candidate.add("damaged", 0.6, row.note)
    clues, key = scene.clues, row.name.rpartition(".")[2]
    candidate.add("config.json changed", 0.15, f"{what} is another one", links=False)
    if has_word(clues.message, key):
        candidate.add("named in the error", 0.5, f"the message names {key}")
    values = [value for value in (row.good, row.bad) if clues.names_number(value)]
    if clues.names_value(row.bad) or clues.names_value(_only(row.bad)):
        candidate.add("value in the error", 0.4, f"{show(row.bad)} stands in the message")
    elif values:
        points = 0.4 if len(values) == 2 else 0.25
        candidate.add(
            "value in the error", points, f"{' and '.join(show(value) for value in values)} in the message"
        )
    else:
        _score_shapes(row, scene, candidate)
    _score_reader(row, scene, candidate)
    for place, hit in enumerate(scene.matches):
        if _lists_key(hit.rule.evidence_config_keys, row):
            candidate.add(
                "known failure",
                0.25 if place == 0 else 0.12,
                f"{hit.rule.title}: {row.name} is looked at first",
            )
            break
    if scene.is_alone() and not scene.is_outside:
        candidate.add("the only change", 0.2, "nothing else that could matter differs")
    candidate.mechanism = " ".join(
        sentence(part.why) for part in candidate.parts if part.name != "config.json changed"
    )
    candidate.quote(root_quote(scene), noted(f"{subject}: {show(row.good)} -> {show(row.bad)}"))
    candidate.remedies = config_back(row)
    return candidate


def _only(value: Json) -> Json:
    """The one member of a list, as ``architectures`` holds it."""
    return value[0] if isinstance(value, list) and len(value) == 1 else None


def _score_reader(row: ValueChange, scene: Scene, candidate: Candidate) -> None:
    """It failed in the code that reads the key, or where weights are put into the shapes it gives."""
    head = row.name.partition(".")[0]
    pieces = next((read for begin, read in _READ_BY.items() if head.startswith(begin)), ())
    frame, distance = scene.clues.frame_with(pieces) if pieces else (None, -1)
    if frame is not None and distance < 4:
        candidate.add("read where it failed", 0.25, f"{in_package(frame.file)} reads {head}")
        return
    frame, distance = scene.clues.frame_with(("weight_loader", "load_weights", "default_weight_loader"))
    if row.name in _SIZES and frame is not None and distance < 3:
        why = f"{row.name} gives the shapes into which {frame.function} puts the weights"
        candidate.add("gives the shapes that failed", 0.3, why)


def _lists_key(keys: tuple[str, ...], row: ValueChange) -> bool:
    for key in keys:
        role, dot, name = key.partition(".")
        if dot and role in ("draft", "target"):
            if role == row.role and (row.name == name or row.name.startswith(name + ".")):
                return True
        elif row.role == "target" and (row.name == key or row.name.startswith(key + ".")):
            return True
    return False


def _score_shapes(row: ValueChange, scene: Scene, candidate: Candidate) -> None:
    """A product of the changed key and another one gives a number of the message: a shape error."""
    good, bad = row.good, row.bad
    if not _is_count(good) or not _is_count(bad) or scene.diff.good is None:
        return
    after = config_values(scene.bad, str(row.role))
    before = config_values(scene.diff.good, str(row.role))
    for partner in _ARITHMETIC_PARTNERS:
        new, old = after.get(partner), before.get(partner)
        if partner == row.name or not _is_count(new) or not _is_count(old):
            continue
        product, was = int(str(bad)) * int(str(new)), int(str(good)) * int(str(old))
        if scene.clues.names_number(product) and scene.clues.names_number(was):
            why = f"{row.name} * {partner} is {product} now and was {was}: both stand in the message"
            candidate.add("shapes in the error", 0.4, why)
            return
        if scene.clues.names_number(product):
            candidate.add(
                "shapes in the error", 0.2, f"{row.name} * {partner} is {product}, as in the message"
            )


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def file_candidates(scene: Scene) -> Iterator[Candidate]:
    """Model files that came, went or changed."""
    for row in scene.diff.files:
        change = "is gone" if row.bad is None else "is new" if row.good is None else "changed"
        sizes = "" if row.good is None or row.bad is None else f" ({show(row.good)} to {show(row.bad)} bytes)"
        candidate = Candidate(
            "other", f"model files: {row.name}", f"{row.name} of the {row.role} {change}{sizes}"
        )
        candidate.add("model file changed", 0.3, candidate.title, links=True)
        if row.name in scene.clues.message:
            candidate.add("named in the error", 0.5, f"the message names {row.name}")
        hit = next(iter(scene.matches), None)
        about = f"{hit.rule.cause_subject} {hit.rule.title}".lower() if hit is not None else ""
        is_weights = row.name.endswith((".safetensors", ".bin", ".gguf", ".pt"))
        if ("weight" in about and is_weights) or ("tokenizer" in about and "token" in row.name):
            candidate.add("known failure", 0.4, f"{hit.rule.title if hit else ''}: such a file decides it")
        candidate.quote(
            root_quote(scene), noted(f"{row.role} {row.name}: {show(row.good)} -> {show(row.bad)}")
        )
        yield candidate
