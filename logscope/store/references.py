"""Which run a word means: an id, a prefix of one, a path, or last, last-failed, last-ready."""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from logscope.errors import RunNotFound
from logscope.store.records import short_id
from parsers.lazy_pattern import lazy_re

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NEWEST = {
    "last": "true",
    "last-failed": "outcome IN ('failed', 'killed', 'hung')",
    "last-ready": "ready AND outcome NOT IN ('failed', 'hung', 'killed')",
}
"""Word that names the newest run of a kind -> which runs are of it, in SQL."""
_WITH_ORDINAL = lazy_re(r"(?P<path>.+)#(?P<ordinal>\d+)\Z", re.DOTALL)
_LONG_PREFIX = lazy_re(r"[0-9a-f]{8,16}\Z")
_TYPED_ID = 6
"""Digits from which on a prefix is looked at for a wrong one."""
_HINT = "a run id, a unique prefix of one, a log's path (PATH#2), last, last-failed or last-ready"


def find_run(connection: DuckDBPyConnection, reference: str) -> int:
    """The run_no of the run that `reference` names. Raises RunNotFound with what is near."""
    if reference in NEWEST:
        return _newest(connection, reference)
    is_long = _LONG_PREFIX.match(reference) is not None  # as commands print it: no path is called so
    if is_long and len(rows := _begins(connection, reference)) == 1:
        return int(rows[0][0])
    by_path = _by_path(connection, reference)
    if by_path is not None:
        return by_path
    rows = rows if is_long else _begins(connection, reference)
    if len(rows) == 1 and reference:
        return int(rows[0][0])
    if len(rows) > 1 and len(reference) >= 1 and _is_hex(reference):
        names = ", ".join(short_id(row[1]) for row in rows[:5]) + (" ..." if len(rows) > 5 else "")
        raise RunNotFound(f"{reference}: names several runs: {names}", "give more of the id")
    raise RunNotFound(f"{reference}: no such run in the store", _near(connection, reference))


def _begins(connection: DuckDBPyConnection, prefix: str) -> list[tuple[int, str]]:
    """(run_no, run_id) of runs whose id begins so; six at most."""
    return connection.execute(
        "SELECT run_no, run_id FROM runs WHERE starts_with(run_id, ?) ORDER BY run_id LIMIT 6",
        [prefix.lower()],
    ).fetchall()


def _newest(connection: DuckDBPyConnection, word: str) -> int:
    row = connection.execute(
        f"SELECT run_no FROM runs WHERE {NEWEST[word]} ORDER BY order_at DESC NULLS LAST, run_no DESC "
        f"LIMIT 1"
    ).fetchone()
    if row is None:
        kind = word.removeprefix("last").lstrip("-")
        raise RunNotFound(
            f"{word}: the store holds no {kind + ' ' if kind else ''}run", "'logscope ingest PATH...'"
        )
    return int(row[0])


def _by_path(connection: DuckDBPyConnection, reference: str) -> int | None:
    path, ordinal = reference, None
    found = _runs_at(connection, path)
    if not found and (split := _WITH_ORDINAL.match(reference)):
        path, ordinal = split["path"], int(split["ordinal"])
        found = _runs_at(connection, path)
    if not found:
        return None
    if ordinal is None:
        return max(found.items())[1]
    if ordinal not in found:
        raise RunNotFound(f"{path}: holds {len(found)} launches, no #{ordinal}", _HINT)
    return found[ordinal]


def _runs_at(connection: DuckDBPyConnection, path: str) -> dict[int, int]:
    """Ordinal -> run_no of the launches in the newest log that lay or lies there; a copy of a log's beginning
    has its first ones only."""
    places = [path] if path == "-" else [os.path.abspath(os.path.expanduser(path)), path]  # noqa: PTH100, PTH111
    rows = connection.execute(
        "SELECT r.ordinal, r.run_no FROM runs r JOIN ("
        "  SELECT log_id, lines FROM sources WHERE list_contains(?::VARCHAR[], path) "
        "  ORDER BY is_current DESC, seen_at DESC LIMIT 1) s USING (log_id) "
        "WHERE r.first_line <= coalesce(s.lines, r.first_line)",
        [places],
    ).fetchall()
    if not rows:
        rows = connection.execute(
            "SELECT ordinal, run_no FROM runs WHERE list_contains(?::VARCHAR[], path) ORDER BY run_no",
            [places],
        ).fetchall()
    return {int(ordinal): int(run_no) for ordinal, run_no in rows}


def _near(connection: DuckDBPyConnection, reference: str) -> str:
    import difflib

    known = connection.execute("SELECT DISTINCT path, run_id FROM runs").fetchall()
    paths = sorted({row[0] for row in known})
    if not paths:
        return "the store is empty: 'logscope ingest PATH...'"
    word = difflib.get_close_matches(reference.lower(), NEWEST, n=1, cutoff=0.7)
    if word:
        return f"did you mean {word[0]}?"
    if len(reference) >= _TYPED_ID and _is_hex(reference):  # one digit wrong, or two changed places
        size = len(reference)
        begins = sorted({row[1][:size] for row in known})
        if ids := difflib.get_close_matches(reference.lower(), begins, n=3, cutoff=1 - 1.5 / size):
            return f"did you mean {' or '.join(ids)}?"
    name = PurePath(_WITH_ORDINAL.sub(r"\g<path>", reference)).name
    same = sorted(path for path in paths if PurePath(path).name == name)
    names = {PurePath(path).name: path for path in paths}
    near = same or [names[each] for each in difflib.get_close_matches(name, names, n=3, cutoff=0.6)]
    return f"near: {', '.join(near[:3])}" if near else f"give {_HINT}"


def _is_hex(word: str) -> bool:
    return re.fullmatch(r"[0-9a-f]+", word.lower()) is not None
