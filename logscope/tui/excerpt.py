"""Lines of a log around one of them."""

from __future__ import annotations

from parsers.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What the evidence pane quotes of one log."""

    title: str
    """``bad  s03.log:118``."""
    first: int
    lines: tuple[str, ...]
    marked: int
    """Number of the evidence line."""
    note: str = ""
