"""What other programs put in front of SGLang's lines, and how it is taken off again.

Each carrier is an entry of ``CARRIERS``: a pattern with the named groups ``label`` (source), ``at``
(time), ``level`` and ``tag``, and samples that the tests run. A new carrier is a new entry. Carriers
may stand inside one another; the outermost one names the run's carrier.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from datetime import datetime

import regex

from parsers.carrier_table import BRACKET_TIME, CARRIERS, TIME_ALONE, Carrier
from parsers.lazy_dataclass import dataclass, field
from parsers.lazy_pattern import lazy_pattern
from parsers.margins import find_margin
from parsers.pieces import without_colours
from parsers.times import read_time

_JSON_TEXT = ("log", "message", "msg", "textPayload", "MESSAGE", "line", "content", "event", "body")
_JSON_TIME = ("time", "timestamp", "@timestamp", "ts", "receiveTimestamp")
_JSON_LABEL = ("container_name", "pod_name", "container", "pod", "_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER")
_JSON_NAMES = {"textPayload": "gcp", "MESSAGE": "journald", "log": "docker"}
_PROOF_LINES, _PROOF_SHARE, _PROOF_LABELS = 4, 0.9, 8
"""A doubtful carrier before nine of ten lines, of at most this many labels, is a real one."""
_MARGIN = ("plain",)
_HEADLESS = lazy_pattern(r"[A-Z][\w ()=.]{0,80}: {1,4}\d{1,3}%|\[Gloo\] Rank ")
"""Progress bars and what the library for collectives says: never behind a head of SGLang's."""
_REPEATED = regex.compile(r" \[repeated (\d{1,9})x across cluster\][^\[\]]{0,200}\Z")


@dataclass(frozen=True, slots=True)
class Carried:
    """A line after its carriers are taken off."""

    names: tuple[str, ...]
    """Public names of the carriers, outermost first."""
    label: str
    at: datetime | None
    level: str | None
    text: str
    partial: bool = False
    """The carrier says that the line goes on in the next one."""
    repeats: int = 1
    """How often the line stands for itself (folded repeats)."""


