"""How a message is folded and hashed, the same way when a release is read and when a log is asked about.

Only hashes of SGLang's words are ever kept; this module is the one place that makes them. A change
here makes every packed file useless, so FORMAT in `pack_format` must be raised with it.
"""

from __future__ import annotations

import re
import zlib

from parsers.lazy_pattern import lazy_re

ANCHOR = 8
"""Characters of the prefix of a piece by which it is looked up; shorter pieces cannot start a match."""

MIN_LITERAL = 12
"""Literal characters that a wording needs before it may be recognised without a frame."""

_SPACE = lazy_re(r"\s+")
_COLOUR = lazy_re(r"\x1b\[[0-9;]*m")
_WORD = lazy_re(r"[a-z_][a-z0-9_]{2,}")
_HEAD = lazy_re(
    r"\A(?:[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Failure|Fault)|Exception)"
    r"(?:\([^)]*\))?: ",
    re.ASCII,
)
"""A bare ``Warning: `` is no class: several of SGLang's own texts begin with it, errors among them."""


def fold(text: str) -> str:
    """Case, colour and spacing taken out: two prints of one wording fold to the same text."""
    return _SPACE.sub(" ", _COLOUR.sub("", text)).strip().lower()


def split_head(message: str) -> tuple[str | None, str]:
    """The exception class in front of a message (last component) and the rest; None where there is none."""
    head = _HEAD.match(message.lstrip())
    if head is None:
        return None, message
    return head.group()[:-2].rpartition(".")[2].partition("(")[0], message.lstrip()[head.end() :]


def piece_hash(piece: str) -> int:
    """40 bits of one folded literal piece."""
    held = piece.encode("utf-8", "replace")
    return zlib.crc32(held) << 8 | (zlib.adler32(held) * 2654435761 >> 16 & 0xFF)


def anchor_hash(text: str) -> int:
    """32 bits of the ANCHOR characters at the start of a piece."""
    return zlib.crc32(text.encode("utf-8", "replace"))


def word_hashes(text: str) -> frozenset[int]:
    """The folded text as a bag of hashed words (24 bits each)."""
    return frozenset(zlib.crc32(word.encode()) & 0xFFFFFF for word in _WORD.findall(text))


def short_hash(text: str, bits: int = 32) -> int:
    """A stable hash of anything textual (a condition, a function's source)."""
    held = text.encode("utf-8", "surrogatepass")
    return (
        (zlib.crc32(held) | zlib.adler32(held) << 32) & ((1 << bits) - 1)
        if bits > 32
        else (zlib.crc32(held) & ((1 << bits) - 1))
    )
