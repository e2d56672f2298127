"""What has to hold for a check to fire: canonical conditions, and the variables and arguments in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from logscope.knowledge.build.reads import arg_read, dotted, env_read, literal_repr
from logscope.knowledge.build.templates import Flow
from logscope.knowledge.build.walk import nodes_of

_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_OPPOSITE = {
    "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "is": "is not", "is not": "is",
    "in": "not in", "not in": "in", "true": "false", "false": "true", "uses": "uses",
}  # fmt: skip
_SWAPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


@dataclass(frozen=True, slots=True, order=True)
class Atom:
    """One variable or argument in a condition, as it stands when the check fires."""

    kind: str
    """``env``, ``arg`` (plainly an argument) or ``name`` (an attribute with such a name)."""
    name: str
    operator: str
    """``true``, ``false``, a comparison, ``uses`` (polarity not known) or ``named`` (in the message)."""
    value: str
    """repr of the literal it is compared with; '' otherwise."""
    is_enough: bool
    """Turning this one alone round avoids the branch."""
    default: str
    """repr of a default given at the very place (environment variables); '' if none."""
    is_early: bool = False
    """It stands in front of an early return, not around the check."""


@dataclass(slots=True)
class Scope:
    """What is needed to read a condition."""

    flow: Flow
    constants: dict[str, ast.expr]
    in_arguments: bool


def canonical(node: ast.AST, scope: Scope) -> str:
    """A text that stays equal when only the way of reading a variable or an argument changes."""
    if isinstance(node, ast.expr):
        variable = env_read(node, scope.constants)
        if variable is not None:
            return f"${variable.name}"
        argument = arg_read(node, scope.in_arguments)
        if argument is not None:
            if argument.is_certain:
                return f".{argument.name}"
            if isinstance(node, ast.Attribute):
                return f"{canonical(node.value, scope)}.{node.attr}"
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant):
        return repr(node.value)
    inner = [
        canonical(child, scope)
        for child in ast.iter_child_nodes(node)
        if not isinstance(child, ast.expr_context)
    ]
    return f"{type(node).__name__}({','.join(inner)})"


def atoms(node: ast.expr, fires: bool, scope: Scope, line: int) -> Iterator[Atom]:
    """The variables and arguments of a condition that is true (`fires`) or false where the check stands."""
    yield from _atoms(node, fires, True, scope, line, 0)


def _atoms(node: ast.expr, fires: bool, enough: bool, scope: Scope, line: int, depth: int) -> Iterator[Atom]:
    if isinstance(node, ast.BoolOp):
        all_needed = isinstance(node.op, ast.And) == fires
        for value in node.values:
            yield from _atoms(value, fires, enough and all_needed, scope, line, depth)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _atoms(node.operand, not fires, enough, scope, line, depth)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from _compared(node, fires, enough, scope)
    else:
        yield from _plain(node, fires, enough, scope, line, depth)


def _plain(node: ast.expr, fires: bool, enough: bool, scope: Scope, line: int, depth: int) -> Iterator[Atom]:
    read = _read(node, "true" if fires else "false", "", enough, scope)
    if read is not None:
        yield read
    elif isinstance(node, ast.Name) and depth < 2:
        given = scope.flow.given(node.id, line)
        if len(given) == 1 and not given[0][2] and not isinstance(given[0][1], ast.Constant):
            yield from _atoms(given[0][1], fires, enough, scope, given[0][0] - 1, depth + 1)
    elif isinstance(node, ast.Call) and dotted(node.func) == "bool" and len(node.args) == 1:
        yield from _atoms(node.args[0], fires, enough, scope, line, depth)
    else:
        yield from _used(node, scope)


def _compared(node: ast.Compare, fires: bool, enough: bool, scope: Scope) -> Iterator[Atom]:
    left, right = node.left, node.comparators[0]
    operator = _OPERATORS[type(node.ops[0])]
    if _OPERATORS[type(node.ops[0])] in ("in", "not in") and isinstance(left, ast.Constant):
        held = dotted(right)
        if held.endswith("environ") and isinstance(left.value, str):
            is_there = (operator == "in") == fires
            yield Atom("env", left.value, "is not" if is_there else "is", "None", enough, "")
            return
    for one, other, swapped in ((left, right, False), (right, left, True)):
        told = _SWAPPED.get(operator, operator) if swapped else operator
        if swapped and operator in ("in", "not in"):
            told = "uses"
        told = told if fires else _OPPOSITE[told]
        value = literal_repr(other) or ""
        read = _read(one, told, "" if value == "<computed>" else value[:60], enough, scope)
        if read is not None:
            yield read
        else:
            yield from _used(one, scope)


def _used(node: ast.expr, scope: Scope) -> Iterator[Atom]:
    for inner in nodes_of(node):
        if isinstance(inner, ast.expr):
            read = _read(inner, "uses", "", False, scope)
            if read is not None and (read.kind != "name"):
                yield read


def _read(node: ast.expr, operator: str, value: str, enough: bool, scope: Scope) -> Atom | None:
    variable = env_read(node, scope.constants)
    if variable is not None:
        if variable.kind == "set":
            operator = {"true": "is not", "false": "is"}.get(operator, operator)
            value = "None"
        return Atom("env", variable.name, operator, value, enough, variable.default or "")
    argument = arg_read(node, scope.in_arguments)
    if argument is not None:
        return Atom("arg" if argument.is_certain else "name", argument.name, operator, value, enough, "")
    return None
