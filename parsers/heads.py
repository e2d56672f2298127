"""Heads of records: the time, ranks, level and source that stand in front of a message.

Also finds the heads that stand in the middle of a physical line (behind a progress bar or another
process's output) and the bars themselves.
"""

from __future__ import annotations

import functools
import itertools
from datetime import datetime

import regex

from parsers.lazy_dataclass import dataclass
from parsers.lazy_pattern import lazy_pattern
from parsers.times import read_time

_LEVELS = "TRACE|DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL"
_DATE = r"\d{4}-\d\d-\d\d"
_RUST_TARGET = (
    r"(?:\w{1,40}(?:(?:::\w{1,40}){1,6}|(?:\.\w{1,40}){1,4}): "
    r"(?:(?P<source>[\w./-]{1,200}\.rs:\d{1,6}): )?)?"
)
_TAG = r"(?:DP|PP|ATTN_CP|MOE_DP|TP|EP)\d{1,4}"
"""A rank tag of SGLang's own head; people who shorten a log leave it and take the time away."""
_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"


@dataclass(frozen=True, slots=True)
class Head:
    """What stands in front of a message."""

    at: datetime | None
    rank: str
    level: str | None
    source_file: str | None
    end: int
    """Where the message begins."""
    is_bracket: bool
    """True for SGLang's own ``[time ranks]`` and ``[gpu=N]``; False for other programs' heads."""


@dataclass(frozen=True, slots=True)
class HeadRule:
    """One shape of a head, with the characters it can begin with and samples (line, rank, level, message)."""

    id: str
    first: str
    literal: str
    pattern: str
    is_bracket: bool
    samples: tuple[tuple[str, str, str | None, str], ...]


