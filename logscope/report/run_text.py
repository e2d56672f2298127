"""The text report of one run: what ``logscope show`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from logscope.report.cause_text import rule
from logscope.report.harmless import cells, folded, harmless, value_text
from logscope.report.layout import Ink, limited, page_width, title, wrapped
from logscope.report.names import (
    clock,
    counted,
    duration,
    figure,
    headline,
    percent,
    run_name,
    where,
)
from logscope.report.text import root_lines
from logscope.store.records import StoredRun, short_id
from parsers.records import Argument, Event, StageSpan

_UNSET = frozenset({"None", "False", "''", "[]", "{}", "'<redacted>'"})
"""Printed values of arguments that nobody set, and SGLang's mask."""
SHOWN_EVENTS = 6
"""Errors or warnings that are shown without ``--all``."""


def runs_text(
    runs: Sequence[StoredRun],
    origins: Mapping[str, Mapping[str, str]] | None = None,
    color: bool = False,
    everything: bool = False,
) -> str:
    """The report of all `runs`, one after the other."""
    known = origins or {}
    blocks = [run_lines(stored, known.get(stored.run_id, {}), Ink(color), everything) for stored in runs]
    lines: list[str] = []
    for stored, block in zip(runs, blocks, strict=True):
        if len(runs) > 1:
            lines += [*([""] if lines else []), rule(run_name(stored))]
        lines += block
    return "\n".join(line.rstrip() for line in lines) + "\n"


def run_lines(stored: StoredRun, origins: Mapping[str, str], ink: Ink, everything: bool) -> list[str]:
    """The report of one run."""
    run = stored.run
    sign = "=" if run.outcome.value == "ready" else "?" if run.outcome.value == "unknown" else "!"
    lines = [ink.paint(f"{sign} {headline(stored)}", "title"), *wrapped(folded(run.reason), "  ")]
    lines += ["", *_facts(stored)]
    if run.root_error is not None:
        lines += ["", *root_lines(run.root_error, ink, stored)]
    lines += _stages(run.stages, ink)
    lines += _events("Errors", run.errors, ink, everything)
    lines += _events("Warnings", run.warnings, ink, everything)
    lines += _arguments(stored, origins, ink, everything)
    lines += _environment(stored, ink)
    lines += _throughput(stored, ink)
    return lines + _coverage(stored)


def _facts(stored: StoredRun) -> list[str]:
    run = stored.run
    version = stored.sglang_version or _version_words(stored)
    rows = [
        ("run", f"{short_id(stored.run_id)}, {where(stored)}"),
        ("sglang", harmless(version)),
        ("model", harmless(run.model_path or "?")),
        ("carrier", harmless(run.carrier) + (f", {harmless(run.label)}" if run.label else "")),
        ("host", harmless(stored.host or "")),
        ("ranks", harmless(", ".join(run.ranks))),
        ("started", clock(stored.started_at)),
        ("ready", clock(run.ready_at) if run.ready_at else "yes, no time printed" if run.ready else "never"),
        ("ended", clock(run.ended_at)),
        ("marked", f"{stored.mark.verdict} {harmless(stored.mark.note)}" if stored.mark else ""),
    ]
    return [line for name, text in rows if text for line in wrapped(text, f"{name:<9}")]


def _version_words(stored: StoredRun) -> str:
    guess = stored.run.version
    if guess.kind == "range":
        return f"between {guess.first or '?'} and {guess.last or '?'} ({guess.reason})"
    return "? (the log does not tell)"


def _stages(spans: Sequence[StageSpan], ink: Ink) -> list[str]:
    whole = [span for span in spans if span.rank == ""]
    shown = whole or list(spans)
    if not shown:
        return []
    lines = ["", ink.paint("Stages", "title")]
    for span in sorted(shown, key=lambda each: each.first_line):
        sign = "=" if span.complete else "!"
        memory = f", {figure(span.mem_gb)} GB taken" if figure(span.mem_gb) not in ("0", "?") else ""
        left = f", {figure(span.avail_gb)} GB left" if span.avail_gb is not None else ""
        end = "" if span.complete else ", did not end"
        rank = f" {harmless(span.rank)}" if span.rank else ""
        place = f"lines {span.first_line}-{span.last_line}"
        head = f"  {sign} {span.stage.value + rank:<14} {duration(span.seconds):>10}"
        told = f"{place}{memory}{left}{end}"
        fits = cells(f"{head}  {told}") <= page_width()
        row = [f"{head}  {told}"] if fits else [head, *wrapped(told, "      ")]
        lines += [ink.paint(line, sign) for line in row]
    return lines


def _events(name: str, events: Sequence[Event], ink: Ink, everything: bool) -> list[str]:
    if not events:
        return []
    telling = [event for event in events if not event.benign]
    shown = list(events) if everything else telling[:SHOWN_EVENTS]
    lines = ["", *title(f"{name} ({len(events)})", ink)]
    for event in shown:
        lines += _event_lines(event, ink)
    hidden = len(events) - len(shown)
    if hidden:
        harmless_ones = len(events) - len(telling)
        told = f"{hidden} more, {harmless_ones} of them in good launches too (--all shows them)"
        lines += wrapped(told, "    ")
    return lines


