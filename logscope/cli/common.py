"""Options and output that all commands share. stdout carries results, stderr everything else."""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from logscope.config import default_store_path


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Adds `--db`, `--no-color`, `-q`, `-v`; a command adds its own `--format` with `add_format`."""
    group = parser.add_argument_group("options of all commands")
    if not any("--format" in action.option_strings for action in parser._actions):
        add_format(parser, ("text",))
    group.add_argument(
        "--db",
        type=Path,
        metavar="PATH",
        help="the store (default: $LOGSCOPE_DB, else the user's data directory)",
    )
    group.add_argument(
        "--no-color", action="store_true", help="no colour (also with NO_COLOR set or without a terminal)"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no progress and no notes")
    group.add_argument("-v", "--verbose", action="count", default=0, help="say more on standard error")


def add_format(parser: argparse.ArgumentParser, formats: tuple[str, ...], default: str = "text") -> None:
    """Adds `--format` with the formats that the command can write."""
    parser.add_argument(
        "--format", choices=formats, default=default, help=f"output format (default: {default})"
    )


def count(text: str) -> int:
    """An option's value that counts something. Raises ArgumentTypeError when it is no number from 1 on."""
    return _number_from(1, text)


def count_from_zero(text: str) -> int:
    """As `count`, with 0 allowed."""
    return _number_from(0, text)


def _number_from(least: int, text: str) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text}: not a number from {least} on")
    return int(text)


def store_path(options: argparse.Namespace) -> Path:
    """The store that the options name."""
    return options.db if options.db is not None else default_store_path()


def write(text: str) -> None:
    """Writes a result to standard output, with one newline at its end; the same bytes on every machine."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace", newline="\n")
    with _writing():
        sys.stdout.write(text if text.endswith("\n") else text + "\n")


def write_lines(lines: Iterable[str]) -> None:
    """Writes lines as a result, those that are wider than the page broken."""
    from logscope.report.layout import broken, page

    with page(page_columns()):
        write("\n".join(broken(lines)))


def write_bytes(data: bytes) -> None:
    """Writes a result that is no text to standard output."""
    with _writing():
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def flush() -> None:
    """Sends on what was written. Raises OutputError."""
    with _writing():
        sys.stdout.flush()


def drop_output() -> None:
    """What was written and could not be sent on is not tried again when the program ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _writing() -> Iterator[None]:
    from logscope.errors import OutputError

    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise OutputError(f"standard output: cannot be written: {error.strerror}") from error


def note(options: argparse.Namespace, text: str) -> None:
    """Says something on standard error unless `-q`."""
    if not options.quiet:
        sys.stderr.write(text + "\n")


def wants_color(options: argparse.Namespace) -> bool:
    """Colour only on a terminal, and never against `--no-color` or NO_COLOR."""
    return sys.stdout.isatty() and not options.no_color and not os.environ.get("NO_COLOR")


def shows_progress(options: argparse.Namespace) -> bool:
    """Progress only on a terminal."""
    return sys.stderr.isatty() and not options.quiet


def page_columns() -> int:
    """Columns for a text report: those of COLUMNS or of the terminal, else 80; from 40 to 120."""
    return min(max(shutil.get_terminal_size().columns, 40), 120)
