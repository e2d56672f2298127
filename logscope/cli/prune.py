"""`logscope prune`: drops old runs, keeps notes, compacts the store."""

from __future__ import annotations

import argparse
import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from logscope.cli.common import add_format, count_from_zero, note, store_path, write
from logscope.exit_codes import ExitCode

if TYPE_CHECKING:
    from logscope.store.pruning import Pruned

DESCRIPTION = """Drops the runs that fit all the rules given, keeps notes, compacts the store, and prints what
went. The logs themselves are never touched."""
EPILOG = """examples:
  logscope prune --older-than 90d
  logscope prune --outcome failed --keep 200
  logscope prune --keep 1000 --dry-run"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--older-than", metavar="AGE", help="runs that began longer ago: 36h, 90d, 12w")
    parser.add_argument(
        "--keep", type=count_from_zero, metavar="N", help="the newest N (0 or more) of the runs that fit stay"
    )
    parser.add_argument(
        "--outcome",
        action="append",
        default=[],
        choices=("ready", "failed", "killed", "hung", "running", "unknown"),
        help="only runs that ended so (repeatable)",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would go, and drop nothing")
    add_format(parser, ("text", "json"))


def run(options: argparse.Namespace) -> int:
    from logscope.store import Store
    from logscope.store.pruning import PruneRule

    rule = PruneRule(_age(options.older_than), options.keep, tuple(options.outcome))
    pruned = Store.open(store_path(options)).prune(rule, datetime.now(), options.dry_run)
    write(_as_json(pruned) if options.format == "json" else _as_text(pruned, options.dry_run))
    if not options.dry_run:
        note(options, f"logscope: {_size(pruned.bytes_before)} -> {_size(pruned.bytes_after)}")
    return ExitCode.OK


def _age(text: str | None) -> timedelta | None:
    from logscope.errors import UsageError
    from logscope.store.run_filter import read_age

    if text is None:
        return None
    age = read_age(text)
    if age is None:
        raise UsageError(f"--older-than {text}: no age", "90m, 36h, 90d, 12w")
    return age


def _as_text(pruned: Pruned, only_told: bool) -> str:
    from logscope.report.harmless import harmless
    from logscope.store.records import short_id

    lines = [
        f"{short_id(facts.run_id)}  {facts.started_at or '-'!s:<19}  {facts.outcome.value:<8}  "
        f"{harmless(facts.path)}"
        for facts in pruned.runs
    ]
    lines.append(f"{len(pruned.runs)} runs {'would go' if only_told else 'dropped'}")
    return "\n".join(lines)


def _as_json(pruned: Pruned) -> str:
    runs = [
        {"run_id": facts.run_id, "path": facts.path, "outcome": facts.outcome.value} for facts in pruned.runs
    ]
    sizes = {"bytes_before": pruned.bytes_before, "bytes_after": pruned.bytes_after}
    return json.dumps({"schema": "logscope.prune/1", "runs": runs, **sizes}, indent=2)


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
