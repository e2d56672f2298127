"""News for the person at the terminal from rooms that must not print: a front end listens, if it wants to."""

from __future__ import annotations

from collections.abc import Callable

_LISTENERS: list[Callable[[str], None]] = []


def listen(listener: Callable[[str], None] | None) -> None:
    """From now on `listener`, and nobody else, hears what is told."""
    _LISTENERS[:] = [] if listener is None else [listener]


def tell(text: str) -> None:
    """One line, as it would stand after the program's name."""
    for listener in _LISTENERS:
        listener(text)
