"""GitHub workflow commands: the verdict, the root error and the causes as annotations of a CI run."""

from __future__ import annotations

from logscope.explain.records import Explanation
from logscope.report.checks import checks
from logscope.report.harmless import clip, folded

_LONGEST = 1000
_GROUPS = {"args", "env", "versions", "host", "configs", "files"}
"""Checks that become warnings; errors and stages are said by the root error and the causes."""


def diff_github(explanation: Explanation) -> str:
    """One annotation a line: errors for the root error and first causes, warnings for failed checks."""
    diff = explanation.diff
    path = diff.bad.path
    root = diff.bad.run.root_error
    lines = [_command("notice", "LogScope", explanation.verdict, path, None)]
    if root is not None:
        lines.append(
            _command("error", f"root error: {root.type}", root.message or root.type, path, root.line)
        )
    for cause in explanation.causes[:3]:
        remedy = f" Remedy: {cause.remedies[0].action}" if cause.remedies else ""
        place = next((quote.line for quote in cause.evidence if quote.run == "bad" and quote.line), None)
        text = f"{cause.title}. {cause.mechanism}{remedy}"
        lines.append(_command("error", f"cause {cause.rank}: {cause.subject}", text, path, place))
    for check in checks(diff):
        if check.result == "failed" and check.group.partition("-")[0] in _GROUPS:
            title = f"{check.group}: {clip(check.name, 100)}"
            lines.append(_command("warning", title, check.text, path, check.line))
    return "\n".join(lines) + "\n"


def _command(kind: str, title: str, message: str, path: str, line: int | None) -> str:
    place = f"file={_property(path)}" + (f",line={line}" if line is not None else "")
    return f"::{kind} {place},title={_property(title)}::{_data(clip(folded(message), _LONGEST))}"


def _data(text: str) -> str:
    return text.replace("%", "%25")


def _property(text: str) -> str:
    return _data(folded(text)).replace(":", "%3A").replace(",", "%2C")
