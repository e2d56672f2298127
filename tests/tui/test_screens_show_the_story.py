"""Each screen with real runs, at the sizes that must be complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.conftest import Drive, press, screen_text

SIZES = [(80, 24), (120, 40), (200, 50)]


@pytest.mark.parametrize("size", SIZES)
async def test_triage_opens_on_the_verdict_of_the_newest_failed_run(
    drive: Drive, sample_store: Path, size: tuple[int, int]
) -> None:
    async with drive(sample_store, size) as pilot:
        text = screen_text(pilot)

    flat = " ".join(text.split())
    assert "max_position_embeddings (2048)" in flat
    assert "4096" in flat
    assert "baseline:" in flat
    assert "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN" in flat


@pytest.mark.parametrize("size", SIZES)
async def test_the_run_list_shows_every_run(drive: Drive, sample_store: Path, size: tuple[int, int]) -> None:
    async with drive(sample_store, size, "runs") as pilot:
        text = screen_text(pilot)

    assert "6 runs, 1 failed" in text
    for outcome in ("ready", "failed"):
        assert outcome in text
    assert "tiny-llama" in text


async def test_a_wide_screen_shows_the_evidence_beside_the_list(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, (120, 40)) as pilot:
        text = screen_text(pilot)

    assert "bad  s03_fail_eagle3_context_len.log:" in text


async def test_a_narrow_screen_shows_one_pane_and_enter_or_tab_the_other(
    drive: Drive, sample_store: Path
) -> None:
    async with drive(sample_store, (80, 24)) as pilot:
        assert "score" not in screen_text(pilot)
        await press(pilot, "tab")
        text = screen_text(pilot)
        await press(pilot, "escape")
        back = screen_text(pilot)

    assert "good run" in text
    assert "Causes" in back


async def test_a_screen_that_is_too_small_says_what_it_needs(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, (50, 12)) as pilot:
        text = screen_text(pilot)

    assert "LogScope needs 60x16, this is 50x12" in text


async def test_the_smallest_screen_is_complete(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, (60, 16)) as pilot:
        text = screen_text(pilot)

    assert "max_position_embeddings" in text
    assert "needs" not in text.split("\n")[7]


async def test_the_log_opens_at_the_line_of_the_evidence(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "enter")
        text = screen_text(pilot)

    assert text.lstrip().startswith("Log")
    assert "Target model's context_length (4096)" in text


async def test_errors_are_one_row_a_fingerprint(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store) as pilot:
        await press(pilot, "3")
        text = screen_text(pilot)

    assert "ValueError: Warning: Target" in text
    assert "fingerprints by ended runs" in text


async def test_throughput_stands_beside_the_baseline(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "4")
        text = screen_text(pilot)

    assert "decode tok/s, median" in text
    assert "decode tok/s over seconds" in text


async def test_sql_gives_rows_and_their_number(drive: Drive, sample_store: Path) -> None:
    async with drive(sample_store, start="runs") as pilot:
        await press(pilot, "5", "f5")
        text = screen_text(pilot)

    assert "outcome" in text
    assert "rows," in text
    assert "saved queries" in text


async def test_an_empty_store_says_what_to_do(drive: Drive, tmp_path: Path) -> None:
    async with drive(tmp_path / "none.duckdb", start="runs") as pilot:
        text = screen_text(pilot)

    assert "logscope ingest PATH" in " ".join(text.replace("│", " ").split())


async def test_the_diff_of_an_empty_store_is_one_sentence(drive: Drive, tmp_path: Path) -> None:
    async with drive(tmp_path / "none.duckdb") as pilot:
        text = screen_text(pilot)

    assert "logscope triage PATH" in " ".join(text.replace("│", " ").split())
    assert "Traceback" not in text
