"""Prefill and decode lines, read as a bag of ``name: value`` pairs.

No positional pattern: releases add, drop and reorder the pairs, so each pair stands for itself and an
unknown name is kept, never dropped. A body is a batch line only when it *begins* as one; text that
quotes such a line is none.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from parsers.lazy_dataclass import dataclass
from parsers.lazy_pattern import lazy_pattern

PREFILL, DECODE = 0, 1
"""Codes of the ``kind`` column."""

COUNT, RATIO, FLAG = "int64", "float64", "int8"

BATCH_COLUMNS: dict[str, str] = {
    "line": "int64",
    "at": "datetime64[us]",
    "rank": "int32",
    "iteration": COUNT,
    "new_seq": COUNT,
    "new_token": COUNT,
    "cached_token": COUNT,
    "running_req": COUNT,
    "queue_req": COUNT,
    "pending_token": COUNT,
    "token": COUNT,
    "token_usage": RATIO,
    "full_token": COUNT,
    "full_token_usage": RATIO,
    "swa_token": COUNT,
    "swa_token_usage": RATIO,
    "mamba_num": COUNT,
    "mamba_usage": RATIO,
    "cache_hit_rate": RATIO,
    "gen_throughput": RATIO,
    "input_throughput": RATIO,
    "accept_len": RATIO,
    "accept_rate": RATIO,
    "cuda_graph": FLAG,
    "retracted_req": COUNT,
    "prealloc_req": COUNT,
    "preallocated_usage": RATIO,
    "transfer_req": COUNT,
    "bootstrap_req": COUNT,
    "inflight_req": COUNT,
    "other": "object",
}
"""Column -> numpy dtype. ``rank`` is a code into ``BatchBlock.ranks``, throughputs are tokens/s, usages 0
to 1, ``cache_hit_rate`` percent, ``cuda_graph`` 1, 0 or -1 (not printed) for the graph label of any device,
``other`` a JSON object of the rarer pairs or ''."""

PAIR_COLUMNS: dict[str, str] = {
    "#new-seq": "new_seq",
    "#seq": "new_seq",
    "#new-token": "new_token",
    "#new_token": "new_token",
    "#cached-token": "cached_token",
    "#cached_token": "cached_token",
    "#running-req": "running_req",
    "#running_req": "running_req",
    "#queue-req": "queue_req",
    "#remaining_req": "queue_req",
    "#pending-token": "pending_token",
    "#token": "token",
    "token usage": "token_usage",
    "#full token": "full_token",
    "full token usage": "full_token_usage",
    "#swa token": "swa_token",
    "swa token usage": "swa_token_usage",
    "mamba num": "mamba_num",
    "mamba usage": "mamba_usage",
    "cache hit rate": "cache_hit_rate",
    "tree_cache_hit_rate": "cache_hit_rate",
    "gen throughput (token/s)": "gen_throughput",
    "input throughput (token/s)": "input_throughput",
    "accept len": "accept_len",
    "accept rate": "accept_rate",
    "cuda graph": "cuda_graph",
    "cpu graph": "cuda_graph",
    "npu graph": "cuda_graph",
    "musa graph": "cuda_graph",
    "xpu graph": "cuda_graph",
    "hip graph": "cuda_graph",
    "#retracted-req": "retracted_req",
    "#prealloc-req": "prealloc_req",
    "pre-allocated usage": "preallocated_usage",
    "#transfer-req": "transfer_req",
    "#transferring-req": "transfer_req",
    "#bootstrap-req": "bootstrap_req",
    "#unbootstrapped-req": "bootstrap_req",
    "#inflight-req": "inflight_req",
}
"""Name as printed -> column; a name that is not here goes to ``other``."""

SAMPLES: tuple[tuple[str, int, dict[str, float]], ...] = (
    (
        "Decode batch. #running-req: 3, #token: 700, token usage: 0.03, gen throughput (token/s): 101.00, "
        "#queue-req: 0",
        DECODE,
        {"running_req": 3, "token": 700, "token_usage": 0.03, "gen_throughput": 101.0, "queue_req": 0},
    ),
    (
        "Decode batch [51], #running-req: 3, #full token: 700, full token usage: 0.03, mamba num: 4, "
        "cuda graph: True, gen throughput (token/s): 66.00, #queue-req: 0, ",
        DECODE,
        {"iteration": 51, "full_token": 700, "mamba_num": 4, "cuda_graph": 1, "gen_throughput": 66.0},
    ),
    (
        "Prefill batch, #new-seq: 1, #new-token: 64, #cached-token: 0, token usage: 0.00, #running-req: 0, "
        "#queue-req: 0, #pending-token: 0, cpu graph: False, input throughput (token/s): 42.50",
        PREFILL,
        {"new_seq": 1, "new_token": 64, "pending_token": 0, "cuda_graph": 0, "input_throughput": 42.5},
    ),
    (
        "Prefill batch(mixed #running-req: 2). #new-seq: 1, #new-token: 7, #cached-token: 3, "
        "cache hit rate: 12.50%",
        PREFILL,
        {"running_req": 2, "new_seq": 1, "cache_hit_rate": 12.5},
    ),
    (
        "new fill batch. #seq: 1. #cached_token: 0. #new_token: 8. #remaining_req: 4. #running_req: 0. "
        "tree_cache_hit_rate: 5.25%.",
        PREFILL,
        {"new_seq": 1, "new_token": 8, "queue_req": 4, "cache_hit_rate": 5.25},
    ),
    (
        "#running-req: 3, #token: 1442, token usage: 0.18, #queue-req: 0",
        DECODE,
        {"running_req": 3, "token": 1442, "token_usage": 0.18, "queue_req": 0},
    ),
)
"""Bodies with the values that must come out; run by the tests."""


class BatchPair(NamedTuple):
    """One pair of a batch line; ``start`` and ``end`` bound the value's text in the body."""

    name: str
    column: str | None
    value: int | float | bool | str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class BatchLine:
    """A Prefill or Decode line."""

    kind: int
    iteration: int | None
    pairs: tuple[BatchPair, ...]
    complete: bool
    """True when every part of the body was a pair: only such a line may teach a template."""

    def values(self) -> dict[str, int | float]:
        """Column -> value for the pairs that have a column; flags as 1 and 0."""
        found: dict[str, int | float] = {}
        if self.iteration is not None:
            found["iteration"] = self.iteration
        for pair in self.pairs:
            if pair.column is not None and not isinstance(pair.value, str):
                found[pair.column] = int(pair.value) if isinstance(pair.value, bool) else pair.value
        return found

    def other(self) -> str:
        """JSON object of the pairs without a column, in printed order; '' when there is none."""
        rest = {pair.name: pair.value for pair in self.pairs if pair.column is None}
        return json.dumps(rest, ensure_ascii=False) if rest else ""


