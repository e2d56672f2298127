"""The command `logscope`: finds the command's module, runs it, maps errors to one line and an exit code.

Must never import a heavy library: `--help` and `--version` answer before anything is loaded.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from logscope import __version__
from logscope.cli.command_parser import CommandParser, HelpFormatter
from logscope.cli.common import add_common_options, drop_output, flush, write
from logscope.errors import LogScopeError
from logscope.exit_codes import ExitCode
from logscope.notices import listen

COMMANDS: dict[str, str] = {
    "triage": "open the terminal UI on the newest failed run beside its baseline",
    "ingest": "take logs, folders, globs or standard input into the store",
    "runs": "the history, newest first, with filters",
    "show": "one run: outcome, stage, root error, arguments, milestones, throughput",
    "diff": "what changed between a good and a bad run, and what of it is the cause",
    "explain": "ranked causes of a run's failure, with evidence and remedies",
    "compare": "several runs side by side, only what differs",
    "history": "where an argument, variable or error appeared before",
    "sql": "read-only SQL over the store",
    "watch": "follow a launch until it is ready, failed or hung",
    "record": "run a launch and keep its log and surroundings",
    "check": "before launching: what is known against this command line",
    "bisect": "find the smallest set of changes that makes a launch fail, by launching",
    "mark": "a person's word on a run: good, bad or skip",
    "prune": "drop old runs, keep notes, compact the store",
    "export": "the store or one report as parquet, csv, json, html",
    "knowledge": "facts about SGLang by release",
}
"""Command -> its line in the help. The module is `logscope.cli.NAME` with `add_arguments(parser)` and
`run(options) -> int`; it may give `DESCRIPTION` and `EPILOG` (an example)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        _open_standard_streams()
        code = _answer(words)
        flush()
        return code
    except LogScopeError as error:
        return _complain(error.message, error.hint)
    except KeyboardInterrupt:
        _complain("interrupted", "the store is as it was")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe (head, less) went away: not our trouble
        drop_output()
        return ExitCode.OK


def _open_standard_streams() -> None:
    """A standard stream that was closed (``>&-``) is /dev/null: else the next file opened, the store say,
    would stand in its place and be written over by what is printed."""
    for name, descriptor, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
            if name != "stdin":  # nobody means to read from a closed one
                setattr(sys, name, open(descriptor, mode, closefd=False))  # noqa: SIM115


def _answer(words: list[str]) -> int:
    words = _command_first(words)
    if not words or words[0] in ("-h", "--help", "help"):
        write(_overview())
        return ExitCode.OK if words else ExitCode.TROUBLE
    if words[0] in ("-V", "--version"):
        write(f"logscope {__version__}")
        return ExitCode.OK
    return _run_command(words[0], words[1:])


def _command_first(words: list[str]) -> list[str]:
    """Options of all commands may stand before the command, too: they are moved behind it."""
    at = 0
    while at < len(words) and (words[at] in _FLAGS or words[at].split("=")[0] == "--db"):
        at += 2 if words[at] == "--db" else 1
    return [*words[at : at + 1], *words[:at], *words[at + 1 :]] if at < len(words) else words


_FLAGS = ("--no-color", "-q", "--quiet", "-v", "-vv", "--verbose")


def _run_command(name: str, words: list[str]) -> int:
    if name not in COMMANDS:
        return _complain(f"no command {name!r}", _meant(name) or "see 'logscope --help'")
    module = importlib.import_module(f"logscope.cli.{name}")
    parser = CommandParser(
        prog=f"logscope {name}",
        description=getattr(module, "DESCRIPTION", None) or COMMANDS[name],
        epilog=getattr(module, "EPILOG", None),
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    add_common_options(parser)
    try:
        options = parser.parse_args(words)
        has_screen = name == "triage" and sys.stdout.isatty() and sys.stdin.isatty()
        listen(None if options.quiet or has_screen else _notice)
        return int(module.run(options))
    except LogScopeError as error:
        return _complain(error.message, error.hint)
    except BrokenPipeError:
        raise
    except Exception:  # a fault of the program: shown whole, and never taken for the answer 'no' (1)
        import traceback

        traceback.print_exc()
        return ExitCode.TROUBLE


def _meant(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.6)
    return f"did you mean 'logscope {close[0]}'?" if close else ""


def _notice(text: str) -> None:
    from logscope.report.harmless import folded

    print(f"logscope: {folded(text)}", file=sys.stderr)  # noqa: T201


def _overview() -> str:
    import shutil
    import textwrap

    columns = max(40, shutil.get_terminal_size().columns)
    width = max(map(len, COMMANDS))
    rows = "\n".join(
        textwrap.fill(f"  {name:<{width}}  {text}", columns, subsequent_indent=" " * (width + 4))
        for name, text in COMMANDS.items()
    )
    return (
        "usage: logscope COMMAND [options]\n\n"
        "What changed since this SGLang server last launched?\n\n"
        f"{rows}\n\n"
        + textwrap.fill(
            "A RUN is a run id or a unique prefix of one, a log's path (PATH#2: its second launch), "
            "or last, last-failed, last-ready. '-' is standard input.",
            columns,
        )
        + "\n"
        + textwrap.fill(
            "Options of all commands: --format, --db PATH, --no-color, -q, -v. "
            "'logscope COMMAND --help' tells more.",
            columns,
        )
    )


def _complain(message: str, hint: str) -> int:
    from logscope.report.harmless import folded  # a path or a log may hold anything

    text, hint = folded(message), folded(hint)
    print(f"logscope: {text}" + (f" ({hint})" if hint else ""), file=sys.stderr)  # noqa: T201
    return ExitCode.TROUBLE
