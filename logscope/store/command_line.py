"""The launch command's options, as far as facts about a run are read from them."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.lazy_pattern import lazy_re
from parsers.records import Json

_NAMES = {
    "model": "model_path",
    "tp": "tp_size",
    "tensor_parallel_size": "tp_size",
    "dp": "dp_size",
    "data_parallel_size": "dp_size",
    "pp": "pp_size",
    "pipeline_parallel_size": "pp_size",
    "ep": "ep_size",
    "expert_parallel_size": "ep_size",
    "speculative_draft_model": "speculative_draft_model_path",
}
"""Short and long forms of the same argument, from SGLang's own command-line help."""


_SERVER = lazy_re(
    r"sglang\.launch_server\b|sglang\.srt\.entrypoints\b|(?:\A|[\s/])(?:launch_server\.py|sglang\s+serve)(?:\s|\Z)"
)


def launches_server(argv: Sequence[str]) -> bool:
    """True when the command runs an SGLang server, be it behind wrappers or inside of a shell's words."""
    return _SERVER.search(" ".join(argv)) is not None


def options(argv: Sequence[str]) -> dict[str, Json]:
    """Option name (``_`` for ``-``, the long form) -> value as typed; True for a bare flag.

    Several words after one option are joined by a blank. The position of a value is not judged.
    """
    found: dict[str, Json] = {}
    name = ""
    for word in argv:
        if word.startswith("--") and len(word) > 2:
            flag, sign, value = word[2:].partition("=")
            name = flag.replace("-", "_")
            name = _NAMES.get(name, name)
            found[name] = value if sign else True
        elif name:
            have = found[name]
            found[name] = word if have is True else f"{have} {word}"
    return found


def whole_number(value: Json) -> int | None:
    """The value as an integer; None when it is none."""
    if isinstance(value, bool):
        return None
    try:
        return int(str(value)) if value is not None else None
    except ValueError:
        return None
