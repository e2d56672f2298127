"""Where SGLang itself gives a server argument another value: at start (the printed value) or later."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from logscope.knowledge.build.facts import ArgWrite
from logscope.knowledge.build.reads import dotted
from logscope.knowledge.build.walk import Nodes, nodes_of

_DECLARERS = ("declare_resolution", "override", "declare", "_replace", "replace", "update_resolved")


def is_resolution(path: str) -> bool:
    """Files whose writes happen before the arguments are printed."""
    return path.startswith("srt/arg_groups/") or path.rpartition("/")[2] == "server_args.py"


def argument_writes(nodes: Nodes, path: str) -> list[ArgWrite]:
    """The distinct writes to attributes of the arguments in one file."""
    own = is_resolution(path)
    found: dict[tuple[str, bool], bool] = {}
    copied = _copied_from_the_parser(nodes) if own else frozenset()
    kinds = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Call, *((ast.If,) if own else ()))
    for node in nodes.of(*kinds):
        if id(node) in copied:
            continue
        for name, certain, none in _written(node, own):
            found[name, certain] = found.get((name, certain), False) or none
    return [ArgWrite(name, certain, none) for (name, certain), none in sorted(found.items())]


def _copied_from_the_parser(nodes: Nodes) -> frozenset[int]:
    """Nodes of ``from_cli_args``: it copies what was passed to a field of another name, no more."""
    return frozenset(
        id(inner)
        for node in nodes.of(ast.FunctionDef)
        if node.name == "from_cli_args"
        for inner in nodes_of(node)
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
        last = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
        called = dotted(node.func) if last in _DECLARERS or last == "setattr" else ""
        if last in _DECLARERS and (own or "server_args" in called or "declare" in called):
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


def override_names(nodes: Nodes, path: str) -> frozenset[str]:
    """Keys of dicts and of ``overrides[...]`` in the resolution code: values that model overrides declare."""
    if (
        not path.startswith("srt/arg_groups/")
        or "/fields/" in path
        or path.endswith(("choices.py", "field_order.py"))
    ):
        return frozenset()
    names: set[str] = set()
    for table in nodes.of(ast.Dict):
        names |= {k.value for k in table.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)}
    for place in nodes.of(ast.Subscript):
        key = place.slice
        if isinstance(place.ctx, ast.Store) and isinstance(key, ast.Constant) and isinstance(key.value, str):
            names.add(key.value)
    return frozenset(names)
