"""SGLang log text in, typed records out. Knows nothing of DuckDB, the command line or LogScope."""

from __future__ import annotations

from parsers.log import LogReader, read_log
from parsers.reader import open_log

__all__ = ["LogReader", "open_log", "read_log"]
