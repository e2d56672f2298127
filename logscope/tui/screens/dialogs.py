"""Small questions over a screen; each answers with a value or None."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from logscope.tui.harmless import plain
from logscope.tui.run_filter import model_name

if TYPE_CHECKING:
    from logscope.store.records import RunFacts


T = TypeVar("T")


class Dialog(ModalScreen[T | None]):
    """A small question in a box; escape answers None."""

    CSS = """
    Dialog { align: center middle; }
    .dialog { width: 70; max-width: 95%; height: auto; max-height: 90%; border: round $accent; padding: 0 1; }
    .dialog { background: $surface; }
    .dialog OptionList { height: auto; max-height: 16; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close", id="dialog.close")]

    def action_close(self) -> None:
        self.dismiss(None)


class MarkDialog(Dialog[tuple[str, str]]):
    """good, bad or skip, and why."""

    def __init__(self, run: RunFacts) -> None:
        super().__init__()
        self._run = run

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(
                plain(f"Mark {self._run.path.rsplit('/', 1)[-1]} ({self._run.outcome})"), markup=False
            )
            yield OptionList(
                Option("good: a baseline may be it", id="good"),
                Option("bad: never a baseline", id="bad"),
                Option("skip: leave it out of everything", id="skip"),
                id="verdicts",
                markup=False,
            )
            yield Input(self._run.note or "", placeholder="why (tab), enter on a word above marks", id="note")

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss((str(event.option_id), self.query_one(Input).value))

    @on(Input.Submitted)
    def _noted(self) -> None:
        self.query_one(OptionList).focus()


class QuickFilter(Dialog[str]):
    """Outcomes, versions, models and hosts of the history, most frequent first."""

    def __init__(self, facts: Sequence[RunFacts]) -> None:
        super().__init__()
        self._facts = facts

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static("Show only runs with", markup=False)
            yield OptionList(*self._options(), id="filters", markup=False)

    def _options(self) -> list[Option]:
        values: list[tuple[str, str | None]] = []
        for run in self._facts:
            values += [("outcome", str(run.outcome)), ("version", run.sglang_version), ("host", run.host)]
            values += [("model", model_name(run.model_path)), ("mark", run.mark)]
        counts = Counter((kind, value) for kind, value in values if value)
        options = [Option("everything", id="=")]
        for kind in ("outcome", "version", "model", "host", "mark"):
            for (of, value), count in counts.most_common():
                if of == kind:
                    options.append(Option(plain(f"{kind:<8} {value}  ({count})"), id=f"={kind}:{value}"))
        # an option's id must be unlike all others and may hold anything; what has blanks cannot be typed
        return [option for option in options if " " not in str(option.id)][:200]

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(str(event.option_id)[1:])


class PathDialog(Dialog[str]):
    """Asks for a file to write to."""

    def __init__(self, question: str, value: str) -> None:
        super().__init__()
        self._question, self._value = question, value

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(plain(self._question), markup=False)
            yield Input(self._value, id="path")

    @on(Input.Submitted)
    def _chosen(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class LogFilter(Dialog[tuple[str, str, str]]):
    """Rank, level and text that a line must have; all empty shows everything."""

    def __init__(self, ranks: Sequence[str]) -> None:
        super().__init__()
        self._ranks = ranks

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static("Show only lines of (enter applies, tab to the text)", markup=False)
            yield OptionList(
                Option("everything", id="all"),
                Option("errors", id="level:error"),
                Option("warnings", id="level:warning"),
                *(Option(plain(f"rank {rank}"), id=f"rank:{rank}") for rank in self._ranks[:64]),
                id="choices",
                markup=False,
            )
            yield Input(placeholder="text that the line holds; rank:TP0 level:error act too", id="text")

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self._answer(str(event.option_id))

    @on(Input.Submitted)
    def _typed(self) -> None:
        options = self.query_one(OptionList)
        index = options.highlighted or 0
        self._answer(str(options.get_option_at_index(index).id))

    def _answer(self, choice: str) -> None:
        kind, _, value = choice.partition(":")
        text = self.query_one(Input).value
        self.dismiss((value if kind == "rank" else "", value if kind == "level" else "", text))


class QueryHistory(Dialog[str]):
    """Queries of this session, newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f8", "close", "Close", show=False, id="queries.close")]

    def __init__(self, queries: Sequence[str]) -> None:
        super().__init__()
        self._queries = list(queries)[::-1]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static("Queries of this session" if self._queries else "no query was run yet", markup=False)
            options = [Option(plain(" ".join(q.split())), id=f"q{i}") for i, q in enumerate(self._queries)]
            yield OptionList(*options, id="queries", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._queries[int(str(event.option_id)[1:])])