HEADS: tuple[HeadRule, ...] = (
    HeadRule(
        "bracket",
        "[",
        ":",
        rf"\[(?P<at>(?:(?:{_DATE}|\d\d-\d\d) )?{_TIME})(?: (?P<words>[^\]\n]{{1,80}}))?\](?: |(?=\S)|\Z)"
        rf"(?:(?P<level>{_LEVELS})(?:: {{0,9}}| (?P<source>[\w./<>-]{{1,80}}:\d{{1,6}}): ))?",
        True,
        (
            ("[2026-02-03 04:05:06 DP1 TP3] hi", "DP1 TP3", None, "hi"),
            ("[2026-02-03 04:05:06.250 TP0] hi", "TP0", None, "hi"),
            ("[04:05:06 TP0] hi", "TP0", None, "hi"),
            ("[02-03 04:05:06] hi", "", None, "hi"),
            ("[2026-02-03 04:05:06] INFO:     Started", "", "INFO", "Started"),
            ("[2026-02-03 04:05:06] WARNING server_args.py:1171: hi", "", "WARNING", "hi"),
            ("[2026-02-03 04:05:06 handler.py:169 INFO] [6444] request", "", "INFO", "[6444] request"),
            ("[2026-02-03 04:05:06 encode_dp_worker[0]] hi", "encode_dp_worker[0]", None, "hi"),
        ),
    ),
    HeadRule(
        "bracket-uncopied",
        "0123456789",
        "] ",
        rf"(?P<at>{_DATE} {_TIME})(?: (?P<words>{_TAG}(?: {_TAG}){{0,5}}))?\] "
        rf"(?:(?P<level>{_LEVELS}): {{0,9}})?",
        True,
        (
            ("2026-02-03 04:05:06 DP1 TP3] hi", "DP1 TP3", None, "hi"),
            ("2026-02-03 04:05:06] INFO:     Started", "", "INFO", "Started"),
        ),
    ),
    HeadRule(
        "gpu",
        "[",
        "=",
        r"\[(?P<rank>(?:gpu|gpu_id|rank)=\d{1,4})\] ?",
        True,
        (
            ("[gpu=3] Memory pool end.", "gpu=3", None, "Memory pool end."),
            ("[rank=0] Init nccl begin.", "rank=0", None, "Init nccl begin."),
        ),
    ),
    HeadRule(
        "ranks",
        "[",
        "P",
        rf"\[(?P<rank>{_TAG}(?: {_TAG}){{0,5}})\](?: |\Z)",
        True,
        (
            ("[TP0] Load weight begin.", "TP0", None, "Load weight begin."),
            ("[DP1 TP3 EP3] hi", "DP1 TP3 EP3", None, "hi"),
        ),
    ),
    HeadRule(
        "rank-word",
        "R",
        "Rank ",
        r"(?P<rank>Rank \d{1,4}): (?=load weight|max_total_num_token|server_args)",
        True,
        (("Rank 4: load weight begin.", "Rank 4", None, "load weight begin."),),
    ),
    HeadRule(
        "uvicorn",
        "IWECDT",
        ": ",
        r"(?P<level>INFO|WARNING|ERROR|CRITICAL|DEBUG|TRACE): {1,9}(?=\S)",
        False,
        (("INFO:     Started server process [7]", "", "INFO", "Started server process [7]"),),
    ),
    HeadRule(
        "level-time-file",
        "IWECD",
        "] ",
        rf"(?P<level>{_LEVELS}) +(?P<at>(?:{_DATE}|\d\d-\d\d) {_TIME}) "
        r"\[?(?P<source>[\w./-]{1,80}:\d{1,6})\] ",
        False,
        (("INFO 03-11 15:02:39 __init__.py:190] Found cuda.", "", "INFO", "Found cuda."),),
    ),
    HeadRule(
        "logging-colon",
        "IWECD",
        ":",
        rf"(?P<level>{_LEVELS}):[A-Za-z_][\w.]{{0,80}}:(?=\S)",
        False,
        (("INFO:sglang.srt.server:Load weight begin.", "", "INFO", "Load weight begin."),),
    ),
    HeadRule(
        "logging-dashes",
        "0123456789",
        " - ",
        rf"(?P<at>{_DATE} {_TIME}) - (?:(?P<name>[\w.]{{1,80}}) - )?(?P<level>{_LEVELS}) - ",
        False,
        (("2026-02-03 04:05:06,789 - INFO - lib.jit: hi", "", "INFO", "lib.jit: hi"),),
    ),
    HeadRule(
        "named-dashes",
        "[",
        "(Python)] ",
        rf"\[[\w ]{{1,20}} \(Python\)\] (?P<at>{_DATE} {_TIME}) - (?P<level>{_LEVELS}) - ",
        False,
        (("[Router (Python)] 2026-02-03 04:05:06 - INFO - hi", "", "INFO", "hi"),),
    ),
    HeadRule(
        "daemon",
        "0123456789",
        "[Daemon",
        rf"(?P<at>{_DATE} {_TIME}) \[Daemon [^\]\n]{{1,60}}\] (?P<level>{_LEVELS}) ",
        True,
        (("2026-02-03 04:05:06,789 [Daemon gpu=0 tp_rank=0] INFO hi", "", "INFO", "hi"),),
    ),
    HeadRule(
        "loguru",
        "0123456789",
        " | ",
        rf"(?P<at>{_DATE} {_TIME}) \| (?P<level>{_LEVELS}) *\| (?:(?P<source>[\w.<>:-]{{1,120}}) - )?",
        False,
        (("2026-02-03 04:05:06.789 | INFO     | app:go:3 - hi", "", "INFO", "hi"),),
    ),
    HeadRule(
        "rust-tracing",
        "0123456789[",
        ":",
        rf"\[?(?P<at>{_DATE}T{_TIME}Z)\]? {{1,5}}(?P<level>{_LEVELS})\]? {{1,5}}{_RUST_TARGET}(?=\S)",
        False,
        (
            ("2026-02-03T04:05:06.123456Z  INFO router_rs::server: hi", "", "INFO", "hi"),
            ("2026-02-03T04:05:06.123456Z  INFO engine._launch: hi", "", "INFO", "hi"),
        ),
    ),
    HeadRule(
        "rust-local",
        "0123456789",
        "::",
        rf"(?P<at>{_DATE} {_TIME}Z?) {{1,5}}(?P<level>{_LEVELS}) {{1,5}}(?=\w{{1,40}}::){_RUST_TARGET}",
        False,
        (
            (
                "2026-02-03 04:05:06  INFO smg::server: src/server.rs:10: Router ready",
                "",
                "INFO",
                "Router ready",
            ),
            ("2026-02-03 04:05:06Z  WARN router::server: hi", "", "WARN", "hi"),
        ),
    ),
)

_RANK = lazy_pattern(
    r"[A-Z][A-Z_]{0,15}\d{1,5}(?:_[A-Z]{2,8}\d{1,5}){0,6}\Z"
    r"|encode_server\Z|encode_dp_worker\[\d{1,5}\]\Z"
)
_OTHER_WORDS = lazy_pattern(rf"(?P<source>[\w./-]{{1,80}}:\d{{1,6}}) (?P<level>{_LEVELS})\Z")


