"""The failure atlas: known failures, echoes and harmless look-alikes as data, and which of them a run shows.

A rule is found by its tokens first and by its patterns next; patterns are compiled only when a token hits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from logscope.errors import SourceError
from logscope.knowledge.library import DATA
from logscope.knowledge.records import AtlasRemedy, AtlasRule
from parsers.lazy_dataclass import dataclass, field
from parsers.records import Event, EventRole, Frame, Json, Run, Stage

RULES_FILE = "rules.json"
"""Name of the user's own rules in the configuration folder."""

_CLASSES = ("failure", "secondary", "benign")
_MARKS: Mapping[str, tuple[str, ...]] = {
    "server-args": ("args",),
    "dist-begin": ("distributed-begin",),
    "dist-end": ("distributed-end",),
    "load-begin": ("load-begin",),
    "load-end": ("load-end",),
    "kv-pool": ("kv-cache", "memory-pool-end"),
    "capture-begin": ("graph-begin",),
    "capture-end": ("graph-end",),
    "summary": ("limits",),
    "http-up": ("http-running", "http-started"),
    "ready": ("ready",),
}
"""Phase mark of a rule -> milestones that set it."""

_TEXT_WEIGHT = {"message": 3.0, "traceback": 1.8, "event": 1.0}


@dataclass(frozen=True, slots=True)
class AtlasMatch:
    """One rule that a run shows."""

    rule: AtlasRule
    score: float
    where: str
    """``message`` (of the root error), ``traceback`` or ``event``."""
    line: int | None
    text: str
    """The text in which the pattern was found."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Named groups of the pattern."""


def atlas(extra_rules: Path | None = None) -> tuple[AtlasRule, ...]:
    """The package's rules, with the user's own before them (a rule with a known id replaces it)."""
    if extra_rules is None:
        return _package_rules()
    own = read_rules(extra_rules)
    replaced = {rule.id for rule in own}
    return own + tuple(rule for rule in _package_rules() if rule.id not in replaced)


def user_rules_path(config_folder: Path) -> Path | None:
    """The rules file of the configuration folder; None when there is none."""
    path = config_folder / RULES_FILE
    return path if path.is_file() else None


@cache
def _package_rules() -> tuple[AtlasRule, ...]:
    text = (DATA / "atlas.json").read_text(encoding="utf-8")
    return _rules(json.loads(text), "atlas.json", "package", checks=False)


def read_rules(path: Path) -> tuple[AtlasRule, ...]:
    """Rules of a file of the user's. Raises SourceError that names the rule, the key and what to do."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(f"{path}: the rules cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise SourceError(f"{path}: the rules are no valid JSON: {error}") from error
    return _rules(held, str(path), str(path), checks=True)


def _rules(held: Json, where: str, origin: str, checks: bool) -> tuple[AtlasRule, ...]:
    entries = held.get("rules") if isinstance(held, dict) else held
    if not isinstance(entries, list):
        raise SourceError(
            f"{where}: no list of rules", 'expected {"rules": [{"id": ..., "patterns": [...]}]}'
        )
    rules = tuple(_rule(entry, f"{where}, rule {number}", origin) for number, entry in enumerate(entries, 1))
    if checks:
        for number, rule in enumerate(rules, 1):
            _check(rule, f"{where}, rule {number} ({rule.id})")
    return rules


def _check(rule: AtlasRule, where: str) -> None:
    """What a person can get wrong in a rule; the package's own rules are checked by their tests."""
    if rule.rule_class not in _CLASSES:
        raise SourceError(f"{where}: class is {rule.rule_class!r}", "one of " + ", ".join(_CLASSES))
    for pattern in (*rule.patterns, *rule.not_patterns):
        try:
            _compiled(pattern)
        except re.error as error:
            raise SourceError(f"{where}: pattern {pattern!r} is no regular expression: {error}") from error
    for mark in (*rule.after, *rule.before):
        if mark not in _MARKS:
            raise SourceError(f"{where}: unknown phase mark {mark!r}", "one of " + ", ".join(_MARKS))
    for sample in rule.samples:
        if not finds(rule, sample):
            raise SourceError(f"{where}: its own sample is not matched: {sample!r}")


