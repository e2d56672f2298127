"""`-- COMMAND...`: everything after the first `--` is a launch, whatever stands before it.

argparse's own ways lose options that stand between other positionals and the `--`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from logscope.cli.command_parser import CommandParser


class LaunchParser(CommandParser):
    """Puts the words after the first `--` into `command`."""

    def parse_known_args(  # type: ignore[override]  # the namespace is always a plain one here
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        words = list(args or ())
        place = words.index("--") if "--" in words else len(words)
        options, unknown = super().parse_known_args(words[:place], namespace)
        options.command = words[place + 1 :]
        return options, unknown


def take_launch(parser: argparse.ArgumentParser, usage: str) -> None:
    """Has `parser` read a launch behind `--`; `usage` is its first line of help."""
    parser.__class__ = LaunchParser
    parser.usage = usage
