"""The values of one run under one kind of name: ``args.tp_size``, ``target.hidden_size``, ``draft.dtype``.

Beside the plain keys there are derived ones, such as the context length that rope scaling gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from logscope.compare.command_line import typed_arguments
from logscope.compare.configs import config_of, config_values
from logscope.compare.origins import env_default
from logscope.store.records import StoredRun
from parsers.records import Json

_LENGTH_KEYS = (
    "max_sequence_length",
    "seq_length",
    "max_seq_len",
    "model_max_length",
    "max_position_embeddings",
    "n_positions",
)
_EXPERT_KEYS = ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts")
_VOCAB_PAD = 64
"""SGLang pads the vocabulary to a multiple of this before it is cut over the ranks."""


_ON = ("1", "true", "yes", "y", "on")


class RunFacts:
    """Answers names with values; None for what is not known."""

    def __init__(self, run: StoredRun) -> None:
        self._run = run
        self._configs: Mapping[str, Mapping[str, Json]] = {
            role: _with_text_config(config_values(run, role)) for role in ("target", "draft")
        }

    @cached_property
    def arguments(self) -> Mapping[str, Json]:
        """Printed arguments; where the log holds none, what was typed."""
        printed = {argument.name: argument.value for argument in self._run.run.server_args}
        if printed:
            return printed
        return self.typed or {}

    @cached_property
    def typed(self) -> Mapping[str, Json] | None:
        """What stands on the command line; None when that is not known."""
        argv = self._run.context.argv if self._run.context is not None else None
        return typed_arguments(argv, self._run.sglang_version)

    def env(self, name: str) -> str | None:
        """The environment variable; None when it is not set or not known."""
        if self._run.context is not None and self._run.context.env is not None:
            return self._run.context.env.get(name)
        return next((variable.value for variable in self._run.run.env if variable.name == name), None)

    def why_on(self, name: str) -> str:
        """Why a variable is switched on for this run, by its setting or its release; '' when it is not."""
        held = self.env(name)
        if held is not None:
            return f"{name} is set" if held.strip().lower() in _ON else ""
        version = self._run.sglang_version
        is_default = version is not None and env_default(name, version) == "true"
        return f"{name} is true by default in {version}" if is_default else ""

    def value(self, name: str) -> Json:
        """The value of a dotted name; a bare number is itself."""
        room, _, key = name.partition(".")
        if name.replace(".", "", 1).isdigit():
            return float(name) if "." in name else int(name)
        if not key:
            return room
        if room == "args":
            derived = _DERIVED_ARGUMENTS.get(key)
            return derived(self.arguments) if derived else self.arguments.get(key)
        derived_config = _DERIVED_CONFIG.get(key)
        if derived_config is not None:
            return derived_config(self._configs.get(room, {}), self.arguments)
        return self._configs.get(room, {}).get(key)

    def holds(self, condition: str) -> bool:
        """``args.x`` is set, ``!args.x`` is not, ``args.x=A|B`` is one of them, ``args.x>0`` is greater."""
        if condition.startswith("!"):
            return not self.holds(condition[1:])
        if "=" in condition:
            name, _, choices = condition.partition("=")
            return str(self.value(name)) in choices.split("|")
        if ">" in condition:
            name, _, bound = condition.partition(">")
            value = self.value(name)
            return isinstance(value, int | float) and value > float(bound)
        return bool(self.value(condition))

    def has_config(self, role: str) -> bool:
        """True when the role's config.json is known and an object."""
        return isinstance(config_of(self._run, role), dict)


def _with_text_config(values: Mapping[str, Json]) -> Mapping[str, Json]:
    """Multimodal configs keep the language model's keys under text_config: they stand in for missing ones."""
    inner = {
        key.removeprefix("text_config."): value
        for key, value in values.items()
        if key.startswith("text_config.")
    }
    return {**inner, **values}


_Config = Mapping[str, Json]


def _derived_context(config: _Config, _: _Config) -> Json:
    """What SGLang derives: the length key times the rope factor, unless the original length is stated."""
    length = next((config[key] for key in _LENGTH_KEYS if isinstance(config.get(key), int)), None)
    if not isinstance(length, int):
        return None
    factor = config.get("rope_scaling.factor")
    kind = config.get("rope_scaling.rope_type") or config.get("rope_scaling.type")
    if not isinstance(factor, int | float) or kind in ("llama3", "mrope", "default"):
        return length
    if config.get("rope_scaling.original_max_position_embeddings") is not None:
        factor = 1
    return int(length * factor)


def _context(config: _Config, arguments: _Config) -> Json:
    asked = arguments.get("context_length")
    return asked if isinstance(asked, int) else _derived_context(config, arguments)


def _quantization(config: _Config, _: _Config) -> Json:
    for key in (
        "quantization_config.quant_method",
        "quantization_config.quant_algo",
        "compression_config.quant_method",
    ):
        if config.get(key):
            return config[key]
    return "unnamed" if any(key.startswith("quantization_config.") for key in config) else None


def _product(config: _Config, _: _Config) -> Json:
    width, heads = config.get("head_dim"), config.get("num_attention_heads")
    return width * heads if isinstance(width, int) and isinstance(heads, int) else None


def _expert_shard(config: _Config, arguments: _Config) -> Json:
    width, tp, ep = (
        config.get("moe_intermediate_size"),
        arguments.get("tp_size"),
        arguments.get("ep_size") or 1,
    )
    if not isinstance(width, int) or not isinstance(tp, int) or not isinstance(ep, int):
        return None
    ranks = max(1, tp // max(1, ep))
    return width // ranks if width % ranks == 0 else width / ranks


def _block_n(config: _Config, _: _Config) -> Json:
    block = config.get("quantization_config.weight_block_size")
    return block[0] if isinstance(block, list) and block else None


def _padded_vocab(config: _Config, _: _Config) -> Json:
    size = config.get("vocab_size")
    return -(-size // _VOCAB_PAD) * _VOCAB_PAD if isinstance(size, int) else None


def _first_of(*keys: str) -> Callable[[_Config, _Config], Json]:
    return lambda config, _: next((config[key] for key in keys if config.get(key) is not None), None)


def _attention_tp(arguments: _Config) -> Json:
    """Ranks that share one set of attention heads."""
    tp, dp = arguments.get("tp_size"), arguments.get("dp_size")
    if not isinstance(tp, int):
        return None
    if arguments.get("enable_dp_attention") and isinstance(dp, int) and dp > 1:
        return tp // dp if tp % dp == 0 else tp
    return tp


_DERIVED_ARGUMENTS: Mapping[str, Callable[[_Config], Json]] = {"attention_tp": _attention_tp}
_DERIVED_CONFIG: Mapping[str, Callable[[_Config, _Config], Json]] = {
    "derived_context": _derived_context,
    "context": _context,
    "quantization_method": _quantization,
    "head_total": _product,
    "target_hidden": _first_of("target_hidden_size", "eagle_config.target_hidden_size", "hidden_size"),
    "dtype": _first_of("dtype", "torch_dtype"),
    "experts": _first_of(*_EXPERT_KEYS),
    "expert_shard": _expert_shard,
    "block_n": _block_n,
    "padded_vocab": _padded_vocab,
}
