"""The DuckDB store: schema, ingest, reading, baseline and history questions. Alone to import duckdb.

Importing this package loads no DuckDB (0.13 s): that waits until a store is opened.
"""

from logscope.store.store import Store

__all__ = ["Store"]
