"""Server arguments as a release declares them: class fields, argparse registrations, annotations.

Three shapes exist: a dataclass with a long ``add_cli_args``; annotated fields (``A[type, Arg(...)]``)
in that class; and, from 0.5.19, annotated fields spread over ``arg_groups/fields``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from logscope.knowledge.build.reads import dotted, literal_repr
from parsers.lazy_dataclass import dataclass, field, replace

ARGUMENTS_FILE = "srt/server_args.py"
_FIELDS = "srt/arg_groups/fields/"
_CHOICES = "srt/arg_groups/choices.py"


@dataclass(frozen=True, slots=True)
class Declared:
    """One argument of one release."""

    name: str
    default: str
    type: str
    flags: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RetiredFlag:
    """A flag that still parses but is said to be deprecated."""

    flag: str
    name: str
    """The argument it writes, '' for none."""
    points_to: str
    """The flag that its registration names instead, '' for none."""


@dataclass(slots=True)
class ArgumentTable:
    """All arguments of one release, in declaration order."""

    declared: dict[str, Declared] = field(default_factory=dict)
    retired: list[RetiredFlag] = field(default_factory=list)


def read_arguments(texts: Mapping[str, str]) -> ArgumentTable:
    """The arguments declared in a release's files (path below ``sglang/`` -> text)."""
    table = ArgumentTable()
    main = _parsed(texts.get(ARGUMENTS_FILE, ""))
    if main is None:
        return table
    parts = [_parsed(texts[path]) for path in sorted(texts) if path.startswith(_FIELDS)]
    choices = _constants([_parsed(texts.get(_CHOICES, "")), main, *parts])
    for tree in [main, *parts]:
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.ClassDef) and (node.name == "ServerArgs" or _is_namespace(node)):
                _fields(node, choices, table)
    for held in ast.walk(main):
        if isinstance(held, ast.FunctionDef) and held.name == "add_cli_args":
            _registrations(held, _moved(main), choices, table)
            break
    return table


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text) if text else None
    except SyntaxError:
        return None


def _is_namespace(node: ast.ClassDef) -> bool:
    return any(
        isinstance(one, ast.Assign)
        and isinstance(one.targets[0], ast.Name)
        and one.targets[0].id == "_NS_PATH"
        for one in node.body
    )


def _constants(trees: Iterable[ast.Module | None]) -> dict[str, ast.expr]:
    held: dict[str, ast.expr] = {}
    for tree in trees:
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                held[node.targets[0].id] = node.value
            elif (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.value is not None
            ):
                held[node.target.id] = node.value
    return held


def _fields(node: ast.ClassDef, choices: Mapping[str, ast.expr], table: ArgumentTable) -> None:
    for one in node.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            name = one.target.id
            if not name.startswith("_") and not dotted(one.annotation).endswith("ClassVar"):
                made = _field(name, one.annotation, one.value, choices)
                if made is not None:
                    table.declared[name] = made


def _field(
    name: str, annotation: ast.expr, value: ast.expr | None, choices: Mapping[str, ast.expr]
) -> Declared | None:
    kind, meta = annotation, None
    if isinstance(annotation, ast.Subscript):
        if dotted(annotation.value).rpartition(".")[2] == "ClassVar":
            return None
        if dotted(annotation.value) in ("A", "Annotated") and isinstance(annotation.slice, ast.Tuple):
            kind, *rest = annotation.slice.elts
            calls = [one for one in rest if isinstance(one, ast.Call)]
            if any(dotted(one.func) == "Derived" for one in calls):
                return None
            meta = next((one for one in calls if dotted(one.func) == "Arg"), None)
            if meta is None and not any(_is_text(one) for one in rest):
                return Declared(name, _default(value), ast.unparse(kind))
            return _annotated(name, kind, meta, value, choices)
    return Declared(name, _default(value), ast.unparse(kind), (), _literal_choices(kind, choices))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr | ast.BinOp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _annotated(
    name: str, kind: ast.expr, meta: ast.Call | None, value: ast.expr | None, choices: Mapping[str, ast.expr]
) -> Declared:
    given = {one.arg: one.value for one in meta.keywords} if meta is not None else {}
    flags: list[str] = []
    if literal_repr(given.get("no_cli")) != "True":
        main = given.get("cli_name")
        own = main.value if isinstance(main, ast.Constant) and main.value else "--" + name.replace("_", "-")
        flags = [str(own), *_texts(given.get("aliases"), choices)]
    told = _texts(given.get("choices"), choices) or _literal_choices(kind, choices)
    return Declared(name, _default(value), ast.unparse(kind), tuple(flags), tuple(told))


