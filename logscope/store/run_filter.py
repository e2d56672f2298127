"""Which runs a list shows: filters as data, put into SQL as parameters."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from logscope.errors import UsageError
from logscope.store.facts import all_facts
from logscope.store.records import RunFacts
from parsers.lazy_dataclass import dataclass
from parsers.lazy_pattern import lazy_re

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from packaging.specifiers import SpecifierSet

_AGE = lazy_re(r"(\d+)\s*([mhdw])\Z")
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_LONGEST_AGE = timedelta(days=365_000)


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What a run must fit; None and () let every run through."""

    outcomes: tuple[str, ...] = ()
    model: str | None = None
    """Part of the model path, any case."""
    version: str | None = None
    """A version or a specifier (``>=0.5,<0.5.10``)."""
    host: str | None = None
    error: str | None = None
    """Part of the root error's type or message, or its fingerprint."""
    arguments: tuple[str, ...] = ()
    """``NAME=VALUE`` or ``NAME``, each."""
    since: datetime | None = None
    until: datetime | None = None
    mark: str | None = None
    limit: int | None = None
    """The newest so many."""


def read_when(text: str, now: datetime) -> datetime:
    """A time (ISO 8601, local, no zone needed) or an age (``90m``, ``12h``, ``7d``, ``2w``). Raises
    UsageError."""
    age = read_age(text)
    if age is not None:
        return now - age
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(
            f"{text}: no time", "2026-11-30, '2026-11-30 17:00', or an age: 90m, 12h, 7d, 2w"
        ) from error
    return moment if moment.tzinfo is None else moment.astimezone().replace(tzinfo=None)


def read_age(text: str) -> timedelta | None:
    """An age such as ``90m``, ``12h``, ``7d``, ``2w``, at most a thousand years; None when it is none."""
    age = _AGE.match(text.strip())
    if age is None:
        return None
    unit = _UNITS[age.group(2)]
    return min(int(age.group(1)), _LONGEST_AGE // unit) * unit


def filtered_runs(connection: DuckDBPyConnection, wanted: RunFilter) -> list[RunFacts]:
    """The runs that fit, newest first. Raises UsageError for a version that is none."""
    versions = None if wanted.version is None else _specifier(wanted.version)
    where, parameters = _condition(wanted)
    runs = all_facts(connection, where, parameters)
    if versions is not None:
        runs = [facts for facts in runs if facts.sglang_version and fits(facts.sglang_version, versions)]
    return runs if wanted.limit is None else runs[: max(0, wanted.limit)]


def fits(version: str, wanted: SpecifierSet) -> bool:
    """True when the version lies in the range; one that is no version (a commit) never does."""
    from packaging.version import InvalidVersion

    try:
        return wanted.contains(version, prereleases=True)
    except InvalidVersion:
        return False


def _specifier(text: str) -> SpecifierSet:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(text if text.strip()[:1] in "<>=!~" else f"=={text.strip()}")
    except InvalidSpecifier as error:
        raise UsageError(f"--version {text}: no version", "0.5.4.post3, or '>=0.5,<0.5.10'") from error


def _condition(wanted: RunFilter) -> tuple[str, dict[str, Any]]:
    parts: list[str] = []
    values: dict[str, Any] = {}

    def add(condition: str, **named: Any) -> None:
        parts.append(condition)
        values.update(named)

    if wanted.outcomes:
        add("r.outcome IN (SELECT unnest($outcomes::VARCHAR[]))", outcomes=list(wanted.outcomes))
    if wanted.model is not None:
        add("contains(lower(r.model_path), lower($model))", model=wanted.model)
    if wanted.host is not None:
        add("contains(lower(r.host), lower($host))", host=wanted.host)
    if wanted.error is not None:
        add(
            "(contains(lower(concat_ws(': ', r.root_type, r.root_message)), lower($error)) "
            "OR r.root_fingerprint = $error)",
            error=wanted.error,
        )
    if wanted.since is not None:
        add("r.order_at >= $since", since=wanted.since)
    if wanted.until is not None:
        add("r.order_at < $until", until=wanted.until)
    if wanted.mark is not None:
        add("r.mark = $mark", mark=wanted.mark)
    for number, argument in enumerate(wanted.arguments):
        condition, named = _argument(argument, number)
        add(condition, **named)
    return " AND ".join(parts) or "true", values


def _argument(text: str, number: int) -> tuple[str, dict[str, Any]]:
    name, sign, value = text.partition("=")
    name = name.strip().removeprefix("--").replace("-", "_")
    named: dict[str, Any] = {f"name{number}": name}
    condition = f"a.name = $name{number}"
    if sign:
        plain = value.strip()
        named[f"value{number}"] = plain
        condition += (
            f" AND (lower(coalesce(a.text, 'none')) = lower($value{number}) OR a.raw = $value{number} "
            f"OR a.number = try_cast($value{number} AS DOUBLE))"
        )
    return f"r.run_no IN (SELECT run_no FROM server_args a WHERE {condition})", named
