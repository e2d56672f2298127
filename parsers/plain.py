"""Remembers the shapes of lines that tell the reader nothing, so that the next one is not looked at again.

A shape is the line's bytes with every digit made ``0``: none of the reader's rules tells one digit from
another, so lines of one shape are of one kind. What is plain for the reader still goes to the failure model.
The first lines of tracebacks are remembered by their words: they are plain but for the rank that they name.
"""

from __future__ import annotations

from enum import IntEnum

from parsers.lazy_dataclass import dataclass

MAX_SHAPES = 20_000
MAX_HEADERS = 256
MAX_LENGTH = 400
"""Bytes; longer lines repeat seldom."""

_DIGITS = bytes(0x30 if 0x30 <= byte <= 0x39 else byte for byte in range(256))


class Plain(IntEnum):
    """What a shape is known to be."""

    UNKNOWN = 0
    HEADLESS = 1
    HEADED = 2


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a traceback, without SGLang's own head."""

    context: str
    """The words before ``Traceback``."""
    body: str


class PlainLines:
    """The shapes of one log that are known to be plain."""

    def __init__(self) -> None:
        self._shapes: dict[bytes, Plain] = {}
        self._headers: dict[tuple[bytes, bool], Header] = {}

    def kind(self, raw: bytes) -> Plain:
        """What is known of a line; ``UNKNOWN`` for most that hold something."""
        if len(raw) > MAX_LENGTH:
            return Plain.UNKNOWN
        return self._shapes.get(raw.translate(_DIGITS), Plain.UNKNOWN)

    def learn(self, raw: bytes, kind: Plain) -> None:
        """Remember that lines of this shape are plain."""
        if len(raw) > MAX_LENGTH:
            return
        if len(self._shapes) >= MAX_SHAPES:
            self._shapes.clear()
        self._shapes[raw.translate(_DIGITS)] = kind

    def header(self, body: bytes, is_headed: bool) -> Header | None:
        """The first line of a traceback that was learned."""
        return self._headers.get((body, is_headed))

    def learn_header(self, header: Header, is_headed: bool) -> None:
        """Remember the first line of a traceback, which tells nothing but its time and rank."""
        if len(self._headers) < MAX_HEADERS:
            self._headers[header.body.encode(), is_headed] = header

    def forget(self) -> None:
        """Forget all: what a line's begin means has changed."""
        self._shapes.clear()
        self._headers.clear()