def parse_head(text: str) -> Head | None:
    """The head of a piece of a line, or None when it has none."""
    for rule, pattern in _rules_by_first().get(text[:1], ()):
        if rule.literal not in text[:120]:
            continue
        match = pattern.match(text)
        if match is None:
            continue
        return _head(rule, match)
    return None


def _head(rule: HeadRule, match: regex.Match[str]) -> Head:
    groups = match.groupdict()
    level, source = groups.get("level"), groups.get("source")
    rank = groups.get("rank") or ""
    words = groups.get("words")
    end = match.end()
    if words:
        if words.startswith("encode_dp_worker[") and match.string[end : end + 1] == "]":
            words, end = words + "]", end + 1
            end += match.string[end : end + 1] == " "
        rank = rank_text(words)
        other = _OTHER_WORDS.match(words) if not rank else None
        if other is not None:
            level, source = other["level"], other["source"]
    at_text = groups.get("at")
    return Head(read_time(at_text) if at_text else None, rank, level, source, end, rule.is_bracket)


@functools.lru_cache(maxsize=4096)
def rank_text(words: str) -> str:
    """The words of the bracket when they name a rank, else ''."""
    words = words.strip()
    return words if any(_RANK.match(word) for word in words.split(" ")) else ""


@functools.cache
def _rules_by_first() -> dict[str, tuple[tuple[HeadRule, regex.Pattern[str]], ...]]:
    table: dict[str, list[tuple[HeadRule, regex.Pattern[str]]]] = {}
    for rule in HEADS:
        pattern = regex.compile(rule.pattern)
        for character in rule.first:
            table.setdefault(character, []).append((rule, pattern))
    return {character: tuple(entries) for character, entries in table.items()}


def split_glued(text: str) -> list[str]:
    """Cut a physical line before each record head that stands in its middle.

    A head inside quoted text (a chat message that quotes a log line) is no cut.
    """
    cuts = []
    for match in _glued_head().finditer(text, 1):
        if _is_real_cut(text, match.start()):
            cuts.append(match.start())
        if len(cuts) >= 10_000:
            break
    if not cuts:
        return [text]
    edges = [0, *cuts, len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]


def may_be_glued(text: str) -> bool:
    """A cheap test before `split_glued`."""
    return text.find("[20", 1) > 0 or text.find("[gpu", 1) > 0 or (":" in text[:4] and text.find("[", 1) > 0)


DECORATION = " \t>*`#|."
"""Marks that pasting a log leaves in front of its lines."""
_QUOTING = ("Receive: ", "Finish: ", "obj=", "'text':", '"text":', '"content"', "'content'", "messages=")


def _is_real_cut(text: str, position: int) -> bool:
    before = text[max(0, position - 4000) : position]
    if position <= 6 and not before.strip(DECORATION):
        return True
    last = before[-1]
    if last in "'\"`\\(<{=" or before.endswith(("\\n", "\\r", "\\t")):
        return False
    if before.count('"') % 2 or before.count("`") % 2:
        return False
    return not any(mark in before for mark in _QUOTING)


@functools.cache
def _glued_head() -> regex.Pattern[str]:
    return regex.compile(
        rf"\[{_DATE} {_TIME}(?: [A-Z][\w ]{{0,60}})?\] ?(?=\S)"
        r"|(?<=[\]s.\d ])\[gpu(?:_id)?=\d{1,4}\] (?=[A-Z])"
    )


@dataclass(frozen=True, slots=True)
class Bar:
    """A progress bar inside a line."""

    start: int
    end: int
    label: str
    done: int | None
    total: int | None


def find_bar(text: str, start: int = 0) -> Bar | None:
    """The first progress bar at or after ``start``."""
    if "it/s" not in text and "s/it" not in text and "%|" not in text and "B/s]" not in text:
        return None
    match = _bar().search(text, start)
    if match is None:
        return None
    label = (match["label"] or "").strip(": ")
    done, total = match["done"], match["total"]
    return Bar(match.start(), match.end(), label, int(done) if done else None, int(total) if total else None)


@functools.cache
def _bar() -> regex.Pattern[str]:
    return regex.compile(
        r"(?P<label>(?:[A-Za-z(][\w ./=()-]{0,90}?: {1,4})?)"
        r" {0,3}\d{1,3}%(?: Completed )? ?\|[^|\n]{0,400}\|? "
        r"?(?P<done>\d{1,9})(?:\.\d+)?[kMG]?/(?P<total>\d{1,9})(?:\.\d+)?[kMG]?B? "
        r"\[[^\]\n]{1,60}(?:\]|\Z)"
    )
