"""Which commit of a checkout last touched a check: asked of git only for a build taken in from a checkout."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

from parsers.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit as git names it."""

    id: str
    date: str
    """ISO 8601 day."""
    subject: str


def touched(root: Path, path: str, line: int) -> tuple[tuple[str, Commit], ...]:
    """The commits that last changed the statement at `line` of a file and the condition around it.

    Lines are those of the file as it was taken in; edits that are not committed are not seen.
    """
    try:
        text = (root / path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    spans = _spans(text, line)
    told = [(what, last_touched(root, path, first, last)) for what, (first, last) in spans.items()]
    return tuple((what, commit) for what, commit in told if commit is not None)


def _spans(text: str, line: int) -> dict[str, tuple[int, int]]:
    """Lines of the statement at `line` and of the innermost condition that it stands under."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    spans: dict[str, tuple[int, int]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        if isinstance(node, ast.If) and node.test.lineno < line:
            spans["the condition"] = (node.test.lineno, node.test.end_lineno or node.test.lineno)
        elif isinstance(node, ast.Raise | ast.Assert | ast.Expr):
            spans["the check"] = (node.lineno, node.end_lineno or node.lineno)
    return spans


def last_touched(root: Path, path: str, first_line: int, last_line: int) -> Commit | None:
    """The newest commit that changed these lines of a file below ``sglang/``; None where git cannot say."""
    told = git(
        root, "log", "-1", "--no-patch", "--format=%H%x09%cs%x09%s", "-L", f"{first_line},{last_line}:{path}"
    )
    fields = told.splitlines()[0].split("\t", 2) if told else []
    return Commit(*fields) if len(fields) == 3 else None


def git(root: Path, *words: str) -> str:
    """What git prints about a folder; '' when there is no git, no checkout or no answer in 20 seconds."""
    try:
        asked = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.strip()
