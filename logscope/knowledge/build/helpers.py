"""Functions that raise or log a text they are given: the calls of them are the real checks."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from logscope.knowledge.build.facts import Helper, Site
from logscope.knowledge.build.guards import Atom, Scope, atoms

_TOO_GENERAL = frozenset(
    {
        "error",
        "warning",
        "warn",
        "info",
        "debug",
        "exception",
        "critical",
        "log",
        "write",
        "print",
        "add",
        "send",
        "main",
        "wrapper",
        "inner",
        "run",
        "call",
        "get",
        "set",
        "check",
        "exit",
        "emit",
        "handle",
    }
)
_KINDS = ("raise", "exit", "error", "warning")


def helper_of(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    sites: Sequence[tuple[Site, ast.expr | None, list[tuple[ast.expr, bool]]]],
    scope: Scope,
) -> Helper | None:
    """The helper that `node` is, or None: one of its own parameters has to be the whole message."""
    if node.name.startswith("__") or node.name.lstrip("_") in _TOO_GENERAL or len(node.name) < 5:
        return None
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
    keywords = [one.arg for one in node.args.kwonlyargs]
    told = [(site, _parameter(message, names + keywords), held) for site, message, held in sites]
    told = [one for one in told if one[1]]
    if not told:
        return None
    told.sort(key=lambda one: _KINDS.index(one[0].kind) if one[0].kind in _KINDS else 9)
    site, name, held = told[0]
    if site.kind not in _KINDS:
        return None
    shift = 1 if names and names[0] in ("self", "cls") else 0
    can_warn = site.kind == "raise" and any(one[0].kind in ("warning", "error") for one in told)
    inner: list[Atom] = []
    switches: list[tuple[int, str, bool]] = []
    for test, fires in held:
        inner += [one for one in atoms(test, fires, scope, node.lineno) if one.kind != "name"]
        flag, truth = _without_not(test, fires)
        if isinstance(flag, ast.Name) and flag.id in names:
            switches.append((names.index(flag.id) - shift, flag.id, truth))
    position = names.index(name) - shift if name in names else 99
    return Helper(node.name, position, name, site.kind, site.type, can_warn, tuple(inner), tuple(switches))


def _without_not(test: ast.expr, fires: bool) -> tuple[ast.expr, bool]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand, not fires
    return test, fires


def _parameter(message: ast.expr | None, names: list[str]) -> str:
    """The one parameter that is the message, also inside an f-string with nothing else in it."""
    if isinstance(message, ast.Name) and message.id in names:
        return message.id
    if isinstance(message, ast.JoinedStr):
        held = [one.value for one in message.values if isinstance(one, ast.FormattedValue)]
        named = [one.id for one in held if isinstance(one, ast.Name) and one.id in names]
        return named[-1] if named else ""
    return ""
