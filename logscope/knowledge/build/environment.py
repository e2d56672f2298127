"""Environment variables: every read, declaration and setting in a file, and what they come to per release."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from logscope.knowledge.build.facts import EnvUse
from logscope.knowledge.build.reads import ENV_NAME, STRING_METHODS, dotted, env_read, literal_repr
from logscope.knowledge.build.walk import Nodes


def env_uses(nodes: Nodes, constants: dict[str, ast.expr]) -> list[EnvUse]:
    """The distinct uses in a file, in a fixed order."""
    found: dict[EnvUse, None] = {}
    for node in _candidates(nodes):
        for use in _uses(node, constants):
            found[use] = None
    return sorted(found, key=lambda use: (use.name, use.action, use.default or "", use.kind))


def _candidates(nodes: Nodes) -> Iterator[ast.AST]:
    """Nodes that can name a variable by their looks; most calls and attributes cannot."""
    yield from (node for node in nodes.of(ast.Call) if _may_use(node.func))
    yield from nodes.of(ast.Assign, ast.AnnAssign, ast.Subscript, ast.Compare)
    for node in nodes.of(ast.Attribute):
        if node.attr == "value" or (node.value.__class__ is ast.Name and node.value.id == "envs"):
            yield node


_READING_METHODS = STRING_METHODS | {"get", "is_set", "get_set_value_or", "set", "setdefault"}


def _may_use(func: ast.expr) -> bool:
    if func.__class__ is ast.Attribute:
        name: str = func.attr
        return name in _READING_METHODS or "env" in name.lower()
    return func.__class__ is not ast.Name or "env" in func.id.lower()


def _uses(node: ast.AST, constants: dict[str, ast.expr]) -> Iterable[EnvUse]:
    if isinstance(node, ast.Call):
        yield from _called(node, constants)
    elif isinstance(node, ast.Assign):
        yield from _assigned(node, constants)
    elif (
        isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.value, ast.Call)
    ):
        yield from _declared(node.target.id, node.value)
    elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Load):
        read = env_read(node, constants)
        if read is not None:
            yield EnvUse(read.name, "read", read.default, read.kind)
    elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant):
        name = node.left.value
        if isinstance(name, str) and ENV_NAME.match(name) and dotted(node.comparators[0]).endswith("environ"):
            yield EnvUse(name, "read", None, "set")


def _called(node: ast.Call, constants: dict[str, ast.expr]) -> Iterable[EnvUse]:
    whole = dotted(node.func)
    if whole in ("os.environ.setdefault", "os.putenv", "environ.setdefault") and len(node.args) == 2:
        name = node.args[0]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield EnvUse(name.value, "set", literal_repr(node.args[1]), "")
    elif whole.startswith("envs.") and whole.endswith(".set") and whole.count(".") == 2 and node.args:
        yield EnvUse(whole.split(".")[1], "set", literal_repr(node.args[0]), "")
    else:
        read = env_read(node, constants)
        if read is not None and not _wraps(node):
            yield EnvUse(read.name, "read", read.default, read.kind)


def _wraps(node: ast.Call) -> bool:
    """``int(os.getenv(...))`` and ``.lower()``: the read inside is seen by itself."""
    if isinstance(node.func, ast.Name) and node.func.id in ("bool", "int", "float", "str"):
        return True
    return isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call)


def _assigned(node: ast.Assign, constants: dict[str, ast.expr]) -> Iterable[EnvUse]:
    for target in node.targets:
        if isinstance(target, ast.Subscript) and dotted(target.value).endswith("environ"):
            key = target.slice
            key = constants.get(key.id, key) if isinstance(key, ast.Name) else key
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield EnvUse(key.value, "set", literal_repr(node.value), "")
        elif isinstance(target, ast.Name) and isinstance(node.value, ast.Call):
            yield from _declared(target.id, node.value)


def _declared(name: str, call: ast.Call) -> Iterable[EnvUse]:
    """``NAME = EnvBool(False)`` of the central table (from 0.5.3)."""
    kind = dotted(call.func).rpartition(".")[2]
    if kind.startswith("Env") and ENV_NAME.match(name):
        given = (
            call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "default"), None)
        )
        yield EnvUse(name, "declared", literal_repr(given), kind)


def renamed_env(nodes: Nodes) -> list[tuple[str, str, str]]:
    """(one name, the other, ``inverted`` or '') from code that says a variable is deprecated.

    Which of the two is the older differs by release: whoever knows what is declared puts them in order.
    """
    found: dict[tuple[str, str, str], None] = {}
    for node in nodes.of(ast.Call):
        if "deprecated" in dotted(node.func).lower():
            names = _env_names([*node.args, *(one.value for one in node.keywords)])
            if len(names) == 2:
                found[names[0], names[1], ""] = None
    for table in nodes.of(ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(value, ast.Call) and "deprecated" in dotted(value.func).lower() and key is not None:
                names = _env_names([key, *value.args, *(one.value for one in value.keywords)])
                how = "inverted" if any("invert" in dotted(one.value) for one in value.keywords) else ""
                if len(names) == 2:
                    found[names[1], names[0], how] = None
    return sorted(found)


def _env_names(nodes: Iterable[ast.expr]) -> list[str]:
    return [
        one.value
        for one in nodes
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and ENV_NAME.match(one.value)
    ]
