"""From a physical line's bytes to the pieces that can each hold one record.

Colour codes and NULs go, ``\\r`` separates, progress bars are cut out, and a record that begins in the middle
of a line (behind a bar or another process's output) becomes a piece of its own.
"""

from __future__ import annotations

from parsers.heads import DECORATION, Bar, find_bar, may_be_glued, split_glued
from parsers.lazy_dataclass import dataclass
from parsers.lazy_pattern import lazy_pattern

MAX_PIECES = 20_000
"""Pieces of one physical line that are looked at; a file of one line with only bars has more."""
_ENTITIES = (
    (b"&lt;", b"<"), (b"&gt;", b">"), (b"&quot;", b'"'), (b"&#34;", b'"'), (b"&#x22;", b'"'),
    (b"&apos;", b"'"), (b"&#39;", b"'"), (b"&#x27;", b"'"), (b"&nbsp;", b" "), (b"&amp;", b"&"),
)  # fmt: skip

_ENTITY = lazy_pattern(rb"&(?:lt|gt|quot|apos|#39|#x27|#34|#x22);")
"""What only text copied out of a page's source holds."""
_ANSI = lazy_pattern(
    r"\x1b(?:\[[0-9;:?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|[()][0-9A-B]|.|\Z)"
)
_BARE_COLOUR = lazy_pattern(r"(?:\^\[)?\[(?:0|[1-9]\d?(?:;\d{1,3}){0,4})m")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a physical line: either text or a progress bar."""

    text: str
    bar: Bar | None = None
    is_cut: bool = False
    """True when another record's head cut it off."""


def decode_line(raw: bytes) -> str:
    """The text of a physical line without its line end, NULs and colour codes."""
    if raw.endswith(b"\r"):
        raw = raw.rstrip(b"\r")
    text = raw.decode("utf-8", "replace")
    if "\x00" in text:
        text = text.replace("\x00", "")
    return without_colours(text)


def is_as_printed(raw: bytes) -> bool:
    """True where `decode_line` only decodes, and takes nothing out."""
    return b"\x1b" not in raw and b"\0" not in raw and b"[0m" not in raw


def without_page_marks(raw: bytes) -> bytes:
    """The line as it was before a web page made entities and hard blanks of its characters."""
    if b"\xc2\xa0" in raw:
        raw = raw.replace(b"\xc2\xa0", b" ")
    if b"&" in raw and _ENTITY.search(raw) is not None:
        for entity, character in _ENTITIES:
            raw = raw.replace(entity, character)
    return raw


def without_colours(text: str) -> str:
    """The text without colour codes, also such as became text when a log was pasted."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    elif "[0m" in text and "\\u001b[" not in text:
        # colours of a pasted log whose escape characters are lost, or were shown as ^[; JSON keeps its own
        text = _BARE_COLOUR.sub("", text)
    return text


def pieces_of(text: str) -> list[Piece]:
    """The pieces of a line, in their order."""
    if "\r" not in text:
        return _of_segment(text)
    found: list[Piece] = []
    for segment in text.split("\r"):
        if segment:
            found.extend(_of_segment(segment))
        if len(found) >= MAX_PIECES:
            break
    return found or [Piece("")]


def _of_segment(text: str) -> list[Piece]:
    bar = find_bar(text)
    if bar is None:
        return _texts(text)
    found: list[Piece] = []
    position = 0
    while bar is not None and len(found) < MAX_PIECES:
        if bar.start > position and text[position : bar.start].strip():
            found.extend(_texts(text[position : bar.start]))
        found.append(Piece(text[bar.start : bar.end], bar))
        position = bar.end
        bar = find_bar(text, position)
    rest = text[position:]
    if rest.strip():
        found.extend(_texts(rest.lstrip(" ") if rest.lstrip(" ").startswith("[") else rest))
    return found


def _texts(text: str) -> list[Piece]:
    if not may_be_glued(text):
        return [Piece(text)]
    parts = split_glued(text)
    if len(parts) > 1 and not parts[0].strip(DECORATION):
        del parts[0]
    return [Piece(part, None, place < len(parts) - 1) for place, part in enumerate(parts)]
