"""Quotes: every claim carries the line it stands on, in the words of the log."""

from __future__ import annotations

from logscope.compare.records import Evidence
from logscope.explain.scene import Scene
from logscope.store.records import StoredRun
from parsers.lazy_pattern import lazy_re
from parsers.records import Milestone

_LONGEST = 300
_ABOVE_PACKAGE = lazy_re(r"site-packages/|dist-packages/|/python/")


def root_quote(scene: Scene) -> Evidence | None:
    """The line of the root error; None when there is none."""
    if scene.clues.line is None:
        return None
    return Evidence(_cut(scene.clues.excerpt or scene.clues.message), "bad", scene.clues.line)


def event_quote(text: str, line: int | None) -> Evidence | None:
    """An error or warning of the bad run; None without its line."""
    return None if line is None else Evidence(_cut(text), "bad", line)


def argument_quotes(scene: Scene, name: str) -> list[Evidence]:
    """The argument as each run's arguments line prints it."""
    sides = (("good", scene.diff.good), ("bad", scene.diff.bad))
    quotes = [argument_quote(run, side, name) for side, run in sides if run is not None]
    return [quote for quote in quotes if quote is not None]


def argument_quote(run: StoredRun, side: str, name: str) -> Evidence | None:
    """The argument on the arguments line, else on the recorded command line."""
    for argument in run.run.server_args:
        if argument.name == name:
            line = run.run.server_args_line
            return Evidence(_cut(_printed(run, name, argument.raw)), side, line)
    argv = run.context.argv if run.context is not None else None
    flag = "--" + name.replace("_", "-")
    for place, word in enumerate(argv or ()):
        if word == flag or word.startswith(flag + "="):
            following = argv[place + 1] if argv and place + 1 < len(argv) else ""
            value = "" if "=" in word or following.startswith("--") else f" {following}"
            return Evidence(f"{word}{value}".strip(), side, None)
    return None


def _printed(run: StoredRun, name: str, raw: str) -> str:
    """``name=raw`` or ``'name': raw``, as the release prints its arguments; the bare name when unsure."""
    head = next((found.excerpt for found in run.run.milestones if found.name == "args"), "")
    if "server_args={" in head or "server_args: {" in head:
        return f"'{name}': {raw}"
    return f"{name}={raw}" if "(" in head else name


def milestone_quote(milestone: Milestone | None, side: str) -> Evidence | None:
    """The line of a milestone."""
    if milestone is None or not milestone.excerpt:
        return None
    return Evidence(_cut(milestone.excerpt), side, milestone.line)


def warned_before(scene: Scene) -> Evidence | None:
    """The line on which the good run only warned of what ended the bad one."""
    row = next((row for row in scene.diff.validations if row.fingerprint == scene.clues.fingerprint), None)
    if row is None or row.good_line is None or scene.diff.good is None:
        return None
    event = next((one for one in scene.diff.good.run.events if one.line == row.good_line), None)
    return Evidence(_cut(event.excerpt), "good", event.line) if event is not None else None


def milestone_named(run: StoredRun | None, name: str, role: str = "") -> Milestone | None:
    """The first milestone of that name (and role, where one is asked for)."""
    for found in run.run.milestones if run is not None else ():
        if found.name == name and (not role or found.role in (role, "")):
            return found
    return None


def last_milestone(run: StoredRun) -> Milestone | None:
    """The last sign of progress."""
    return max(run.run.milestones, key=lambda found: found.line, default=None)


def noted(text: str, side: str = "bad") -> Evidence:
    """Something that stands in the context file or the store, not in the log."""
    return Evidence(_cut(text), side, None)


def _cut(text: str) -> str:
    line = text.split("\n", 1)[0].strip()
    return line if len(line) <= _LONGEST else line[:_LONGEST].rstrip() + "…"


def in_package(file: str) -> str:
    """A file of a traceback from its package on: ``sglang/srt/server_args.py``."""
    return _ABOVE_PACKAGE.split(file)[-1].lstrip("/")
