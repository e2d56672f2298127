"""Which SGLang release wrote a log: printed exactly, narrowed to a range, or unknown.

``exact`` is claimed only for a version that the log prints. A range comes from wordings and from the
names in the printed arguments, whose first and last releases are known; its ends are the releases that
were read, so the truth can lie between two of them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from importlib import resources

import regex

from parsers.lazy_dataclass import dataclass
from parsers.records import VersionGuess

_VERSION = (
    r"\d{1,2}\.\d{1,3}(?:\.\d{1,3})?(?:rc\d{1,2})?(?:\.?post\d{1,2})?(?:\.dev\d{1,9})?(?:\+[\w.]{1,40})?"
)


@dataclass(frozen=True, slots=True)
class VersionShape:
    """One way in which a log prints the version; a smaller rank is the surer one."""

    id: str
    rank: int
    literal: str
    pattern: str
    reason: str
    samples: tuple[tuple[str, str], ...]


SHAPES: tuple[VersionShape, ...] = (
    VersionShape(
        "banner",
        0,
        "SGLang Version ",
        rf"^SGLang Version v?({_VERSION})",
        "printed by the container's banner",
        (("SGLang Version 0.5.11+05fb6a52", "0.5.11+05fb6a52"),),
    ),
    VersionShape(
        "field",
        0,
        "sglang",
        rf"\bsglang[_ ]?version['\"]?(?:=|: ?| )['\"]?v?({_VERSION})",
        "printed by the server",
        (("sglang_version='0.5.2', other", "0.5.2"), ("sglang version: 0.4.9", "0.4.9")),
    ),
    VersionShape(
        "installed",
        1,
        "sglang-",
        rf"Successfully installed .{{0,8000}}?\bsglang-({_VERSION})(?=\s|\Z)",
        "installed by pip just before",
        (("Successfully installed numpy-1.26 sglang-0.5.6.post2 torch-2.9", "0.5.6.post2"),),
    ),
    VersionShape(
        "pip-list",
        1,
        "sglang",
        rf"^(?:Name: sglang )?sglang(?:==| {{1,40}}| @ v?)({_VERSION})(?=\s|\Z)",
        "printed by pip",
        (("sglang==0.4.6.post1", "0.4.6.post1"), ("sglang      0.5.2     /src", "0.5.2")),
    ),
    VersionShape(
        "satisfied",
        2,
        "sglang",
        rf"Requirement already satisfied: sglang(?:\[[\w,]{{1,60}}\])?==({_VERSION})",
        "pip says that it is installed",
        (("Requirement already satisfied: sglang==0.5.3 in /usr/lib", "0.5.3"),),
    ),
    VersionShape(
        "path",
        2,
        "sglang-",
        rf"[/\\]sglang-v?({_VERSION})(?=[/\\]|\.dist-info|-py3|\.egg)",
        "part of a path to its files",
        (('  File "/opt/sglang-0.4.7/python/sglang/srt/x.py", line 1', "0.4.7"),),
    ),
    VersionShape(
        "image",
        3,
        "sglang:",
        rf"\bsglang:v({_VERSION})(?=[-\s'\",]|\Z)",
        "tag of the container image",
        (("docker run lmsysorg/sglang:v0.5.2-cu126", "0.5.2"),),
    ),
)


@dataclass(frozen=True, slots=True)
class WordingSpan:
    """A wording and the releases that use it ('' = open)."""

    text: str
    first: str
    last: str


WORDINGS: tuple[WordingSpan, ...] = (
    WordingSpan("Init nccl begin.", "0.1.20", "0.3.0"),
    WordingSpan("Init torch distributed begin.", "0.3.6", "0.5.20"),
    WordingSpan("Init torch distributed ends. mem usage", "0.4.3.post4", "0.5.8.post1"),
    WordingSpan("Init torch distributed ends. elapsed", "0.5.9", "0.5.20"),
    WordingSpan("Init parallel begin.", "0.5.21", ""),
    WordingSpan("Load weight end. elapsed", "0.5.9", ""),
    WordingSpan("Prefill batch [", "0.5.4", ""),
    WordingSpan("Prefill batch,", "0.5.4.post1", ""),
    WordingSpan("Decode batch,", "0.5.4.post1", ""),
    WordingSpan("Prefill batch. ", "0.1.20", "0.5.3.post3"),
    WordingSpan("Decode batch. ", "0.1.20", "0.5.3.post3"),
    WordingSpan("Capture target ", "0.5.15.post1", ""),
    WordingSpan("KV Cache is allocated. K size", "0.4.0", "0.4.1.post7"),
    WordingSpan("KV Cache is allocated. #tokens", "0.4.3.post4", "0.5.12.post1"),
    WordingSpan("KV Cache is allocated. dtype", "0.5.13.post1", ""),
    WordingSpan("Engine startup timings", "0.5.17", ""),
    WordingSpan("server_args={", "0.5.19", ""),
    WordingSpan("server_args=ServerArgs(", "0.2.0", "0.5.18"),
    WordingSpan("Received sigquit from a child proces.", "0.4.1.post7", "0.4.3"),
    WordingSpan("TpModelWorkerClient hit an exception", "0.4.0", "0.5.2"),
    WordingSpan("Scheduler hit an exception", "0.4.0", ""),
    WordingSpan("Exception in ModelTpServer", "0.1.20", "0.3.0"),
    WordingSpan("Exception in ModelRpcClient", "0.1.6", "0.1.13"),
    WordingSpan("new fill batch. ", "0.1.6", "0.1.13"),
    WordingSpan("load weight begin.", "0.1.6", "0.1.13"),
    WordingSpan("Watchdog timeout (self.watchdog_timeout", "0.3.6", "0.5.6.post2"),
    WordingSpan("Scheduler watchdog timeout (self.", "0.5.7", ""),
    WordingSpan("Child process unexpectedly failed with an exit code", "0.4.3.post4", "0.4.6.post5"),
    WordingSpan("Child process unexpectedly failed with exitcode", "0.4.8.post1", "0.4.9.post6"),
    WordingSpan(
        "Capture cuda graph begin. This can take up to several minutes. avail mem",
        "0.4.3.post4",
        "0.5.13.post1",
    ),
    WordingSpan("KV cache pool is full.", "0.4.6.post5", ""),
    WordingSpan("SIGQUIT received. signum=None", "0.5.3.post3", ""),
    WordingSpan("Full KV Cache is allocated", "0.5.17", ""),
    WordingSpan("Memory baseline taken.", "0.5.21", ""),
)


PAIRS: tuple[WordingSpan, ...] = (
    WordingSpan("cache hit rate", "0.1.20", "0.4.1.post7"),
    WordingSpan("tree_cache_hit_rate", "0.1.13", "0.1.13"),
    WordingSpan("#unbootstrapped-req", "0.4.6.post5", "0.5.2"),
    WordingSpan("accept rate", "0.5.3.post3", ""),
    WordingSpan("accept len", "0.4.1.post7", ""),
    WordingSpan("#pending-token", "0.5.12.post1", ""),
    WordingSpan("#bootstrap-req", "0.5.12.post1", ""),
    WordingSpan("full token usage", "0.4.9.post6", ""),
    WordingSpan("pre-allocated usage", "0.4.6.post5", ""),
    WordingSpan("cuda graph", "0.4.6.post5", ""),
    WordingSpan("largest-len", "0.4.3.post4", "0.4.3.post4"),
)
"""Names of batch-line pairs with the releases that print them."""


class VersionEvidence:
    """Gathers what a run's lines tell about the version."""

    def __init__(self) -> None:
        self._printed: dict[int, tuple[str, str, int]] = {}
        self._wordings: set[int] = set()
        self._pairs: set[int] = set()

    def see_text(self, text: str, line: int) -> None:
        """Look for a printed version; cheap where the text has no 'glang'."""
        if "glang" not in text and "GLang" not in text:
            return
        for shape in SHAPES:
            if shape.literal in text and shape.rank not in self._printed:
                match = _shape(shape.id).search(text[:20_000])
                if match is not None:
                    self._printed[shape.rank] = (match[1], shape.reason, line)

    def see_body(self, body: str) -> None:
        """Look for a wording with a known span at the begin of a message."""
        for number in _wordings_by_start().get(body[:4], ()):
            if number not in self._wordings and body.startswith(WORDINGS[number].text):
                self._wordings.add(number)

    def see_names(self, names: Iterable[str]) -> None:
        """Look at the names of a batch line's pairs."""
        for name in names:
            number = _pair_spans().get(name)
            if number is not None:
                self._pairs.add(number)

    def guess(self, argument_names: Iterable[str], is_complete: bool) -> VersionGuess:
        """The version as far as the evidence goes."""
        if self._printed:
            version, reason, line = self._printed[min(self._printed)]
            return VersionGuess(version, "exact", version, version, f"{reason} (line {line})")
        names = frozenset(argument_names)
        if not self._wordings and not self._pairs and not names:
            return VersionGuess(
                None, "unknown", reason="the log prints no version and no wording with a known span"
            )
        seen = [WORDINGS[number] for number in sorted(self._wordings)]
        seen += [PAIRS[number] for number in sorted(self._pairs)]
        return _narrow(seen, names, is_complete)


