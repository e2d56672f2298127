"""The schema: commented throughout, described in docs, versioned, and readable by older DuckDB clients."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from logscope.store import Store, schema
from logscope.store.schema_text import schema_markdown
from tests.logscope.store.launches import launch_log, write_log

ROOT = Path(__file__).parents[3]


def test_every_table_view_and_column_has_a_comment(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.duckdb")
    store.ingest([])

    bare = store.query(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND comment IS NULL "
        "UNION ALL SELECT table_name, NULL FROM duckdb_tables() WHERE NOT internal AND comment IS NULL "
        "UNION ALL SELECT view_name, NULL FROM duckdb_views() WHERE NOT internal AND comment IS NULL"
    )

    assert bare.rows == ()


def test_the_description_in_docs_is_that_of_the_schema() -> None:
    assert (ROOT / "docs" / "schema.md").read_text(encoding="utf-8") == schema_markdown()


def test_the_tables_of_the_contract_can_be_asked(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.duckdb")
    store.ingest([write_log(tmp_path / "a.log", launch_log(decode=3))])

    for name in (
        "runs", "sources", "server_args", "env", "model_configs", "events", "tracebacks", "batches", "requests",
        "notes", "last_good", "arg_changes", "error_history", "throughput_by_run",
    ):  # fmt: skip
        assert store.query(f"SELECT * FROM {name}").columns


def test_the_version_is_that_of_the_last_migration() -> None:
    assert schema.migrations()[-1][0] == schema.VERSION
    assert [number for number, _ in schema.migrations()] == list(range(1, schema.VERSION + 1))


def test_an_older_store_is_brought_forward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.duckdb"
    log = write_log(tmp_path / "a.log", launch_log())
    Store.open(path).ingest([log])
    folder = tmp_path / "migrations"
    shutil.copytree(Path(schema.__file__).with_name("migrations"), folder)
    number = schema.VERSION + 1
    (folder / f"{number:04}_more.sql").write_text(
        "ALTER TABLE runs ADD COLUMN colour VARCHAR;\nCOMMENT ON COLUMN runs.colour IS 'For this test';\n"
    )
    monkeypatch.setattr(schema, "_FOLDER", folder)
    monkeypatch.setattr(schema, "VERSION", number)

    store = Store.open(path, read_only=True)

    assert store.query("SELECT count(*), count(colour) FROM runs").rows == ((1, 0),)
    assert store.query("SELECT value FROM meta WHERE key = 'schema_version'").rows == ((str(number),),)


def test_the_file_has_the_storage_version_of_the_oldest_client(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    Store.open(path).ingest([write_log(tmp_path / "a.log", launch_log(decode=3))])

    with duckdb.connect(str(path), read_only=True) as connection:
        tags = connection.execute("SELECT tags FROM duckdb_databases() WHERE database_name = 's'").fetchone()

    assert tags is not None
    assert tags[0]["storage_version"].startswith("v1.4.0")
