"""Where a value or an error appeared before: spans of equal values, and the runs that an error stands in."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from logscope.errors import RunNotFound
from logscope.store.baseline import GOOD
from logscope.store.past import seen_before
from logscope.store.records import RunId, Seen
from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """Runs of one deployment, one after the other, with the same value."""

    deployment: str
    """Model name, and the port where it is known."""
    value: str | None
    """As plain text; None where it is None or not set."""
    first_run: RunId
    first_at: datetime | None
    last_run: RunId
    last_at: datetime | None
    runs: int
    good: int
    """Of them successes."""
    bad: int
    """Of them failed, killed or hung."""
    versions: tuple[str, ...]
    """SGLang releases in order, by version number."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One run in which an error or warning stands."""

    run_id: RunId
    at: datetime | None
    """When the run began."""
    sglang_version: str | None
    model_path: str | None
    outcome: str
    role: str
    """``root``, ``echo`` ...; empty for none."""
    line: int
    count: int
    path: str


@dataclass(frozen=True, slots=True)
class ErrorPast:
    """One error or warning over all runs."""

    fingerprint: str
    level: str
    type: str | None
    message: str
    occurrences: tuple[Occurrence, ...]
    """Oldest first."""
    versions: tuple[str, ...]
    """SGLang releases that printed it, in order."""
    seen: Seen
    """What fixed it, asked as of now."""


def argument_history(connection: DuckDBPyConnection, name: str) -> list[ValueSpan]:
    """Spans of equal values of a server argument, oldest first. Raises RunNotFound when no run prints it."""
    spans = _spans(
        connection,
        "SELECT run_no, text FROM server_args WHERE name = $name",
        name.removeprefix("--").replace("-", "_"),
    )
    if not spans:
        raise RunNotFound(
            f"{name}: no run prints an argument of this name", _near(connection, "server_args", name)
        )
    return spans


def env_history(connection: DuckDBPyConnection, name: str) -> list[ValueSpan]:
    """Spans of equal values of a variable, oldest first; runs whose environment is not known are left out."""
    known = connection.execute("SELECT count(*) FROM env WHERE name = ?", [name]).fetchone()
    if known is None or not known[0]:
        raise RunNotFound(f"{name}: no run shows a variable of this name", _near(connection, "env", name))
    return _spans(
        connection,
        "SELECT r.run_no, any_value(e.value) AS text FROM runs r "
        "LEFT JOIN (SELECT run_no, value FROM env WHERE name = $name) e USING (run_no) "
        "WHERE r.env_known OR e.run_no IS NOT NULL GROUP BY r.run_no",
        name,
    )


_FIELD, _ROW, _NOTHING = "\x1f", "\x1e", "\x1d"
"""Control characters that end a field and a row, and that stand for None."""


def _spans(connection: DuckDBPyConnection, values: str, name: str) -> list[ValueSpan]:
    """The rows of a deployment come as one text: 5,000 rows as tuples with times cost a fifth more in all."""
    deployments = connection.execute(
        f"SELECT deployment, string_agg(row, '{_ROW}' ORDER BY order_at, run_no) FROM ("
        "SELECT concat_ws(' :', coalesce(r.model_key, '(model unknown)'), r.port) AS deployment, r.order_at, "
        f"r.run_no, concat(r.run_id, '{_FIELD}', epoch_us(r.order_at), '{_FIELD}', r.sglang_version, "
        f"'{_FIELD}', CASE WHEN {GOOD} THEN 'g' WHEN r.outcome IN ('failed', 'killed', 'hung') THEN 'b' END, "
        f"'{_FIELD}', coalesce(replace(v.text, '{_ROW}', ' '), '{_NOTHING}')) AS row "
        f"FROM ({values}) v JOIN runs r USING (run_no)) GROUP BY deployment ORDER BY deployment",
        {"name": name},
    ).fetchall()
    return [
        _span(deployment, value, list(runs))
        for deployment, text in deployments
        for value, runs in groupby((row.split(_FIELD, 4) for row in text.split(_ROW)), key=itemgetter(4))
    ]


def _span(deployment: str, value: str, runs: Sequence[Sequence[str]]) -> ValueSpan:
    """`runs`: run id, time in microseconds, release, ``g`` or ``b``, value."""
    first, last = runs[0], runs[-1]
    ends = [run[3] for run in runs]
    return ValueSpan(
        deployment=deployment,
        value=None if value == _NOTHING else value,
        first_run=RunId(first[0]),
        first_at=_time(first[1]),
        last_run=RunId(last[0]),
        last_at=_time(last[1]),
        runs=len(runs),
        good=ends.count("g"),
        bad=ends.count("b"),
        versions=ordered_versions({run[2] for run in runs}),
    )


def _time(microseconds: str) -> datetime | None:
    return _EPOCH + timedelta(microseconds=int(microseconds)) if microseconds else None


def error_history_of(connection: DuckDBPyConnection, words: str) -> list[ErrorPast]:
    """The errors and warnings whose fingerprint is, or whose type or message holds, `words`; newest first.

    Raises RunNotFound when there is none.
    """
    is_fingerprint = re.fullmatch("[0-9a-f]{16}", words) is not None
    fits = (
        "e.fingerprint = $words"
        if is_fingerprint
        else "contains(lower(concat_ws(': ', e.type, e.message)), lower($words))"
    )
    rows = connection.execute(
        "SELECT e.fingerprint, any_value(e.level), arg_max(e.type, r.order_at), arg_max(e.message, "
        "r.order_at) "
        f"FROM events e JOIN runs r USING (run_no) WHERE e.kind <> 'milestone' AND {fits} "
        "GROUP BY e.fingerprint ORDER BY max(r.order_at) DESC NULLS LAST, e.fingerprint LIMIT 20",
        {"words": words},
    ).fetchall()
    if not rows:
        raise RunNotFound(
            f"{words}: no error or warning like this in the store", "a fingerprint, or part of the message"
        )
    return [_error_past(connection, *row) for row in rows]


def ordered_versions(versions: Iterable[str | None]) -> tuple[str, ...]:
    """Each version once, by number (0.5.9 before 0.5.10); what is no version comes last."""
    return tuple(sorted({text for text in versions if text}, key=_version_key))


@functools.lru_cache(maxsize=4096)
def _version_key(text: str) -> tuple[bool, Any, str]:
    from packaging.version import InvalidVersion, Version

    try:
        return False, Version(text), text
    except InvalidVersion:
        return True, Version("0"), text


def _error_past(
    connection: DuckDBPyConnection, fingerprint: str, level: str, error_type: str | None, message: str
) -> ErrorPast:
    rows = connection.execute(
        "SELECT r.run_id, r.order_at, r.sglang_version, r.model_path, r.outcome, e.role, e.line, e.count, "
        "r.path "
        "FROM events e JOIN runs r USING (run_no) WHERE e.fingerprint = ? ORDER BY r.order_at, r.run_no, "
        "e.line",
        [fingerprint],
    ).fetchall()
    occurrences = tuple(Occurrence(RunId(row[0]), *row[1:]) for row in rows)
    return ErrorPast(
        fingerprint,
        level,
        error_type,
        message,
        occurrences,
        ordered_versions([each.sglang_version for each in occurrences]),
        seen_before(connection, fingerprint, None),
    )


def _near(connection: DuckDBPyConnection, table: str, name: str) -> str:
    import difflib

    names = [row[0] for row in connection.execute(f"SELECT DISTINCT name FROM {table}").fetchall()]
    close = difflib.get_close_matches(name.removeprefix("--").replace("-", "_"), names, n=3, cutoff=0.6)
    return f"near: {', '.join(close)}" if close else ""
