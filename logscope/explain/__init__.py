"""RunDiff, knowledge and history in, ranked causes with remedies out."""

from __future__ import annotations

from logscope.explain.explain import explain

__all__ = ["explain"]
