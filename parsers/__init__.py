"""SGLang log text in, typed records out. Knows nothing of DuckDB, the command line or LogScope.

The names are loaded when they are asked for: who needs `parsers.records` only does not pay for the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parsers.log import LogReader, read_log
    from parsers.reader import open_log

__all__ = ["LogReader", "open_log", "read_log"]


def __getattr__(name: str) -> object:
    if name in ("LogReader", "read_log"):
        from parsers import log  # see above: the rules cost 0.1 s

        return getattr(log, name)
    if name == "open_log":
        from parsers.reader import open_log

        return open_log
    raise AttributeError(f"module 'parsers' has no attribute {name!r}")
