"""Reads one Python file of SGLang by syntax tree: sites, helpers, environment, written arguments."""

from __future__ import annotations

import ast
import re
import warnings

from logscope.knowledge.build.environment import env_uses, renamed_env
from logscope.knowledge.build.facts import FileFacts, Helper
from logscope.knowledge.build.sites import SiteWalk
from logscope.knowledge.build.walk import Nodes
from logscope.knowledge.build.writes import argument_writes, is_resolution, override_names

_READS_ENV = re.compile(r"environ\b|getenv|\benvs\b|env\w*\(|Env\w*\(")
SCANNER = 7
"""Raised when the same file gives other facts; part of the cache's key."""


def scan_file(path: str, text: str) -> FileFacts:
    """All facts of one file (`path` is below ``sglang/``); empty for a file that does not parse."""
    tree = _parsed(text)
    facts = FileFacts()
    if tree is None:
        return facts
    constants = _constants(tree)
    # A pass over all nodes costs as much as the sites; most files name neither variables nor arguments.
    nodes = Nodes(tree if _is_worth_a_pass(path, text) else None)
    facts.env = env_uses(nodes, constants)
    facts.renamed_env = renamed_env(nodes)
    if not is_server(path):
        return facts
    walk = SiteWalk(path, text, constants)
    walk.module(tree)
    facts.sites, facts.helpers = walk.sites, walk.found_helpers
    facts.writes = argument_writes(nodes, path)
    facts.names = override_names(nodes, path)
    return facts


def scan_helped(path: str, text: str, helpers: dict[str, Helper]) -> FileFacts:
    """Only the calls of `helpers` in a file, as sites."""
    tree = _parsed(text)
    facts = FileFacts()
    if tree is not None:
        walk = SiteWalk(path, text, _constants(tree), helpers)
        walk.module(tree)
        facts.sites = [site for site in walk.sites if "h" in site.flags and site.templates]
    return facts


def _is_worth_a_pass(path: str, text: str) -> bool:
    if "server_args" in text or "eprecated" in text or is_resolution(path):
        return True
    return "nv" in text and _READS_ENV.search(text) is not None


def is_server(path: str) -> bool:
    """Whether a file's checks can end a server's launch: the server package and the launch modules."""
    return path.startswith(("srt/", "cli/")) or "/" not in path


def _parsed(text: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in the read source are not our business
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Module-level names with one literal text, so that ``os.getenv(NAME)`` can be read."""
    held: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            held.update({one.id: node.value for one in node.targets if isinstance(one, ast.Name)})
    return held
