"""From the words of a command to runs, and to the history in which they are seen.

A word that is a path is read now, into a store in memory; any other word names a run of the store on disk,
which is only read. Where a path needs the history of the store, the memory begins as a copy of it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from logscope.cli.common import store_path
from logscope.notices import tell
from parsers.lazy_dataclass import dataclass, replace
from parsers.lazy_pattern import lazy_re

if TYPE_CHECKING:
    from logscope.explain.records import Explanation
    from logscope.store import Store
    from logscope.store.ingest_report import IngestReport
    from logscope.store.records import SeriesPoint, StoredRun

SERIES_POINTS = 240
"""Points of a plotted curve: more than a page has columns for."""

_LAUNCH = lazy_re(r"(?P<path>.+)#(?P<ordinal>\d+)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Explained:
    """An explained diff with the stores that may hold the rows of its runs."""

    explanation: Explanation
    stores: tuple[Store, ...]

    def series(self) -> Mapping[str, Sequence[SeriesPoint]]:
        """Decode throughput over time of both runs, for the plots."""
        diff = self.explanation.diff
        sides = {"good": diff.good, "bad": diff.bad}
        return {side: self._points(stored) for side, stored in sides.items() if stored is not None}

    def _points(self, stored: StoredRun) -> Sequence[SeriesPoint]:
        for store in self.stores:
            series = store.series(stored.run_id, "gen_throughput", SERIES_POINTS)
            if series.points:
                return series.points
        return ()


def add_given_files(parser: argparse.ArgumentParser) -> None:
    """Adds `--config ROLE=FILE` and `--env-file FILE`."""
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="ROLE=FILE",
        help="config.json of the target or draft model of the last RUN, as in target=FILE",
    )
    parser.add_argument(
        "--env-file",
        type=Path,
        metavar="FILE",
        help="environment of the last RUN's launch: NAME=value lines or JSON",
    )


def all_runs(options: argparse.Namespace, words: Sequence[str]) -> list[StoredRun]:
    """Every run that the words name: all launches of a log, one run of the store."""
    from logscope.store import Store

    _only_one_is_standard_input(words)
    runs: list[StoredRun] = []
    for number, word in enumerate(words, start=1):
        if is_log(word):
            store = Store.in_memory(beside=store_path(options))
            found = _take(store, word, options, is_last=number == len(words))
            runs += [store.load(run_id) for run_id in found]
        else:
            disk = _disk(options)
            _must_exist(disk, word)
            found_run = disk.load(word)
            runs.append(_with_given(disk, found_run, options) if number == len(words) else found_run)
    return [_as_seen_from_here(stored) for stored in runs]


def explained(options: argparse.Namespace, bad: str, good: str | None) -> Explained:
    """The diff of `bad` with `good`, or with its baseline in the folder or the store of the options."""
    from logscope.compare import compare
    from logscope.explain import explain

    _only_one_is_standard_input([bad, good])
    store = _history(options, bad, good)
    with store.reading():  # one opening (25 ms) for all questions
        words = [] if good is None else [_one(store, good, options, is_last=False)]
        *chosen, failing = store.load_all([*words, _one(store, bad, options, is_last=True, alone=not words)])
        failing = _at(failing, bad) if is_log(bad) else _with_given(store, failing, options)
        diff = compare(store, failing, _at(chosen[0], str(good)) if chosen else None)
        seen = None if diff.good is None else _as_seen_from_here(diff.good)
        diff = replace(diff, bad=_as_seen_from_here(diff.bad), good=seen)
        explanation = explain(diff, store, getattr(options, "rules", None))
    disk = _disk(options)
    stores = (store, disk) if store.path is None and disk.exists() else (store,)
    return Explained(explanation, stores)


def is_log(word: str) -> bool:
    """True when `word` is standard input, or a path that is there (be it a link to nowhere).

    A word such as ``last`` is never a file: that is ``./last``.
    """
    from logscope.store.references import NEWEST

    if word in NEWEST:
        _tell_of_file(word)
        return False
    path = Path(_split(word)[0]).expanduser()
    return word == "-" or path.exists() or path.is_symlink()


def _only_one_is_standard_input(words: Sequence[str | None]) -> None:
    from logscope.errors import UsageError

    if words.count("-") > 1:
        raise UsageError("'-' is given twice", "standard input can be read only once")


@cache
def _tell_of_file(word: str) -> None:
    if Path(word).exists():
        tell(f"{word} is a run of the store here; the file of this name is ./{word}")


def _history(options: argparse.Namespace, bad: str, good: str | None) -> Store:
    """The store in which the runs are compared."""
    from logscope.errors import UsageError
    from logscope.store import Store

    folder = getattr(options, "folder", None)
    if folder is not None:
        if good is not None:
            raise UsageError("--in looks for the good run in a folder", "leave out GOOD or --in")
        if not is_log(bad):
            raise UsageError(f"{bad}: no such log", "with --in, BAD is a log's path")
        store = Store.in_memory(beside=store_path(options))
        _must_be_launches(store.ingest([str(folder)]), str(folder))
        return store
    words = [bad] if good is None else [good, bad]
    disk = _disk(options)
    names = [word for word in words if not is_log(word)]
    if names:
        _must_exist(disk, names[0])
    if len(names) == len(words):
        return disk
    if good is not None and all(map(is_log, words)):
        return Store.in_memory(beside=store_path(options))
    return Store.copy_in_memory(store_path(options)) if disk.exists() else Store.in_memory()


def _one(store: Store, word: str, options: argparse.Namespace, is_last: bool, alone: bool = False) -> str:
    """A reference to the run that `word` names in `store`: of a log with several launches, the last one."""
    return _take(store, word, options, is_last, alone)[-1] if is_log(word) else word


def _take(
    store: Store, word: str, options: argparse.Namespace, is_last: bool, alone: bool = False
) -> Sequence[str]:
    """Reads a log into a store in memory, for what it is by itself; the ids of the runs that `word` names.

    `alone`: no other run is named, and a longer log of the same launch is nothing to compare it with.
    """
    from logscope.errors import RunNotFound
    from logscope.store.surroundings import GivenFiles, given_files

    path, ordinal = _split(word)
    given = given_files(options.config, options.env_file) if is_last else GivenFiles()
    report = store.ingest([path], config_files=given.configs, env_file=given.env_file, by_itself=True)
    _must_be_launches(report, word)
    for part in report.paths:
        if part.beginning_of:
            tell(f"{path} is the beginning of {_seen(part.beginning_of)}, and read by itself")
        for run_id in part.longer_runs if alone else ():
            store.mark(run_id, "skip")
    if ordinal is None:
        return report.runs
    if not 1 <= ordinal <= len(report.runs):
        raise RunNotFound(f"{path}: holds {len(report.runs)} launches, no #{ordinal}")
    return [report.runs[ordinal - 1]]


def _must_be_launches(report: IngestReport, word: str) -> None:
    from logscope.errors import NotALaunchLog, SourceError

    for failure in report.failed:
        if not report.runs:
            raise SourceError(failure.message, failure.hint)
        tell(failure.message)  # of a folder; the others are read
    if not report.runs:
        raise NotALaunchLog(f"{word}: no SGLang launch in it")


def _with_given(store: Store, stored: StoredRun, options: argparse.Namespace) -> StoredRun:
    """A run that was named, not read now, with what `--config` and `--env-file` give."""
    from logscope.store.surroundings import given_files

    if not options.config and options.env_file is None:
        return stored
    return store.with_given(stored, given_files(options.config, options.env_file))


def _split(word: str) -> tuple[str, int | None]:
    """``PATH#2`` as path and ordinal; a file whose own name ends so is a path."""
    launch = _LAUNCH.match(word)
    if launch is None or Path(word).expanduser().exists():
        return word, None
    return launch["path"], int(launch["ordinal"])


def _must_exist(disk: Store, word: str) -> None:
    from logscope.errors import RunNotFound

    if not disk.exists():
        raise RunNotFound(
            f"{word}: no such log, and no store at {disk.path}", "'logscope ingest PATH...' makes one"
        )


def _disk(options: argparse.Namespace) -> Store:
    from logscope.store import Store

    return Store.open(store_path(options), read_only=True)


def _at(stored: StoredRun, word: str) -> StoredRun:
    """The run under the path by which it was asked for; as it is where the word is no path."""
    return replace(stored, path=str(Path(_split(word)[0]).expanduser())) if is_log(word) else stored


def _as_seen_from_here(stored: StoredRun) -> StoredRun:
    """Paths below the working folder are shown from there, as the user would type them."""
    return replace(stored, path=_seen(stored.path), paths=tuple(map(_seen, stored.paths)))


def _seen(path: str) -> str:
    place = Path(path)
    return str(place.relative_to(Path.cwd())) if place.is_relative_to(Path.cwd()) else path
