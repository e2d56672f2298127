"""The text reports: 80 columns, verdict first, signs before colour, folded rows counted."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from logscope.explain.records import Explanation, Remedy
from logscope.report.harmless import cells
from logscope.report.html import diff_html
from logscope.report.layout import WIDTH, page
from logscope.report.markdown import diff_markdown
from logscope.report.names import contrast_words
from logscope.report.run_text import runs_text
from logscope.report.text import diff_text, explanation_text
from logscope.store.records import Contrast, RunId
from tests.logscope.report import values


@pytest.mark.parametrize("columns", [40, WIDTH, 120])
@pytest.mark.parametrize(
    "made", [values.explanation(), values.hostile_explanation()], ids=["plain", "hostile"]
)
def test_every_line_fits_the_page(made: Explanation, columns: int) -> None:
    with page(columns):
        text = (
            diff_text(made, why=True, everything=True) + explanation_text(made) + runs_text([made.diff.bad])
        )

    assert [line for line in text.splitlines() if cells(line) > columns] == []
    assert max(map(cells, text.splitlines())) > columns - 20


def test_a_report_is_eighty_columns_wide_where_nobody_asks_for_others() -> None:
    with page(40):
        narrow = diff_text(values.explanation())

    assert (
        max(map(cells, narrow.splitlines()))
        <= 40
        < max(map(cells, diff_text(values.explanation()).splitlines()))
    )


def test_the_verdict_comes_first_and_the_baseline_second() -> None:
    lines = diff_text(values.explanation()).splitlines()

    assert lines[0] == "Fails at load: context_length 8192 is new and longer than the model's 4096."
    assert lines[1] == "baseline: The last run that served: same model, 1 argument away."


def test_rows_carry_their_sign() -> None:
    text = diff_text(values.explanation())

    assert re.search(r"^  \+ context_length +\(absent\) -> 8192$", text, re.MULTILINE) is not None
    assert re.search(r"^  ~ sglang +0.5.3 -> 0.5.4$", text, re.MULTILINE) is not None
    assert re.search(r"^  ! kv-cache +3.00 s -> never", text, re.MULTILINE) is not None
    assert re.search(r"^  \? driver: not in the good log$", text, re.MULTILINE) is not None
    assert re.search(r"^  = model files: same$", text, re.MULTILINE) is not None


def test_noise_is_folded_with_a_count_and_unfolded_on_request() -> None:
    short = diff_text(values.explanation())
    full = diff_text(values.explanation(), everything=True)

    assert "random_seed" not in short
    assert "1 row of arguments that sglang derived" in " ".join(short.split())
    assert "random_seed" in full
    assert "folded:" not in full


def test_colour_only_repeats_what_the_signs_say() -> None:
    plain = diff_text(values.explanation())
    colored = diff_text(values.explanation(), color=True)

    assert "\x1b[" not in plain
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[\d*m", "", colored) == plain


def test_score_parts_are_shown_only_when_asked_for() -> None:
    assert "+0.60" not in explanation_text(values.explanation())
    assert "+0.60  named in the error" in explanation_text(values.explanation(), why=True)


def test_a_cause_shows_quote_place_remedy_and_what_it_assumes() -> None:
    text = explanation_text(values.explanation())

    assert "at bad run, bad.log:40" in text
    assert "| ValueError: context length 8192 is larger than 4096" in text
    assert "$ --context-length 4096" in text
    assert "assumes: 4096 tokens are enough" in text
    assert "risks: long prompts fail" in text
    assert "fixed by arg context_length: 8192 -> None" in " ".join(text.split())


def test_without_causes_the_report_says_so() -> None:
    text = diff_text(replace(values.explanation(), causes=()))

    assert "? no cause found" in text


def test_a_run_shows_where_its_error_stands() -> None:
    stored = values.stored(values.run(), "logs/bad.log", "b" * 32)

    text = runs_text([stored], {stored.run_id: {"context_length": "user"}})

    assert text.startswith("! failed at load\n")
    assert "ValueError at bad.log:40 on TP0" in text
    assert "context_length = 8192" in text
    assert "3 more (--all shows them)" in text
    assert "1 secret masked" in text


def test_several_runs_are_separated_by_their_names() -> None:
    first = values.stored(values.run(), "logs/all.log", "b" * 32)
    second = values.stored(values.run(ordinal=2), "logs/all.log", "c" * 32)

    text = runs_text([first, second])

    assert "-- all.log ---" in text
    assert "-- all.log#2 ---" in text


def test_only_an_earlier_run_with_the_same_error_dates_the_change() -> None:
    made = values.explanation()
    one, other = RunId("0123456789abcdef"), RunId("fedcba9876543210")

    def said(same: RunId | None, failed: RunId | None) -> str:
        diff = replace(made.diff, first_bad=same, first_failed=failed)
        return " ".join(diff_text(replace(made, diff=diff)).split())

    assert "first run with this error since the last good one is 0123456789ab: the change lies" in said(
        one, one
    )
    assert "before it; fedcba987654 failed before, with another error" in said(one, other)
    assert "is fedcba987654, with another error; this run is the first with this one" in said(None, other)
    assert "since the last good one" not in said(None, None)


def test_a_lone_failure_is_not_counted_against_itself() -> None:
    assert contrast_words(Contrast(1, 1, 0, 3)) == "the first run with this error; the same stood in 0 of 3 good runs"
    assert contrast_words(Contrast(1, 2, 1, 1)) == "in 1 of 2 failures with this error, in 1 of 1 good run"
    assert contrast_words(Contrast(0, 0, 1, 2)) == "in 1 of 2 good runs"


def test_a_remedy_is_written_once_in_every_report() -> None:
    made = values.explanation()
    first = next(cause for cause in made.causes if cause.remedies)
    remedies = (Remedy("Give it more room", "--room-size 7", "quick", "there is some"), *first.remedies[:1])
    causes = tuple(replace(first, rank=rank, remedies=remedies) for rank in (1, 2))
    told = replace(made, causes=causes)

    for text in (explanation_text(told), diff_markdown(told), diff_html(told, {})):
        assert text.count("--room-size 7") == 1
        assert "2 remedies told under cause 1" in " ".join(text.split())
