"""`logscope bisect`: finds the smallest set of changed arguments and variables that makes a launch fail."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from types import FrameType

from logscope.cli.common import add_format, note, store_path, write
from logscope.cli.launch_words import take_launch
from logscope.errors import LogScopeError, UsageError
from logscope.exit_codes import ExitCode
from logscope.record.bisect_report import answer_json, answer_text, plan_json, plan_text, try_text
from logscope.record.bisection import Bisection, Budget, Try, identity_of
from logscope.record.changes import ChangeSet, LaunchSpec, changes_between, spec_of
from logscope.record.environment import Masker, local_salt
from logscope.record.trial import TryPlan

DESCRIPTION = """Finds, by launching, the smallest set of changed arguments and environment variables that
makes a launch fail. GOOD and BAD are runs with a context file (as 'logscope record' writes it) or two
command lines in quotes. COMMAND is the program to launch ('python -m sglang.launch_server'; default: the good
launch's own); an option of it that neither or not the bad launch has holds in every try (--port 31000).

A try is good when it prints the ready line (and --probe succeeds), bad when it fails with the root error of
the bad launch, and 'cannot be tested' when it is refused (usage error, exit code 125) or fails otherwise. All
processes of a try are ended before the next begins."""

EPILOG = """examples:
  logscope bisect good.log bad.log --dry-run -- python -m sglang.launch_server
  logscope bisect last-ready last-failed --max-tries 12 -- python -m sglang.launch_server --port 31000
  logscope bisect 'python -m sglang.launch_server --tp 1' 'A=1 python -m sglang.launch_server --tp 3'

exit code: 0 found, 1 not found, 2 trouble"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    take_launch(parser, "logscope bisect [options] GOOD BAD [-- COMMAND...]")
    parser.add_argument("good", metavar="GOOD", help="a run that got ready, or its command line")
    parser.add_argument("bad", metavar="BAD", help="the run that failed, or its command line")
    parser.add_argument("--dry-run", action="store_true", help="print the plan and launch nothing")
    parser.add_argument("--max-tries", type=_positive, metavar="N", help="give up after N launches")
    parser.add_argument("--max-time", type=float, metavar="S", help="begin no launch after S seconds")
    parser.add_argument(
        "--timeout",
        type=float,
        default=900.0,
        metavar="S",
        help="a launch that is neither ready nor failed after S seconds counts as hung (default: 900)",
    )
    parser.add_argument(
        "--probe", metavar="CMD", help="shell command that must succeed once the server is ready (125: skip)"
    )
    parser.add_argument(
        "--repeat",
        type=_positive,
        default=1,
        metavar="N",
        help="a combination is good when it gets ready N times (for failures that come and go; default: 1)",
    )
    parser.add_argument(
        "--any-failure", action="store_true", help="every failure counts, not only the same root error"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with an unfinished bisection of these two"
    )
    parser.add_argument(
        "--state",
        type=Path,
        metavar="DIR",
        help="logs of the tries and state (default: bisect-ID in this folder)",
    )
    parser.add_argument("--no-ingest", action="store_true", help="do not take the tries into the store")
    add_format(parser, ("text", "json"))


def run(options: argparse.Namespace) -> int:
    from logscope.record.launches import launch_of, usual_seconds, with_shell_notes, with_suspicion

    store = store_path(options)
    good, bad = launch_of(options.good, store), launch_of(options.bad, store)
    changes = changes_between(good.spec, bad.spec, _fixed(options.command))
    changes = with_suspicion(with_shell_notes(changes, good, bad, os.environ), good, bad, store)
    seconds = usual_seconds(good, store)
    is_json = options.format == "json"
    if options.dry_run:
        write(plan_json(changes, seconds) if is_json else plan_text(changes, seconds))
        return ExitCode.OK
    note(options, plan_text(changes, seconds).rstrip("\n"))
    answer = _bisection(options, changes, store).run()
    write(answer_json(changes, answer) if is_json else answer_text(changes, answer))
    return ExitCode.OK if answer.culprits else ExitCode.DIFFERENT


def _fixed(command: list[str]) -> LaunchSpec | None:
    return spec_of(command, {}) if command else None


def _bisection(options: argparse.Namespace, changes: ChangeSet, store: Path) -> Bisection:
    folder = options.state if options.state is not None else Path(f"bisect-{identity_of(changes)[:8]}")
    plan = TryPlan(folder, options.timeout, options.probe, Masker(local_salt(store.parent)))
    budget = Budget(options.max_tries, options.max_time, options.repeat, options.any_failure)

    def on_try(done: Try) -> None:
        note(options, try_text(changes, done))
        if not options.no_ingest:
            _ingest(done, store)

    bisection = Bisection(changes, dict(os.environ), plan, budget, on_try)
    if options.resume:
        bisection.resume()
    else:
        bisection.start_anew()
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    return bisection


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Ends as Ctrl-C does: the running launch is ended first, and the state is kept."""
    raise KeyboardInterrupt


def _ingest(done: Try, store: Path) -> None:
    """Takes the try into the store; a bisection goes on without it."""
    try:
        from logscope.store import Store  # duckdb costs 0.1 s

        Store.open(store).ingest([done.log])
    except (LogScopeError, OSError) as error:
        sys.stderr.write(f"logscope bisect: {done.log} not taken into the store: {error}\n")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise UsageError(f"{text}: a number from 1 on")
    return number
