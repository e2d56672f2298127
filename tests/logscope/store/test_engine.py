"""The store may load DuckDB's engine without its Python classes: both are the same engine."""

from __future__ import annotations

import duckdb
import pytest

from logscope.store.engine import engine


@pytest.mark.parametrize(
    "name",
    [
        "BinderException", "CatalogException", "DuckDBPyConnection", "Error", "FatalException", "IOException",
        "InterruptException", "StatementType", "TransactionException", "connect", "extract_statements",
    ],
)  # fmt: skip
def test_what_the_store_uses_is_the_same_in_both(name: str) -> None:
    assert getattr(engine, name) is getattr(duckdb, name)
