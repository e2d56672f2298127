"""`logscope check`: what is known against a launch before it is started."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from logscope.cli.common import add_format, note, page_columns, store_path, write
from logscope.cli.launch_words import take_launch
from logscope.errors import LogScopeError, UsageError
from logscope.exit_codes import ExitCode

if TYPE_CHECKING:
    from logscope.record.checking import Planned
    from logscope.store import Store

DESCRIPTION = """What is known against a launch before it is started: flags that its SGLang does not take,
values that target, draft and arguments do not agree on, missing and damaged model files, ports and GPU memory
in use, too little memory, and combinations that failed in this store, with what fixed them."""

EPILOG = """examples:
  logscope check -- python -m sglang.launch_server --model-path /models/llama --tp 2
  logscope check --sglang-version 0.5.23 -- SGLANG_X=1 sglang serve --model-path /models/llama
  logscope check --context server.context.json        # a recorded launch, against the history

exit code: 0 nothing known against it (notes do not count), 1 findings, 2 trouble"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    take_launch(parser, "logscope check [options] -- [NAME=VALUE...] COMMAND...")
    parser.add_argument(
        "--cwd", type=Path, metavar="DIR", help="folder that the launch will run in (default: this one)"
    )
    parser.add_argument(
        "--sglang-version",
        metavar="X.Y.Z",
        help="the release that will run (default: the one in the site-packages of the command's Python)",
    )
    parser.add_argument(
        "--context",
        type=Path,
        metavar="FILE",
        help="check this recorded launch (NAME.context.json) instead of this machine",
    )
    add_format(parser, ("text", "json"))


def run(options: argparse.Namespace) -> int:
    from logscope.record.check import check
    from logscope.record.check_report import check_json, check_text
    from logscope.report.layout import page

    plan = _plan(options)
    history = _history(options)
    with history.reading() if history is not None else nullcontext():
        answer = check(plan, history)
    with page(page_columns()):
        write(check_json(answer) if options.format == "json" else check_text(answer))
    return ExitCode.OK if answer.is_clear else ExitCode.DIFFERENT


def _plan(options: argparse.Namespace) -> Planned:
    from logscope.record.planning import plan_here, plan_of_context

    if options.context is not None:
        return plan_of_context(options.context, options.command, options.sglang_version)
    if not options.command:
        raise UsageError("no command to check", "logscope check [options] -- COMMAND...")
    _must_be_launch(options.command)
    cwd = options.cwd if options.cwd is not None else Path.cwd()
    return plan_here(options.command, dict(os.environ), cwd, options.sglang_version)


def _must_be_launch(words: Sequence[str]) -> None:
    """Refuses a command without SGLang's entry point and without any of its flags."""
    from logscope.record.command_line import parse_command

    command = parse_command(words)
    if command.entry is None and not any(option.flag.startswith("--") for option in command.options):
        raise UsageError(
            f"{' '.join(words)[:60]}: no SGLang launch is in this command",
            "give the command that starts the server: python -m sglang.launch_server ..., sglang serve ...",
        )


def _history(options: argparse.Namespace) -> Store | None:
    from logscope.store import Store  # duckdb costs 0.1 s

    if not store_path(options).exists():
        return None
    try:
        store = Store.open(store_path(options), read_only=True)
        store.facts()
    except LogScopeError as error:
        note(options, f"logscope: history not looked at: {error}")
        return None
    return store
