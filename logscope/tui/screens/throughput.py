"""The Throughput screen: a run's rates over time and per running requests, against the good runs' spread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual_plotext import PlotextPlot

from logscope.compare.metrics import MIN_LINES
from logscope.tui.harmless import harmless
from logscope.tui.page import Page
from logscope.tui.rows import Row, Sign, Tone
from logscope.tui.widgets.line import Line
from logscope.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from logscope.store.records import Bucket
    from logscope.tui.throughput_view import ThroughputView

METRICS = (
    ("gen_throughput", "decode tok/s"),
    ("input_throughput", "prefill tok/s"),
    ("running_req", "running requests"),
    ("queue_req", "queued requests"),
    ("accept_len", "accept length"),
    ("token_usage", "token usage"),
)


GOOD_RUNS = "· spread of good runs"


class ThroughputPage(Page):
    """One run's figures beside its baseline's."""

    NAME = "Throughput"
    CSS = """
    #plot { height: 1fr; min-height: 8; }
    #figures { height: auto; min-height: 3; max-height: 40%; width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "metric(1)", "Next figure", id="throughput.metric"),
        Binding("S", "metric(-1)", "Previous figure", show=False, id="throughput.metric_back"),
        Binding("v", "by_running", "Over time / per running", id="throughput.axis"),
    ]

    def __init__(self, run: str) -> None:
        super().__init__()
        self._run = run
        self._view: ThroughputView | None = None
        self._metric = 0
        self._by_running = False

    def body(self) -> ComposeResult:
        yield Line(id="legend", tone="muted")
        yield PlotextPlot(id="plot")
        yield LineList(id="figures", placeholder="reading the batch lines…")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(LineList).focus()
        self.app.theme_changed_signal.subscribe(self, lambda _: self._draw())
        self.reload()

    def reload(self) -> None:
        run, names = self._run, tuple(name for name, _ in METRICS)
        self.ask("throughput", lambda cancelled: self.scope.service.throughput(run, names), self._show)

    def _show(self, view: ThroughputView) -> None:
        self._view = view
        other = f", baseline {view.other.path.rsplit('/', 1)[-1]}" if view.other is not None else ""
        self.top(harmless(f"{view.run.path.rsplit('/', 1)[-1]}{other}"))
        listing = self.query_one(LineList)
        is_first = not listing.total
        listing.show(_figures(view))
        if is_first and listing.total > 1:
            listing.cursor = 1  # the first figure, below the titles
        if not view.run.throughput.decode_lines:
            self.status("this run printed no decode line: choose another with 1, and t on it")
        self._draw()

    def _draw(self) -> None:
        view = self._view
        if view is None:
            return
        widget = self.query_one(PlotextPlot)
        # of the terminal's own colours the plot knows no names: it would draw black on black
        widget.theme = "clear" if self.app.theme.startswith("ansi") else "auto"
        plot = widget.plt
        plot.clear_figure()
        name, title = METRICS[self._metric]
        if self._by_running:
            drawn, title = _draw_buckets(plot, view), "decode tok/s per running requests"
        else:
            drawn, title = _draw_over_time(plot, view, name), f"{title} over seconds"
        self.query_one("#legend", Line).say("   ".join((title, *drawn)))
        widget.refresh()

    def action_metric(self, step: int) -> None:
        self._metric = (self._metric + step) % len(METRICS)
        self._by_running = False
        self._draw()
        self.status(METRICS[self._metric][1])

    def action_by_running(self) -> None:
        self._by_running = not self._by_running
        self._draw()


def _draw_over_time(plot: Any, view: ThroughputView, name: str) -> list[str]:
    """Draws one figure over the time of both runs; gives the signs that it drew, with their meaning."""
    drawn = []
    spread = view.usual.gen_throughput
    if name == "gen_throughput" and spread is not None and spread.runs > 1:
        last = max((one.points[-1].seconds for one in view.series if one.points), default=0.0)
        for level in (spread.low, spread.high):
            plot.plot([0.0, last], [level, level], marker="·", color="gray")
        drawn.append(GOOD_RUNS)
    for label, series, sign in (("baseline", view.other_series, "o"), ("this run", view.series, "x")):
        found = next((one for one in series if one.metric == name and one.points), None)
        if found is not None:
            points = found.points
            plot.plot([p.seconds for p in points], [p.median for p in points], marker=sign)
            drawn.append(f"{sign} {label}")
    return drawn[::-1]


