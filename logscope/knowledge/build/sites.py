"""Walks one file and gives every place that raises, asserts, exits, warns or logs, with what guards it."""

from __future__ import annotations

import ast
import re

from logscope.knowledge.build.facts import Helper, Site, Template
from logscope.knowledge.build.guards import Atom, Scope, atoms, canonical
from logscope.knowledge.build.reads import dotted
from logscope.knowledge.build.templates import HOLE, Flow, Wording, has_words, pieces, wordings
from logscope.knowledge.build.walk import Lines, calls_in, inner_statements, nodes_of
from logscope.knowledge.wording import ANCHOR, anchor_hash, piece_hash, short_hash, word_hashes
from parsers.lazy_dataclass import dataclass, field

_LEVELS = {
    "warning": "warning", "warn": "warning", "error": "error", "exception": "error", "critical": "error",
    "fatal": "error", "info": "info",
}  # fmt: skip
_LOGGER = re.compile(r"log", re.IGNORECASE)
_LOG_FUNCTION = re.compile(r"(?:^|_)(?:log|print|logger)_?(?:rank_?0_?)?(info|warning|warn|error)(?:_|$)")
_LEVEL_METHOD = re.compile(
    r"(info|warning|warn|error|critical|exception|fatal)(?:_once|_rank0|_on_rank_?0)?\Z"
)
_EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit"})
_NAMED_ENV = re.compile(
    r"\b(?:SGLANG|SGL|NCCL|CUDA|HF|TORCH|VLLM|TRITON|ROCM|HIP|NVSHMEM|MOONCAKE)_[A-Z0-9_]{3,}"
)
_NAMED_FLAG = re.compile(r"--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)")
_WORDS = (
    "raise", "assert", "exit", "quit", "warn", "error", "info", "critical", "exception", "fatal", "print",
)  # fmt: skip
"""One of these stands in every statement that is a site (see `_logged`)."""
_KEPT_CONDITIONS = 4
_MOST_ATOMS = 12
_CATCH_ALL = frozenset({"Exception", "BaseException", ""})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class _Condition:
    test: ast.expr
    fires: bool
    is_early: bool = False
    is_beside: bool = False
    """An earlier branch of the same if/elif chain that was not taken: it can gate, but adding or changing a
    neighbouring branch does not change this one's own condition."""


@dataclass(slots=True)
class _Frame:
    """The function the walk is in."""

    name: str
    scope: Scope
    body: _Body
    caught: tuple[str, ...] = ()
    """Exception classes that handlers around swallow."""
    goes_on: bool = True
    """False where a later statement of the same block raises or exits."""


@dataclass(slots=True)
class _Body:
    """Lines of a function's source; hashed when a site stands in it, which most functions have none of."""

    lines: list[str]
    held: int | None = None

    def hash(self) -> int:
        if self.held is None:
            self.held = short_hash("".join("".join(self.lines).split()), 24)
        return self.held


