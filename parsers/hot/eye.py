"""The careful parser's answers to the hot lane's questions; asking changes nothing in the reader."""

from __future__ import annotations

import functools

from parsers.carriers import CarrierReader
from parsers.heads import parse_head, split_glued
from parsers.hot.templates import Template, learn
from parsers.rules.access import AccessLine, parse_access
from parsers.rules.batches import parse_batch
from parsers.secrets import TRIGGERS
from parsers.sources import HOST_LABELS
from parsers.times import is_dated

_TIME = "[2026-02-03 04:05:06"
_MESSAGE = " Decode batch"
_SPECIAL = (b"\r", b"\x1b", b"\0", b"[0m", b"it/s", b"s/it", b"%|", b"B/s]")
"""Colours and progress bars: such text may be cut into pieces."""


class ReaderEye:
    """Looks at lines with a copy of the reader's carriers."""

    def __init__(self, carriers: CarrierReader) -> None:
        self._proven = carriers.proven
        self._margin = carriers.margin

    def prefix(self, line: bytes) -> tuple[bytes, str, tuple[str, ...]] | None:
        """(carriers' bytes, label, carriers) of a line that is one whole record, else None."""
        text = _harmless(line)
        if text is None:
            return None
        carried = CarrierReader(set(self._proven), self._margin).take_off(text)
        rest, label = text, ""
        carriers: tuple[str, ...] = ()
        if carried is not None:
            if carried.partial or carried.repeats != 1 or not text.endswith(carried.text):
                return None
            rest, label, carriers = carried.text, carried.label, carried.names
        if label in HOST_LABELS or not _is_record(rest) or len(split_glued(rest)) != 1:
            return None
        return text[: len(text) - len(rest)].encode(), label, carriers

    def rank(self, tag: bytes) -> str | None:
        """The rank that a bracket's text names ('' for none); None where the head is read otherwise."""
        return _rank(tag)

    def template(self, body: bytes) -> Template | None:
        """What a batch line's message teaches; None when it must not be repeated."""
        text = _harmless(body)
        line = parse_batch(text) if text is not None else None
        return learn(text, line) if text is not None and line is not None else None

    def request(self, body: bytes) -> AccessLine | None:
        """The message as an access line of level INFO."""
        harmless = _harmless(body)
        if harmless is None:
            return None
        text = _TIME + "] " + harmless
        head = parse_head(text)
        return parse_access(text[head.end :]) if head is not None and head.level == "INFO" else None


def _harmless(line: bytes) -> str | None:
    """The text, or None where colour, bars, a secret or another encoding may change how it is read."""
    if not line.isascii() or any(mark in line for mark in _SPECIAL) or any(mark in line for mark in TRIGGERS):
        return None
    return line.decode("ascii")


def _is_record(rest: str) -> bool:
    """A message behind SGLang's own head; one that begins with a bracket may be a carrier's head instead."""
    head = parse_head(rest) if rest[:1] == "[" else None
    return head is not None and is_dated(head.at) and head.is_bracket and rest[head.end : head.end + 1] != "["


@functools.lru_cache(maxsize=4096)
def _rank(tag: bytes) -> str | None:
    harmless = _harmless(tag)
    if harmless is None:
        return None
    text = _TIME + harmless + _MESSAGE
    head = parse_head(text)
    if head is None or not head.is_bracket or len(text) - head.end != len(_MESSAGE) - 1:
        return None
    return head.rank
