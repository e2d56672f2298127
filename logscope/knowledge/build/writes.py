"""Where SGLang itself gives a server argument another value: at start (the printed value) or later."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from logscope.knowledge.build.facts import ArgWrite
from logscope.knowledge.build.reads import dotted

_DECLARERS = ("declare_resolution", "override", "declare", "_replace", "replace", "update_resolved")


def is_resolution(path: str) -> bool:
    """Files whose writes happen before the arguments are printed."""
    return path.startswith("srt/arg_groups/") or path.rpartition("/")[2] == "server_args.py"


def argument_writes(nodes: Iterable[ast.AST], path: str) -> list[ArgWrite]:
    """The distinct writes to attributes of the arguments in one file."""
    own = is_resolution(path)
    found: dict[tuple[str, bool], bool] = {}
    held = list(nodes)
    copied = _copied_from_the_parser(held) if own else frozenset()
    for node in held:
        if id(node) in copied:
            continue
        for name, certain, none in _written(node, own):
            found[name, certain] = found.get((name, certain), False) or none
    return [ArgWrite(name, certain, none) for (name, certain), none in sorted(found.items())]


def _copied_from_the_parser(nodes: Iterable[ast.AST]) -> frozenset[int]:
    """Nodes of ``from_cli_args``: it copies what was passed to a field of another name, no more."""
    return frozenset(
        id(inner)
        for node in nodes
        if isinstance(node, ast.FunctionDef) and node.name == "from_cli_args"
        for inner in ast.walk(node)
    )


def _written(node: ast.AST, own: bool) -> Iterable[tuple[str, bool, bool]]:
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for one in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(one, ast.Attribute):
                    owner = dotted(one.value)
                    if "server_args" in owner or (own and owner in ("self", "args", "cfg")):
                        yield one.attr, True, False
    elif isinstance(node, ast.If) and own:
        name = _tested_for_none(node.test)
        if name and any(
            name == one for inner in node.body for sub in ast.walk(inner) for one, _, _ in _written(sub, own)
        ):
            yield name, True, True
    elif isinstance(node, ast.Call):
        called = dotted(node.func)
        if called.rpartition(".")[2] in _DECLARERS and (
            own or "server_args" in called or "declare" in called
        ):
            for keyword in node.keywords:
                if keyword.arg:
                    yield keyword.arg, "declare" in called or own, False
        elif called == "setattr" and len(node.args) == 3 and isinstance(node.args[1], ast.Constant):
            owner = dotted(node.args[0])
            if "server_args" in owner or (own and owner == "self"):
                yield str(node.args[1].value), True, False


def _tested_for_none(test: ast.expr) -> str:
    for one in ast.walk(test):
        if (
            isinstance(one, ast.Compare)
            and isinstance(one.ops[0], ast.Is)
            and isinstance(one.left, ast.Attribute)
        ):
            return one.left.attr
        if (
            isinstance(one, ast.UnaryOp)
            and isinstance(one.op, ast.Not)
            and isinstance(one.operand, ast.Attribute)
        ):
            return one.operand.attr
    return ""


def override_names(nodes: Iterable[ast.AST], path: str) -> frozenset[str]:
    """Keys of dicts and of ``overrides[...]`` in the resolution code: values that model overrides declare."""
    if (
        not path.startswith("srt/arg_groups/")
        or "/fields/" in path
        or path.endswith(("choices.py", "field_order.py"))
    ):
        return frozenset()
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Dict):
            names |= {k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)}
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            key = node.slice
            names |= {key.value} if isinstance(key, ast.Constant) and isinstance(key.value, str) else set()
    return frozenset(names)
