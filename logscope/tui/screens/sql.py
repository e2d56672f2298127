"""The SQL screen: the store's tables, saved queries, an editor and true row counts. Read-only."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import DataTable, TextArea, Tree

from logscope.tui.harmless import plain
from logscope.tui.job import Job
from logscope.tui.page import Page
from logscope.tui.service import QueryAnswer, SchemaTree

MOST_ROWS = 2000
"""Rows that the table shows; said when there are more."""
LONGEST_CELL = 300
"""Characters of a value that the table shows; y copies all of it."""


class SqlPage(Page):
    """Query the history."""

    NAME = "SQL"
    CSS = """
    SqlPage #tree { width: 36; border-left: none; border-right: solid $panel; padding: 0; }
    SqlPage #tree { overflow-x: auto; scrollbar-size-horizontal: 1; }
    SqlPage #editor { height: 8; border: none; padding: 0 1; }
    SqlPage #results { height: 1fr; width: 1fr; }
    SqlPage.-narrow #tree { display: none; }
    SqlPage.-narrow.-second #tree { display: block; width: 1fr; border-right: none; }
    SqlPage.-narrow.-second #work { display: none; }
    SqlPage.-narrow #editor { height: 5; }
    SqlPage.-very-wide #tree { width: 48; }
    """
    FINDS = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,f5", "run", "Run", id="sql.run", key_display="f5", priority=True),
        Binding("f8", "history", "History", id="sql.history", priority=True),
        Binding("ctrl+e", "export", "Export", id="sql.export", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._asked_queries: list[str] = []
        self._last = ""
        self._rows: tuple[tuple[object, ...], ...] = ()

    def body(self) -> ComposeResult:
        with Horizontal():
            yield Tree("store", id="tree", classes="side")
            with Vertical(id="work"):
                yield TextArea("", id="editor", show_line_numbers=False, tab_behavior="focus")
                yield DataTable(id="results", cursor_type="cell", zebra_stripes=True)

    def on_mount(self) -> None:
        super().on_mount()
        editor = self.query_one(TextArea)
        editor.text = "select outcome, count(*) as runs from runs group by all order by runs desc"
        editor.focus()
        self.reload()

    def reload(self) -> None:
        self.ask("schema", lambda cancelled: self.scope.service.schema(), self._show_schema)

    def _show_schema(self, schema: SchemaTree) -> None:
        tree: Tree[str] = self.query_one(Tree)
        tree.clear()
        tree.root.expand()
        saved = tree.root.add(plain("saved queries"), expand=True)
        for query in schema.saved:
            saved.add_leaf(plain(query.name), data=query.sql)
        for table in schema.tables:
            node = tree.root.add(plain(table.name), data=table.name)
            for column, kind in table.columns:
                node.add_leaf(plain(f"{column}  {kind}"), data=column)
        self.top(f"{len(schema.tables)} tables and views; enter on a saved query takes it, f5 runs")

    @on(Tree.NodeSelected)
    def _chosen(self, event: Tree.NodeSelected[str]) -> None:
        if event.node.data is None:
            return
        editor = self.query_one(TextArea)
        if event.node.parent is not None and str(event.node.parent.label) == "saved queries":
            editor.text = event.node.data
            self.remove_class("-second")
            self.action_run()
            self.query_one(DataTable).focus()
        else:
            editor.insert(event.node.data)
            self.remove_class("-second")
            editor.focus()

    def action_run(self) -> None:
        sql = self.query_one(TextArea).text.strip()
        if not sql:
            self.status("type a query first")
            return
        if sql not in self._asked_queries:
            self._asked_queries.append(sql)
        self._last = sql

        def work(job: Job) -> QueryAnswer:
            return self.scope.service.query(sql, MOST_ROWS, job.stops_with)

        self._stop("count")
        self.ask("query", work, self._show_answer)

    def _show_answer(self, answer: QueryAnswer) -> None:
        table: DataTable[object] = self.query_one(DataTable)
        table.clear(columns=True)
        for name in answer.columns:
            table.add_column(plain(name))
        table.add_rows([[_cell(cell) for cell in row] for row in answer.rows])
        self._rows = answer.rows
        shown, took = len(answer.rows), f"{answer.seconds * 1000:,.0f} ms"
        if not answer.is_cut:
            self.status(f"{shown:,} rows, {took}")
            return
        self.status(f"the first {shown:,} rows, {took}; counting all (esc stops)")
        sql = self._last

        def then(count: int) -> None:
            self.status(f"{shown:,} of {count:,} rows, {took}; ctrl+e writes all of them to a file")

        self.ask("count", lambda job: self.scope.service.row_count(sql, job.stops_with), then)

    def action_history(self) -> None:
        from logscope.tui.screens.dialogs import QueryHistory

        def done(sql: str | None) -> None:
            if sql is not None:
                self.query_one(TextArea).text = sql

        self.app.push_screen(QueryHistory(self._asked_queries), done)

    def action_export(self) -> None:
        from logscope.tui.screens.dialogs import PathDialog

        if not self._last:
            self.status("run a query first")
            return

        def done(path: str | None) -> None:
            if path:
                sql = self._last
                self.ask(
                    "export",
                    lambda job: self.scope.service.export_query(sql, path, job.stops_with),
                    lambda rows: self.status(f"{rows:,} rows written to {path}"),
                )

        self.app.push_screen(
            PathDialog("Write the whole result to (.csv, .json, .parquet)", "query.csv"), done
        )

    def action_pane(self, step: int) -> None:
        """Editor, results, tree, and round; where the tree has no room it takes the place of the others."""
        panes = [self.query_one(TextArea), self.query_one(DataTable), self.query_one(Tree)]
        at = next((index for index, pane in enumerate(panes) if pane.has_focus), 0)
        target = panes[(at + step) % len(panes)]
        self.set_class(target is panes[2] and self.has_class("-narrow"), "-second")
        target.focus()

    def focus_main(self) -> None:
        self.query_one(TextArea).focus()

    def copied(self) -> str:
        table: DataTable[object] = self.query_one(DataTable)
        if not table.row_count:
            return ""
        cell = self._rows[table.cursor_row][table.cursor_column]
        return _shown(cell)

    def copied_row(self) -> str:
        table: DataTable[object] = self.query_one(DataTable)
        if not table.row_count:
            return ""
        return "| " + " | ".join(str(cell) for cell in table.get_row_at(table.cursor_row)) + " |"

    def report(self) -> str:
        """The query and its rows as Markdown."""
        table: DataTable[object] = self.query_one(DataTable)
        heads = [str(column.label) for column in table.ordered_columns]
        rows = [" | ".join(str(cell) for cell in table.get_row_at(i)) for i in range(table.row_count)]
        head = (
            f"# SQL\n\n```sql\n{self._last}\n```\n\n| "
            + " | ".join(heads)
            + " |\n|"
            + "---|" * len(heads)
            + "\n"
        )
        return head + "".join(f"| {row} |\n" for row in rows)


def _cell(cell: object) -> Text:
    """A value in the table: harmless, not endless; numbers stand at the right."""
    text = plain(_shown(cell)[:LONGEST_CELL])
    if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool):
        text.justify = "right"
    return text


def _shown(cell: object) -> str:
    return "NULL" if cell is None else str(cell)