@dataclass(slots=True)
class CarrierReader:
    """Takes carriers off; remembers which doubtful labels proved themselves in this file."""

    proven: set[tuple[str, str]] = field(default_factory=set)
    """(carrier id, label) that carried an SGLang record; ('compose', '') once any did."""
    margin: regex.Pattern[str] | None = None
    """What stands before nearly every line of this file without being a known carrier."""

    def take_off(self, text: str) -> Carried | None:
        """The carried text, or None when the line has no carrier."""
        first = text[:1]
        found: Carried | None = None
        if first == "{":
            found = self._from_json(text)
            if found is None or found.partial:
                return found
            text = found.text
        elif not _may_begin(first) and self.margin is None:
            return None
        for _ in range(4):
            step = self.one_step(text, found is None)
            if step is None and (found is None or _MARGIN[0] not in found.names):
                step = self._without_margin(text)
            if step is None:
                break
            found = step if found is None else _nest(found, step)
            text = found.text
        if found is not None and found.text.endswith("]") is False and "repeated" not in found.text:
            return found
        return _unfold(found) if found is not None and "ray" in found.names else found

    def one_step(self, text: str, is_first: bool = True) -> Carried | None:
        """Take off the outermost carrier only; it is the first one when no other stood in front of it."""
        for carrier, pattern in _by_first_character().get(text[:1], ()):
            if carrier.literal and carrier.literal not in text[:400]:
                continue
            match = pattern.match(text)
            if match is None:
                continue
            groups = match.groupdict()
            label = groups.get("label") or ""
            if carrier.id == "named-bracket" and _rank_like().match(label):
                label = ""
            rest = text[match.end() :]
            if carrier.id == TIME_ALONE:
                if not is_first or (TIME_ALONE, "") not in self.proven:
                    continue
            elif not carrier.certain and not self._is_proven(carrier.proven_by or carrier.id, label, rest):
                continue
            at_text = groups.get("at")
            level = groups.get("level")
            return Carried(
                (carrier.name,),
                label,
                read_time(at_text) if at_text else None,
                level,
                rest,
                groups.get("tag") == "P",
            )
        return None

    def _without_margin(self, text: str) -> Carried | None:
        margin = self.margin.match(text) if self.margin is not None else None
        return Carried(_MARGIN, "", None, None, text[margin.end() :]) if margin is not None else None

    def prove(self, lines: Sequence[str]) -> None:
        """Let the first lines of a log show which doubtful carriers stand before nearly all of them."""
        for text in lines:
            self.take_off(text)
        filled = [text for text in lines if text.strip()]
        self._prove_time_alone(filled)
        carried = [self.take_off(text) for text in filled]
        self.margin = find_margin(
            [text for text, one in zip(filled, carried, strict=True) if one is None]
        ) or find_margin([one.text for one in carried if one is not None])
        for carrier in CARRIERS:
            if carrier.certain or len(filled) < _PROOF_LINES:
                continue
            pattern = _pattern_of(carrier.id)
            if "label" not in pattern.groupindex:
                continue
            labels = [match["label"] for match in map(pattern.match, filled) if match is not None]
            if len(labels) >= _PROOF_SHARE * len(filled) and len(set(labels)) <= _PROOF_LABELS:
                self.proven.update((carrier.id, label) for label in labels)

    def _prove_time_alone(self, filled: Sequence[str]) -> None:
        """A time before every line is a carrier where lines that SGLang prints without a head have it too."""
        found = list(filter(None, map(_pattern_of(TIME_ALONE).match, filled)))
        if len(found) < _PROOF_SHARE * len(filled):
            return
        inside = sum(match.string.startswith('  File "', match.end()) for match in found)
        doubled = sum(_pattern_of("second-time").match(match.string) is not None for match in found)
        bare = sum(_HEADLESS.match(match.string, match.end()) is not None for match in found)
        if inside or (doubled > _PROOF_LINES and bare):
            self.proven.add((TIME_ALONE, ""))

    def _is_proven(self, carrier_id: str, label: str, rest: str) -> bool:
        if (carrier_id, label) in self.proven:
            return True
        if not _record_pattern().match(rest):
            return False
        self.proven.add((carrier_id, label))
        return True

    def _from_json(self, text: str) -> Carried | None:
        if not text.rstrip().endswith("}") or len(text) > 4_000_000:
            return None
        try:
            entry = json.loads(text)
        except ValueError:
            return None
        if not isinstance(entry, dict):
            return None
        payload = entry.get("jsonPayload")
        if isinstance(payload, dict) and isinstance(payload.get("message"), str):
            entry.setdefault("textPayload", payload["message"])
        key = next((name for name in _JSON_TEXT if isinstance(entry.get(name), str)), None)
        when = next((entry[name] for name in _JSON_TIME if isinstance(entry.get(name), str)), None)
        if key is None or (when is None and key not in _JSON_NAMES):
            return None
        carried = entry[key]
        label = next((entry[name] for name in _JSON_LABEL if isinstance(entry.get(name), str)), "")
        name = _JSON_NAMES.get(key, "app-logger") if "stream" in entry or key != "log" else "docker"
        body = without_colours(carried.rstrip("\n"))
        partial = key == "log" and "stream" in entry and not carried.endswith("\n")
        return Carried((name,), label, read_time(when) if when else None, None, body, partial)


def _nest(outer: Carried, inner: Carried) -> Carried:
    label = "/".join(part for part in (outer.label, inner.label) if part)
    return Carried(
        inner.names if outer.names == _MARGIN else outer.names + inner.names,
        label,
        inner.at or outer.at,
        inner.level or outer.level,
        inner.text,
        outer.partial or inner.partial,
    )


def _unfold(carried: Carried) -> Carried:
    match = _REPEATED.search(carried.text)
    if match is None:
        return carried
    return Carried(
        carried.names,
        carried.label,
        carried.at,
        carried.level,
        carried.text[: match.start()],
        carried.partial,
        int(match[1]),
    )


@functools.cache
def _rank_like() -> regex.Pattern[str]:
    """A name in brackets that is a rank of one server and no server of its own."""
    return regex.compile(r"(?i)(?:rank|tp|dp|pp|ep|gpu|npu|cuda|device|local_rank)[_-]?\d{1,5}\Z")


@functools.cache
def _pattern_of(carrier_id: str) -> regex.Pattern[str]:
    return regex.compile(next(carrier.pattern for carrier in CARRIERS if carrier.id == carrier_id))


@functools.cache
def _by_first_character() -> dict[str, tuple[tuple[Carrier, regex.Pattern[str]], ...]]:
    table: dict[str, list[tuple[Carrier, regex.Pattern[str]]]] = {}
    for carrier in CARRIERS:
        pattern = _pattern_of(carrier.id)
        for character in carrier.first:
            table.setdefault(character, []).append((carrier, pattern))
    return {character: tuple(entries) for character, entries in table.items()}


@functools.cache
def _record_pattern() -> regex.Pattern[str]:
    """What proves a doubtful carrier: an SGLang record, or its argument line, right behind it."""
    return regex.compile(
        rf"{BRACKET_TIME}|\[?\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d|server_args="
        r"|\[gpu(?:_id)?=\d|INFO:     |\(\S{1,60} pid=\d"
    )


def _may_begin(first: str) -> bool:
    return first in _by_first_character()
