"""Server arguments as they stand on a recorded command line, for runs whose log prints none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from logscope.compare.origins import flags_of
from parsers.records import Json

_SHORT = {
    "--model": "model_path",
    "--tokenizer": "tokenizer_path",
    "--tp": "tp_size",
    "--tensor-parallel-size": "tp_size",
    "--dp": "dp_size",
    "--data-parallel-size": "dp_size",
    "--pp": "pp_size",
    "--pipeline-parallel-size": "pp_size",
    "--ep": "ep_size",
    "--expert-parallel-size": "ep_size",
    "--speculative-algo": "speculative_algorithm",
    "--speculative-draft-model": "speculative_draft_model_path",
}
"""Short flags that hold in every release; the facts of the release come first."""

_ENTRY_POINTS = ("launch_server", "serve", "bench_one_batch", "bench_offline_throughput")


def typed_arguments(argv: Sequence[str] | None, version: str | None) -> dict[str, Json] | None:
    """Argument name -> value for the flags on `argv`; a bare flag is True. None when argv is not known."""
    if argv is None:
        return None
    flags = flags_of(version)
    typed: dict[str, Json] = {}
    for flag, words in _flags(_after_entry_point(argv)):
        name = argument_name(flag, flags)
        values = [_value(word) for word in words]
        typed[name] = True if not values else values[0] if len(values) == 1 else values
    return typed


def argument_name(flag: str, flags: Mapping[str, str]) -> str:
    """``--tp`` -> ``tp_size``; an unknown flag gives its own name with underscores."""
    return flags.get(flag) or _SHORT.get(flag) or flag.lstrip("-").replace("-", "_")


def _after_entry_point(argv: Sequence[str]) -> Sequence[str]:
    for place, word in enumerate(argv):
        if any(word == name or word.endswith((f".{name}", f"/{name}.py")) for name in _ENTRY_POINTS):
            return argv[place + 1 :]
    return argv[1:]


def _flags(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    flag, values = "", list[str]()
    for word in words:
        if word.startswith("--") and len(word) > 2:
            if flag:
                yield flag, values
            flag, equals, value = word.partition("=")
            values = [value] if equals else []
        elif flag:
            values.append(word)
    if flag:
        yield flag, values


def _value(word: str) -> Json:
    if word in ("True", "true"):
        return True
    if word in ("False", "false"):
        return False
    if word in ("None", "null"):
        return None
    try:
        value = json.loads(word)
    except ValueError:
        return word
    return word if isinstance(value, dict | list) else value
