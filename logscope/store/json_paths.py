"""A JSON object as rows of (dotted path, value), and back. Lists are values; a dot in a key is quoted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from parsers.records import Json


def flatten(value: Json) -> Iterator[tuple[str, str]]:
    """(path, JSON text) of every leaf in the file's order; one row with an empty path for what is no
    object."""
    if isinstance(value, dict) and value:
        yield from _leaves(value, "")
    else:
        yield "", dump(value)


def unflatten(rows: Sequence[tuple[str, str]]) -> Json:
    """The value that `flatten` took apart."""
    if len(rows) == 1 and rows[0][0] == "":
        return load(rows[0][1])
    whole: dict[str, Json] = {}
    values = load_all([text for _, text in rows])
    for (path, _), value in zip(rows, values, strict=True):
        *parents, last = _split(path)
        place = whole
        for name in parents:
            inner = place.setdefault(name, {})
            if not isinstance(inner, dict):
                raise ValueError(f"{path}: below a plain value")
            place = inner
        place[last] = value
    return whole


def dump(value: Json) -> str:
    """JSON text as the store keeps it (non-ASCII escaped; NaN and Infinity as Python writes them)."""
    return json.dumps(value)


def load(text: str) -> Json:
    value: Json = json.loads(text)
    return value


def load_all(texts: Sequence[str]) -> list[Json]:
    """Each of the texts; one call for all, since a run has a thousand of them."""
    values: list[Json] = json.loads(f"[{','.join(texts)}]")
    return values


def _leaves(value: dict[str, Json], above: str) -> Iterator[tuple[str, str]]:
    for name, inner in value.items():
        path = above + _quoted(name)
        if isinstance(inner, dict) and inner:
            yield from _leaves(inner, path + ".")
        else:
            yield path, dump(inner)


def _quoted(name: str) -> str:
    return json.dumps(name) if name == "" or "." in name or name.startswith('"') else name


def _split(path: str) -> list[str]:
    if '"' not in path:
        return path.split(".")
    names: list[str] = []
    at = 0
    while at <= len(path):
        if path.startswith('"', at):
            name, end = json.JSONDecoder().raw_decode(path, at)
        else:
            end = path.find(".", at)
            end = len(path) if end < 0 else end
            name = path[at:end]
        names.append(name)
        at = end + 1
    return names
