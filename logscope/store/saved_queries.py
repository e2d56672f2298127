"""Queries with a name: those of the package and a person's own, one SQL file each.

The first lines of a file that begin with ``--`` say what it answers.
"""

from __future__ import annotations

import re
from pathlib import Path

from logscope.config import config_dir
from logscope.errors import QueryError, UsageError
from parsers.lazy_dataclass import dataclass

_PACKAGED = Path(__file__).with_name("saved")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}\Z")


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A query with a name."""

    name: str
    question: str
    """What it answers, one line."""
    sql: str
    is_own: bool
    """True for a person's own, which wins over a packaged one of the same name."""


def own_folder() -> Path:
    """Where a person's own queries lie."""
    return config_dir() / "queries"


def saved_queries() -> tuple[SavedQuery, ...]:
    """All of them: a person's own first, each group by name."""
    found: dict[str, SavedQuery] = {}
    for folder, is_own in ((own_folder(), True), (_PACKAGED, False)):
        for file in sorted(folder.glob("*.sql")):
            query = _read(file, is_own)
            found.setdefault(query.name, query)
    return tuple(found.values())


def saved_query(name: str) -> SavedQuery:
    """The query of this name. Raises QueryError with the names that there are."""
    queries = saved_queries()
    for query in queries:
        if query.name == name:
            return query
    import difflib

    names = [each.name for each in queries]
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(names)}"
    raise QueryError(f"{name}: no saved query", hint)


def save_query(name: str, sql: str) -> Path:
    """Keeps a query under a name in the person's own folder. Raises UsageError for a name that is none."""
    if not _NAME.match(name):
        raise UsageError(f"{name}: no name for a query", "letters, digits, '-' and '_'")
    file = own_folder() / f"{name}.sql"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(sql.strip() + "\n", encoding="utf-8")
    except OSError as error:
        raise QueryError(f"{file}: cannot be written: {error.strerror}") from error
    return file


def _read(file: Path, is_own: bool) -> SavedQuery:
    text = file.read_text(encoding="utf-8", errors="replace")
    said: list[str] = []
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        said.append(line[2:].strip())
    return SavedQuery(file.stem, " ".join(said), text.strip(), is_own)
