"""What differs between a run as it was stored and as it reads now, in words."""

from __future__ import annotations

from logscope.context import Context
from logscope.store.records import StoredRun
from parsers.records import Run


def run_changes(stored: StoredRun, now: Run, context: Context | None) -> tuple[str, ...]:
    """One clause a difference; () when nothing of weight differs."""
    before = stored.run
    said = [
        f"{name}: {old} -> {new}"
        for name, old, new in zip(_FIGURES, _figures(before), _figures(now), strict=True)
        if old != new
    ]
    if not said and before != now:
        said = ["details of lines and times"]
    said += _context_changes(stored.context or Context(), context or Context())
    return tuple(f"launch {now.ordinal}: {text}" for text in said)


_CONTEXT = {
    "argv": "command line", "env": "environment", "sglang_version": "sglang version",
    "sglang_commit": "sglang commit", "packages": "packages", "host": "host", "kernel": "kernel",
    "image": "image", "gpus": "GPUs", "driver": "driver", "model_configs": "model configs",
    "model_files": "model files", "facts": "facts of the host", "start_time": "start", "end_time": "end",
    "exit_code": "exit code", "exit_signal": "exit signal",
}  # fmt: skip


def _context_changes(before: Context, now: Context) -> list[str]:
    """What the surroundings tell now that they did not tell before, or tell differently."""
    said = []
    for name, words in _CONTEXT.items():
        old, new = getattr(before, name), getattr(now, name)
        if old == new:
            continue
        is_known = [value is not None and value != () and value != {} for value in (old, new)]
        said.append(f"{words}: {'changed' if all(is_known) else 'added' if is_known[1] else 'gone'}")
    return said


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
