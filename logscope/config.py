"""Where LogScope keeps its files. Reads the environment and nothing else."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path


def default_store_path() -> Path:
    """``LOGSCOPE_DB``, else ``logscope.duckdb`` in the user's data directory."""
    named = os.environ.get("LOGSCOPE_DB")
    if named:
        return Path(named).expanduser()
    return _user_dir("data") / "logscope.duckdb"


def config_dir() -> Path:
    """The folder of the user's own rules, saved queries and key map."""
    return _user_dir("config")


def state_dir() -> Path:
    """The folder where the terminal UI remembers its layout."""
    return _user_dir("state")


def knowledge_dir() -> Path:
    """Where facts of the user's own SGLang builds are kept (``logscope knowledge add``)."""
    return _user_dir("data") / "knowledge"


def _user_dir(kind: str) -> Path:
    return _found_dir(kind, os.environ.get(f"XDG_{kind.upper()}_HOME"), os.environ.get("HOME"))


@cache
def _found_dir(kind: str, _xdg: str | None, _home: str | None) -> Path:
    """One diff asks twenty times; the environment may change between (in tests)."""
    import platformdirs  # 6 ms, and most commands are given --db

    folders = {
        "data": platformdirs.user_data_path,
        "config": platformdirs.user_config_path,
        "state": platformdirs.user_state_path,
    }
    return folders[kind]("logscope", appauthor=False)
