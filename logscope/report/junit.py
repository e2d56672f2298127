"""JUnit XML: one test case a check, for CI systems that show test results."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from logscope.explain.records import Explanation
from logscope.report.checks import Check, checks
from logscope.report.harmless import clip, folded
from logscope.report.names import headline, run_name

_LONGEST = 300
"""Characters of a test case's name."""


def diff_junit(explanation: Explanation) -> str:
    """The checks of a diff as one test suite; the root error is the first test case."""
    diff = explanation.diff
    cases = [_launch_case(explanation), *map(_case, checks(diff))]
    failures = sum("<failure" in case for case in cases)
    skipped = sum("<skipped" in case for case in cases)
    good = run_name(diff.good) if diff.good is not None else "no baseline"
    name = quoteattr(f"logscope diff {good} {run_name(diff.bad)}")
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<testsuites {counts}>",
            f"<testsuite name={name} {counts}>",
            "<properties>",
            f'<property name="verdict" value={quoteattr(folded(explanation.verdict))}/>',
            f'<property name="baseline" value={quoteattr(folded(diff.baseline.reason))}/>',
            "</properties>",
            *cases,
            "</testsuite>",
            "</testsuites>",
            "",
        ]
    )


def _launch_case(explanation: Explanation) -> str:
    stored = explanation.diff.bad
    head = f'<testcase classname="logscope.launch" name={quoteattr(f"{run_name(stored)} serves")}'
    if stored.run.outcome.value == "ready":
        return f"{head}/>"
    causes = "\n".join(f"{cause.rank}. {folded(cause.title)}" for cause in explanation.causes)
    root = stored.run.root_error
    error = "" if root is None else f"{folded(root.type)} at line {root.line}: {folded(root.message)}\n"
    message = quoteattr(f"{headline(stored)}: {folded(stored.run.reason)}")
    return f"{head}><failure message={message}>{escape(error + causes)}</failure></testcase>"


def _case(check: Check) -> str:
    name = quoteattr(clip(check.name, _LONGEST))
    head = f'<testcase classname="logscope.{check.group}" name={name}'
    text = quoteattr(check.text)
    if check.result == "failed":
        place = f"line {check.line}" if check.line is not None else ""
        return f"{head}><failure message={text}>{place}</failure></testcase>"
    if check.result == "skipped":
        return f"{head}><skipped message={text}/></testcase>"
    return f"{head}/>"
