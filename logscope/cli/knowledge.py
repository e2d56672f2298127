"""`logscope knowledge`: facts about SGLang by release, and taking in a build of one's own."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logscope.cli.command_parser import CommandParser
from logscope.cli.common import add_format, note, write, write_lines
from logscope.errors import UsageError
from logscope.exit_codes import ExitCode

if TYPE_CHECKING:
    from logscope.knowledge.records import Life, Period, ValidationFinding
    from parsers.records import Frame

DESCRIPTION = "Facts about SGLang by release: arguments, environment variables, checks."
EPILOG = """examples:
  logscope knowledge releases
  logscope knowledge arg chunked_prefill_size
  logscope knowledge arg --tp
  logscope knowledge env SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN
  logscope knowledge validation --good-version 0.5.0rc2 --bad-version 0.5.9 --message TEXT
  logscope knowledge add ~/src/sglang            (a checkout, site-packages, a wheel)"""


class _FlagParser(CommandParser):
    """Takes a flag as a person types it (``--tp``) for the NAME."""

    def parse_known_args(  # type: ignore[override]  # the namespace is always a plain one here
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        words = list(args or ())
        for place, word in enumerate(words):
            is_own = word.partition("=")[0] in self._option_string_actions
            if word.startswith("--") and len(word) > 2 and not is_own:
                words[place] = word.partition("=")[0].lstrip("-")
                break
        return super().parse_known_args(words, namespace)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the sub-commands."""
    add_format(parser, ("text", "json"))
    actions = parser.add_subparsers(dest="action", required=True, metavar="releases|arg|env|validation|add")
    formats = _shared_options()
    actions.add_parser("releases", parents=[formats], help="the releases with facts", allow_abbrev=False)
    named = (("arg", "a server argument, or its flag"), ("env", "an environment variable"))
    for name, what in named:
        action = actions.add_parser(name, parents=[formats], help=f"the life of {what}", allow_abbrev=False)
        if name == "arg":
            action.__class__ = _FlagParser
        action.add_argument("name", metavar="NAME", help=what)
        action.add_argument("--version", metavar="X", help="also say what this release has")
    check = actions.add_parser(
        "validation", parents=[formats], allow_abbrev=False, help="is this check new between two releases"
    )
    check.add_argument("--good-version", required=True, metavar="A", help="release that worked")
    check.add_argument("--bad-version", required=True, metavar="B", help="release that fails")
    check.add_argument(
        "--message", required=True, metavar="TEXT", help="the message, with its exception class"
    )
    check.add_argument(
        "--type", metavar="CLASS", help="exception class, if the message does not begin with it"
    )
    check.add_argument(
        "--frame", action="append", default=[], metavar="FILE:LINE:FUNCTION",
        help="a traceback frame, outermost first; may be given several times",
    )  # fmt: skip
    add = actions.add_parser(
        "add", parents=[formats], allow_abbrev=False, help="take in an installed or unpacked SGLang"
    )
    add.add_argument(
        "path", type=Path, metavar="PATH", help="folder, site-packages, wheel, sdist or git checkout"
    )
    add.add_argument("--name", metavar="VERSION", help="version to know it by (default: its own)")


def _shared_options() -> argparse.ArgumentParser:
    """The options of all commands once more, so that they may also stand behind the sub-command."""
    shared = argparse.ArgumentParser(add_help=False)
    unset: dict[str, Any] = {"default": argparse.SUPPRESS, "help": argparse.SUPPRESS}
    shared.add_argument("--format", choices=("text", "json"), **unset)
    shared.add_argument("--db", type=Path, **unset)
    shared.add_argument("--no-color", action="store_true", **unset)
    shared.add_argument("-q", "--quiet", action="store_true", **unset)
    shared.add_argument("-v", "--verbose", action="count", **unset)
    return shared


def run(options: argparse.Namespace) -> int:
    """Runs the chosen sub-command."""
    actions = {
        "releases": _releases,
        "arg": _argument,
        "env": _variable,
        "validation": _validation,
        "add": _add,
    }
    return actions[options.action](options)


def _releases(options: argparse.Namespace) -> int:
    from logscope import knowledge

    known = knowledge.releases()
    if options.format == "json":
        _json({"releases": list(known)})
    else:
        write("\n".join(known) if known else "no releases")
    return ExitCode.OK if known else ExitCode.DIFFERENT


def _argument(options: argparse.Namespace) -> int:
    from logscope import knowledge

    name = options.name.replace("-", "_")
    life = knowledge.argument_life(name)
    if life is None:
        newest = next(iter(reversed(knowledge.releases())), None)
        from logscope.knowledge.provenance import passed_names

        flagged = passed_names(["--" + options.name.replace("_", "-")], options.version or newest)
        name = next(iter(flagged), name)
        life = knowledge.argument_life(name)
    fact = knowledge.argument_fact(name, options.version or _newest(life))
    extra = {"fact": None if fact is None else asdict(fact), "of": options.version or _newest(life)}
    return _life(options, life, extra)


