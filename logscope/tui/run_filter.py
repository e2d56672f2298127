"""What is typed to filter the run list: words, and ``key:value`` for one column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logscope.store.records import RunFacts

KEYS = ("outcome", "version", "model", "host", "mark")


class RunFilter:
    """Filters runs; the text that words are looked for in is put together once a run."""

    def __init__(self, facts: Sequence[RunFacts]) -> None:
        self._facts = facts
        self._texts: dict[str, tuple[str, str]] = {}
        """Run id -> its text, as it is and in lower case."""

    def fitting(self, text: str) -> Sequence[RunFacts]:
        """The runs that fit every word of `text`; all for ''."""
        found = self._facts
        for key, value in map(_split, text.split()):
            if key:
                found = [run for run in found if _fits(run, key, value)]
            else:
                part = int(value == value.lower())
                found = [run for run in found if value in self._text(run)[part]]
        return found

    def _text(self, run: RunFacts) -> tuple[str, str]:
        known = self._texts.get(run.run_id)
        if known is None:
            text = _haystack(run)
            known = self._texts[run.run_id] = (text, text.lower())
        return known


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
    return value in (run.host or "").casefold()


def _haystack(run: RunFacts) -> str:
    parts = (
        run.outcome, run.mark, run.note, run.sglang_version, run.model_path, run.host, run.path, run.run_id,
        run.root_type, run.root_message, run.stage, run.speculative_algorithm, run.quantization,
    )  # fmt: skip
    return " ".join(str(part) for part in parts if part)


def model_name(path: str | None) -> str:
    """The last part of a model path."""
    return (path or "?").rstrip("/").rsplit("/", 1)[-1]
