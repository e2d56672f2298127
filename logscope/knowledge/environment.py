"""Answers about environment variables from the packed facts."""

from __future__ import annotations

import ast
from typing import Any

from logscope.knowledge import library
from logscope.knowledge.periods import periods
from logscope.knowledge.records import Life

_TRUE = frozenset({"true", "1", "yes", "y", "on"})
_FALSE = frozenset({"false", "0", "no", "n", "off", ""})
UNSET = "unset"
"""Shown in spans where a release knows the variable and gives it no value."""


def env_default(name: str, version: str | None) -> str | None:
    """The value that holds when it is not set; None when unset counts as such, or nothing is known."""
    view = library.view(version)
    if view is None:
        return None
    uses = library.value_at(view.catalogue.environment["uses"].get(name), view.index)
    if uses is None:
        return None
    told = default_of(uses)
    return None if told == UNSET else told


def knows(name: str, version: str | None) -> bool:
    """Whether the release reads, declares or sets the variable at all."""
    view = library.view(version)
    if view is None:
        return False
    return library.value_at(view.catalogue.environment["uses"].get(name), view.index) is not None


def own_setting(name: str, version: str | None) -> tuple[str, ...]:
    """Literal values that SGLang itself writes into the variable in that release."""
    view = library.view(version)
    if view is None:
        return ()
    uses = library.value_at(view.catalogue.environment["uses"].get(name), view.index) or ()
    return tuple(plain(use[1]) for use in uses if use[0] == "set" and use[1] not in (None, "<computed>"))


def deprecated_names(name: str, version: str | None) -> tuple[tuple[str, bool], ...]:
    """(older variable, is its meaning turned round) of those that a release copies into `name`."""
    view = library.view(version)
    rows = [] if view is None else library.value_at(view.catalogue.environment["renamed"], view.index) or ()
    return tuple((old, how == "inverted") for old, new, how in rows if new == name)


def env_life(name: str) -> Life | None:
    """From the packaged releases; the note says how its text is judged and who sets it."""
    shipped = library.packaged()
    changes = None if shipped is None else shipped.environment["uses"].get(name)
    if shipped is None or not changes:
        return None
    told = [[since, None if uses is None else default_of(uses)] for since, uses in changes]
    spans = periods(told, shipped.releases)
    renamed = library.value_at(shipped.environment["renamed"], len(shipped.releases) - 1) or ()
    older = next((old for old, new, _ in renamed if new == name), None)
    newer = next((new for old, new, _ in renamed if old == name), None)
    newest = next(uses for _, uses in reversed(changes) if uses is not None)
    return Life(name, "env", spans[0].first, spans[-1].last, spans, newer, older, _note(newest))


def default_of(uses: list[list[Any]]) -> str:
    """The default that a release's uses come to: what is declared, else what is read, else what is set."""
    declared = [use[1] for use in uses if use[0] == "declared"]
    if declared:
        return _shown(declared[0], any("Bool" in use[2] for use in uses if use[0] == "declared"))
    is_flag = all(_is_boolean(use[1]) for use in uses if use[0] == "read" and use[1] is not None)
    reads = {_shown(use[1], is_flag) for use in uses if use[0] == "read" and use[1] is not None}
    if reads:
        return " or ".join(sorted(reads))
    if any(use[0] == "read" for use in uses):
        return UNSET
    written = {plain(use[1]) for use in uses if use[0] == "set" and use[1] is not None}
    return " or ".join(sorted(written)) or UNSET


def plain(told: str | None) -> str:
    """A default's repr as one would export it: no quotes, ``unset`` for None."""
    if told is None or told == "None":
        return UNSET
    try:
        value = ast.literal_eval(told)
    except (ValueError, SyntaxError):
        return told
    return value if isinstance(value, str) else repr(value)


def boolean(text: str | None) -> bool | None:
    """What a text means where a boolean is expected; None when it is no such word."""
    if text is None or text == UNSET:
        return False
    folded = text.strip().lower()
    return True if folded in _TRUE else False if folded in _FALSE else None


def _is_boolean(told: str) -> bool:
    return plain(told).lower() in ("true", "false")


def _shown(told: str | None, is_flag: bool) -> str:
    text = plain(told)
    if is_flag and text != UNSET:
        meaning = boolean(text)
        return text if meaning is None else str(meaning).lower()
    return text


def _note(uses: list[list[Any]]) -> str:
    kinds = sorted({use[2] for use in uses if use[0] == "declared" and use[2]})
    actions = sorted({use[0] for use in uses})
    told = "declared centrally as " + ", ".join(kinds) if kinds else ""
    if "EnvBool" in kinds:
        told += " (true/1/yes/y, false/0/no/n; other text gives the default)"
    elif any(use[2] == "helper-bool" for use in uses):
        told = "a boolean (true, 1; other text is false)"
    if "set" in actions:
        told += ("; " if told else "") + "SGLang also sets it itself"
    return told
