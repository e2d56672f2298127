"""Identity of a message: its text with numbers, paths, addresses, ids, ranks and times taken out.

The same message of two ranks, runs or machines must give the same fingerprint, so nothing that a
machine, a clock or a random source decides may stay in the text; words, class names and names such
as ``fp8`` or ``sm_90`` must stay, since they tell one message from another.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

import regex

from parsers.lazy_pattern import lazy_pattern, lazy_re

MAX_TEXT = 1000
"""Characters that take part; what follows in a longer message is nearly always a value."""

_ANSI = lazy_pattern(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")

_MASKS = lazy_pattern(
    r"""
      (?P<url>\b[a-zA-Z][a-zA-Z0-9+.-]{1,11}://[^\s'"<>()\[\]{},|]++)
    | (?P<uuid>\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b)
    | (?P<time>\b\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d++)?(?:Z|[+-]\d\d:?\d\d)?)?
              |\b\d\d:\d\d:\d\d(?:[.,]\d++)?\b)
    | (?P<ip>\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d{1,5})?|\[[0-9a-fA-F:]*:[0-9a-fA-F:.]*\](?::\d{1,5})?)
    | (?P<path>(?<![\w.:/-])(?:~|\.{1,3})?(?:/[^\s/'"`:;,|<>()\[\]{}]++)++/?(?::\d++)*+
              |(?<![\w/-])[A-Za-z]:\\[^\s'"]++)
    | (?P<file>(?<![\w./-])(?:[\w+@-]++[./])*[\w+@-]++\.(?:py|pyx|cc|cpp|cu|cuh|h|hpp|so|json|jsonl
              |safetensors|bin|pt|pth|gguf|txt|log|yaml|yml|toml|ts|rs|c|jinja|model|whl|lock)\b(?:\.\d++)*(?::\d++)*+)
    | (?P<addr>\b0[xX][0-9a-fA-F]{3,}+\b)
    | (?P<hash>\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{8,}+\b)
    | (?P<token>(?<![\w])(?=\w*\d\w*\d)(?=\w*[a-zA-Z])(?!sm\d)[0-9A-Za-z]{16,}+(?!\w))
    | (?P<rank>\b(?:(?:ATTN_CP|MOE_DP|TP|DP|PP|EP|CP|DCP|WORKER|[Rr]ank|GPU|gpu|NPU|npu|[Tt]hread|Process|cuda
              |hip|xpu|musa|node|Node|worker|scheduler|layer|layers|device|local_rank)(?=[-_:#=]?\d))[-_:#=]?\d++\b
              |(?<=\[)[EWIF]\d{3,4}(?=\s))
    | (?P<host>(?<![\w.-])(?:[A-Za-z][\w-]*+\.)*[A-Za-z][\w-]*+:\d{2,5}\b(?=[^\w.]|$))
    | (?P<number>(?<![\w.])[-+]?\d[\d_,]*+(?:\.\d++)?(?:[eE][-+]?\d++)?(?:[xX](?=\d))?
              |(?<=[xX.\]])\d++(?:\.\d++)?(?![\w])|(?<=[xX])\d++)
    """,
    regex.VERBOSE,
)

_WORD = {
    "url": "<url>",
    "uuid": "<id>",
    "time": "<time>",
    "ip": "<addr>",
    "path": "<path>",
    "file": "<path>",
    "addr": "<ptr>",
    "host": "<addr>",
    "hash": "<id>",
    "token": "<id>",
    "rank": "<rank>",
    "number": "<n>",
}

_MAY_VARY = lazy_re(r"[\d/\\\[]|\.\w|://|-[0-9a-fA-F]")
"""In each text that one of the masks can match."""
_AS_ONES = str.maketrans("23456789", "11111111")
_LONE_NUMBER = lazy_re(r"(?<!\S)[01]{2,}(?!\S)")
"""A number between blanks is masked, however long it is."""
_SPACE = lazy_pattern(r"\s+")
_UNIT = lazy_pattern(r"<n>\s*(?:[KMGT]i?B|bytes|[mun]?s|seconds|minutes|hours|ms|us|%)(?![\w])")
_LIST = lazy_pattern(r"<(n|rank|addr|id|path|ptr)>(?:\s*[,x*;:-]\s*<\1>)++")


def normalise(text: str) -> str:
    """The text with its variable parts replaced by ``<n>``, ``<path>``, ``<addr>`` and the like."""
    text = text[:MAX_TEXT]
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if _MAY_VARY.search(text) is not None:
        text = _MASKS.sub(_replacement, text)
    if "<" in text:
        text = _UNIT.sub("<n>", text)
        text = _LIST.sub(r"<\1>", text)
    return _SPACE.sub(" ", text).strip().strip("*|").strip()


def fingerprint(text: str) -> str:
    """16 hex digits that are equal for messages that differ only in their variable parts."""
    return _digest(normalise(text))


def message_fingerprint(type_name: str | None, message: str) -> str:
    """The fingerprint of an error: of its message, and of its class too where the message says little.

    No pattern tells one digit from another, 0 apart. So messages that differ in their digits only have one
    fingerprint, unless a digit is left in it.
    """
    shape = _LONE_NUMBER.sub("1", message[:MAX_TEXT].translate(_AS_ONES))
    return _of_shape(type_name, shape) or _of_message(type_name, message)


@lru_cache(maxsize=4096)
def _of_shape(type_name: str | None, shape: str) -> str:
    text = normalise(shape)
    return "" if "0" in text or "1" in text else _of_text(type_name, text)


@lru_cache(maxsize=4096)
def _of_message(type_name: str | None, message: str) -> str:
    return _of_text(type_name, normalise(message))


def _of_text(type_name: str | None, text: str) -> str:
    if text.count(" ") < 3:
        text = f"{(type_name or '').rsplit('.', 1)[-1]}: {text}"
    return _digest(text)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _replacement(match: regex.Match[str]) -> str:
    return _WORD[match.lastgroup or "number"]
