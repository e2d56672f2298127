"""From words on a command line to files: folders, globs, and what cannot be a log."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from logscope.errors import SourceError
from parsers.lazy_dataclass import dataclass

STDIN = "-"
LOG_NAMES = (".log", ".txt", ".out", ".err", ".jsonl", ".ndjson")
PACKED_NAMES = (".gz", ".zst", ".xz", ".bz2")
"""A folder may hold anything; only files with these endings (or none of them: see `_looks_like_a_log`) are
tried."""

_CONTEXT = ".context.json"
_SKIPPED_FOLDERS = {"__pycache__", "node_modules", ".git", ".hg", ".venv", "venv"}


@dataclass(frozen=True, slots=True)
class Source:
    """One input that may hold a log."""

    path: str
    """Absolute path, or ``-``."""
    word: str
    """The path as it was given or found, not made absolute."""
    given: bool
    """True when it was named itself; False when a folder or glob led to it, so that it may be passed over."""

    @property
    def is_expected_to_be_a_log(self) -> bool:
        """False for what a folder or a shell's pattern brought along: it is passed over when it is no log."""
        return self.given and not self.path.endswith(_CONTEXT)

    @property
    def is_stream(self) -> bool:
        """True for what can be read only once: standard input, a pipe (``<(zcat old.gz)``), a device."""
        return self.path == STDIN or not Path(self.path).is_file()


def find_sources(words: Sequence[str | Path]) -> tuple[list[Source], list[tuple[str, SourceError]]]:
    """The inputs that the words name, in order and each once; and the words that name nothing, and folders
    that cannot be looked into."""
    found: dict[str, Source] = {}
    wrong: list[tuple[str, SourceError]] = []
    for word in map(str, words):
        try:
            for source in _sources_of(word, wrong):
                if _is_storable(source.path):
                    found.setdefault(source.path, source)
                else:
                    name = os.fsencode(source.word).decode("utf-8", "backslashreplace")
                    wrong.append((name, SourceError(f"{name}: its name is not UTF-8", "rename it")))
        except SourceError as error:
            wrong.append((word, error))
    return [source for source in found.values() if not _goes_with_a_log(source, found)], wrong


def _goes_with_a_log(source: Source, found: Mapping[str, Source]) -> bool:
    """True for the context file of one of the logs: it is taken up with that."""
    if not source.path.endswith(_CONTEXT):
        return False
    stem = source.path.removesuffix(_CONTEXT)
    return any(f"{stem}{log}{packed}" in found for log in (".log", "") for packed in ("", *PACKED_NAMES))


def _is_storable(path: str) -> bool:
    """False for a name that is no text: a table cannot hold it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _sources_of(word: str, wrong: list[tuple[str, SourceError]]) -> Iterator[Source]:
    if not word:
        raise SourceError("'': an empty path", "a shell variable that is not set?")
    if word == STDIN:
        yield Source(STDIN, STDIN, given=True)
        return
    path = Path(word).expanduser()
    if path.is_dir():
        yield from _in_folder(path, word, wrong)
    elif path.exists():
        yield Source(_absolute(path), str(path), given=True)
    elif any(sign in word for sign in "*?["):
        yield from _by_glob(str(path), word, wrong)
    elif path.is_symlink():
        raise SourceError(f"{word}: a link to {path.readlink()}, which is not there")
    else:
        raise SourceError(f"{word}: no such file or folder")


def _in_folder(folder: Path, word: str, wrong: list[tuple[str, SourceError]]) -> Iterator[Source]:
    so_far = len(wrong)
    paths = sorted(_walk(folder, wrong))
    if not paths and len(wrong) == so_far:
        raise SourceError(
            f"{word}: no log file in this folder", f"looked for {', '.join(LOG_NAMES)} and packed ones"
        )
    yield from (Source(_absolute(path), str(path), given=False) for path in paths)


def _by_glob(pattern: str, word: str, wrong: list[tuple[str, SourceError]]) -> Iterator[Source]:
    names = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - any pattern, also an absolute one
    if not names:
        raise SourceError(f"{word}: no file fits this pattern")
    for name in names:
        path = Path(name)
        if path.is_dir():
            found = sorted(_walk(path, wrong))
            yield from (Source(_absolute(each), str(each), given=False) for each in found)
        elif not name.endswith(".json"):
            yield Source(_absolute(path), name, given=len(names) == 1)


def _walk(folder: Path, wrong: list[tuple[str, SourceError]]) -> Iterator[Path]:
    """What looks like a log in the folder and below it; `wrong` gets the folders that cannot be seen into."""

    def complain(error: OSError, what: str = "cannot be listed") -> None:
        place = str(error.filename)
        wrong.append((place, SourceError(f"{place}: {what}: {error.strerror}")))

    for place, folders, names in os.walk(folder, onerror=complain):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for name in names:
            path = Path(place) / name
            try:
                if _looks_like_a_log(name) and path.is_file():  # no pipe, which blocks, no link to nowhere
                    yield path
            except OSError as error:  # a folder whose names may be read and nothing else
                complain(error, "cannot be read")


def _absolute(path: Path) -> str:
    """Without ``..``, so that one file has one name; links are kept."""
    return os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links


def _looks_like_a_log(name: str) -> bool:
    lower = name.lower()
    for ending in PACKED_NAMES:
        lower = lower.removesuffix(ending)
    stem, dot, ending = lower.rpartition(".")
    if f".{ending}" in LOG_NAMES or not dot:
        return True
    return ending.isdigit() and any(part in stem for part in LOG_NAMES)  # rotated: server.log.1
