"""Records that begin in the middle of a line, torn records, and text that quotes records."""

from __future__ import annotations

import pytest

from parsers.pieces import pieces_of
from tests.parsers.reading import read

DECODE = (
    "[2026-02-03 04:05:07 TP0] Decode batch, #running-req: {n}, #token: 700, token usage: 0.03, "
    "gen throughput (token/s): 10{n}.50, #queue-req: 0"
)


def test_a_record_behind_a_progress_bar_is_read() -> None:
    text = (
        "Capturing batches (bs=1 avail_mem=9.10 GB): 100%|##########| 4/4 [00:01<00:00,  3.10it/s]"
        "[2026-02-03 04:05:06 TP1] Capture cuda graph end. Time elapsed: 1.50 s. mem usage=2.00 GB. avail mem=9.00 GB.\n"
    )

    run = read(text).run

    assert [(one.name, one.rank, one.seconds) for one in run.milestones] == [
        ("graph-progress", "", None),
        ("graph-end", "TP1", 1.5),
    ]


def test_a_file_that_is_one_line_of_returns_is_read() -> None:
    parts = [
        f"Loading safetensors checkpoint shards: {n}% Completed | {n}/100 [00:01<00:01, 1.50it/s]"
        for n in range(100)
    ]
    text = "\r".join([*parts, DECODE.format(n=1)])

    reading = read(text)

    assert [row.gen_throughput for row in reading.batches] == [101.5]
    assert [one.name for one in reading.run.milestones] == ["load-progress"]


def test_two_records_in_one_line_are_two() -> None:
    reading = read(DECODE.format(n=1) + DECODE.format(n=2) + "\n")

    assert [row.gen_throughput for row in reading.batches] == [102.5] or [
        row.running_req for row in reading.batches
    ] == [1, 2]
    assert reading.run.coverage.torn == 1


def test_a_torn_batch_line_keeps_only_its_certain_pairs() -> None:
    torn = "[2026-02-03 04:05:07 TP0] Decode batch, #running-req: 3, #token: 7[2026-02-03 04:05:07 TP1] Load weight begin.\n"

    reading = read(torn)

    (row,) = reading.batches
    assert row.running_req == 3
    assert row.gen_throughput != row.gen_throughput
    assert [one.rank for one in reading.run.milestones] == ["TP1"]


def test_a_message_torn_off_its_head_is_joined_where_that_is_certain() -> None:
    lines = [
        "[2026-02-03 04:05:07 TP0] [2026-02-03 04:05:07 TP1] Load weight begin. avail mem=70.50 GB",
        "Load weight begin. avail mem=70.25 GB",
        "[2026-02-03 04:05:08] something else",
    ]

    run = read("\n".join(lines) + "\n").run

    assert [(one.name, one.rank) for one in run.milestones] == [("load-begin", "TP1"), ("load-begin", "TP0")]
    assert run.coverage.torn >= 1


@pytest.mark.parametrize(
    "quoting",
    [
        "[2026-02-03 04:05:06] Receive: obj=GenerateReqInput(text='log: {quoted}')",
        "[2026-02-03 04:05:06] Finish: obj={{'text': \"{quoted}\"}}",
        "The user wrote: {quoted}",
        '  "content": "{quoted}"',
        "    {quoted}",
    ],
)
def test_a_message_that_quotes_a_decode_line_is_no_decode_line(quoting: str) -> None:
    text = (
        DECODE.format(n=1)
        + "\n"
        + quoting.format(quoted="Decode batch, #running-req: 9, #token: 9, #queue-req: 0")
    )

    reading = read(text + "\n")

    assert [row.running_req for row in reading.batches] == [1]


@pytest.mark.parametrize(
    "quoting",
    [
        "[2026-02-03 04:05:06] Receive: obj=GenerateReqInput(text='why: {quoted}')",
        '{{"messages": [{{"content": "{quoted}"}}]}}',
        'answer: "{quoted}"',
    ],
)
def test_a_message_that_quotes_a_whole_record_is_not_cut(quoting: str) -> None:
    text = DECODE.format(n=1) + "\n" + quoting.format(quoted=DECODE.format(n=2)) + "\n"

    reading = read(text)

    assert [row.running_req for row in reading.batches] == [1]


def test_headless_batch_lines_count_only_where_no_line_has_a_head() -> None:
    old = "Decode batch. #running-req: 3, #token: 1442, token usage: 0.18, #queue-req: 0\n"

    assert len(read(old).batches) == 1
    assert [row.line for row in read(DECODE.format(n=1) + "\n" + old).batches] == [1]


def test_pieces_keep_all_text_but_the_bars() -> None:
    text = "a\r  0%|          | 0/2 [00:00<?, ?it/s]b\rc"

    pieces = pieces_of(text)

    assert [piece.text for piece in pieces if piece.bar is None] == ["a", "b", "c"]
