"""Where no command line is known, no report claims to know who set a value that SGLang may rewrite."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from logscope.cli.main import main

SAMPLES = Path(__file__).parents[3] / "sample_logs"
HEADING = "Arguments set by you or derived by SGLang (the command line is not known)"
PAIRS = {
    "max_running_requests": ("p01_perf_base", "p02_perf_regress_max_running", 32, 2),
    "mem_fraction_static": ("r03_ok_more_requests", "r06_fail_mem_fraction_too_small", 0.3, 1e-05),
}


def _bare(name: str, folder: Path) -> str:
    """The log alone, without the context file beside it."""
    return shutil.copy(str(SAMPLES / f"{name}.log"), str(folder))


@pytest.mark.parametrize("argument", PAIRS)
def test_a_typed_value_is_not_called_derived_and_still_counts(
    argument: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad, before, now = PAIRS[argument]
    words = ["diff", _bare(good, tmp_path), _bare(bad, tmp_path), "--db", str(tmp_path / "none.duckdb")]

    main(words)
    text = capsys.readouterr().out
    main([*words, "--format", "json"])
    told = json.loads(capsys.readouterr().out)

    assert f"{HEADING}\n  ~ {argument}  {before} -> {now}\n" in text
    assert "Arguments that SGLang derived" not in text
    assert "`logscope record` or a context file tells" in " ".join(text.split())
    row = next(row for row in told["args"] if row["name"] == argument)
    assert (row["origin_good"], row["origin_bad"]) == ("unknown", "unknown")
    assert argument in told["causes"][0]["subject"]


def test_one_known_command_line_does_not_make_the_other_value_derived(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad, before, now = PAIRS["mem_fraction_static"]
    known = str(SAMPLES / f"{good}.log")

    main(["diff", known, _bare(bad, tmp_path), "--db", str(tmp_path / "none.duckdb")])

    assert "derived" not in next(
        line for line in capsys.readouterr().out.splitlines() if f"{before} -> {now}" in line
    )


def test_show_names_what_may_have_been_typed_and_no_masked_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["show", _bare("s03_fail_eagle3_context_len", tmp_path), "--db", str(tmp_path / "none.duckdb")])
    text = capsys.readouterr().out

    assert "    max_total_tokens = 65536\n" in text
    assert "    speculative_num_steps = 3 (unknown)\n" in text
    assert "watermark" not in text.split("Arguments (")[1]
