"""Patterns that are compiled when they are first tried: most of them are never tried in a given process."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, AnyStr, cast

if TYPE_CHECKING:
    import re

    import regex


def lazy_pattern(text: AnyStr, flags: int = 0) -> regex.Pattern[AnyStr]:
    """As `regex.compile`, later; the pattern of bytes where the text is bytes."""
    return cast("regex.Pattern[AnyStr]", LazyPattern(text, flags, "regex"))


def lazy_re(text: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, later."""
    return cast("re.Pattern[str]", LazyPattern(text, flags, "re"))


class LazyPattern:
    """Stands for a compiled pattern; its methods are those of the pattern from the first use on."""

    __slots__ = (
        "engine", "findall", "finditer", "flags", "fullmatch", "match", "pattern", "search", "split", "sub",
    )  # fmt: skip

    def __init__(self, text: str | bytes, flags: int, engine: str) -> None:
        self.pattern, self.flags, self.engine = text, flags, engine

    def __getattr__(self, name: str) -> Any:
        if name not in LazyPattern.__slots__:
            raise AttributeError(name)
        made = import_module(self.engine).compile(self.pattern, self.flags)
        for method in set(LazyPattern.__slots__) - {"pattern", "flags", "engine"}:
            setattr(self, method, getattr(made, method))
        return getattr(self, name)

    def __reduce__(self) -> tuple[type[LazyPattern], tuple[str | bytes, int, str]]:
        return LazyPattern, (self.pattern, self.flags, self.engine)