@dataclass(slots=True)
class SiteWalk:
    """Collects the sites of one module."""

    path: str
    text: str
    constants: dict[str, ast.expr]
    helpers: dict[str, Helper] = field(default_factory=dict)
    """Raise-or-warn helpers known from elsewhere; where there are any, only calls of them are looked for."""
    sites: list[Site] = field(default_factory=list)
    raw: list[tuple[str, Site, ast.expr | None, tuple[_Condition, ...]]] = field(default_factory=list)
    """Sites whose message is one parameter: what makes their function a helper."""
    lines: list[str] = field(default_factory=list)
    loud: Lines = field(init=False)
    """Lines on which a site may stand."""

    def __post_init__(self) -> None:
        self.lines = self.text.splitlines(keepends=True)
        self.loud = Lines(self.text, self.helpers or _WORDS)

    def module(self, tree: ast.Module) -> None:
        """Walks the whole module."""
        scope = Scope(Flow(_assigned(tree.body)), self.constants, False)
        self._block(tree.body, (), _Frame("<module>", scope, _Body([], 0)), "")

    def _block(self, body: list[ast.stmt], held: tuple[_Condition, ...], frame: _Frame, outer: str) -> None:
        early: tuple[_Condition, ...] = ()
        last_end = max((at for at, one in enumerate(body) if _ends(one)), default=-1)
        for at, statement in enumerate(body):
            frame.goes_on = at >= last_end
            if self.raw or self.loud.any_in(statement.lineno, statement.end_lineno):
                self._statement(statement, held + early, frame, outer)
            if isinstance(statement, ast.If) and not statement.orelse and _leaves(statement.body):
                early = (*early, _Condition(statement.test, False, True))

    def _statement(self, node: ast.stmt, held: tuple[_Condition, ...], frame: _Frame, outer: str) -> None:
        if isinstance(node, _FUNCTIONS):
            self._function(node, frame, outer)
        elif isinstance(node, ast.ClassDef):
            scope = frame.scope
            in_args = node.name == "ServerArgs" or scope.in_arguments
            inner_scope = Scope(Flow(_assigned(node.body), scope.flow), self.constants, in_args)
            inner = _Frame(frame.name, inner_scope, _Body([], 0))
            self._block(node.body, (), inner, f"{outer}{node.name}.")
        elif isinstance(node, ast.If):
            self._expressions(node.test, held, frame)
            self._block(node.body, (*held, _Condition(node.test, True)), frame, outer)
            is_chain = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
            other = _Condition(node.test, False, is_beside=is_chain)
            self._block(node.orelse, (*held, other), frame, outer)
        elif isinstance(node, ast.While | ast.For | ast.AsyncFor):
            self._block(node.body, held, frame, outer)
            self._block(node.orelse, held, frame, outer)
        elif isinstance(node, ast.With | ast.AsyncWith):
            self._block(node.body, held, frame, outer)
        elif isinstance(node, ast.Try | ast.TryStar):
            self._try(node, held, frame, outer)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                self._block(case.body, held, frame, outer)
        elif isinstance(node, ast.Raise):
            self._raise(node, held, frame)
        elif isinstance(node, ast.Assert):
            self._emit(
                "assert", "AssertionError", node.msg, node, (*held, _Condition(node.test, False)), frame
            )
        else:
            self._expressions(node, held, frame)

    def _try(
        self, node: ast.Try | ast.TryStar, held: tuple[_Condition, ...], frame: _Frame, outer: str
    ) -> None:
        swallowed = tuple(
            name
            for handler in node.handlers
            if not _reraises(handler.body)
            for name in _caught_names(handler)
        )
        inner = _Frame(frame.name, frame.scope, frame.body, frame.caught + swallowed)
        self._block(node.body, held, inner, outer)
        for handler in node.handlers:
            self._block(handler.body, held, frame, outer)
        self._block(node.orelse, held, frame, outer)
        self._block(node.finalbody, held, frame, outer)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: _Frame, outer: str) -> None:
        name = node.name
        flow = Flow(_assigned(node.body), frame.scope.flow)
        for parameter in _parameters(node):
            flow.names.setdefault(parameter, []).insert(0, (0, ast.Name(parameter, ast.Load()), False))
        scope = Scope(flow, self.constants, frame.scope.in_arguments)
        body = _Body(self.lines[node.lineno - 1 : node.end_lineno])
        self._block(node.body, (), _Frame(f"{outer}{name}", scope, body), f"{outer}{name}.")
        self._helpers(node, f"{outer}{name}")

    def _raise(self, node: ast.Raise, held: tuple[_Condition, ...], frame: _Frame) -> None:
        raised = node.exc
        if isinstance(raised, ast.Name):
            given = [
                one for one in frame.scope.flow.given(raised.id, node.lineno) if isinstance(one[1], ast.Call)
            ]
            raised = given[-1][1] if given else raised
        if raised is None:
            return
        if isinstance(raised, ast.Call):
            name = dotted(raised.func).rpartition(".")[2]
            message = (
                raised.args[0] if raised.args else _keyword(raised, ("message", "msg", "detail", "reason"))
            )
        else:
            name, message = dotted(raised).rpartition(".")[2], None
        if name and name[0].islower() and not isinstance(raised, ast.Call):
            return  # an exception that was caught and is raised again: its own place is elsewhere
        kind = name if name.lstrip("_")[:1].isupper() else "?"
        self._emit("raise", kind, message, node, held, frame)
        if isinstance(node.exc, ast.Call):
            self._expressions(node.exc, held, frame, inside=True)

    def _expressions(
        self, node: ast.AST, held: tuple[_Condition, ...], frame: _Frame, inside: bool = False
    ) -> None:
        """Calls that log, warn, print or exit anywhere in a statement."""
        if not self.loud.any_in(node.lineno, node.end_lineno):  # type: ignore[attr-defined]
            return
        for call in calls_in(node):
            if not (inside and call is node):
                self._call(call, held, frame)

    def _call(self, call: ast.Call, held: tuple[_Condition, ...], frame: _Frame) -> None:
        whole = dotted(call.func)
        last = whole.rpartition(".")[2] or (call.func.attr if isinstance(call.func, ast.Attribute) else "")
        if last in self.helpers:
            self._helped(call, self.helpers[last], held, frame)
            return
        kind, level, message = _logged(call, whole, last)
        if kind:
            self._emit(kind, level, message, call, held, frame)

    def _helped(self, call: ast.Call, helper: Helper, held: tuple[_Condition, ...], frame: _Frame) -> None:
        message = _keyword(call, (helper.keyword,))
        if message is None and len(call.args) > helper.position:
            message = call.args[helper.position]
        extra: list[Atom] = list(helper.atoms)
        for position, keyword, truth in helper.switches:
            given = _keyword(call, (keyword,)) or (call.args[position] if len(call.args) > position else None)
            if given is not None:
                extra += atoms(given, truth, frame.scope, call.lineno)
        flags = "ht" if helper.can_warn else "h"
        self._emit(helper.kind, helper.type, message, call, held, frame, flags, tuple(extra))

    def _emit(
        self, kind: str, level: str, message: ast.expr | None, node: ast.stmt | ast.expr,
        held: tuple[_Condition, ...], frame: _Frame, flags: str = "", extra: tuple[Atom, ...] = (),
    ) -> None:  # fmt: skip
        scope = frame.scope
        given = wordings(message, scope.flow, node.lineno) if message is not None else ()
        if kind == "info" and not has_words(given):
            return
        if kind in ("raise", "assert") and not _escapes(level, frame.caught):
            flags += "c"
        around = [one for one in held if not one.is_early and not one.is_beside]
        guard = " & ".join(
            ("" if one.fires else "!") + canonical(one.test, scope) for one in around[-_KEPT_CONDITIONS:]
        )
        found = list(extra)
        for one in held[-8:]:
            found += (
                Atom(a.kind, a.name, a.operator, a.value, a.is_enough, a.default, one.is_early)
                for a in atoms(one.test, one.fires, scope, node.lineno)
            )
        if any(one.is_early for one in held):
            flags += "e"
        if kind in ("error", "warning", "info") and not frame.goes_on:
            flags += "r"
        found += _named_in(given)
        site = Site(
            frame.name, kind, level, short_hash(guard), _distinct(found), _templates(given), flags,
            node.lineno, (node.end_lineno or node.lineno) - node.lineno, frame.body.hash(),
        )  # fmt: skip
        self.sites.append(site)
        if message is not None and not has_words(given):
            self.raw.append((frame.name, site, message, held))

    def _helpers(self, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> None:
        """Marks `node` as a raise-or-warn helper when it raises or logs a parameter as it is."""
        from logscope.knowledge.build.helpers import helper_of

        mine = [
            (site, message, [(c.test, c.fires) for c in held])
            for at, site, message, held in self.raw
            if at == name
        ]
        if mine:
            found = helper_of(node, mine, Scope(Flow(), self.constants, False))
            if found is not None:
                self.found_helpers.append(found)

    found_helpers: list[Helper] = field(default_factory=list)


def _logged(call: ast.Call, whole: str, last: str) -> tuple[str, str, ast.expr | None]:
    first = call.args[0] if call.args else _keyword(call, ("msg", "message"))
    if whole in _EXITS:
        is_text = first is not None and not (isinstance(first, ast.Constant) and isinstance(first.value, int))
        return "exit", "SystemExit", first if is_text else None
    if last == "error" and "parser" in whole:
        return "exit", "argparse", first
    if whole in ("warnings.warn", "warn"):
        return "warning", "warning", first
    if whole == "print":
        return "info", "print", _printed(call)
    level = _LEVEL_METHOD.match(last)
    if level and isinstance(call.func, ast.Attribute):
        base = call.func.value
        owner = dotted(base) or (dotted(base.func) if isinstance(base, ast.Call) else "")
        if _LOGGER.search(owner):
            return _LEVELS[level.group(1)], last, _percented(call, first)
    named = _LOG_FUNCTION.search(last)
    if named:
        built: list[ast.expr] = [one for one in call.args if isinstance(one, ast.JoinedStr | ast.BinOp)]
        plain = [one for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        text = next(iter([*built, *plain]), first)
        return _LEVELS[named.group(1)], named.group(1), text
    return "", "", None


def _percented(call: ast.Call, first: ast.expr | None) -> ast.expr | None:
    """A log call with values behind its text prints by ``%``."""
    if first is not None and len(call.args) > 1:
        return ast.BinOp(first, ast.Mod(), ast.Constant(0))
    return first


def _printed(call: ast.Call) -> ast.expr | None:
    if len(call.args) == 1:
        return call.args[0]
    return ast.Tuple(list(call.args), ast.Load()) if call.args else None


def _keyword(call: ast.Call, names: tuple[str, ...]) -> ast.expr | None:
    return next((one.value for one in call.keywords if one.arg in names), None)


def _templates(given: tuple[Wording, ...]) -> tuple[Template, ...]:
    made: dict[Template, None] = {}
    for wording in given:
        texts, starts, ends = pieces(wording)
        if not texts:
            continue
        words = tuple(sorted(frozenset().union(*map(word_hashes, texts))))
        made[Template(tuple(map(_hashed, texts)), starts, ends, words)] = None
    return tuple(made)


def _hashed(text: str) -> tuple[int, int, int]:
    return len(text), piece_hash(text), anchor_hash(text[:ANCHOR]) if len(text) >= ANCHOR else 0


def _named_in(given: tuple[Wording, ...]) -> list[Atom]:
    text = " ".join(part for wording in given for part in wording if part is not HOLE)
    named = [Atom("env", name, "named", "", False, "") for name in _NAMED_ENV.findall(text)]
    named += [Atom("flag", f"--{name}", "named", "", False, "") for name in _NAMED_FLAG.findall(text)]
    return named


def _distinct(found: list[Atom]) -> tuple[Atom, ...]:
    kept: dict[Atom, None] = {}
    for atom in found:
        if atom.kind == "name" and ("_" not in atom.name or len(atom.name) < 7):
            continue
        kept[atom] = None
    return tuple(kept)[:_MOST_ATOMS]


def _assigned(body: list[ast.stmt]) -> dict[str, list[tuple[int, ast.expr, bool]]]:
    """Every assignment to a plain name below `body`, without nested functions and classes."""
    names: dict[str, list[tuple[int, ast.expr, bool]]] = {}
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    names.setdefault(target.id, []).append((node.lineno, node.value, False))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            names.setdefault(node.target.id, []).append((node.lineno, node.value, False))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names.setdefault(node.target.id, []).append((node.lineno, node.value, True))
        waiting += reversed(inner_statements(node))
    return names


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    given = node.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Continue | ast.Break)


def _ends(node: ast.stmt) -> bool:
    """A raise or an exit: what was logged just before it belongs to it."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return dotted(node.value.func) in _EXITS
    return isinstance(node, ast.Raise)


def _reraises(body: list[ast.stmt]) -> bool:
    return any(isinstance(one, ast.Raise) for statement in body for one in nodes_of(statement))


def _caught_names(handler: ast.ExceptHandler) -> list[str]:
    if handler.type is None:
        return [""]
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return [dotted(one).rpartition(".")[2] for one in types]


def _escapes(level: str, caught: tuple[str, ...]) -> bool:
    return not any(name in _CATCH_ALL or name == level for name in caught)
