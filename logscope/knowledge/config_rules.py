"""Rules on values that must agree: target against draft, config.json against arguments.

Only loads them; they are held against a run in `logscope.compare.mismatches`.
"""

from __future__ import annotations

import json
from functools import cache

from logscope.errors import SourceError
from logscope.knowledge.library import DATA
from logscope.knowledge.records import AtlasRemedy, ConfigRule
from parsers.records import Json

RELATIONS = frozenset(
    (
        "==",
        "!=",
        ">=",
        "<=",
        "divisible-by",
        "divides-either",
        "contains",
        "contains-not",
        "is-set",
        "same-family",
    )
)


@cache
def config_rules() -> tuple[ConfigRule, ...]:
    """The rules that come with the package."""
    text = (DATA / "config_rules.json").read_text(encoding="utf-8")
    return _rules(json.loads(text), "config_rules.json")


def _rules(held: Json, where: str) -> tuple[ConfigRule, ...]:
    entries = held.get("rules") if isinstance(held, dict) else held
    if not isinstance(entries, list):
        raise SourceError(f"{where}: no list of rules", 'expected {"rules": [...]}')
    return tuple(_rule(entry, f"{where}, rule {number}") for number, entry in enumerate(entries, 1))


def _rule(entry: Json, where: str) -> ConfigRule:
    if not isinstance(entry, dict):
        raise SourceError(f"{where}: a rule is a JSON object")
    for key in ("id", "left", "relation", "right", "reason"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise SourceError(f"{where}: {key!r} is missing or no text")
    if entry["relation"] not in RELATIONS:
        raise SourceError(
            f"{where} ({entry['id']}): unknown relation {entry['relation']!r}",
            "one of " + ", ".join(sorted(RELATIONS)),
        )
    return ConfigRule(
        id=str(entry["id"]),
        left=str(entry["left"]),
        relation=str(entry["relation"]),
        right=str(entry["right"]),
        reason=str(entry["reason"]),
        since=_text(entry.get("since")) or None,
        severity=_text(entry.get("severity")) or "fatal",
        example=entry.get("example"),
        subject=_text(entry.get("subject")) or str(entry["left"]),
        when=_texts(entry.get("when")),
        unless_env=_text(entry.get("unless_env")),
        text=_text(entry.get("text")) or "{left} " + str(entry["relation"]) + " {right} does not hold",
        remedies=tuple(_remedies(entry.get("remedies"))),
    )


def _remedies(held: Json) -> list[AtlasRemedy]:
    entries = held if isinstance(held, list) else []
    return [
        AtlasRemedy(
            rank,
            _text(entry.get("action")),
            _text(entry.get("kind")) or "quick",
            _text(entry.get("assumes")),
            _text(entry.get("trade_off")),
            _text(entry.get("apply")),
            _texts(entry.get("needs")),
        )
        for rank, entry in enumerate(entries, 1)
        if isinstance(entry, dict)
    ]


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
