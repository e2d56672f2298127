"""Several runs side by side: one column a run, only the rows in which they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from logscope.report.harmless import cells, clip_middle, harmless, value_text
from logscope.report.json_report import brief_run_value, dump
from logscope.report.markdown import cell
from logscope.report.names import clock, duration, figure, headline, run_name
from logscope.store.records import StoredRun, short_id
from parsers.lazy_dataclass import dataclass
from parsers.records import Json

_ABSENT = "-"
_LEAST_COLUMN = 6
"""Columns below which a value cannot be told from others."""


@dataclass(frozen=True, slots=True)
class Table:
    """What differs: one name and one value a run in each row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    same: int
    """Rows in which all runs agree, left out."""


_FACTS: tuple[tuple[str, Callable[[StoredRun], str]], ...] = (
    ("outcome", headline),
    ("started", lambda stored: clock(stored.started_at)),
    ("sglang", lambda stored: harmless(stored.sglang_version or "?")),
    ("model", lambda stored: harmless(stored.run.model_path or "?")),
    ("host", lambda stored: harmless(stored.host or "?")),
    ("root error", lambda stored: _root(stored)),
    ("decode tokens/s", lambda stored: figure(stored.throughput.gen_median)),
    ("accept length", lambda stored: figure(stored.throughput.accept_length)),
)


def compare_table(runs: Sequence[StoredRun]) -> Table:
    """Facts, arguments, environment, model configs and stages of `runs`, one row a name."""
    gathered = [*_fact_rows(runs)]
    for kind, sides in (
        ("", [_arguments(stored) for stored in runs]),
        ("env ", [_environment(stored) for stored in runs]),
        ("", [_configs(stored) for stored in runs]),
        ("package ", [_packages(stored) for stored in runs]),
        ("stage ", [_stages(stored) for stored in runs]),
    ):
        names = dict.fromkeys(name for side in sides for name in side)
        gathered += [(kind + name, tuple(side.get(name, _ABSENT) for side in sides)) for name in names]
    rows = tuple((name, values) for name, values in gathered if len(set(values)) > 1)
    return Table(tuple(run_name(stored) for stored in runs), rows, len(gathered) - len(rows))


def table_text(table: Table, width: int = 80) -> str:
    """The table in at most `width` columns; long values are cut in their middle.

    Where the columns do not fit beside each other they stand in several tables, one below the other.
    """
    names = min(max((cells(name) for name, _ in table.rows), default=4), max(12, width // 3))
    beside = max(1, (width - names) // (_LEAST_COLUMN + 2))
    every = range(len(table.columns))
    lines: list[str] = []
    for first in range(0, len(every), beside):
        lines += [*_part_lines(table, every[first : first + beside], names, width), ""]
    return "\n".join([*lines, f"{table.same} more rows are the same in all runs", ""])


def _part_lines(table: Table, shown: Sequence[int], names: int, width: int) -> list[str]:
    room = max(_LEAST_COLUMN, (width - names - 2 * len(shown)) // len(shown))
    body = [
        (name, [values[index] for index in shown]) for name, values in [("", table.columns), *table.rows]
    ]
    widths = [min(room, max(cells(values[at]) for _, values in body)) for at in range(len(shown))]
    return [_line(name, values, names, widths) for name, values in body]


def table_markdown(table: Table) -> str:
    """The table for a ticket, values whole."""
    head = "| name | " + " | ".join(cell(column) for column in table.columns) + " |"
    bar = "|---" * (len(table.columns) + 1) + "|"
    rows = [
        f"| {cell(name)} | " + " | ".join(cell(value) for value in values) + " |"
        for name, values in table.rows
    ]
    return "\n".join([head, bar, *rows, "", f"{table.same} more rows are the same in all runs.", ""])


def table_json(table: Table, runs: Sequence[StoredRun]) -> str:
    """``logscope.compare/1``: the runs and the rows that differ."""
    rows: list[Json] = [{"name": name, "values": list(values)} for name, values in table.rows]
    briefs: list[Json] = [dict(brief_run_value(stored)) for stored in runs]
    return dump({"schema": "logscope.compare/1", "runs": briefs, "rows": rows, "same": table.same})


def _fact_rows(runs: Sequence[StoredRun]) -> list[tuple[str, tuple[str, ...]]]:
    rows = [(name, tuple(show(stored) for stored in runs)) for name, show in _FACTS]
    return [("run", tuple(short_id(stored.run_id) for stored in runs)), *rows]


def _root(stored: StoredRun) -> str:
    root = stored.run.root_error
    return _ABSENT if root is None else harmless(f"{root.type}: {root.message}")


def _arguments(stored: StoredRun) -> dict[str, str]:
    return {harmless(argument.name): value_text(argument.value) for argument in stored.run.server_args}


def _environment(stored: StoredRun) -> dict[str, str]:
    recorded = stored.context.env if stored.context is not None else None
    shown = {variable.name: variable.value for variable in stored.run.env}
    return {harmless(name): harmless(value) for name, value in {**(recorded or {}), **shown}.items()}


def _configs(stored: StoredRun) -> dict[str, str]:
    rows: dict[str, str] = {}
    configs = stored.context.model_configs if stored.context is not None else {}
    for role, config in configs.items():
        keys = config if isinstance(config, dict) else {"config.json": config}
        rows |= {harmless(f"{role}.{key}"): value_text(value) for key, value in keys.items()}
    return rows


def _packages(stored: StoredRun) -> dict[str, str]:
    packages = stored.context.packages if stored.context is not None else {}
    return {harmless(name): harmless(version) for name, version in packages.items()}


def _stages(stored: StoredRun) -> dict[str, str]:
    spans = sorted(stored.run.stages, key=lambda span: span.first_line)
    return {span.stage.value: duration(span.seconds) for span in spans if span.rank == ""}


def _line(name: str, values: Sequence[str], names: int, widths: Sequence[int]) -> str:
    parts = [
        _padded(name, names),
        *(_padded(value, room) for value, room in zip(values, widths, strict=True)),
    ]
    return "  ".join(parts).rstrip()


def _padded(text: str, width: int) -> str:
    cut = clip_middle(text, width)
    return cut + " " * (width - cells(cut))
