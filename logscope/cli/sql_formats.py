"""Rows of a query as text."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from logscope.report.harmless import folded
from logscope.store.queries import QueryResult

WIDEST = 100
"""Characters of a cell of a table on a terminal; other formats give all."""


def rendered(result: QueryResult, output_format: str) -> str:
    """The rows as ``table``, ``csv``, ``json`` (a list of objects), ``jsonl`` or ``markdown``."""
    if output_format == "csv":
        return _csv(result)
    if output_format == "json":
        return json.dumps([_object(result, row) for row in result.rows], indent=2, ensure_ascii=False)
    if output_format == "jsonl":
        return "\n".join(json.dumps(_object(result, row), ensure_ascii=False) for row in result.rows)
    if output_format == "markdown":
        return _markdown(result)
    return _table(result)


def plain(value: Any) -> Any:
    """A value as JSON has it: times as ISO 8601, decimals as numbers, NaN and infinities as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, Sequence):
        return [plain(inner) for inner in value]
    return str(value)


def _object(result: QueryResult, row: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(_unique(result.columns), map(plain, row), strict=True))


def _unique(names: Sequence[str]) -> list[str]:
    """Column names, a repeated one with ``_2``, ``_3`` ...: an object would lose it otherwise."""
    seen: dict[str, int] = {}
    unique: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return unique


def _csv(result: QueryResult) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows([_cell(value, "") for value in row] for row in result.rows)
    return out.getvalue().removesuffix("\n")


def _markdown(result: QueryResult) -> str:
    def escaped(text: str) -> str:
        return folded(text).replace("\\", "\\\\").replace("|", "\\|") or " "

    lines = ["| " + " | ".join(map(escaped, result.columns)) + " |", "|" + " --- |" * len(result.columns)]
    lines += ["| " + " | ".join(escaped(_cell(value, "")) for value in row) + " |" for row in result.rows]
    return "\n".join(lines)


def _table(result: QueryResult) -> str:
    if not result.columns:
        return ""
    body = [[_shown(value) for value in row] for row in result.rows]
    widths = [
        max([len(name), *(len(row[column]) for row in body)]) for column, name in enumerate(result.columns)
    ]
    to_right = [
        bool(result.rows) and all(_is_number(row[column]) or row[column] is None for row in result.rows)
        for column in range(len(widths))
    ]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, to_right, strict=True)
        )
        return "  ".join(padded).rstrip()

    return "\n".join([line(result.columns), line(["-" * width for width in widths]), *map(line, body)])


def _shown(value: Any) -> str:
    text = folded(_cell(value, ""))
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _cell(value: Any, missing: str) -> str:
    if value is None:
        return missing
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    simple = plain(value)
    if isinstance(simple, bool):
        return "true" if simple else "false"
    if isinstance(simple, (list, dict)):
        return json.dumps(simple, ensure_ascii=False)
    return missing if simple is None else str(simple)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
