"""The finished record of a launch, from all that was gathered while reading it."""

from __future__ import annotations

from dataclasses import replace

from parsers.launches import DRAFTED, RunBuilder
from parsers.records import Coverage, Event, Milestone, Run
from parsers.stages import stage_spans
from parsers.times import given_out, is_dated


def build_run(builder: RunBuilder, is_torn_at_end: bool) -> Run:
    """The run as far as it was read; the builder can be fed on."""
    conclusion = builder.failures.conclude(builder.progress(is_torn_at_end))
    last_at = builder.last_own_at or builder.last_at
    milestones = _with_roles(builder)
    return Run(
        ordinal=builder.ordinal,
        first_line=builder.first_line,
        last_line=builder.last_line,
        label=builder.label,
        carrier=builder.carrier,
        outcome=conclusion.outcome,
        ready=conclusion.ready,
        stage=conclusion.stage,
        reason=conclusion.reason,
        started_at=given_out(builder.first_own_at) or given_out(builder.first_at),
        ready_at=given_out(builder.ready_at),
        ended_at=given_out(last_at) or given_out(builder.last_at),
        version=builder.versions.guess((one.name for one in builder.arguments), builder.banner_complete),
        model_path=builder.model_path,
        ranks=tuple(builder.ranks),
        server_args=builder.arguments,
        server_args_line=builder.banner_line,
        server_args_complete=builder.banner_complete,
        env=tuple(builder.env.values()),
        root_error=conclusion.root_error,
        events=tuple(_dated(event) for event in conclusion.events),
        milestones=tuple(replace(one, at=given_out(one.at)) for one in milestones),
        stages=stage_spans(milestones, last_at, builder.last_line),
        coverage=_coverage(builder),
    )


def _coverage(builder: RunBuilder) -> Coverage:
    return Coverage(
        lines=builder.lines,
        understood=builder.understood,
        unknown=builder.lines - builder.understood,
        torn=builder.torn,
        masked=builder.masked,
    )


def _with_roles(builder: RunBuilder) -> tuple[Milestone, ...]:
    """The milestones; where a draft model followed on a rank, the first ones are the target's."""
    drafted = {rank for rank, loads in builder.loads.items() if loads > 1}
    return tuple(
        replace(one, role="target") if one.name in DRAFTED and not one.role and one.rank in drafted else one
        for one in builder.milestones
    )


def _dated(event: Event) -> Event:
    """The event without times that were printed without a date."""
    if is_dated(event.at) and is_dated(event.last_at):
        return event
    return replace(event, at=given_out(event.at), last_at=given_out(event.last_at))
