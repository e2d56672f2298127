"""LogScope: what changed since this SGLang server last launched."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logscope.api import History

__version__ = "0.1.0"


def open(path: str | None = None) -> History:
    """The store at `path` (default: ``LOGSCOPE_DB``) for notebooks; see ``logscope.api.History``."""
    from logscope.api import History  # pandas costs 0.6 s to import

    return History(path)
