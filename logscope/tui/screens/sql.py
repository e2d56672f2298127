"""The SQL screen: the store's tables, saved queries, an editor and true row counts. Read-only."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import DataTable, TextArea, Tree

from logscope.tui.harmless import plain
from logscope.tui.page import Page
from logscope.tui.screens.dialogs import PathDialog, QueryHistory
from logscope.tui.service import QueryAnswer, SchemaTree

MOST_ROWS = 2000
"""Rows that the table shows; said when there are more."""


class SqlPage(Page):
    """Query the history."""

    NAME = "SQL"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,f5", "run", "Run", id="sql.run", priority=True),
        Binding("f8", "history", "History", id="sql.history", priority=True),
        Binding("ctrl+e", "export", "Export", id="sql.export", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._asked_queries: list[str] = []
        self._last = ""

    def body(self) -> ComposeResult:
        with Horizontal():
            yield Tree("store", id="tree")
            with Vertical():
                yield TextArea.code_editor("", language=None, id="editor", show_line_numbers=False)
                yield DataTable(id="results", cursor_type="row", zebra_stripes=True)

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
            self.action_run()
        else:
            editor.insert(event.node.data)
            editor.focus()

    def action_run(self) -> None:
        sql = self.query_one(TextArea).text.strip()
        if not sql:
            self.status("type a query first")
            return
        if sql not in self._asked_queries:
            self._asked_queries.append(sql)
        self._last = sql

        def work(cancelled: Callable[[], bool]) -> QueryAnswer:
            return self.scope.service.query(sql, MOST_ROWS)

        self.ask("query", work, self._show_answer)

    def _show_answer(self, answer: QueryAnswer) -> None:
        table: DataTable[object] = self.query_one(DataTable)
        table.clear(columns=True)
        for name in answer.columns:
            table.add_column(plain(name))
        table.add_rows(
            [[plain("NULL" if cell is None else str(cell)) for cell in row] for row in answer.rows]
        )
        cut = ", cut here: export gives all" if answer.is_cut else ""
        self.status(f"{len(answer.rows):,} rows{cut}, {answer.seconds * 1000:.0f} ms")

    def action_history(self) -> None:
        def done(sql: str | None) -> None:
            if sql is not None:
                self.query_one(TextArea).text = sql

        self.app.push_screen(QueryHistory(self._asked_queries), done)

    def action_export(self) -> None:
        if not self._last:
            self.status("run a query first")
            return

        def done(path: str | None) -> None:
            if path:
                sql = self._last
                self.ask(
                    "export",
                    lambda cancelled: self.scope.service.export_query(sql, path),
                    lambda rows: self.status(f"{rows:,} rows written to {path}"),
                )

        self.app.push_screen(
            PathDialog("Write the whole result to (.csv, .json, .parquet)", "query.csv"), done
        )

    def focus_main(self) -> None:
        self.query_one(TextArea).focus()

    def copied(self) -> str:
        table: DataTable[object] = self.query_one(DataTable)
        if not table.row_count:
            return ""
        return str(table.get_cell_at(table.cursor_coordinate))

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
