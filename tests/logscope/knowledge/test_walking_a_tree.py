"""The fast walk sees what the standard library's sees; lines that cannot matter are told by their words."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import logscope
from logscope.knowledge.build.walk import Lines, Nodes, inner_statements, nodes_of

SOURCES = sorted(Path(logscope.__file__).parent.rglob("*.py"))
ODD = """
@deco(1)
async def f(a, /, b: int = 1, *c, d, e=lambda x: x, **g) -> "r":
    async with open(a) as b, c: pass
    async for i in [x async for x in y if x]: await i
    global q
    match a:
        case {"k": [1, *rest], **more} if b: raise X from None
        case Cls(1, name=None) | (2 as two): return {**a, 1: 2}
    try: ...
    except* (A, B) as error: del error
    else: yield f"{a!r:>{b}}"
    finally: nonlocal_ = (yield from b)
    return a[1:2, ::3] if (n := not -a) < b is not None else {1, *c}
class K(base, metaclass=M):
    x: int
    y += 1
"""
_MARKS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


@pytest.mark.parametrize("text", [ODD, *(path.read_text(encoding="utf-8") for path in SOURCES[::9])])
def test_the_walk_sees_every_node_in_the_same_order(text: str) -> None:
    tree = ast.parse(text)
    told = [node for node in ast.walk(tree) if not isinstance(node, (*_MARKS, ast.alias, ast.type_ignore))]

    assert nodes_of(tree) == told
    assert set(Nodes(tree).of(ast.Call, ast.Name)) == {
        one for one in told if isinstance(one, ast.Call | ast.Name)
    }


def test_inner_statements_are_those_of_the_fields() -> None:
    blocks = (ast.stmt, ast.ExceptHandler, ast.match_case)

    for node in ast.walk(ast.parse(ODD)):
        if isinstance(node, blocks):
            assert inner_statements(node) == [
                one for one in ast.iter_child_nodes(node) if isinstance(one, blocks)
            ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_with_a_word_are_numbered_as_the_parser_does(end: str) -> None:
    lines = Lines(end.join(["a = 1", "", "raise_error()", "b = 'warn'", "c"]), ("error", "warn"))

    assert [number for number in range(1, 6) if lines.any_in(number, number)] == [3, 4]
    assert lines.any_in(1, 3)
    assert not lines.any_in(1, 2)
    assert not lines.any_in(5, None)
