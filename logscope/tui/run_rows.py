"""The rows of the Runs screen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from logscope.tui.harmless import fit, fit_middle, harmless
from logscope.tui.rows import LazyRows, Row, Sign, Tone
from logscope.tui.run_filter import model_name
from logscope.tui.sparkline import sparkline

if TYPE_CHECKING:
    from logscope.store.records import RunFacts, Series

SORTS = ("started", "outcome", "version", "model", "tok/s", "ready")
_SIGNS = {
    "ready": (Sign.ADDED, Tone.GOOD),
    "running": (Sign.ADDED, Tone.GOOD),
    "failed": (Sign.ERROR, Tone.BAD),
    "killed": (Sign.GONE, Tone.WARNING),
    "hung": (Sign.CHANGED, Tone.WARNING),
    "unknown": (Sign.UNKNOWN, Tone.MUTED),
}


_WIDTHS = {
    "": 1,
    "outcome": 7,
    "mark": 4,
    "started": 11,
    "version": 11,
    "model": 10,
    "tp/dp": 5,
    "stage": 13,
    "ready": 6,
    "tok/s": 8,
    "trend": 8,
    "log": 14,
    "host": 12,
    "note": 16,
}
"""Column -> its least width, in the order of the screen; the first tells the runs marked to be compared."""
TREND_RUNS = 8
"""Runs of the same model whose rates the trend shows, the row's own last."""
_NUMBERS = frozenset(["tp/dp", "ready", "tok/s", "trend"])
"""Columns that stand at the right."""
ROOMY = 110
"""Columns from which the log's name has room before columns that are rarely filled."""
_LEAVING = ("note", "host", "mark", "tp/dp", "ready", "stage", "trend", "tok/s", "version", "started")
"""The order in which columns are left out where the list is narrow."""


def _shown_columns(width: int) -> list[tuple[str, int]]:
    shown = {**_WIDTHS, "log": _WIDTHS["log"] + (10 if width >= ROOMY else 0)}
    for name in _LEAVING:
        if sum(shown.values()) + len(shown) + 2 <= width:
            break
        del shown[name]
    spare = max(0, width - 2 - sum(shown.values()) - len(shown))
    shown["log"] += spare * 2 // 3
    shown["model"] += spare - spare * 2 // 3
    return list(shown.items())


def columns_heading(width: int, sort: str, is_reversed: bool) -> str:
    """The titles over the list, with an arrow at the sorted column."""
    arrow = "↑" if is_reversed else "↓"
    titles = [(name, name + (arrow if name == sort else ""), w) for name, w in _shown_columns(width)]
    return " ".join(f"{title:>{w}}" if name in _NUMBERS else fit(title, w) for name, title, w in titles)


def run_rows(
    facts: Sequence[RunFacts],
    width: int,
    marked: set[str],
    sort: str,
    is_reversed: bool,
    trends: Mapping[str, Sequence[float | None]],
) -> LazyRows[RunFacts]:
    """One row a run."""
    columns = _shown_columns(width)

    def make(run: RunFacts) -> Row:
        trend = sparkline(trends.get(run.run_id, ()), TREND_RUNS)
        return _row(run, columns, run.run_id in marked, trend)

    return LazyRows(_sorted(facts, sort, is_reversed), make, lambda run: run.run_id)


def trends(facts: Sequence[RunFacts]) -> dict[str, Sequence[float | None]]:
    """Run id -> decode tokens/s of the runs of its model up to it; `facts` newest first."""
    history: dict[str | None, list[float | None]] = defaultdict(list)
    found: dict[str, Sequence[float | None]] = {}
    for run in reversed(facts):
        past = history[run.model_path]
        past.append(run.gen_median)
        if run.gen_median is not None:
            found[run.run_id] = past[-TREND_RUNS:]
    return found


def _sorted(facts: Sequence[RunFacts], sort: str, is_reversed: bool) -> list[RunFacts]:
    keys = {
        "outcome": lambda run: str(run.outcome),
        "version": lambda run: run.sglang_version or "",
        "model": lambda run: run.model_path or "",
        "tok/s": lambda run: -(run.gen_median or -1.0),
        "ready": lambda run: run.ready_seconds if run.ready_seconds is not None else 1e12,
    }
    ordered = list(facts) if sort == "started" else sorted(facts, key=keys[sort])
    return ordered[::-1] if is_reversed else ordered


def _row(run: RunFacts, columns: list[tuple[str, int]], is_marked: bool, trend: str) -> Row:
    cells = {**_cells(run), "": "▶" if is_marked else " ", "trend": trend}
    text = " ".join(_cell(name, cells[name], width) for name, width in columns)
    sign, tone = _SIGNS.get(run.outcome, (Sign.UNKNOWN, Tone.MUTED))
    if run.outcome == "failed" and run.mark == "good":
        sign, tone = Sign.ADDED, Tone.GOOD
    return Row(text, sign, tone, run.run_id, copy=run.path)


def _cell(name: str, value: str, width: int) -> str:
    if name in _NUMBERS:
        return f"{value:>{width}}"[:width]
    return fit_middle(value, width) if name in ("model", "log") else fit(value, width)


def _cells(run: RunFacts) -> dict[str, str]:
    ordinal = f"#{run.ordinal}" if run.ordinal > 1 else ""
    dp = f"/{run.dp_size}" if run.dp_size and run.dp_size > 1 else ""
    return {
        "outcome": str(run.outcome),
        "mark": run.mark or "",
        "started": f"{run.started_at:%m-%d %H:%M}" if run.started_at else "-",
        "version": run.sglang_version or "?",
        "model": harmless(model_name(run.model_path)),
        "tp/dp": f"{run.tp_size or '?'}{dp}",
        "stage": str(run.stage or "-"),
        "ready": "-" if run.ready_seconds is None else f"{run.ready_seconds:.0f} s",
        "tok/s": "-" if run.gen_median is None else f"{run.gen_median:,.1f}",
        "log": harmless(model_name(run.path).removesuffix(".log") + ordinal),
        "host": harmless(run.host or ""),
        "note": harmless(run.note or ""),
    }


def run_detail(run: RunFacts) -> tuple[str, ...]:
    """What the side pane says of a run before its verdict is known."""
    root = f"{run.root_type}: {run.root_message}" if run.root_type else "no error"
    mark = f"marked {run.mark}" + (f": {run.note}" if run.note else "") if run.mark else "not marked"
    return (
        f"{run.outcome}: {run.reason}",
        "",
        root,
        "",
        f"log      {run.path}",
        f"run      {run.run_id}",
        f"model    {run.model_path or '?'}",
        f"sglang   {run.sglang_version or '?'}",
        f"parallel tp {run.tp_size or '?'}, dp {run.dp_size or '?'}, "
        f"pp {run.pp_size or '?'}, ep {run.ep_size or '?'}",
        f"spec     {run.speculative_algorithm or 'none'}",
        f"quant    {run.quantization or 'none'}",
        mark,
    )


def series_detail(series: Series, width: int) -> tuple[str, ...]:
    """Decode tokens/s of the run over its time, for the side pane."""
    if not series.points:
        return ("", "no decode line with a time: nothing to draw")
    medians = [point.median for point in series.points]
    return (
        "",
        f"decode tok/s over {series.points[-1].seconds:,.0f} s, {series.lines:,} lines",
        sparkline(medians, width),
        f"lowest {min(medians):,.1f}  highest {max(medians):,.1f}  last {medians[-1]:,.1f}",
    )