_HEAD = lazy_pattern(
    r"(?P<kind>Prefill|Decode|Mixed|new fill|prefill|decode) batch"
    r"(?: ?\[(?P<iteration>\d{1,18})\])?(?: ?\(mixed (?P<mixed>#running-req: \d+)\))?(?P<stop>[.,:]) ?"
)
_NUMBER = lazy_pattern(r"-?\d{1,18}(?:\.\d{1,18})?(?:[eE][+-]?\d{1,3})?\Z")
_NAME = lazy_pattern(r"[#A-Za-z][\w#/().% \-]{0,63}\Z")
_FIRST = ("P", "D", "n", "#", "M", "p", "d")
_LONGEST_BODY = 4000
_WORDS: dict[str, bool] = {"True": True, "False": False, "true": True, "false": False}


def parse_batch(body: str, torn: bool = False) -> BatchLine | None:
    """Read a record's body as a batch line, or None when it is none.

    ``torn``: another record cut the text off, so a last value without its comma is not trusted.
    """
    if not body.startswith(_FIRST) or len(body) > _LONGEST_BODY:
        return None
    if body[0] == "#":  # the first releases print decode lines without a keyword
        if not body.startswith("#running-req: ") or "#queue-req:" not in body:
            return None
        return _read_pairs(body, DECODE, None, 0, ",", torn, [])
    head = _HEAD.match(body)
    if head is None:
        return None
    kind = DECODE if head["kind"] in ("Decode", "decode") else PREFILL
    iteration = int(head["iteration"]) if head["iteration"] else None
    first: list[BatchPair] = []
    if head["mixed"]:
        pair = _read_pair(body, head.start("mixed"), head.end("mixed"))
        first = [pair] if pair else []
    separator = "." if head["kind"] == "new fill" else ","
    return _read_pairs(body, kind, iteration, head.end(), separator, torn, first)


def _read_pairs(
    body: str,
    kind: int,
    iteration: int | None,
    start: int,
    separator: str,
    torn: bool,
    pairs: list[BatchPair],
) -> BatchLine | None:
    complete = not torn
    known = 0
    length = len(body)
    while start < length:
        end = _end_of_pair(body, start, separator)
        if torn and end == length:
            break
        pair = _read_pair(body, start, end)
        if pair is not None:
            pairs.append(pair)
            known += pair.column is not None
        elif body[start:end].strip():
            complete = False
        start = end + 1
    if not known:
        return None
    return BatchLine(kind, iteration, tuple(pairs), complete)


def _end_of_pair(body: str, start: int, separator: str) -> int:
    if separator == ",":
        end = body.find(",", start)
        return len(body) if end < 0 else end
    end = body.find(". ", start)  # a period also stands inside numbers, so only one before a blank ends
    if end >= 0:
        return end
    return len(body) - 1 if body.endswith(".") else len(body)


def _read_pair(body: str, start: int, end: int) -> BatchPair | None:
    colon = body.rfind(": ", start, end)
    if colon < 0:
        return None
    name = body[start:colon].strip()
    value_text = body[colon + 2 : end].rstrip()
    value_start = colon + 2 + len(value_text) - len(value_text.lstrip())
    value_text = value_text.lstrip()
    value_end = value_start + len(value_text)
    column = PAIR_COLUMNS.get(name)
    if column is None and not _NAME.match(name):
        return None
    value = _value(value_text.removesuffix("%"))
    if value is None:
        return None
    if column is not None and not _fits(column, value):
        return None
    return BatchPair(name, column, value, value_start, value_end)


def _value(text: str) -> int | float | bool | None:
    if text in _WORDS:
        return _WORDS[text]
    if text == "nan":
        return float("nan")
    if text == "inf":
        return float("inf")
    if not _NUMBER.match(text):
        return None
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _fits(column: str, value: int | float | bool) -> bool:
    kind = BATCH_COLUMNS[column]
    if kind == FLAG:
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    return kind == RATIO or isinstance(value, int)
