"""Which commit of a checkout last touched a check: asked of git only for a build taken in from a checkout."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit as git names it."""

    id: str
    date: str
    """ISO 8601 day."""
    subject: str


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