def _narrow(wordings: list[WordingSpan], names: frozenset[str], is_complete: bool) -> VersionGuess:
    versions, fields = _fields()
    low, high = 0, len(versions) - 1
    reasons = []
    for wording in wordings:
        if wording.first and _place(wording.first) > low:
            low = _place(wording.first)
            reasons.append(f"'{wording.text.strip()}' from {wording.first}")
        if wording.last and _place(wording.last) < high:
            high = _place(wording.last)
            reasons.append(f"'{wording.text.strip()}' until {wording.last}")
    if names & fields.keys():
        first_name = max(sorted(names & fields.keys()), key=lambda name: fields[name][0])
        if fields[first_name][0] > low:
            low = fields[first_name][0]
            reasons.append(f"argument {first_name} from {versions[low]}")
        for name in sorted(names & fields.keys()):
            last = fields[name][1]
            if last is not None and low <= last < high:
                high = last
                reasons.append(f"argument {name} until {versions[last]}")
        if is_complete and len(names) > 15:
            missing = [
                place
                for name, (place, last) in fields.items()
                if name not in names and place > low and last is None
            ]
            if missing and min(missing) - 1 < high:
                high = max(low, min(missing) - 1)
                reasons.append(f"no argument that came with {versions[high + 1]}")
    if low > high + 1:
        return VersionGuess(
            None, "unknown", reason="the wordings belong to different releases: " + "; ".join(reasons)
        )
    # Releases between two that were read are not known, so the range reaches to the neighbours.
    earliest = versions[min(low - 1, high)] if low else None
    latest = versions[max(high + 1, low)] if high < len(versions) - 1 else None
    return VersionGuess(None, "range", earliest, latest, "; ".join(reasons[-4:]) or "wording of the log")


