"""Reads a made-up log the way the product does and hands back its launches."""

from __future__ import annotations

import textwrap

from parsers.log import LogReader
from parsers.records import Run


def runs_of(text: str) -> tuple[Run, ...]:
    """The launches in `text`; common indentation is taken off first."""
    reader = LogReader()
    reader.feed(textwrap.dedent(text).lstrip("\n").encode())
    return reader.result().runs


def run_of(text: str) -> Run:
    """The only launch in `text`."""
    (run,) = runs_of(text)
    return run
