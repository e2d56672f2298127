"""Patterns that are compiled when they are first tried: most of them are never tried on a given log."""

from __future__ import annotations

from typing import Any, cast

import regex


def lazy_pattern(text: str, flags: int = 0) -> regex.Pattern[str]:
    """As `regex.compile`, later."""
    return cast("regex.Pattern[str]", LazyPattern(text, flags))


class LazyPattern:
    """Stands for a compiled pattern; its methods are those of the pattern from the first use on."""

    __slots__ = ("findall", "finditer", "flags", "fullmatch", "match", "pattern", "search", "split", "sub")

    def __init__(self, text: str, flags: int) -> None:
        self.pattern, self.flags = text, flags

    def __getattr__(self, name: str) -> Any:
        if name not in LazyPattern.__slots__:
            raise AttributeError(name)
        made = regex.compile(self.pattern, self.flags)
        for method in set(LazyPattern.__slots__) - {"pattern", "flags"}:
            setattr(self, method, getattr(made, method))
        return getattr(self, name)

    def __reduce__(self) -> tuple[type[LazyPattern], tuple[str, int]]:
        return LazyPattern, (self.pattern, self.flags)
