"""Arguments that were renamed, and what says so: flags kept as aliases, deprecated flags, like for like."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from logscope.knowledge.build.arguments import Declared
from logscope.knowledge.build.release import ReleaseFacts

_ALIKE = 0.78
"""Least likeness of two names in one step; below it, pairs of equal type and default were chance ones."""


def find_renames(facts: Sequence[ReleaseFacts]) -> list[list[str | int]]:
    """Rows [old, new, release index of the new name, evidence], at most one per old and new name."""
    found: dict[tuple[str, str], tuple[int, str]] = {}
    ever = {name for one in facts for name in one.arguments.declared}
    seen: set[str] = set()
    for at, one in enumerate(facts):
        now = one.arguments.declared
        _by_flags(facts, at, ever & seen, found)
        if at:
            before = facts[at - 1].arguments.declared
            gone = {name: held for name, held in before.items() if name not in now}
            come = {name: held for name, held in now.items() if name not in before}
            _by_likeness(gone, come, at, found)
        seen |= now.keys()
    return [[old, new, at, evidence] for (old, new), (at, evidence) in sorted(found.items())]


def _by_flags(
    facts: Sequence[ReleaseFacts], at: int, known: set[str], found: dict[tuple[str, str], tuple[int, str]]
) -> None:
    """An argument whose flag is spelled like another, earlier argument took that one's place."""
    one = facts[at]
    now = one.arguments.declared
    retired = {held.flag for held in one.arguments.retired}
    for name, held in now.items():
        for flag in held.flags:
            old = flag.lstrip("-").replace("-", "_")
            if old != name and old in known and old not in now and _keeps_value(old, held, facts):
                evidence = "deprecated flag" if flag in retired else "flag kept as alias"
                found.setdefault((old, name), (at, evidence))
    for gone in one.arguments.retired:
        old = gone.flag.lstrip("-").replace("-", "_")
        new = gone.name or gone.points_to.lstrip("-").replace("-", "_")
        if (
            new in now
            and old != new
            and old in known
            and old not in now
            and _keeps_value(old, now[new], facts)
        ):
            found.setdefault((old, new), (at, "deprecated flag"))


def _keeps_value(old: str, new: Declared, facts: Sequence[ReleaseFacts]) -> bool:
    """A switch that became one value of another argument is replaced by it, not renamed."""
    before = next(held for one in reversed(facts) if (held := one.arguments.declared.get(old)) is not None)
    return ("bool" in before.type) == ("bool" in new.type)


def _by_likeness(
    gone: dict[str, Declared],
    come: dict[str, Declared],
    at: int,
    found: dict[tuple[str, str], tuple[int, str]],
) -> None:
    """In one step one name went and a like one with the same type came."""
    replaced = _replaced_words(gone, come)
    for old, before in sorted(gone.items()):
        if any(pair[0] == old for pair in found):
            continue
        scored = sorted(
            (
                (_likeness(old, new, replaced), new)
                for new, after in come.items()
                if _same_kind(before, after)
            ),
            reverse=True,
        )
        if scored and scored[0][0] >= _ALIKE and (len(scored) == 1 or scored[1][0] < _ALIKE):
            found.setdefault((old, scored[0][1]), (at, "same type, like name, same release"))


def _same_kind(before: Declared, after: Declared) -> bool:
    if _polarity(before.name) * _polarity(after.name) < 0:
        return False  # enable_x for disable_x: the value is turned round, so it is no rename
    if before.type == "bool" and not _is_extended(before.name, after.name):
        return False  # all switches are alike: only a word more or fewer, or another order, says the same
    return before.type == after.type and (
        before.default == after.default or before.choices == after.choices != ()
    )


def _is_extended(old: str, new: str) -> bool:
    left, right = set(old.split("_")), set(new.split("_"))
    return left <= right or right <= left


def _polarity(name: str) -> int:
    return 1 if name.startswith("enable_") else -1 if name.startswith("disable_") else 0


def _likeness(old: str, new: str, replaced: dict[tuple[str, str], int]) -> float:
    for (was, is_now), count in replaced.items():
        if count > 1 and old.replace(was, is_now) == new and was in old:
            return 1.0
    if sorted(old.split("_")) == sorted(new.split("_")):
        return 0.95
    if new.startswith(old + "_") or old.startswith(new + "_"):
        return 0.8
    return SequenceMatcher(None, old, new).ratio() - 0.02


def _replaced_words(gone: dict[str, Declared], come: dict[str, Declared]) -> dict[tuple[str, str], int]:
    """Words that were exchanged in several names at once (``nsa`` -> ``dsa``)."""
    counted: dict[tuple[str, str], int] = {}
    for old in gone:
        for new in come:
            left, right = old.split("_"), new.split("_")
            if len(left) == len(right):
                changed = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
                if len(changed) == 1:
                    counted[changed[0]] = counted.get(changed[0], 0) + 1
    return counted