def _variable(options: argparse.Namespace) -> int:
    from logscope import knowledge

    life = knowledge.env_life(options.name)
    extra: dict[str, Any] = {}
    if options.version:
        extra = {"default": knowledge.env_default(options.name, options.version), "of": options.version}
    return _life(options, life, extra)


def _newest(life: Life | None) -> str | None:
    from logscope import knowledge

    if life is None:
        return None
    return life.last or next(iter(reversed(knowledge.releases())), None)


def _life(options: argparse.Namespace, life: Life | None, extra: Mapping[str, Any]) -> int:
    if life is None:
        if options.format == "json":
            _json({"life": None})
        else:
            write(f"{options.name}: nothing known")
        return ExitCode.DIFFERENT
    if options.format == "json":
        _json({"life": asdict(life), **extra})
    else:
        write_lines(_life_lines(life, extra))
    return ExitCode.OK


def _life_lines(life: Life, extra: Mapping[str, Any]) -> list[str]:
    kind = "argument" if life.kind == "arg" else "environment variable"
    lines = [f"{life.name}  ({kind}, {_span(life.first, life.last)})"]
    lines += [f"  default  {period.value}  {_span(period.first, period.last)}" for period in life.defaults]
    if life.renamed_from:
        lines.append(f"  earlier  {life.renamed_from}")
    if life.renamed_to:
        lines.append(f"  later    {life.renamed_to}")
    if life.note:
        lines.append(f"  note     {life.note}")
    fact = extra.get("fact")
    if fact:
        lines.append(f"  in {extra['of']}: {fact['type']}, flags {' '.join(fact['flags']) or 'none'}")
        if fact["choices"]:
            lines.append(f"  choices  {', '.join(fact['choices'])}")
        if fact["is_rewritten"]:
            lines.append("  SGLang may rewrite it at start: the printed value need not be what was passed")
    elif "default" in extra:
        lines.append(f"  in {extra['of']}: {extra['default'] if extra['default'] is not None else 'unset'}")
    return lines


def _span(first: str, last: str | None) -> str:
    if last is None:
        return f"since {first}"
    return f"only {first}" if first == last else f"{first} to {last}"


def _validation(options: argparse.Namespace) -> int:
    from logscope import knowledge

    frames = [_frame(told) for told in options.frame]
    finding = knowledge.validation(
        options.good_version, options.bad_version, options.message, frames, options.type
    )
    if options.format == "json":
        _json({"validation": asdict(finding)})
    else:
        write_lines(_finding_lines(finding))
    return ExitCode.DIFFERENT if finding.finding in ("unknown", "foreign") else ExitCode.OK


def _frame(told: str) -> Frame:
    from parsers.records import Frame

    file, _, rest = told.partition(".py:")
    line, _, function = rest.partition(":")
    if not rest or not line.isdigit() or not function:
        raise UsageError(
            f"--frame {told!r} is not FILE:LINE:FUNCTION", "for example srt/server_args.py:120:check"
        )
    return Frame(file + ".py" if "sglang" in file else f"sglang/{file}.py", int(line), function)


def _finding_lines(finding: ValidationFinding) -> list[str]:
    lines = [f"{finding.finding}  ({finding.confidence})", finding.explanation]
    if finding.site is not None:
        lines.append(f"  site        {finding.site.file}:{finding.site.line} {finding.site.function}")
    if finding.introduced_in:
        lines.append(f"  since       {finding.introduced_in}")
    for gate in finding.gates:
        avoid = f"; avoid with {gate.avoid}" if gate.avoid else ""
        lines.append(
            f"  {gate.kind}  {gate.name}: {finding.good_version} {_shown(gate.good_default)}, "
            f"{finding.bad_version} {_shown(gate.bad_default)}{avoid}"
        )
        if len(gate.defaults) > 1:
            lines.append("       " + ", ".join(_period(one) for one in gate.defaults))
    lines += [f"  note        {one}" for one in finding.notes]
    return lines


def _shown(default: str | None) -> str:
    return "not there" if default is None else default


def _period(one: Period) -> str:
    return f"{one.value} {_span(one.first, one.last)}"


def _add(options: argparse.Namespace) -> int:
    from logscope.knowledge.build.own import add_own

    added = add_own(options.path, options.name, lambda text: note(options, text))
    if options.format == "json":
        _json(
            {
                "version": added.version,
                "path": str(added.path),
                "sites": added.sites,
                "commits": added.commits,
            }
        )
    else:
        write(
            f"{added.version}: {added.sites} checks, {added.arguments} arguments, {added.variables} variables"
        )
    return ExitCode.OK


def _json(held: Mapping[str, Any]) -> None:
    write(json.dumps({"schema": "logscope.knowledge/1", **held}, indent=2, ensure_ascii=False))
