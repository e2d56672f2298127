"""The prompt of `logscope sql`: statements up to ``;``, history, completion. Ctrl-C stops a query,
Ctrl-D leaves.

Built on the standard library's readline; where that is missing there is no history and no completion.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

from logscope.cli.sql_formats import rendered
from logscope.cli.stoppable import stoppable
from logscope.config import state_dir
from logscope.errors import LogScopeError
from logscope.exit_codes import ExitCode
from logscope.store import Store

ROWS = 200
_WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP", "BY", "ORDER", "LIMIT", "JOIN", "LEFT", "USING", "ON", "AND", "OR",
    "NOT", "NULL", "IS", "AS", "DISTINCT", "COUNT", "SUM", "MIN", "MAX", "MEDIAN", "HAVING", "CASE", "WHEN",
    "THEN", "ELSE", "END", "WITH", "DESCRIBE",
)  # fmt: skip


def prompt(store: Store) -> int:
    """Reads and answers statements until the end of input."""
    _set_up_readline(_names(store))
    sys.stdout.write("end a statement with ; .tables lists what there is, Ctrl-D leaves\n")
    held: list[str] = []
    while True:
        try:
            line = input("logscope> " if not held else "     ...> ")
        except EOFError:
            sys.stdout.write("\n")
            break
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            held.clear()
            continue
        if not held and line.strip() == ".tables":
            sys.stdout.writelines(f"{table.name:<20} {table.meaning}\n" for table in store.tables())
        elif line.strip():
            held.append(line)
            if line.rstrip().endswith(";"):
                _answer(store, "\n".join(held))
                held.clear()
    _keep_history()
    return ExitCode.OK


def _answer(store: Store, sql: str) -> None:
    try:
        result = stoppable(lambda started: store.query(sql, limit=ROWS, started=started))
    except LogScopeError as error:
        sys.stdout.write(f"{error.message}\n")
        return
    except KeyboardInterrupt:
        sys.stdout.write("stopped\n")
        return
    text = rendered(result, "table")
    more = f"\n(the first {ROWS} rows)" if result.is_cut else ""
    sys.stdout.write(f"{text}{more}\n")


def _names(store: Store) -> list[str]:
    tables = store.columns_of_tables()
    columns = {column for _, pairs in tables for column, _ in pairs}
    return sorted({*(name for name, _ in tables), *columns, *_WORDS})


def _set_up_readline(names: Sequence[str]) -> None:
    try:
        import readline
    except ImportError:  # Windows
        return

    def complete(text: str, state: int) -> str | None:
        fitting = [name for name in names if name.lower().startswith(text.lower())] if text else []
        return fitting[state] if state < len(fitting) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n,();=<>.'\"")
    readline.parse_and_bind("tab: complete")
    with contextlib.suppress(OSError):
        readline.read_history_file(state_dir() / "sql_history")


def _keep_history() -> None:
    try:
        import readline

        file = state_dir() / "sql_history"
        file.parent.mkdir(parents=True, exist_ok=True)
        readline.set_history_length(1000)
        readline.write_history_file(file)
    except (ImportError, OSError):  # a history that cannot be kept is no trouble
        return
