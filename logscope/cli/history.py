"""`logscope history`: where an argument, variable or error appeared before."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from logscope.cli.command_parser import CommandParser
from logscope.cli.common import add_format, store_path, write, write_lines
from logscope.exit_codes import ExitCode
from parsers.lazy_dataclass import replace

if TYPE_CHECKING:
    from logscope.store import Store
    from logscope.store.value_history import ErrorPast, Occurrence, ValueSpan

DESCRIPTION = """Where an argument, a variable or an error appeared before.
Values are told in spans: since which run a deployment had which value, and how its runs ended."""
EPILOG = """examples:
  logscope history arg mem_fraction_static
  logscope history arg --tp
  logscope history env NCCL_P2P_DISABLE
  logscope history error 'out of memory'
  logscope history error ac788a7471b3c333"""


class _Parser(CommandParser):
    """Takes a flag of the server (``--tp``) for the NAME of an argument, not for an option of its own."""

    def parse_known_args(  # type: ignore[override]  # the namespace is always a plain one here
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        words = list(args or ())
        if "arg" in words:
            at = words.index("arg") + 1
            if at < len(words) and words[at].startswith("--") and not self._is_own(words[at]):
                words[at] = words[at].removeprefix("--")
        return super().parse_known_args(words, namespace)

    def _is_own(self, word: str) -> bool:
        return any(word.partition("=")[0] in action.option_strings for action in self._actions)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.__class__ = _Parser
    parser.add_argument("kind", choices=("arg", "env", "error"))
    parser.add_argument(
        "name",
        metavar="NAME",
        help="of the argument (or its flag) or variable; a fingerprint or words of an error",
    )
    add_format(parser, ("text", "json"))


def run(options: argparse.Namespace) -> int:
    from logscope.store import Store

    store = Store.open(store_path(options), read_only=True)
    if options.kind == "error":
        errors = [_with_what_bears(store, error) for error in store.error_past(options.name)]
        if options.format == "json":
            write(_json("errors", errors))
        else:
            write_lines("\n\n".join(map(_error_text, errors)).splitlines())
        return ExitCode.OK
    is_argument = options.kind == "arg"
    spans = _argument_history(store, options.name) if is_argument else store.env_history(options.name)
    if options.format == "json":
        write(_json("spans", spans))
    else:
        write_lines(_spans_text(spans).splitlines())
    return ExitCode.OK


def _argument_history(store: Store, name: str) -> Sequence[ValueSpan]:
    """Of the argument of this name, else of the one that a flag of this name sets (``--tp``: tp_size)."""
    from logscope.errors import RunNotFound

    try:
        return store.argument_history(name)
    except RunNotFound:
        meant = _set_by("--" + name.strip("-").replace("_", "-"))
        if meant is None or meant == name:
            raise
        return store.argument_history(meant)


def _set_by(flag: str) -> str | None:
    """The argument that a flag sets in the newest release that takes it, be it shortened (``--tp``)."""
    from logscope.knowledge import flags_of, releases

    for version in reversed(releases()):
        flags = flags_of(version)
        names = {name for each, name in flags.items() if each.startswith(flag)}
        if flag in flags or len(names) == 1:
            return flags[flag] if flag in flags else names.pop()
    return None


def _with_what_bears(store: Store, error: ErrorPast) -> ErrorPast:
    """The error with only those differences to its fix that can have fixed it."""
    ended = [each for each in error.occurrences if each.role == "root"]
    if not ended or not error.seen.fixed_by:
        return error
    from logscope.explain.bearing import what_bears

    return replace(error, seen=what_bears(error.seen, store.load(ended[-1].run_id).run))


def _spans_text(spans: Sequence[ValueSpan]) -> str:
    from logscope.report.harmless import harmless
    from logscope.store.records import short_id

    lines: list[str] = []
    shown = ""
    for span in spans:
        if span.deployment != shown:
            shown = span.deployment
            lines.append(shown)
        ended = f"{span.good} good, {span.bad} bad" if span.good or span.bad else "open"
        lines.append(
            f"  {_when(span.first_at):<19}  {short_id(span.first_run)}  "
            f"{harmless(span.value) if span.value is not None else 'None'}"
            f"  ({span.runs} run{'s' * (span.runs != 1)}: {ended}; "
            f"sglang {', '.join(span.versions) or 'unknown'})"
        )
    return "\n".join(lines)


def _error_text(error: ErrorPast) -> str:
    from logscope.report.harmless import folded  # text of logs may hold escape sequences
    from logscope.store.records import short_id

    head = ": ".join(part for part in (error.type, folded(error.message[:200])) if part)
    lines = [f"{error.fingerprint}  {error.level}  {head}"]
    lines += map(_occurrence_text, error.occurrences)
    if error.seen.fixed_by and error.seen.fixed_in is not None:
        lines.append(f"  fixed in {short_id(error.seen.fixed_in)}: {'; '.join(error.seen.fixed_by)}")
    elif error.seen.fixed_in is not None:
        lines.append(f"  gone in {short_id(error.seen.fixed_in)} without a change that bears on it")
    return "\n".join(lines)


def _occurrence_text(each: Occurrence) -> str:
    from logscope.report.harmless import harmless
    from logscope.store.records import short_id

    times = f" x{each.count}" if each.count > 1 else ""
    return harmless(
        f"  {_when(each.at):<19}  {short_id(each.run_id)}  {each.outcome:<7}  {each.role or '-':<9}  "
        f"line {each.line}{times}  {each.sglang_version or '-'}  {each.path}"
    )


def _when(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}" if at else "-"


def _json(name: str, records: Sequence[ErrorPast] | Sequence[ValueSpan]) -> str:
    rows = [asdict(record) for record in records]
    return json.dumps({"schema": "logscope.history/1", name: rows}, indent=2, default=datetime.isoformat)
