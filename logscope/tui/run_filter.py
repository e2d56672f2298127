"""What is typed to filter the run list: words, and ``key:value`` for one column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from logscope.tui.needle import is_in

if TYPE_CHECKING:
    from logscope.store.records import RunFacts

KEYS = ("outcome", "version", "model", "host", "mark")


def filtered(facts: Sequence[RunFacts], text: str) -> Sequence[RunFacts]:
    """The runs that fit every word of `text`; all for ''."""
    words = [_split(word) for word in text.split()]
    return [run for run in facts if all(_fits(run, key, value) for key, value in words)] if words else facts


def _split(word: str) -> tuple[str, str]:
    key, sign, value = word.partition(":")
    return (key.lower(), value.casefold()) if sign and key.lower() in KEYS else ("", word)


def _fits(run: RunFacts, key: str, value: str) -> bool:
    if key in ("outcome", "mark"):
        return (run.outcome if key == "outcome" else run.mark or "none") == value
    if key == "version":
        return (run.sglang_version or "?").casefold() == value
    if key == "model":
        return value in model_name(run.model_path).casefold()
    if key == "host":
        return value in (run.host or "").casefold()
    return is_in(value, _haystack(run))


def _haystack(run: RunFacts) -> str:
    parts = (
        run.outcome, run.mark, run.note, run.sglang_version, run.model_path, run.host, run.path, run.run_id,
        run.root_type, run.root_message, run.stage, run.speculative_algorithm, run.quantization,
    )  # fmt: skip
    return " ".join(str(part) for part in parts if part)


def model_name(path: str | None) -> str:
    """The last part of a model path."""
    return (path or "?").rstrip("/").rsplit("/", 1)[-1]
