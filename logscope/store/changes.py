"""What differs between a run as it was stored and as it reads now, in words."""

from __future__ import annotations

from parsers.records import Run


def run_changes(before: Run, now: Run) -> tuple[str, ...]:
    """One clause a difference; () when nothing of weight differs."""
    said = [
        f"{name}: {old} -> {new}"
        for name, old, new in zip(_FIGURES, _figures(before), _figures(now), strict=True)
        if old != new
    ]
    if not said and before != now:
        said = ["details of lines and times"]
    return tuple(f"launch {now.ordinal}: {text}" for text in said)


_FIGURES = (
    "outcome", "stage", "ready", "version", "root error", "root fingerprint", "arguments", "errors",
    "warnings",
    "milestones", "lines understood", "first line", "last line",
)  # fmt: skip


def _figures(run: Run) -> tuple[object, ...]:
    root = run.root_error
    return (
        str(run.outcome), run.stage and str(run.stage), run.ready, run.version.version or run.version.kind,
        root and f"{root.type} (line {root.line})", root and root.fingerprint, len(run.server_args),
        len(run.errors), len(run.warnings), len(run.milestones), run.coverage.understood, run.first_line,
        run.last_line,
    )  # fmt: skip
