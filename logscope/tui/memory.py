"""What the terminal UI remembers per store: theme, filter, sort. A broken file is forgotten, not fatal."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from logscope.config import state_dir


def state_file(store: Path, kind: str) -> Path:
    """The file of the user's state directory that belongs to a store."""
    digest = sha256(str(store.absolute()).encode()).hexdigest()[:12]
    return state_dir() / f"{kind}-{digest}.json"


class Memory:
    """Small values in the user's state directory, never in the store."""

    def __init__(self, store: Path) -> None:
        self._path = state_file(store, "triage")
        self._values: dict[str, str] = {}
        try:
            held = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            held = {}
        if isinstance(held, dict):
            self._values = {str(key): str(value) for key, value in held.items()}

    def get(self, name: str) -> str | None:
        """The remembered value; None when there is none."""
        return self._values.get(name)

    def put(self, name: str, value: str) -> None:
        """Remembers a value; a folder that cannot be written is no reason to disturb."""
        if self._values.get(name) == value:
            return
        self._values[name] = value
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self._values, indent=1), encoding="utf-8")
        except OSError:
            return
