"""Remembers the shapes of lines that tell the reader nothing, so that the next one is not looked at again.

A shape is the line's bytes with every digit made ``0``: none of the reader's rules tells one digit from
another, so lines of one shape are of one kind. What is plain for the reader still goes to the failure model.
"""

from __future__ import annotations

from enum import IntEnum

MAX_SHAPES = 20_000
MAX_LENGTH = 400
"""Bytes; longer lines repeat seldom."""

_DIGITS = bytes(0x30 if 0x30 <= byte <= 0x39 else byte for byte in range(256))


class Plain(IntEnum):
    """What a shape is known to be."""

    UNKNOWN = 0
    HEADLESS = 1
    HEADED = 2


class PlainLines:
    """The shapes of one log that are known to be plain."""

    def __init__(self) -> None:
        self._shapes: dict[bytes, Plain] = {}

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

    def forget(self) -> None:
        """Forget all shapes: what a line's begin means has changed."""
        self._shapes.clear()
