"""Reads one whole release: every file once, helpers in a second pass, results kept by file content."""

from __future__ import annotations

import gc
import hashlib
import pickle
import re
from collections.abc import Collection
from pathlib import Path

from logscope.knowledge.build.arguments import ArgumentTable, read_arguments
from logscope.knowledge.build.facts import EnvUse, FileFacts, Helper, Site
from logscope.knowledge.build.guards import Atom
from logscope.knowledge.build.scan import SCANNER, is_server, scan_file, scan_helped
from logscope.knowledge.build.sources import SourceTree
from logscope.knowledge.build.writes import is_resolution
from parsers.lazy_dataclass import dataclass, field, replace

_MOST_SPACES = 3
"""Spaces in the repr of a default; the longest real ones are lists of a few names."""
_READS_ENV = re.compile(r"environ|getenv|\benvs\.|_env_|= ?Env[A-Z]")


@dataclass(slots=True)
class ReleaseFacts:
    """All that is kept of one release."""

    version: str
    arguments: ArgumentTable
    resolved: dict[str, bool] = field(default_factory=dict)
    """Arguments written before they are printed -> where they were None."""
    runtime: set[str] = field(default_factory=set)
    """Arguments written later."""
    env: dict[str, list[EnvUse]] = field(default_factory=dict)
    """Name -> distinct uses."""
    renamed_env: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Old -> (new, ``inverted`` or '')."""
    files: dict[str, tuple[Site, ...]] = field(default_factory=dict)
    """Path below ``sglang/`` -> its sites by line."""


class FileCache:
    """Facts of files by path and content: most files of two neighbouring releases are the same."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def facts(self, path: str, text: str) -> FileFacts:
        """Facts of one file, read or remembered."""
        return self._held("all", path, text, ())

    def helped(self, path: str, text: str, helpers: dict[str, Helper]) -> FileFacts:
        """Calls of helpers in one file."""
        return self._held("helped", path, text, tuple(helpers.values()))

    def _held(self, what: str, path: str, text: str, helpers: tuple[Helper, ...]) -> FileFacts:
        place = None if self.folder is None else self._place(self.folder, f"{what}|{path}|{helpers!r}", text)
        if place is not None and place.exists():
            return _loaded(place)
        if what == "all":
            facts = scan_file(path, text)
        else:
            facts = scan_helped(path, text, {helper.name: helper for helper in helpers})
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(pickle.dumps(facts))
        return facts

    def _place(self, folder: Path, what: str, text: str) -> Path:
        key = hashlib.sha1(f"{SCANNER}|{what}|".encode() + text.encode("utf-8", "replace")).hexdigest()
        return folder / key[:2] / key


def _loaded(place: Path) -> FileFacts:
    held: FileFacts = pickle.loads(place.read_bytes())
    return held


def read_release(tree: SourceTree, cache: FileCache) -> ReleaseFacts:
    """The facts of one release."""
    was_enabled = gc.isenabled()
    gc.disable()  # a syntax tree has no cycles, and looking through its nodes for some is a tenth of the time
    try:
        return _read(tree, cache)
    finally:
        if was_enabled:
            gc.enable()


def _read(tree: SourceTree, cache: FileCache) -> ReleaseFacts:
    texts = {file.path: file.text for file in tree.files}
    release = ReleaseFacts(tree.version, read_arguments(texts))
    by_file: dict[str, FileFacts] = {}
    for path, text in texts.items():
        if is_server(path) or ("nv" in text and _READS_ENV.search(text)):
            by_file[path] = cache.facts(path, text)
    _add_helped(texts, by_file, cache)
    for path, facts in sorted(by_file.items()):
        _add_file(release, path, facts)
    release.env = {name: _distinct(uses) for name, uses in sorted(release.env.items())}
    for facts in by_file.values():
        for one, other, how in facts.renamed_env:
            # The declared one is the new one: the order of the two in the call changed over the releases.
            new, old = (
                (one, other)
                if _is_declared(release, one) or not _is_declared(release, other)
                else (other, one)
            )
            release.renamed_env[old] = (new, how)
    return release


def _is_declared(release: ReleaseFacts, name: str) -> bool:
    return any(use.action == "declared" for use in release.env.get(name, ()))


def _add_helped(texts: dict[str, str], by_file: dict[str, FileFacts], cache: FileCache) -> None:
    helpers: dict[str, Helper] = {}
    for _, facts in sorted(by_file.items()):
        for helper in facts.helpers:
            helpers.setdefault(helper.name, helper)
    for path, text in texts.items():
        if path not in by_file or not is_server(path):
            continue
        named = {name: held for name, held in helpers.items() if f"{name}(" in text}
        if any(_is_called(name, text) for name in named):
            facts = by_file[path]
            by_file[path] = FileFacts(
                facts.sites + cache.helped(path, text, named).sites, facts.helpers, facts.env,
                facts.renamed_env, facts.writes, facts.names,
            )  # fmt: skip


def _is_called(name: str, text: str) -> bool:
    """Whether the name stands before a bracket as a whole word (four times as fast as a pattern)."""
    at = text.find(f"{name}(")
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at = text.find(f"{name}(", at + 1)
    return at >= 0


def _add_file(release: ReleaseFacts, path: str, facts: FileFacts) -> None:
    declared = release.arguments.declared
    if facts.sites:
        ordered = sorted(facts.sites, key=lambda site: (site.line, site.function, site.kind))
        flags = {flag for one in declared.values() for flag in one.flags}
        flags |= {one.flag for one in release.arguments.retired}
        release.files[path] = tuple(
            replace(site, atoms=_known(site.atoms, declared, flags)) for site in ordered
        )
    for use in facts.env:
        # A helper named like a reader may take other words in capitals; variables read so have an underscore.
        if "_" in use.name or not use.kind.startswith("helper"):
            release.env.setdefault(use.name, []).append(replace(use, default=_no_prose(use.default)))
    for write in facts.writes:
        if write.name in declared:
            if is_resolution(path):
                release.resolved[write.name] = release.resolved.get(write.name, False) or write.follows_none
            else:
                release.runtime.add(write.name)
    for name in facts.names & declared.keys():
        release.resolved.setdefault(name, False)


def _known(atoms: tuple[Atom, ...], declared: Collection[str], flags: Collection[str]) -> tuple[Atom, ...]:
    """Only what this release has as argument or flag; an attribute of such a name counts as the argument."""
    kept: dict[Atom, None] = {}
    for atom in atoms:
        if atom.kind == "env" or (atom.kind == "flag" and atom.name in flags):
            kept[replace(atom, default=_no_prose(atom.default) or "")] = None
        elif atom.kind in ("arg", "name") and atom.name in declared:
            kept[replace(atom, kind="arg")] = None
    return tuple(kept)


def _no_prose(default: str | None) -> str | None:
    """A default is a value: a sentence in its place is a helper's explanation, and is not kept."""
    return "<computed>" if default is not None and default.count(" ") > _MOST_SPACES else default


def _distinct(uses: list[EnvUse]) -> list[EnvUse]:
    return sorted(set(uses), key=lambda use: (use.action, use.default or "", use.kind))
