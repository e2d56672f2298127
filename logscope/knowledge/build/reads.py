"""Recognises where an expression reads an environment variable or a server argument."""

from __future__ import annotations

import ast
import re

from parsers.lazy_dataclass import dataclass

ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]{2,}\Z")
_ENV_HELPER = re.compile(r"env", re.IGNORECASE)
STRING_METHODS = frozenset({"lower", "upper", "strip", "split", "rstrip", "lstrip", "casefold"})
_CASTS = {"bool": "bool", "int": "int", "float": "float", "str": "str"}
_ROOTS = frozenset({"cfg", "args", "sa", "view", "server_args", "config_view", "resolved"})


@dataclass(frozen=True, slots=True)
class EnvRead:
    """One read of an environment variable."""

    name: str
    default: str | None
    """repr of the default given at the place; ``<computed>``; None = none given there."""
    kind: str
    """How its text is judged: ``declared``, ``helper-bool``, ``helper``, ``text``, ``set`` (is it there)."""


@dataclass(frozen=True, slots=True)
class ArgRead:
    """One read of an attribute that may be a server argument."""

    name: str
    is_certain: bool
    """True when the object is plainly the arguments; False when only the name says so."""


def literal_repr(node: ast.expr | None) -> str | None:
    """repr of a literal, ``<computed>`` for anything else, None for no expression."""
    if node is None:
        return None
    try:
        return shown(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return "<computed>"


def shown(value: object) -> str:
    """As `repr`, with sets in a fixed order: their own differs from one process to the next."""
    if isinstance(value, set | frozenset) and value:
        return "{" + ", ".join(sorted(map(shown, value))) + "}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{shown(key)}: {shown(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(shown, value)) + (",)" if len(value) == 1 else ")")
    return repr(value)


def env_read(node: ast.expr, constants: dict[str, ast.expr]) -> EnvRead | None:
    """The environment variable that this very expression reads, through casts and string methods."""
    if isinstance(node, ast.Call):
        return _called(node, constants)
    if isinstance(node, ast.Subscript) and _dotted(node.value).endswith("environ"):
        name = _name_of(node.slice, constants)
        return EnvRead(name, None, "text") if name else None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "envs":
        return EnvRead(node.attr, None, "declared") if ENV_NAME.match(node.attr) else None
    if isinstance(node, ast.Attribute) and node.attr == "value":
        return env_read(node.value, constants)
    return None


def _called(node: ast.Call, constants: dict[str, ast.expr]) -> EnvRead | None:
    func = node.func
    if isinstance(func, ast.Attribute):
        if func.attr in STRING_METHODS:
            return env_read(func.value, constants)
        if func.attr in ("get", "is_set", "get_set_value_or"):
            inner = env_read(func.value, constants)
            if inner is not None and inner.kind == "declared":
                kind = "set" if func.attr == "is_set" else "declared"
                return EnvRead(inner.name, None, kind)
        whole = _dotted(func)
        if whole in ("os.getenv", "os.environ.get", "environ.get"):
            return _with_default(node, constants, "text")
    if isinstance(func, ast.Name):
        if func.id == "getenv":
            return _with_default(node, constants, "text")
        if func.id in _CASTS and len(node.args) == 1:
            return env_read(node.args[0], constants)
    last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    if _ENV_HELPER.search(last) and "set" not in last.lower():
        return _with_default(node, constants, "helper-bool" if "bool" in last.lower() else "helper")
    return None


def _with_default(node: ast.Call, constants: dict[str, ast.expr], kind: str) -> EnvRead | None:
    if not node.args:
        return None
    name = _name_of(node.args[0], constants)
    if name is None:
        return None
    given = node.args[1] if len(node.args) > 1 else None
    for keyword in node.keywords:
        if keyword.arg == "default":
            given = keyword.value
    default = literal_repr(given)
    if default is None and kind == "helper-bool":
        default = "'false'"
    return EnvRead(name, default, kind)


def _name_of(node: ast.expr, constants: dict[str, ast.expr]) -> str | None:
    if isinstance(node, ast.Name):
        node = constants.get(node.id, node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and ENV_NAME.match(node.value):
        return node.value
    return None


def arg_read(node: ast.expr, in_arguments: bool) -> ArgRead | None:
    """The attribute this very expression reads, if it can be a server argument.

    From 0.5.19 arguments are read through views and namespaces, so the attribute's name counts, and the
    object in front only says how sure that is. `in_arguments`: the code belongs to the arguments' class.
    """
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        if node.attr.isupper() or node.attr.startswith("_"):
            return None
        return ArgRead(node.attr, _is_arguments(node.value, in_arguments))
    if isinstance(node, ast.Call) and dotted(node.func) == "getattr" and len(node.args) > 1:
        named = node.args[1]
        if isinstance(named, ast.Constant) and isinstance(named.value, str):
            return ArgRead(named.value, _is_arguments(node.args[0], in_arguments))
    return None


def _is_arguments(node: ast.expr, in_arguments: bool) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _ROOTS or "server_args" in node.id or (in_arguments and node.id == "self")
    if isinstance(node, ast.Attribute):
        return "server_args" in node.attr
    if isinstance(node, ast.Call):
        return "server_args" in _dotted(node.func) or "resolving_view" in _dotted(node.func)
    return False


def _dotted(node: ast.expr) -> str:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        names.append(node.id)
    return ".".join(reversed(names))


dotted = _dotted
