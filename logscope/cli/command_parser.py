"""The parser of a command: bad usage is one line, and its help fits the terminal."""

from __future__ import annotations

import argparse
import re
import textwrap
from typing import NoReturn

from logscope.errors import UsageError


class CommandParser(argparse.ArgumentParser):
    """Bad usage is one line, as every other trouble."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"see '{self.prog} --help'")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Fills what is prose to the terminal's width; indented lines (commands to copy) stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = re.split(r"(?m)((?:^(?=\s).*\n?)+)", text)
        return "".join(part if number % 2 else _filled(part, width) for number, part in enumerate(parts))


def _filled(prose: str, width: int) -> str:
    end = "\n" if prose.endswith("\n") else ""
    return textwrap.fill(prose, width, break_on_hyphens=False, break_long_words=False) + end
