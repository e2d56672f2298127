"""The wording of a message as alternatives of literal pieces with holes, followed through local names."""

from __future__ import annotations

import ast
import re

from logscope.knowledge.build.walk import nodes_of
from parsers.lazy_dataclass import dataclass, field

HOLE = None
Part = str | None
Wording = tuple[Part, ...]
"""Literal text and holes, in order."""

_MOST_ALTERNATIVES = 6
_PERCENT = re.compile(r"%(?:\([^)]*\))?[-+ #0]*[\d*]*(?:\.[\d*]+)?[hlL]?[diouxXeEfFgGcrsa%]")
_BRACES = re.compile(r"\{\{|\}\}|\{[^{}]*\}")
_SAME = frozenset({"strip", "rstrip", "lstrip", "dedent", "cleandoc", "lower"})


@dataclass(slots=True)
class Flow:
    """What the names of one scope were given, in source order: (line, value, is it added to)."""

    names: dict[str, list[tuple[int, ast.expr, bool]]] = field(default_factory=dict)
    outer: Flow | None = None

    def given(self, name: str, before: int) -> list[tuple[int, ast.expr, bool]]:
        """The assignments that can reach a use at line `before`."""
        held = self.names.get(name)
        if held is None:
            return self.outer.given(name, 1 << 30) if self.outer is not None else []
        return [one for one in held if one[0] <= before]


def wordings(node: ast.expr | None, flow: Flow, line: int, depth: int = 0) -> tuple[Wording, ...]:
    """The alternatives of what `node` prints; a single hole where nothing is known."""
    if node is None or depth > 4:
        return ((HOLE,),)
    if isinstance(node, ast.Constant):
        return ((str(node.value),),)
    if isinstance(node, ast.JoinedStr):
        return _joined([_piece(value, flow, line, depth) for value in node.values])
    if isinstance(node, ast.BinOp):
        return _operated(node, flow, line, depth)
    if isinstance(node, ast.IfExp):
        return _limited(wordings(node.body, flow, line, depth) + wordings(node.orelse, flow, line, depth))
    if isinstance(node, ast.Call):
        return _called(node, flow, line, depth)
    if isinstance(node, ast.Name):
        return _named(node.id, flow, line, depth)
    if isinstance(node, ast.Tuple):
        return _joined([wordings(one, flow, line, depth) for one in node.elts])
    return ((HOLE,),)


def has_words(given: tuple[Wording, ...]) -> bool:
    """Whether any alternative has literal text."""
    return any(part is not None and part.strip() for wording in given for part in wording)


def _piece(node: ast.expr, flow: Flow, line: int, depth: int) -> tuple[Wording, ...]:
    if isinstance(node, ast.FormattedValue):
        if (
            isinstance(node.value, ast.Name | ast.IfExp | ast.Constant | ast.JoinedStr)
            and node.conversion == -1
        ):
            return wordings(node.value, flow, line, depth + 1)
        return ((HOLE,),)
    return wordings(node, flow, line, depth)


def _operated(node: ast.BinOp, flow: Flow, line: int, depth: int) -> tuple[Wording, ...]:
    if isinstance(node.op, ast.Add):
        left = wordings(node.left, flow, line, depth)
        return _joined([left, wordings(node.right, flow, line, depth)])
    if isinstance(node.op, ast.Mod):
        return _limited(tuple(_cut(one, _PERCENT, "%%") for one in wordings(node.left, flow, line, depth)))
    return ((HOLE,),)


def _called(node: ast.Call, flow: Flow, line: int, depth: int) -> tuple[Wording, ...]:
    func = node.func
    if isinstance(func, ast.Attribute):
        if func.attr == "format":
            return _limited(tuple(_cut(one, _BRACES, "") for one in wordings(func.value, flow, line, depth)))
        if func.attr in _SAME and not isinstance(func.value, ast.Name):
            return wordings(func.value, flow, line, depth)
        if func.attr in ("dedent", "cleandoc") and node.args:
            return wordings(node.args[0], flow, line, depth)
        if func.attr == "join" and node.args and isinstance(node.args[0], ast.List | ast.Tuple):
            between = wordings(func.value, flow, line, depth)
            parts: list[tuple[Wording, ...]] = []
            for one in node.args[0].elts:
                parts += [wordings(one, flow, line, depth), between]
            return _joined(parts[:-1])
    if isinstance(func, ast.Name) and func.id in ("str", "dedent") and len(node.args) == 1:
        return wordings(node.args[0], flow, line, depth + 1)
    return ((HOLE,),)


def _named(name: str, flow: Flow, line: int, depth: int) -> tuple[Wording, ...]:
    given = flow.given(name, line)
    if not given or len(given) > 8:
        return ((HOLE,),)
    bases: list[Wording] = []
    tails: list[tuple[Wording, ...]] = []
    for at, value, is_added in given:
        if is_added:
            tails.append(wordings(value, flow, at, depth + 1))
        elif not (isinstance(value, ast.Name) and value.id == name):
            bases += wordings(value, flow, at - 1 if _mentions(value, name) else at, depth + 1)
    if not bases:
        return ((HOLE,),)
    if not tails:
        return _limited(tuple(bases))
    # Tails are mostly conditional: the message with all of them, and the one that may end after its base.
    return _limited(_joined([tuple(bases), *tails]) + tuple((*base, HOLE) for base in bases))


def _mentions(node: ast.expr, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in nodes_of(node))


def _joined(parts: list[tuple[Wording, ...]]) -> tuple[Wording, ...]:
    whole: tuple[Wording, ...] = ((),)
    for alternatives in parts:
        if len(whole) * len(alternatives) > _MOST_ALTERNATIVES:
            alternatives = ((HOLE,),) if len(alternatives) > 1 else alternatives
        whole = tuple(left + right for left in whole for right in alternatives)
    return whole


def _cut(wording: Wording, marks: re.Pattern[str], kept: str) -> Wording:
    parts: list[Part] = []
    for part in wording:
        if part is None:
            parts.append(part)
            continue
        last = 0
        for mark in marks.finditer(part):
            parts.append(part[last : mark.start()])
            text = mark.group()
            parts.append(text[0] if text in ("%%", "{{", "}}") else HOLE)
            last = mark.end()
        parts.append(part[last:])
    return tuple(parts)


def _limited(given: tuple[Wording, ...]) -> tuple[Wording, ...]:
    return tuple(dict.fromkeys(given))[:_MOST_ALTERNATIVES]


def pieces(wording: Wording) -> tuple[tuple[str, ...], bool, bool]:
    """Folded literal pieces of a wording, and whether it begins and ends with one.

    Neighbouring literals join; pieces of one or two characters without a letter or digit say nothing
    and count as part of the hole.
    """
    from logscope.knowledge.wording import fold

    runs: list[str | None] = []
    for part in wording:
        if part is None or part == "":
            if part is None and (not runs or runs[-1] is not None):
                runs.append(None)
        elif runs and runs[-1] is not None:
            runs[-1] += part
        else:
            runs.append(part)
    folded = [None if one is None else fold(one) for one in runs]
    kept = [one for one in folded if one is None or len(one) > 2 or any(c.isalnum() for c in one)]
    texts = tuple(one for one in kept if one)[:200]
    starts = bool(kept) and kept[0] is not None
    ends = bool(kept) and kept[-1] is not None
    return texts, starts, ends
