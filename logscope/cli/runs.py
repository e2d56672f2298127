"""`logscope runs`: the history, newest first."""

from __future__ import annotations

import argparse
import csv
import io
import json
import shutil
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

from logscope.cli.common import add_format, count, note, store_path, wants_color, write
from logscope.exit_codes import ExitCode

if TYPE_CHECKING:
    from logscope.store.records import RunFacts

DESCRIPTION = "The history, newest first. Filters may be combined: a run must fit them all."
EPILOG = """examples:
  logscope runs
  logscope runs --outcome failed --since 7d
  logscope runs --model Qwen3 --arg tp_size=8 --error 'out of memory'
  logscope runs --format json | jq '.runs[0].run_id'"""

OUTCOMES = ("ready", "failed", "killed", "hung", "running", "unknown")
_ENDED_CHARS = 120
"""What ended a run is shown up to here; json and csv have the whole."""
_COLORS = {"ready": "32", "failed": "31", "killed": "33", "hung": "33", "running": "36", "unknown": "2"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("filters")
    group.add_argument(
        "--outcome", action="append", default=[], choices=OUTCOMES, help="how the run ended (repeatable)"
    )
    group.add_argument("--model", metavar="TEXT", help="part of the model path, any case")
    group.add_argument(
        "--version",
        metavar="SPEC",
        help="SGLang version: 0.5.4.post3, or a range such as '>=0.5,<0.5.10'",
    )
    group.add_argument("--host", metavar="TEXT", help="part of the host name")
    group.add_argument(
        "--error", metavar="TEXT", help="part of the root error's type or message, or a fingerprint"
    )
    group.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a server argument with this value as printed; NAME alone: it is printed (repeatable)",
    )
    group.add_argument(
        "--since",
        metavar="WHEN",
        help="started at or after: 2026-11-30, '2026-11-30 17:00', or an age: 90m, 12h, 7d, 2w",
    )
    group.add_argument("--until", metavar="WHEN", help="started before; as --since")
    group.add_argument("--marked", choices=("good", "bad", "skip"), help="marked so by a person")
    parser.add_argument("-n", "--limit", type=count, metavar="N", help="at most N runs")
    add_format(parser, ("text", "json", "csv"))


def run(options: argparse.Namespace) -> int:
    from logscope.store import Store
    from logscope.store.run_filter import RunFilter, read_when

    now = datetime.now()
    wanted = RunFilter(
        outcomes=tuple(options.outcome),
        model=options.model,
        version=options.version,
        host=options.host,
        error=options.error,
        arguments=tuple(options.arg),
        since=None if options.since is None else read_when(options.since, now),
        until=None if options.until is None else read_when(options.until, now),
        mark=options.marked,
        limit=options.limit,
    )
    store = Store.open(store_path(options), read_only=True)
    runs = store.runs(wanted)
    if options.format == "json":
        write(json.dumps({"schema": "logscope.runs/1", "runs": [_as_json(each) for each in runs]}, indent=2))
    elif options.format == "csv":
        write(_as_csv(runs))
    elif runs:
        write(_as_text(runs, wants_color(options), _columns()))
    else:
        note(options, "no run fits" if wanted != RunFilter() else "the store holds no run")
    return ExitCode.OK


def _columns() -> int | None:
    """Width of the terminal; None where the output goes elsewhere and may be as wide as it is."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _as_json(facts: RunFacts) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(facts, name) for name in facts.__slots__}
    row["started_at"] = facts.started_at.isoformat() if facts.started_at else None
    row["outcome"] = facts.outcome.value
    row["stage"] = facts.stage.value if facts.stage else None
    return row


def _as_csv(runs: Sequence[RunFacts]) -> str:
    rows = [_as_json(facts) for facts in runs]
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return out.getvalue()


def _as_text(runs: Sequence[RunFacts], color: bool, columns: int | None = None) -> str:
    """A row a run. Where that is too wide for the terminal, what ended it stands on a line below."""
    header = ("run", "started", "outcome", "stage", "sglang", "model", "what ended it")
    table = [header, *(_cells(facts) for facts in runs)]
    if columns is not None and max(map(len, _table_lines(table, False))) > columns:
        return "\n".join(_narrow_lines(table, color, columns))
    return "\n".join(_table_lines(table, color))


def _narrow_lines(table: Sequence[tuple[str, ...]], color: bool, columns: int) -> list[str]:
    short = [(run, at[:16], outcome, stage, version) for run, at, outcome, stage, version, *_ in table]
    used = sum(max(len(row[column]) for row in short) + 2 for column in range(5))
    if columns - used < 8:
        return _stacked_lines(table, color, columns)
    room = columns - used
    names = [PurePath(row[5]).name or row[5] for row in table]
    rows = [
        (*cells, name if len(name) <= room else f"{name[: room - 1]}…", "")
        for cells, name in zip(short, names, strict=True)
    ]
    lines = _table_lines(rows, color)
    done: list[str] = []
    for line, row in zip(lines, table, strict=True):
        done.append(line)
        if row is not table[0] and row[6]:
            ended = f"    {row[6]}"
            done.append(ended if len(ended) <= columns else f"{ended[: columns - 1]}…")
    return done


def _stacked_lines(table: Sequence[tuple[str, ...]], color: bool, columns: int) -> list[str]:
    """The run, when and how it ended; all else on lines of its own below."""
    short = [table[0][:3], *((run, at[5:16] or at, outcome) for run, at, outcome, *_ in table[1:])]
    heads = _table_lines([(*cells, "") for cells in short], color)
    done: list[str] = []
    for head, row in zip(heads, table, strict=True):
        done.append(head)
        below = (", ".join((row[3], row[4], PurePath(row[5]).name or row[5])), row[6])
        done += [
            text if len(text) <= columns else f"{text[: columns - 1]}…"
            for text in (f"    {one}" for one in below if one and row is not table[0])
        ]
    return done


def _table_lines(table: Sequence[tuple[str, ...]], color: bool) -> list[str]:
    widths = [min(40, max(len(row[column]) for row in table)) for column in range(len(table[0]) - 1)]
    lines = []
    for number, row in enumerate(table):
        cells = [cell[:width].ljust(width) for cell, width in zip(row, widths, strict=False)]
        if color and number:
            cells[2] = f"\x1b[{_COLORS[row[2].strip()]}m{cells[2]}\x1b[0m"
        elif color:
            cells = [f"\x1b[1m{cell}\x1b[0m" for cell in cells]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return lines


def _cells(facts: RunFacts) -> tuple[str, ...]:
    from logscope.report.harmless import folded, harmless  # text of logs may hold escape sequences
    from logscope.store.records import short_id

    ended = ""
    if facts.root_message or facts.root_type:
        ended = ": ".join(part for part in (facts.root_type, facts.root_message) if part)
    elif facts.outcome != "ready":
        ended = facts.reason
    mark = f"[{facts.mark}{': ' + facts.note if facts.note else ''}] " if facts.mark else ""
    model, version = harmless(facts.model_path or "-"), harmless(facts.sglang_version or "-")
    return (
        short_id(facts.run_id),
        f"{facts.started_at:%Y-%m-%d %H:%M:%S}" if facts.started_at else "-",
        facts.outcome.value,
        facts.stage.value if facts.stage else "-",
        version,
        model if len(model) <= 40 else "…" + model[-39:],  # the name stands at the end of a long path
        _shortened(folded(mark + ended)),
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _ENDED_CHARS else text[: _ENDED_CHARS - 1].rstrip() + "…"