@functools.cache
def _fields() -> tuple[tuple[str, ...], dict[str, tuple[int, int | None]]]:
    raw = json.loads(
        resources.files("parsers").joinpath("data/printed_fields.json").read_text(encoding="utf-8")
    )
    return tuple(raw["versions"]), {name: (span[0], span[1]) for name, span in raw["fields"].items()}


@functools.cache
def _place(version: str) -> int:
    """Index of a version among those that were read; between two of them, the later one counts."""
    versions, _ = _fields()
    if version in versions:
        return versions.index(version)
    key = _key(version)
    return next((index for index, one in enumerate(versions) if _key(one) > key), len(versions) - 1)


def _key(version: str) -> tuple[tuple[int, ...], int, int]:
    match = regex.match(r"(\d+(?:\.\d+)*)(?:rc(\d+))?(?:\.post(\d+))?", version)
    if match is None:
        return (), 0, 0
    numbers = tuple(int(part) for part in match[1].split("."))
    return numbers, (int(match[2]) - 1000 if match[2] else 0), int(match[3] or 0)


@functools.cache
def _shape(shape_id: str) -> regex.Pattern[str]:
    return regex.compile(next(shape.pattern for shape in SHAPES if shape.id == shape_id))


@functools.cache
def _wordings_by_start() -> dict[str, tuple[int, ...]]:
    table: dict[str, list[int]] = {}
    for number, wording in enumerate(WORDINGS):
        table.setdefault(wording.text[:4], []).append(number)
    return {start: tuple(numbers) for start, numbers in table.items()}


@functools.cache
def _pair_spans() -> dict[str, int]:
    return {span.text: number for number, span in enumerate(PAIRS)}