def _draw_buckets(plot: Any, view: ThroughputView) -> list[str]:
    """Draws decode tok/s over the number of running requests; gives the signs that it drew."""
    drawn = []
    usual = view.usual_by_running
    for column in (1, 3) if usual else ():
        plot.plot([row[0] for row in usual], [row[column] for row in usual], marker="·", color="gray")
    if usual:
        drawn.append(GOOD_RUNS)
    # a sign for each run, so that they can be told apart without colour
    for label, run, sign in (("baseline", view.other, "o"), ("this run", view.run, "x")):
        buckets = run.throughput.buckets if run is not None else ()
        if buckets:
            plot.scatter([b.running for b in buckets], [b.median for b in buckets], marker=sign)
            drawn.append(f"{sign} {label}")
    return drawn[::-1]


def _figures(view: ThroughputView) -> list[Row]:
    from logscope.store.records import Throughput

    ours = view.run.throughput
    theirs = view.other.throughput if view.other is not None else Throughput()
    rows = [
        Row(
            f"{'':<22}{'this run':>12}{'baseline':>12}   usual of the good runs",
            tone=Tone.HEADING,
            key="head",
        )
    ]
    spread = view.usual.gen_throughput
    usual = ""
    if spread is not None and spread.runs == 1:
        usual = f"{spread.low:,.1f} (one run)"
    elif spread is not None:
        usual = f"{spread.low:,.1f} - {spread.high:,.1f} over {spread.runs} runs"
    figures = (
        ("decode tok/s, median", ours.gen_median, theirs.gen_median, usual, "decode throughput"),
        ("decode tok/s, p10", ours.gen_p10, theirs.gen_p10, "", ""),
        ("decode tok/s, p90", ours.gen_p90, theirs.gen_p90, "", ""),
        ("accept length", ours.accept_length, theirs.accept_length, "", "accept length"),
        ("share in graphs", ours.cuda_graph_share, theirs.cuda_graph_share, "", "cuda graph share"),
        ("prefill tok/s, median", ours.input_median, theirs.input_median, "", ""),
        ("running requests, max", ours.running_max, theirs.running_max, "", ""),
        ("queued requests, max", ours.queue_max, theirs.queue_max, "", ""),
        ("token usage, max", ours.token_usage_max, theirs.token_usage_max, "", ""),
        ("decode lines", ours.decode_lines, theirs.decode_lines, "", ""),
    )
    for name, mine, other, note, metric in figures:
        if mine is not None or other is not None:
            is_outside = metric in view.moved
            rows.append(
                Row(
                    f"{name:<22}{_figure(mine):>12}{_figure(other):>12}   {note}",
                    Sign.CHANGED if is_outside else Sign.SAME,
                    Tone.CHANGED if is_outside else Tone.NORMAL,
                    f"figure:{name}",
                )
            )
    usual_at = {running: (low, high) for running, low, _, high in view.usual_by_running}
    for bucket in ours.buckets:
        is_judged = bucket.lines >= MIN_LINES
        is_outside = is_judged and f"decode throughput at {bucket.running} running" in view.moved
        rows.append(_bucket(bucket, usual_at.get(bucket.running), is_outside))
    return rows


def _bucket(bucket: Bucket, usual: tuple[float, float] | None, is_outside: bool) -> Row:
    graph = {None: "", True: ", in graph", False: ", no graph"}[bucket.cuda_graph]
    spread = f"p10 {bucket.p10:,.1f}, p90 {bucket.p90:,.1f}, {bucket.lines:,} lines"
    good = f"; good runs {usual[0]:,.1f} - {usual[1]:,.1f}" if usual is not None else ""
    return Row(
        f"{bucket.running:>5} running{graph:<11}{bucket.median:>12,.1f}   {spread}{good}",
        Sign.CHANGED if is_outside else Sign.NONE,
        Tone.CHANGED if is_outside else Tone.MUTED,
        key=f"bucket:{bucket.running}:{bucket.cuda_graph}",
    )


def _figure(value: float | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
