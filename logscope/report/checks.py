"""The rows of a diff as checks that a CI system lists: passed, failed or not compared."""

from __future__ import annotations

from logscope.compare.records import RunDiff
from logscope.report.outline import Row, same_section, sections
from parsers.lazy_dataclass import dataclass

GROUPS = ("args", "env", "versions", "host", "configs", "files", "validations", "stages", "throughput")
"""Each has at least one check, so that a report without differences still lists what was looked at."""


@dataclass(frozen=True, slots=True)
class Check:
    """One test case."""

    group: str
    name: str
    result: str
    """``passed``, ``failed`` or ``skipped``."""
    text: str
    """What was found, in one line."""
    line: int | None = None


def checks(diff: RunDiff) -> tuple[Check, ...]:
    """All checks of a diff. When nothing that matters differs, none of them fails."""
    held = {section.key: section for section in sections(diff)}
    every: list[Check] = []
    for key, section in held.items():
        every += [_check(key, row, diff.matters) for row in section.rows]
    quiet = [group for group in GROUPS if not any(key.split("-")[0] == group for key in held)]
    every += [Check(group, "no difference", "passed", "") for group in quiet]
    for row in same_section(diff).rows:
        result = "skipped" if row.sign == "?" else "passed"
        every.append(Check("compared", row.name, result, row.name))
    return tuple(every)


def _check(group: str, row: Row, matters: bool) -> Check:
    fails = matters and row.sign not in "=?" and not row.is_folded
    pair = f"{row.good} -> {row.bad}" if row.has_sides else row.name
    text = f"{row.sign} {pair}" + (f" ({row.note})" if row.note else "")
    result = "failed" if fails else "skipped" if row.sign == "?" else "passed"
    return Check(group, row.name, result, text, row.line)
