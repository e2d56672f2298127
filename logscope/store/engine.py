"""DuckDB's engine by itself.

`import duckdb` loads the engine in 30 ms, and then classes for relations and expressions in 100 ms more.
Nothing here uses those: SQL goes in as text and rows come out as tuples. Both modules have the same classes
(checked by a test), and where a DuckDB has no such module of its own, the whole package is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb as engine
else:
    try:
        import _duckdb as engine
    except ImportError:  # pragma: no cover - every DuckDB from 1.4 on has it
        import duckdb as engine

__all__ = ["engine"]
