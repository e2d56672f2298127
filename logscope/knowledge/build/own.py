"""Takes in the user's own SGLang: an installed one, a fork, a nightly, a git checkout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from logscope.knowledge.build.pack import write_facts
from logscope.knowledge.build.release import FileCache, read_release
from logscope.knowledge.build.sources import read_tree
from parsers.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Added:
    """What was taken in."""

    version: str
    path: Path
    """The packed file."""
    sites: int
    arguments: int
    variables: int
    commits: str
    """The checkout that `commit_of` can be asked about; '' where it is none."""


def add_own(place: Path, name: str | None, say: Callable[[str], None]) -> Added:
    """Reads the SGLang at `place` and keeps its facts under the user's data folder.

    Raises SourceError when there is no SGLang at `place`, or its version cannot be told.
    """
    from logscope.knowledge import library

    tree = read_tree(place, name)
    say(f"reading SGLang {tree.version}: {len(tree.files)} files")
    release = read_release(tree, FileCache(None))
    path = library.own_path(tree.version)
    checkout = "" if tree.root is None or not in_checkout(tree.root) else str(tree.root)
    write_facts(path, {tree.version: release}, {"checkout": checkout})
    library.forget()
    return Added(
        tree.version, path, sum(map(len, release.files.values())), len(release.arguments.declared),
        len(release.env), checkout,
    )  # fmt: skip


def in_checkout(root: Path) -> bool:
    """Whether a folder is under git and its files are tracked there."""
    from logscope.knowledge.commits import git

    return bool(git(root, "ls-files", "--error-unmatch", "srt/__init__.py") or git(root, "ls-files", "srt"))