def _default(value: ast.expr | None) -> str:
    if value is None:
        return "<required>"
    told = literal_repr(value)
    if told == "<computed>" and isinstance(value, ast.Call) and dotted(value.func).endswith("field"):
        for keyword in value.keywords:
            if keyword.arg == "default":
                return literal_repr(keyword.value) or "<computed>"
            if keyword.arg == "default_factory":
                return _made(keyword.value)
        return "<factory>"
    return told or "<computed>"


def _made(factory: ast.expr) -> str:
    """What a default factory gives, where that can be read off: ``list``, ``dict``, ``lambda: [1]``."""
    if isinstance(factory, ast.Lambda):
        told = literal_repr(factory.body) or ""
        return told if told != "<computed>" else "<factory>"
    return {"list": "[]", "dict": "{}", "set": "set()", "tuple": "()"}.get(dotted(factory), "<factory>")


def _literal_choices(kind: ast.expr, choices: Mapping[str, ast.expr]) -> tuple[str, ...]:
    for node in ast.walk(kind):
        if isinstance(node, ast.Subscript) and dotted(node.value).rpartition(".")[2] == "Literal":
            return tuple(_texts(node.slice, choices))
    return ()


def _texts(node: ast.expr | None, constants: Mapping[str, ast.expr], depth: int = 0) -> list[str]:
    """The literal entries of a list, through names and sums of lists."""
    if node is None or depth > 4:
        return []
    if isinstance(node, ast.Name):
        return _texts(constants.get(node.id), constants, depth + 1)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        found: list[str] = []
        for one in node.elts:
            if isinstance(one, ast.Constant):
                found.append(str(one.value))
            elif isinstance(one, ast.Starred):
                found += _texts(one.value, constants, depth + 1)
        return found
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _texts(node.left, constants, depth + 1) + _texts(node.right, constants, depth + 1)
    if isinstance(node, ast.Call) and len(node.args) == 1:
        return _texts(node.args[0], constants, depth + 1)
    return (
        [str(node.value)] if isinstance(node, ast.Constant) and isinstance(node.value, str) and depth else []
    )


def _moved(tree: ast.Module) -> dict[str, str]:
    """argparse names that ``from_cli_args`` copies: ``args.tp_size = args.tensor_parallel_size``."""
    moved: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "from_cli_args":
            for one in ast.walk(node):
                if isinstance(one, ast.Assign) and isinstance(one.value, ast.Attribute):
                    target = one.targets[0]
                    if isinstance(target, ast.Attribute) and dotted(target.value) == dotted(one.value.value):
                        moved[one.value.attr] = target.attr
    return moved


def _registrations(
    node: ast.FunctionDef, moved: Mapping[str, str], constants: Mapping[str, ast.expr], table: ArgumentTable
) -> None:
    for call in ast.walk(node):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        if call.func.attr == "add_argument":
            _registration(call, moved, constants, table)


def _registration(
    call: ast.Call, moved: Mapping[str, str], constants: Mapping[str, ast.expr], table: ArgumentTable
) -> None:
    flags = [str(one.value) for one in call.args if isinstance(one, ast.Constant)]
    given = {one.arg: one.value for one in call.keywords}
    long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
    own = long.lstrip("-").replace("-", "_")
    dest = given.get("dest")
    name = str(dest.value) if isinstance(dest, ast.Constant) else own
    name = moved.get(name, name)
    declared = table.declared.get(name)
    action = dotted(given["action"]).rpartition(".")[2] if "action" in given else ""
    help_text = "".join(c.value for c in ast.walk(given["help"]) if _is_str(c)) if "help" in given else ""  # type: ignore[attr-defined]
    is_retired = action.startswith("Deprecated") or help_text.lower().lstrip("[(").startswith("deprecated")
    if is_retired:
        new = given.get("new_flag")
        points = str(new.value).partition("=")[0] if isinstance(new, ast.Constant) else ""
        table.retired += [RetiredFlag(flag, name if declared else "", points) for flag in flags]
    if declared is not None:
        known = declared.flags if declared.flags else ()
        told = declared.choices or tuple(_texts(given.get("choices"), constants))
        merged = tuple(dict.fromkeys((*known, *flags)))
        table.declared[name] = replace(declared, flags=merged, choices=told)


def _is_str(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