def _event_lines(event: Event, ink: Ink) -> list[str]:
    sign = "=" if event.benign else "!" if event.level == "error" else "~"
    times = f" x{event.count}" if event.count > 1 else ""
    ranks = f" {','.join(event.ranks)}" if any(event.ranks) else ""
    kind = "" if event.type is None or event.message.startswith(event.type) else f"{event.type}: "
    role = f" [{event.role.value}]" if event.role.value else ""
    text = f"line {event.line}{times}{harmless(ranks)}{role}: {harmless(kind)}{folded(event.message)}"
    return [ink.paint(line, sign) for line in limited(wrapped(text, f"  {sign} "), 3, "    ")]


def _arguments(stored: StoredRun, origins: Mapping[str, str], ink: Ink, everything: bool) -> list[str]:
    arguments = stored.run.server_args
    if not arguments:
        return ["", ink.paint("Arguments", "title"), "  ? the log has no line of server arguments"]
    typed = [argument for argument in arguments if origins.get(argument.name) == "user"]
    open_ones = [] if everything else set_by_somebody(stored, origins)
    shown = list(arguments) if everything else [*typed, *open_ones]
    at = stored.run.server_args_line
    lines = ["", *title(f"Arguments ({len(arguments)}, line {at}; {len(typed)} passed by the user)", ink)]
    if open_ones:
        told = f"{len(open_ones)} unknown: set by you or derived by SGLang; the command line is not known, "
        lines += wrapped(told + "`logscope record` or a context file tells", "    ")
    for argument in shown:
        origin = origins.get(argument.name, "unknown")
        text = f"{harmless(argument.name)} = {value_text(argument.value)}"
        mark = "" if origin == "user" else f"  ({origin})"
        lines += limited(wrapped(text + mark, "    "), 3, "      ")
    if len(shown) < len(arguments):
        lines.append(f"    {len(arguments) - len(shown)} more (--all shows them)")
    return lines


def set_by_somebody(stored: StoredRun, origins: Mapping[str, str]) -> list[Argument]:
    """Arguments with a value that the user or SGLang set, where no command line tells which."""
    if stored.context is not None and stored.context.argv is not None:
        return []
    unknown = [one for one in stored.run.server_args if origins.get(one.name, "unknown") == "unknown"]
    if len(unknown) == len(stored.run.server_args):
        return []  # the release is not known: nothing tells one argument from another
    return [one for one in unknown if one.raw not in _UNSET]


def _environment(stored: StoredRun, ink: Ink) -> list[str]:
    shown = {variable.name: variable.value for variable in stored.run.env}
    recorded = stored.context.env if stored.context is not None else None
    every = {**(recorded or {}), **shown}
    if not every:
        return []
    source = "in the log" if recorded is None else "in the context file and the log"
    lines = ["", *title(f"Environment ({source})", ink)]
    for name, value in every.items():
        lines += limited(wrapped(f"{harmless(name)}={harmless(value)}", "    "), 3, "      ")
    return lines


def _throughput(stored: StoredRun, ink: Ink) -> list[str]:
    figures = stored.throughput
    if not figures.decode_lines and not figures.prefill_lines:
        return []
    decode, prefill = figures.decode_lines, figures.prefill_lines
    count = f"{counted(decode, 'decode line')}, {counted(prefill, 'prefill line')}"
    lines = ["", *title(f"Throughput ({count})", ink)]
    if figures.decode_lines:
        spread = f"p10 to p90: {figure(figures.gen_p10)} to {figure(figures.gen_p90)}"
        median = f"median {figure(figures.gen_median, 'tokens/s')} ({spread})"
        lines += wrapped(f"{median}, last {figure(figures.gen_last)}", "    decode   ")
    if figures.input_median is not None:
        lines += wrapped(f"median {figure(figures.input_median, 'tokens/s')}", "    prefill  ")
    if figures.accept_length is not None:
        lines += wrapped(f"{figure(figures.accept_length)} tokens a step (median)", "    accept   ")
    if figures.cuda_graph_share is not None:
        share = percent(figures.cuda_graph_share)
        lines += wrapped(f"{share} of the decode lines ran in a CUDA graph", "    graphs   ")
    load = [(figures.running_max, "running"), (figures.queue_max, "queued")]
    told = [f"{most} {word}" for most, word in load if most is not None]
    return lines + (wrapped(f"at most {', '.join(told)}", "    load     ") if told else [])


def _coverage(stored: StoredRun) -> list[str]:
    coverage = stored.run.coverage
    text = (
        f"{counted(coverage.lines, 'line')}: {coverage.understood} understood, {coverage.unknown} unknown, "
        f"{coverage.torn} torn, {counted(coverage.masked, 'secret')} masked"
    )
    return ["", *wrapped(text, "coverage ")]
