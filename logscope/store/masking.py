"""Secrets of a context are masked as those of a log are: before anything is stored or shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from logscope.context import Context
from parsers.records import Json
from parsers.secrets import Masker


def masked_context(context: Context, salt: bytes) -> Context:
    """The context with its secrets replaced by salted masks."""
    masker = Masker(salt)
    return replace(
        context,
        argv=None if context.argv is None else masked_words(context.argv, masker),
        env=None
        if context.env is None
        else {name: _masked_pair(name, value, masker) for name, value in context.env.items()},
        facts={name: _masked_pair(name, value, masker) for name, value in context.facts.items()},
        model_configs={role: _masked_json(value, masker) for role, value in context.model_configs.items()},
    )


def masked_words(words: Sequence[str], masker: Masker) -> tuple[str, ...]:
    """A command line with the secrets of ``--flag value``, ``--flag=value`` and ``NAME=value`` masked."""
    done: list[str] = []
    for word in words:
        flag = done[-1] + " " if done and done[-1].startswith("--") else ""
        whole = masker.mask(flag + word)
        done.append(whole[len(flag) :] if whole.startswith(flag) else masker.mask(word))
    return tuple(done)


def _masked_pair(name: str, value: str, masker: Masker) -> str:
    start = f"{name}="
    whole = masker.mask(start + value)
    return whole[len(start) :] if whole.startswith(start) else masker.mask(value)


def _masked_json(value: Json, masker: Masker, name: str = "") -> Json:
    if isinstance(value, str):
        return _masked_pair(name, value, masker) if name else masker.mask(value)
    if isinstance(value, list):
        return [_masked_json(inner, masker, name) for inner in value]
    if isinstance(value, dict):
        return {key: _masked_json(inner, masker, key) for key, inner in value.items()}
    return value