def _rule(entry: Json, where: str, origin: str) -> AtlasRule:
    if not isinstance(entry, dict):
        raise SourceError(f"{where}: a rule is a JSON object")
    for key in ("id", "title"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise SourceError(f"{where}: {key!r} is missing or no text")
    cause = entry.get("cause")
    told: Mapping[str, Json] = cause if isinstance(cause, dict) else {}
    score = told.get("score")
    return AtlasRule(
        id=str(entry["id"]),
        title=str(entry["title"]),
        category=_text(entry, "category", where),
        rule_class=_text(entry, "class", where) or "failure",
        stage=_text(entry, "stage", where),
        severity=_text(entry, "severity", where) or "fatal",
        match_kind=_text(entry, "match_kind", where) or "line",
        exception_types=_texts(entry, "exception_types", where),
        tokens=_texts(entry, "tokens", where),
        patterns=_texts(entry, "patterns", where, needed=True),
        not_patterns=_texts(entry, "not_patterns", where),
        after=_texts(entry, "after", where),
        before=_texts(entry, "before", where),
        root_signal=_text(entry, "root_signal", where),
        usually_changed=tuple((row[0], row[1]) for row in _lists(entry, "usually_changed", (2,), where)),
        evidence_args=_texts(entry, "evidence_args", where),
        evidence_config_keys=_texts(entry, "evidence_config_keys", where),
        remedies=tuple(
            _remedy(rank, row) for rank, row in enumerate(_lists(entry, "remedies", (4, 5, 6), where), 1)
        ),
        more_specific_than=_texts(entry, "more_specific_than", where),
        samples=_texts(entry, "samples", where),
        origin=origin,
        cause_kind=_text(told, "kind", where),
        cause_subject=_text(told, "subject", where),
        cause_title=_text(told, "title", where),
        cause_frames=_texts(entry, "frames", where),
        cause_score=float(score) if isinstance(score, int | float) else 0.5,
    )


def _remedy(rank: int, row: Sequence[str]) -> AtlasRemedy:
    action, kind, assumes, cost, apply, needs = (*row, "", "")[:6]
    return AtlasRemedy(rank, action, kind, assumes, cost, apply, tuple(needs.split()))


def _text(entry: Mapping[str, Json], key: str, where: str) -> str:
    value = entry.get(key, "")
    if not isinstance(value, str):
        raise SourceError(f"{where}: {key!r} is a {type(value).__name__}, expected text")
    return value


def _texts(entry: Mapping[str, Json], key: str, where: str, needed: bool = False) -> tuple[str, ...]:
    if key not in entry and not needed:  # of a rule's twenty keys most are left out
        return ()
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SourceError(f"{where}: {key!r} is no list of texts")
    if needed and not value:
        raise SourceError(f"{where}: {key!r} is missing or empty", "a rule needs at least one pattern")
    return tuple(str(item) for item in value)


def _lists(entry: Mapping[str, Json], key: str, widths: tuple[int, ...], where: str) -> list[list[str]]:
    value = entry.get(key, [])
    if not isinstance(value, list):
        raise SourceError(f"{where}: {key!r} is no list")
    rows = []
    for row in value:
        if not isinstance(row, list) or len(row) not in widths or not all(isinstance(it, str) for it in row):
            many = " or ".join((", ".join(map(str, widths[:-1])), str(widths[-1]))).removeprefix(" or ")
            raise SourceError(f"{where}: each entry of {key!r} is a list of {many} texts")
        rows.append([str(item) for item in row])
    return rows


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


def finds(rule: AtlasRule, text: str) -> re.Match[str] | None:
    """The first pattern of the rule in `text`, unless a veto stands on the same text."""
    if rule.tokens and not _has_token(rule, text.lower()):
        return None
    for pattern in rule.patterns:
        found = _compiled(pattern).search(text)
        if found is not None:
            start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
            line = text[start : end if end >= 0 else len(text)]
            if not any(_compiled(veto).search(line) for veto in rule.not_patterns):
                return found
    return None


def _has_token(rule: AtlasRule, low: str) -> bool:
    return any(token in low for token in rule.tokens)


def match(rules: Sequence[AtlasRule], run: Run) -> tuple[AtlasMatch, ...]:
    """The failures of the atlas that the run shows, best first; echoes and harmless rules are left out.

    The root error's message counts most, then its traceback; other errors count where there is no root.
    """
    texts = list(_texts_of(run))
    found = [
        hit
        for rule in rules
        if rule.rule_class == "failure" and rule.match_kind in ("line", "line+phase")
        for hit in _match_rule(rule, texts, run)
    ]
    best: dict[str, AtlasMatch] = {}
    for hit in found:
        if hit.rule.id not in best or hit.score > best[hit.rule.id].score:
            best[hit.rule.id] = hit
    return tuple(sorted(_most_specific(best), key=lambda hit: (-hit.score, hit.rule.id)))


@dataclass(frozen=True, slots=True)
class _Text:
    where: str
    text: str
    low: str
    line: int | None
    type: str
    frames: tuple[Frame, ...]
    shown: str


def _texts_of(run: Run) -> Iterator[_Text]:
    root = run.root_error
    if root is not None:
        headline = f"{root.type}: {root.message}"
        yield _of("message", headline, root.line, root.type, root.traceback, root.excerpt or root.message)
        for event in run.events:
            if event.role is EventRole.ROOT or event.fingerprint == root.fingerprint:
                yield _of(
                    "traceback",
                    event.traceback_text,
                    root.line,
                    root.type,
                    event.traceback or root.traceback,
                    root.excerpt,
                )
                break
    for event in run.events:
        if event.level == "error" and not event.benign and _may_explain(event, root is not None):
            headline = f"{event.type}: {event.message}" if event.type else event.message
            yield _of("event", headline, event.line, event.type or "", event.traceback, event.excerpt)


def _may_explain(event: Event, has_root: bool) -> bool:
    if event.role in (EventRole.SURVIVED, EventRole.REQUEST, EventRole.OUTSIDE):
        return False
    return not has_root or event.role is EventRole.CANDIDATE


def _of(where: str, text: str, line: int | None, type_: str, frames: tuple[Frame, ...], shown: str) -> _Text:
    return _Text(where, text, text.lower(), line, type_, frames, shown)


def _match_rule(rule: AtlasRule, texts: Sequence[_Text], run: Run) -> Iterator[AtlasMatch]:
    for text in texts:
        if rule.tokens and not _has_token(rule, text.low):
            continue
        found = finds(rule, text.text)
        if found is None or not _frames_fit(rule, text.frames) or not _phase_fits(rule, text.line, run):
            continue
        score = _TEXT_WEIGHT[text.where] + min(len(found.group(0)), 60) / 120
        if any(text.type.rpartition(".")[2] == name.rpartition(".")[2] for name in rule.exception_types):
            score += 0.5
        score += 0.3 * bool(rule.after or rule.before) + 0.2 * bool(rule.cause_frames)
        groups = {name: value for name, value in found.groupdict().items() if value}
        yield AtlasMatch(rule, score, text.where, text.line, text.shown, groups)


def _frames_fit(rule: AtlasRule, frames: Sequence[Frame]) -> bool:
    if not rule.cause_frames:
        return True
    places = " ".join(f"{frame.file}:{frame.function}" for frame in frames).lower()
    return any(word in places for word in rule.cause_frames)


def _phase_fits(rule: AtlasRule, line: int | None, run: Run) -> bool:
    """Marks are judged only in logs that print milestones of a launch: its end alone tells no phase."""
    if line is None or all(found.stage is Stage.SHUTDOWN for found in run.milestones):
        return True
    return all(_is_marked(mark, line, run) for mark in rule.after) and not any(
        _is_marked(mark, line, run) for mark in rule.before
    )


def _is_marked(mark: str, line: int, run: Run) -> bool:
    if mark.startswith("second "):
        begins = [found for found in run.milestones if found.name == "load-begin" and found.line < line]
        return (
            len({found.role for found in begins}) > 1 or _most_of_a_rank([found.rank for found in begins]) > 1
        )
    names = _MARKS.get(mark, ())
    return any(found.name in names and found.line < line for found in run.milestones)


def _most_of_a_rank(ranks: Sequence[str]) -> int:
    return max((ranks.count(rank) for rank in set(ranks)), default=0)


def _most_specific(best: Mapping[str, AtlasMatch]) -> list[AtlasMatch]:
    """Drops what a more specific rule also says, where that one was found in as good a place."""
    beaten = {
        general
        for hit in best.values()
        for general in hit.rule.more_specific_than
        if general in best and _TEXT_WEIGHT[hit.where] >= _TEXT_WEIGHT[best[general].where] - 1.2
    }
    return [hit for rule_id, hit in best.items() if rule_id not in beaten]
