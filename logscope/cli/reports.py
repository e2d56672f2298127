"""Which report an explained diff is written as: shared by `diff` and `explain`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from logscope.cli.common import page_columns, wants_color

if TYPE_CHECKING:
    from logscope.cli.inputs import Explained

FORMATS = ("text", "json", "markdown", "html", "junit", "github")


def rendered(answer: Explained, options: argparse.Namespace) -> str:
    """The report in the format of the options."""
    explanation = answer.explanation
    if options.format == "json":
        from logscope.report.json_diff import diff_json

        return diff_json(explanation)
    if options.format == "markdown":
        from logscope.report.markdown import diff_markdown

        return diff_markdown(explanation, options.why, options.all)
    if options.format == "html":
        from logscope.report.html import diff_html

        return diff_html(explanation, answer.series(), options.why)
    if options.format == "junit":
        from logscope.report.junit import diff_junit

        return diff_junit(explanation)
    if options.format == "github":
        from logscope.report.github import diff_github

        return diff_github(explanation)
    from logscope.report.layout import page
    from logscope.report.text import diff_text

    with page(page_columns()):
        return diff_text(explanation, wants_color(options), options.why, options.all)
