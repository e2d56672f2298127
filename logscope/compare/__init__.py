"""Two runs in, one typed `RunDiff` out; picks the baseline through the history. Never shows anything."""

from __future__ import annotations

from logscope.compare.compare import compare

__all__ = ["compare"]
