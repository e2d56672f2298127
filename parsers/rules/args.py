"""The printed server arguments: split with respect to quotes and brackets, read as Python literals.

What is not a literal (enums, nested objects) keeps its printed text with a mark. Nothing is evaluated.
"""

from __future__ import annotations

import ast
import json
import math

import regex

from parsers.lazy_dataclass import dataclass
from parsers.lazy_pattern import lazy_pattern
from parsers.records import Argument, Json

LONGEST_BANNER = 1 << 20
"""Characters of a banner that are read; real ones have up to 30,000."""


@dataclass(frozen=True, slots=True)
class Banner:
    """The server arguments of one launch as printed."""

    arguments: tuple[Argument, ...]
    complete: bool
    """False when the text ends before the closing bracket."""
    end: int
    """Offset behind the closing bracket (length of the text when it is missing)."""
    is_diffusion: bool = False
    """Printed by the diffusion server, which has no ready line of its own."""


_PAIR_NAME = lazy_pattern(r"\s*([A-Za-z_]\w{0,100})\s*=")
_DICT_NAME = lazy_pattern(r"\s*(?:'([^'\\\n]{1,200})'|\"([^\"\\\n]{1,200})\")\s*:")
_OPEN, _CLOSE = "([{", ")]}"
_SPECIAL = lazy_pattern(r"[\[\](){}'\",<]")


def read_call(text: str, start: int = 0) -> Banner:
    """Read ``name=value, ...)`` from just behind the opening bracket of ``ServerArgs(``."""
    return _read(text, start, ")", _PAIR_NAME, False)


def read_dict(text: str, start: int = 0) -> Banner:
    """Read ``'name': value, ...}`` from just behind the opening brace."""
    return _read(text, start, "}", _DICT_NAME, False)


def read_json(text: str, start: int = 0) -> Banner:
    """Read ``"name": value, ...}`` whose values are JSON words."""
    return _read(text, start, "}", _DICT_NAME, True)


def read_flat(text: str, start: int = 0) -> Banner:
    """Read ``name=value, name=value, `` without brackets (the form of 0.1.20)."""
    return _read(text + ")", start, ")", _PAIR_NAME, False)


def _read(text: str, start: int, closing: str, name_pattern: regex.Pattern[str], is_json: bool) -> Banner:
    arguments: dict[str, Argument] = {}
    position, limit = start, min(len(text), start + LONGEST_BANNER)
    complete = False
    while position < limit:
        name_match = name_pattern.match(text, position)
        if name_match is None:
            complete = text[position:limit].lstrip()[:1] == closing
            position = text.find(closing, position) + 1 if complete else position
            break
        end, stop = _end_of_value(text, name_match.end(), limit, closing)
        if stop == "":
            position = limit
            break
        name = next(group for group in name_match.groups() if group is not None)
        arguments.pop(name, None)
        arguments[name] = _argument(name, text[name_match.end() : end].strip(), is_json)
        position = end + 1
        if stop == closing:
            complete = True
            break
    return Banner(tuple(arguments.values()), complete, position if complete else len(text))


def _end_of_value(text: str, start: int, limit: int, closing: str) -> tuple[int, str]:
    """Where a value ends, and the character that ends it ('' when the text does)."""
    depth = 0
    position = start
    while True:
        match = _SPECIAL.search(text, position, limit)
        if match is None:
            return limit, ""
        character, position = match[0], match.end()
        if character in "'\"":
            position = _end_of_string(text, position, limit, character)
            if position < 0:
                return limit, ""
        elif character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            if depth == 0:
                return match.start(), character
            depth -= 1
        elif character == "<":  # an object's repr: <Mode.X: 'x'>
            end = text.find(">", position, position + 400)
            if end >= 0:
                position = end + 1
        elif depth == 0:
            return match.start(), ","


def _end_of_string(text: str, start: int, limit: int, quote: str) -> int:
    position = start
    while True:
        end = text.find(quote, position, limit)
        if end < 0:
            return -1
        backslashes = 0
        while end - backslashes - 1 >= start and text[end - backslashes - 1] == "\\":
            backslashes += 1
        if backslashes % 2 == 0:
            return end + 1
        position = end + 1


def _argument(name: str, raw: str, is_json: bool) -> Argument:
    if is_json:
        try:
            return Argument(name, _as_json(json.loads(raw)), raw)
        except (ValueError, RecursionError):
            return Argument(name, raw, raw, is_literal=False)
    try:
        value = ast.literal_eval(raw)
        return Argument(name, _as_json(value), raw)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return Argument(name, raw, raw, is_literal=False)


def _as_json(value: object) -> Json:
    """A Python literal as JSON; raises ValueError for what JSON has no word for."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("no JSON word for this number")
        return value
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return [_as_json(item) for item in sorted(value, key=repr)]
    if isinstance(value, dict):
        return {str(key): _as_json(item) for key, item in value.items()}
    raise ValueError("no JSON value")
