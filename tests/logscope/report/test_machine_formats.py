"""JUnit, annotations, HTML and the comparison table say what the diff says."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from logscope.report.checks import GROUPS, checks
from logscope.report.compare_table import compare_table, table_json, table_text
from logscope.report.github import diff_github
from logscope.report.html import diff_html
from logscope.report.junit import diff_junit
from logscope.store.records import SeriesPoint
from parsers.records import Argument
from tests.logscope.report import values


def test_junit_has_a_case_for_every_check() -> None:
    suite = ElementTree.fromstring(diff_junit(values.explanation())).find("testsuite")

    assert suite is not None
    failed = {case.attrib["name"] for case in suite if case.find("failure") is not None}
    skipped = {case.attrib["name"] for case in suite if case.find("skipped") is not None}
    assert {"bad.log serves", "context_length", "sglang", "kv-cache"} <= failed
    assert "random_seed" not in failed
    assert skipped == {"driver: not in the good log"}
    assert suite.attrib["failures"] == str(len(suite.findall("testcase/failure")))


def test_nothing_fails_when_nothing_that_matters_differs() -> None:
    good = values.stored(values.ready_run(), "good.log", "a" * 32)
    same = values.diff(bad=good, matters=False)

    suite = ElementTree.fromstring(diff_junit(replace(values.explanation(), diff=same))).find("testsuite")

    assert suite is not None
    assert suite.attrib["failures"] == "0"


def test_every_group_has_a_check_even_without_a_difference() -> None:
    empty = values.diff(
        args=(), env=(), versions=(), configs=(), mismatches=(), validations=(), stages=(), metrics=()
    )

    assert {check.group for check in checks(empty)} >= set(GROUPS)


def test_annotations_point_at_the_line_of_the_error() -> None:
    lines = diff_github(values.explanation()).splitlines()

    assert lines[0].startswith("::notice file=logs/bad.log,title=LogScope::Fails at load")
    assert lines[1].startswith(
        "::error file=logs/bad.log,line=40,title=root error%3A ValueError::context length"
    )
    assert any(line.startswith("::warning") and "args%3A context_length" in line for line in lines)


def test_html_draws_both_runs_and_loads_nothing() -> None:
    points = [SeriesPoint(float(second), 100.0 + second, 90.0, 120.0) for second in range(5)]

    page = diff_html(values.explanation(), {"good": points, "bad": points})

    assert page.count("<svg") == 2
    assert 'class="good"' in page
    assert 'class="bad"' in page
    assert "http://" not in page
    assert "https://" not in page
    assert "<script" not in page
    assert "prefers-color-scheme:dark" in page


def test_html_without_figures_has_no_empty_plot() -> None:
    page = diff_html(replace(values.explanation(), diff=values.diff(stages=())), {})

    assert "<svg" not in page


def test_the_table_shows_only_what_differs() -> None:
    first = values.stored(values.run(), "one.log", "b" * 32)
    other = values.run(server_args=(Argument("context_length", 4096, "4096"), *values.run().server_args[2:]))
    second = values.stored(other, "two.log", "c" * 32)

    table = compare_table([first, second])

    rows = dict(table.rows)
    assert rows["context_length"] == ("8192", "4096")
    assert "mem_fraction_static" not in rows
    assert rows["model_path"] == ("/srv/models/llama", "-")
    text = table_text(table)
    assert "one.log" in text.splitlines()[0]
    assert all(len(line) <= 80 for line in text.splitlines())
    assert '"logscope.compare/1"' in table_json(table, [first, second])
