"""Which arguments feed which part of the server: how a changed argument can reach an error.

Facts as data; a family of arguments knows the words and traceback frames of the part it feeds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from logscope.knowledge.library import DATA
from parsers.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class MechanismFact:
    """One part of the server and the arguments that feed it."""

    id: str
    args: tuple[str, ...]
    """Argument names; ``*`` stands for any text."""
    message: tuple[str, ...]
    """Words of errors from this part, lower case."""
    frames: tuple[str, ...]
    """Pieces of ``path:function`` of its traceback frames, lower case."""
    stages: tuple[str, ...]
    how: str
    """What the arguments decide: the end of 'NAME ...'."""

    def feeds_from(self, argument: str) -> bool:
        """True when the argument belongs to this part."""
        return any(argument == name or _fits(argument, name) for name in self.args)


def _fits(argument: str, pattern: str) -> bool:
    """True when the pattern has a ``*`` and fits; most are told apart by how they begin, which is cheap."""
    begin, star, _ = pattern.partition("*")
    return star != "" and argument.startswith(begin) and fnmatchcase(argument, pattern)


@cache
def _held() -> dict[str, Any]:
    text = (DATA / "mechanisms.json").read_text(encoding="utf-8")
    held: dict[str, Any] = json.loads(text)
    return held


@cache
def figure_feeds() -> Mapping[str, Mapping[str, float]]:
    """Figure -> the arguments that move it (``*`` stands for any text) and how directly, 0 to 1."""
    feeds: Mapping[str, Mapping[str, float]] = _held()["figures"]
    return feeds


@cache
def directions_of(rule_id: str) -> Mapping[str, str]:
    """Argument -> the change that leads to this known failure: ``up``, ``down``, ``on``, ``off``."""
    found: dict[str, str] = {}
    for fact in _held()["directions"].values():
        if rule_id in fact["rules"]:
            found.update(fact["args"])
    return found


@cache
def mechanisms() -> tuple[MechanismFact, ...]:
    """All parts, as the package knows them."""
    return tuple(
        MechanismFact(
            id=entry["id"],
            args=tuple(entry["args"]),
            message=tuple(entry["message"]),
            frames=tuple(entry["frames"]),
            stages=tuple(entry["stages"]),
            how=entry["how"],
        )
        for entry in _held()["mechanisms"]
    )


@cache
def mechanisms_of(argument: str) -> Sequence[MechanismFact]:
    """The parts that an argument feeds, () when it is not known."""
    return tuple(fact for fact in mechanisms() if fact.feeds_from(argument))
