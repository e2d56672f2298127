"""The DuckDB store: schema, ingest, reading, baseline and history questions. Alone to import duckdb."""
