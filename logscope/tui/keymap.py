"""A person's own keys: ``keys.json`` in the config folder, ``{"diff.next": "ctrl+n"}``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from textual.binding import Binding
from textual.dom import DOMNode

from logscope.errors import UsageError

FILE_NAME = "keys.json"


def read_keymap(folder: Path) -> dict[str, str]:
    """Action id -> keys, {} without a file. Raises UsageError naming what is wrong in it."""
    file = folder / FILE_NAME
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{file}: no JSON: {error}", 'write it as {"diff.next": "ctrl+n"}') from error
    if not isinstance(held, dict):
        raise UsageError(f"{file}: not an object", 'write it as {"diff.next": "ctrl+n"}')
    known = known_actions()
    for name, keys in held.items():
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else "docs/tui.md lists them"
            raise UsageError(f"{file}: {name}: no such action", hint)
        if not isinstance(keys, str) or not keys.strip(", "):
            raise UsageError(f"{file}: {name}: its keys must be text", 'for example "ctrl+n" or "n,down"')
    return held


def known_actions() -> dict[str, str]:
    """Id of every action that can be given other keys -> its keys now."""
    from logscope.tui.app import LogScopeApp
    from logscope.tui.screens import diff, errors, help, log, runs, sql, throughput
    from logscope.tui.widgets.evidence import EvidencePane
    from logscope.tui.widgets.line_list import LineList
    from logscope.tui.widgets.log_view import LogView

    owners: tuple[type[DOMNode], ...] = (
        LogScopeApp, runs.RunsPage, diff.DiffPage, errors.ErrorsPage, throughput.ThroughputPage, sql.SqlPage,
        log.LogPage, help.HelpPage, LineList, LogView, EvidencePane,
    )  # fmt: skip
    return {binding.id: binding.key for owner in owners for binding in bindings_of(owner) if binding.id}


def bindings_of(owner: type) -> Iterator[Binding]:
    """The bindings of a widget or screen, its own first, each id once."""
    seen: set[str] = set()
    for base in owner.__mro__:
        for binding in base.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id and binding.id not in seen:
                seen.add(binding.id)
                yield binding
