"""Text of logs, paths and people is shown harmless in every format."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logscope.report.compare_table import compare_table, table_markdown, table_text
from logscope.report.github import diff_github
from logscope.report.harmless import cells, clip, clip_middle, folded, harmless, is_hidden
from logscope.report.html import diff_html
from logscope.report.json_diff import diff_json
from logscope.report.junit import diff_junit
from logscope.report.layout import WIDTH, wrapped
from logscope.report.markdown import code, diff_markdown, runs_markdown
from logscope.report.run_text import runs_text
from logscope.report.text import diff_text, explanation_text
from tests.logscope.report import values


def _all_formats() -> dict[str, str]:
    made = values.hostile_explanation()
    runs = [made.diff.bad, values.stored(values.ready_run(), "good.log", "a" * 32)]
    table = compare_table(runs)
    return {
        "diff text": diff_text(made, why=True, everything=True),
        "explain text": explanation_text(made, why=True),
        "run text": runs_text(runs, everything=True),
        "diff markdown": diff_markdown(made, why=True, everything=True),
        "run markdown": runs_markdown(runs),
        "html": diff_html(made, why=True),
        "junit": diff_junit(made),
        "github": diff_github(made),
        "json": diff_json(made),
        "table": table_text(table),
        "table markdown": table_markdown(table),
    }


@pytest.mark.parametrize("name", sorted(_all_formats()))
def test_no_format_writes_a_character_that_cannot_be_seen(name: str) -> None:
    text = _all_formats()[name]

    assert "e)" in text
    assert [char for char in text if is_hidden(char) and char != "\n"] == []


def test_html_keeps_foreign_text_out_of_the_markup() -> None:
    tags: list[str] = []
    still_open: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append(tag)
            if tag not in ("meta", "br"):
                still_open.append(tag)
            assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)

        def handle_endtag(self, tag: str) -> None:
            assert still_open.pop() == tag

    Reader().feed(_all_formats()["html"])

    assert still_open == []
    assert "pre" in tags
    assert not {"script", "img", "iframe", "link", "object"} & set(tags)


def test_junit_is_xml_whatever_the_log_says() -> None:
    suite = ElementTree.fromstring(_all_formats()["junit"]).find("testsuite")

    assert suite is not None
    assert len(suite.findall("testcase")) == int(suite.attrib["tests"])


def test_markdown_fences_and_code_spans_cannot_be_ended_from_inside() -> None:
    assert code("a ``` b") == "```` a ``` b ````".replace(" a", "a").replace("b ", "b")
    assert code("`x`") == "`` `x` ``"
    text = _all_formats()["diff markdown"]
    fences = re.findall(r"^(`{3,})text$", text, re.MULTILINE)
    assert fences
    assert all(text.count(f"\n{fence}\n") >= 1 for fence in fences)
    assert not re.search(r"^<script", text, re.MULTILINE)


def test_github_annotations_stay_one_command_a_line() -> None:
    lines = _all_formats()["github"].splitlines()

    assert all(re.match(r"::(notice|error|warning) file=", line) for line in lines)


@given(st.text(max_size=60))
def test_harmless_text_is_printable_and_one_line(text: str) -> None:
    shown = harmless(text)

    assert not any(is_hidden(char) for char in shown)
    assert len(shown) >= len(text)


@given(st.text(max_size=300), st.integers(8, 60))
def test_cut_and_wrapped_text_fits(text: str, width: int) -> None:
    plain = folded(text)

    assert cells(clip(plain, width)) <= width
    assert cells(clip_middle(plain, width)) <= width
    assert all(cells(line) <= WIDTH for line in wrapped(plain, "    first ", "      "))
