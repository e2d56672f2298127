"""Reads a launch command: its variables, the program behind wrappers, and its options.

Runs nothing. What is not understood stays as words.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from parsers.lazy_dataclass import dataclass

_ASSIGNMENT = re.compile(r"\A[A-Za-z_][A-Za-z0-9_]*=")
_PYTHON = re.compile(r"\Apython(?:\d+(?:\.\d+)?)?\Z")
_MODULES = ("sglang.launch_server", "sglang.srt.entrypoints.http_server")
_SCRIPTS = ("launch_server.py", "launch_server")
_FLAG = re.compile(r"\A--?[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Option:
    """One flag with its values: the smallest part of a command line that can be left out."""

    flag: str
    """As typed, without ``=value``; '' for a word that belongs to no flag."""
    values: tuple[str, ...] = ()
    is_joined: bool = False
    """True for ``--flag=value``."""

    def words(self) -> tuple[str, ...]:
        """The option as it stands on a command line."""
        if self.is_joined:
            return (f"{self.flag}={self.values[0]}",)
        return ((self.flag,) if self.flag else ()) + self.values


@dataclass(frozen=True, slots=True)
class Command:
    """A launch command in parts; ``prefix + options`` are all its words after the assignments."""

    assignments: Mapping[str, str]
    """Variables set in front (``A=1 python ...`` or ``env A=1 python ...``)."""
    prefix: tuple[str, ...]
    """Everything up to and with the entry point (``python -m sglang.launch_server``)."""
    options: tuple[Option, ...]
    entry: str | None
    """The entry point's word; None when none of SGLang's stands there."""

    def words(self) -> tuple[str, ...]:
        """The command line without the assignments."""
        return self.prefix + tuple(word for option in self.options for word in option.words())

    def value(self, *flags: str) -> str | None:
        """The last single value given to one of `flags`."""
        given = [option.values[0] for option in self.options if option.flag in flags and option.values]
        return given[-1] if given else None


def parse_command(words: Sequence[str]) -> Command:
    """Takes a launch command apart."""
    assignments, start = _leading_assignments(words)
    rest = tuple(words[start:])
    place = entry_place(rest)
    cut = 1 if place is None else place + 1
    return Command(assignments, rest[:cut], _options(rest[cut:]), None if place is None else rest[place])


def entry_place(words: Sequence[str]) -> int | None:
    """The index of SGLang's entry point (``sglang.launch_server``, ``serve`` after ``sglang``)."""
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        name = word.rpartition("/")[2]
        if before == "-m" and (word in _MODULES or word.startswith("sglang.")):
            return place + 1 if words[place + 1 : place + 2] == ("serve",) else place
        if name in _SCRIPTS and (place == 0 or not before.startswith("-")):
            return place
        if word == "serve" and before.rpartition("/")[2] == "sglang":
            return place
    return None


def interpreter_of(words: Sequence[str], env: Mapping[str, str]) -> Path | None:
    """The Python that the command will run in: a ``python`` word, or the first line of a script of its own
    (``sglang``), behind wrappers such as ``numactl`` and ``env``. None when it cannot be told."""
    path = env.get("PATH", os.defpath)
    place = entry_place(words)
    for word in words[: (len(words) if place is None else place + 1)]:
        if word.startswith("-") or _ASSIGNMENT.match(word):
            continue
        found = shutil.which(word, path=path)
        if found is None:
            continue
        if _PYTHON.match(Path(found).name):
            return Path(found)
        behind = _shebang_python(Path(found), path)
        if behind is not None:
            return behind
    return None


def _shebang_python(script: Path, path: str) -> Path | None:
    try:
        with script.open("rb") as file:
            first = file.readline(512)
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    words = first[2:].decode("utf-8", "replace").split()
    if words and words[0].endswith("/env"):
        named = [word for word in words[1:] if not word.startswith("-") and not _ASSIGNMENT.match(word)]
        found = shutil.which(named[0], path=path) if named else None
        words = [found] if found else []
    return Path(words[0]) if words and _PYTHON.match(Path(words[0]).name) else None


def _leading_assignments(words: Sequence[str]) -> tuple[dict[str, str], int]:
    held: dict[str, str] = {}
    start = 0
    if words and words[0].rpartition("/")[2] == "env" and any(_ASSIGNMENT.match(w) for w in words[1:2]):
        start = 1
    while start < len(words) and _ASSIGNMENT.match(words[start]):
        name, _, value = words[start].partition("=")
        held[name] = value
        start += 1
    return held, start


def _options(words: Sequence[str]) -> tuple[Option, ...]:
    options: list[Option] = []
    for word in words:
        if _FLAG.match(word):
            flag, equals, value = word.partition("=")
            options.append(Option(flag, (value,) if equals else (), bool(equals)))
        elif options and not options[-1].is_joined:
            last = options[-1]
            options[-1] = Option(last.flag, (*last.values, word))
        else:
            options.append(Option("", (word,)))
    return tuple(options)
