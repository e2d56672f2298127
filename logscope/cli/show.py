"""`logscope show`: one run, or all runs of a log."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from logscope.cli.common import add_format, page_columns, store_path, wants_color, write
from logscope.exit_codes import ExitCode

if TYPE_CHECKING:
    from logscope.store.groups import LaunchGroup
    from logscope.store.records import StoredRun

DESCRIPTION = (
    "One run, or every launch of a log: outcome, stage, root error, arguments, milestones, throughput."
)
EPILOG = """examples:
  logscope show server.log
  logscope show 'server.log#2' --format json
  logscope show node0.log node1.log      (parts of one launch: which node failed first)
  kubectl logs sglang-0 | logscope show -
  logscope show last-failed --all

exit code: 0 every run is ready (of a launch over several logs: the launch), 1 one is not, 2 trouble"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from logscope.cli.inputs import add_given_files

    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="a log's path ('-' is standard input), a run id, last, last-failed ...",
    )
    parser.add_argument(
        "--all", action="store_true", help="all arguments, errors and warnings, not only the telling ones"
    )
    add_given_files(parser)
    add_format(parser, ("text", "json", "markdown"))


def run(options: argparse.Namespace) -> int:
    from logscope.cli.inputs import all_runs

    runs = all_runs(options, options.runs)
    origins: dict[str, dict[str, str]] = {stored.run_id: _origins(stored) for stored in runs}
    groups, parts = _groups(options, runs)
    if options.format == "json":
        from logscope.report.groups import groups_value
        from logscope.report.json_report import runs_json

        write(runs_json(runs, origins, groups_value(groups)))
    elif options.format == "markdown":
        from logscope.report.groups import groups_markdown
        from logscope.report.markdown import runs_markdown

        write(runs_markdown(runs, origins) + groups_markdown(groups))
    else:
        from logscope.report.groups import groups_text
        from logscope.report.layout import page
        from logscope.report.run_text import runs_text

        color = wants_color(options)
        with page(page_columns()):
            write(runs_text(runs, origins, color, options.all) + groups_text(groups, parts, color))
    ready = {run_id for group in groups if group.is_ready for run_id in group.runs}
    is_ready = all(stored.run.outcome == "ready" or stored.run_id in ready for stored in runs)
    return ExitCode.OK if is_ready else ExitCode.DIFFERENT


def _groups(
    options: argparse.Namespace, runs: Sequence[StoredRun]
) -> tuple[Sequence[LaunchGroup], Sequence[StoredRun]]:
    """Launches that have several of the runs as parts, and all runs that belong to them."""
    from logscope.cli.inputs import is_log
    from logscope.store import Store
    from logscope.store.groups import find_groups, siblings

    parts = {stored.run_id: stored for stored in runs}
    if not all(map(is_log, options.runs)):
        disk = Store.open(store_path(options), read_only=True)
        for stored in runs:
            for sibling in siblings(disk, stored):
                parts.setdefault(sibling.run_id, sibling)
    everything = list(parts.values())
    return find_groups(everything), everything


def _origins(stored: StoredRun) -> dict[str, str]:
    from logscope.compare.origins import argument_origins

    names = {argument.name for argument in stored.run.server_args}
    return {name: origin.value for name, origin in argument_origins(stored, names).items()}
