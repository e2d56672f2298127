"""docs/sql.md: every packaged query with what it answers over the sample logs.

``LOGSCOPE_UPDATE_GOLDEN=1 python -m pytest tests/logscope/store/test_sql_docs.py`` writes it anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from logscope.cli.sql_formats import rendered
from logscope.errors import QueryError
from logscope.store import Store
from logscope.store.saved_queries import SavedQuery, save_query, saved_queries, saved_query
from tests.logscope.store.launches import SAMPLES

DOC = SAMPLES.parent / "docs" / "sql.md"
ORDER = (
    "last-good", "recent-failures", "outcomes-by-release", "errors-that-end-runs", "first-seen-in",
    "argument-changes", "changed-before-failures", "values-of-an-argument", "only-in-failures", "variables",
    "config-values", "warnings-of-failures", "time-to-ready", "slow-stages", "kv-cache-size", "throughput",
    "throughput-by-load", "throughput-drops", "queues", "prefix-cache", "speculation", "failed-requests",
    "launches-of-files", "least-understood",
)  # fmt: skip
HEAD = """# Questions and queries

`logscope sql` answers in DuckDB's SQL, read-only. The queries below are part of the program: run one with
`logscope sql --saved NAME`, list them with `logscope sql --list`, keep your own with
`logscope sql --save NAME "SELECT ..."`. Tables and columns: [schema.md](schema.md). The answers are those over
`sample_logs/` (`logscope ingest sample_logs`), checked by a test.
"""


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store.open(tmp_path_factory.mktemp("docs") / "samples.duckdb")
    store.ingest([SAMPLES])
    return store


def test_every_packaged_query_is_in_the_docs_with_its_answer(samples: Store) -> None:
    packaged = {query.name: query for query in saved_queries() if not query.is_own}

    text = "\n".join([HEAD, *(_section(samples, packaged[name]) for name in ORDER)])
    if os.environ.get("LOGSCOPE_UPDATE_GOLDEN"):
        DOC.write_text(text, encoding="utf-8")

    assert sorted(packaged) == sorted(ORDER)
    assert DOC.read_text(encoding="utf-8") == text


def _section(store: Store, query: SavedQuery) -> str:
    sql = "\n".join(line for line in query.sql.splitlines() if not line.startswith("--"))
    answer = rendered(store.query(query.sql), "table")
    return f"## {query.question}\n\n`{query.name}`\n\n```sql\n{sql}\n```\n\n```text\n{answer}\n```\n"


def test_every_packaged_query_says_what_it_answers() -> None:
    for query in saved_queries():
        assert query.question.endswith((".", "?", ")")), query.name


def test_an_own_query_is_kept_and_wins(samples: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    save_query("last-good", "-- Mine\nSELECT 1 AS one")

    assert saved_query("last-good").is_own
    assert samples.query(saved_query("last-good").sql).rows == ((1,),)


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(QueryError, match="no saved query") as unknown:
        saved_query("nothing")

    assert "last-good" in unknown.value.hint
