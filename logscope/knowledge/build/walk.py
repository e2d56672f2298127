"""Goes over the nodes of a syntax tree several times as fast as `ast.walk`, or tells that it need not be."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)

_PLAIN = frozenset(
    (
        "id", "attr", "ctx", "op", "ops", "arg", "asname", "module", "level", "kind", "type_comment",
        "conversion", "simple", "is_async", "tag", "rest",
    )
)  # fmt: skip
"""Fields without nodes that anybody asks about: names, and the marks for operators and for load or store."""
_TEXTS = {
    ast.Constant: "value", ast.MatchSingleton: "value", ast.Global: "names", ast.Nonlocal: "names",
    ast.Import: "names", ast.ImportFrom: "names", ast.FunctionDef: "name", ast.ClassDef: "name",
    ast.AsyncFunctionDef: "name", ast.ExceptHandler: "name", ast.MatchAs: "name", ast.MatchStar: "name",
    ast.MatchClass: "kwd_attrs",
}  # fmt: skip
"""The field that holds no nodes in these classes."""
_WITH_GAPS = (ast.Dict, ast.arguments)
"""Their lists may hold None."""
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def _kinds() -> list[type[ast.AST]]:
    return [one for one in vars(ast).values() if isinstance(one, type) and issubclass(one, ast.AST)]


_INNER: Mapping[type, tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name not in _PLAIN and name != _TEXTS.get(kind))
    for kind in _kinds()
}
"""Class of a node -> its fields with nodes below it."""
_INNER_BLOCKS: Mapping[type, tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name in _BLOCKS)
    for kind in _kinds()
    if issubclass(kind, ast.stmt | ast.ExceptHandler | ast.match_case)
}
"""Class of a statement -> its fields with statements."""


def nodes_of(root: ast.AST) -> list[ast.AST]:
    """All nodes below and with `root` but operators and contexts, parents before their children."""
    found: list[ast.AST] = [root]
    for node in found:  # the list grows while it is gone over
        for name in _INNER.get(node.__class__, ()):
            value = getattr(node, name)
            if value.__class__ is list:
                found += value if node.__class__ not in _WITH_GAPS else filter(None, value)
            elif value is not None:
                found.append(value)
    return found


class Nodes:
    """The nodes of a module by class, gone over once."""

    def __init__(self, root: ast.AST | None) -> None:
        self._held: dict[type, list[ast.AST]] = {}
        for node in nodes_of(root) if root is not None else ():
            kind = node.__class__
            if kind in self._held:
                self._held[kind].append(node)
            else:
                self._held[kind] = [node]

    def of(self, *kinds: type[Node]) -> Iterator[Node]:
        """The nodes of these classes, each class parents first."""
        for kind in kinds:
            yield from self._held.get(kind, ())  # type: ignore[misc]


def calls_in(root: ast.AST) -> list[ast.Call]:
    """All calls below and with `root`."""
    return [node for node in nodes_of(root) if node.__class__ is ast.Call]


def inner_statements(node: ast.AST) -> list[ast.AST]:
    """The statements, handlers and cases right below a statement, in the order of its fields."""
    return [one for name in _INNER_BLOCKS.get(node.__class__, ()) for one in getattr(node, name)]


class Lines:
    """The lines of a text on which one of some words stands, as part of a longer word, too."""

    def __init__(self, text: str, words: Iterable[str]) -> None:
        plain = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        places = {place for word in words for place in _places(plain, word)}
        self._numbers: list[int] = []
        number, last = 1, 0
        for place in sorted(places):
            number += plain.count("\n", last, place)
            last = place
            self._numbers.append(number)

    def any_in(self, first: int, last: int | None) -> bool:
        """True when there is such a line from `first` to `last`."""
        at = bisect_left(self._numbers, first)
        return at < len(self._numbers) and self._numbers[at] <= (last or first)


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)
