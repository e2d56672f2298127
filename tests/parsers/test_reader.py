"""Bytes to lines: compression, line numbers, long lines, odd bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
from pathlib import Path

import pytest
import zstandard

from parsers import LogReader, open_log, read_log
from parsers.reader import LINE_HEAD, LINE_TAIL, LineCutter, read_blocks
from tests.parsers.reading import lines_of, read

TEXT = (
    b"[2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/demo', tp_size=1)\n"
    b"[2026-02-03 04:05:07 TP0] Decode batch, #running-req: 1, #token: 7, #queue-req: 0\n"
    b"[2026-02-03 04:05:08] The server is fired up and ready to roll!\n"
)


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("a.log", TEXT),
        ("a.log.gz", gzip.compress(TEXT)),
        ("a.log.xz", lzma.compress(TEXT)),
        ("a.log.bz2", bz2.compress(TEXT)),
        ("b.log.bz2", bz2.compress(TEXT[:9]) + bz2.compress(TEXT[9:])),
        ("a.log.zst", zstandard.compress(TEXT)),
        ("named-wrongly.log", gzip.compress(TEXT)),
    ],
)
def test_compressed_logs_are_opened_by_their_content(tmp_path: Path, name: str, packed: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(packed)

    with open_log(path) as stream:
        log = read_log(stream)

    assert (log.size, log.lines, log.runs[0].model_path) == (len(TEXT), 3, "/m/demo")


def test_a_truncated_archive_gives_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(TEXT * 2000)[:-40])

    with open_log(path) as stream:
        data = b"".join(read_blocks(stream, 1000))

    assert data
    assert (TEXT * 2000).startswith(data)


def test_a_missing_file_raises_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_log(tmp_path / "none.log")


def test_a_very_long_line_keeps_its_begin_and_its_end() -> None:
    filler = b"x" * (3 * (LINE_HEAD + LINE_TAIL))
    long_line = (
        b"[2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/demo', tp_size=1) "
        + filler
        + b"\r[2026-02-03 04:05:08] The server is fired up and ready to roll!"
    )

    for block in (1 << 16, 1 << 24):
        reading = read(long_line + b"\n" + TEXT.splitlines()[1] + b"\n", block=block)

        assert (reading.run.model_path, reading.run.ready, reading.log.lines) == ("/m/demo", True, 2)
        assert any("longer than 1 MB" in note for note in reading.log.notes)


def test_a_long_line_is_shortened_in_the_same_way_for_any_blocks() -> None:
    line = bytes(range(33, 123)) * 40_000

    results = []
    for size in (1000, 65_536, 1 << 20, len(line)):
        cutter = LineCutter()
        lines: list[bytes] = []
        for start in range(0, len(line), size):
            lines += cutter.feed(line[start : start + size])
        lines += cutter.feed(b"\n")
        results.append(lines)

    assert all(result == results[0] for result in results)
    assert len(results[0][0]) == LINE_HEAD + LINE_TAIL + 1


def test_lines_are_counted_by_newlines_only() -> None:
    text = "a\rb\x0bc\x0cd\x85e\u2028f\n" + TEXT.decode()

    run = read(text).run

    assert run.server_args_line == 2
    assert run.ready_at is not None


def test_bytes_that_are_no_text_are_replaced() -> None:
    data = b"\xff\xfe\xfd junk \x80\x81\n\x00\x00\x00" + TEXT

    reading = read(b"x" + data)

    assert reading.run.model_path == "/m/demo"
    assert reading.log.lines == 4


def test_a_result_in_the_middle_does_not_end_the_reader() -> None:
    whole = read(TEXT).log
    reader = LogReader(b"s")

    for start in range(0, len(TEXT), 7):
        reader.feed(TEXT[start : start + 7])
        reader.result()

    assert reader.result() == whole


def test_rows_are_given_once_however_often_results_are_asked_for() -> None:
    lines: list[int] = []
    reader = LogReader(on_batches=lambda block: lines.extend(lines_of(block)))

    for part in (TEXT[:100], TEXT[100:150], TEXT[150:]):
        reader.feed(part)
        reader.result()
        reader.result()

    assert lines == [2]


def test_a_reader_goes_on_after_it_was_pickled() -> None:
    reader = LogReader(b"s")
    for start in range(0, len(TEXT), 11):
        reader.feed(TEXT[start : start + 11])
        reader = pickle.loads(pickle.dumps(reader))

    assert reader.result() == read(TEXT).log


def test_an_unfinished_last_line_is_part_of_the_result() -> None:
    reading = read(TEXT.rstrip(b"\n"))

    assert reading.log == read(TEXT).log or reading.run.ready
    assert reading.log.lines == 3


def test_standard_input_is_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    class Standard:
        buffer = io.BufferedReader(io.BytesIO(TEXT))

    monkeypatch.setattr("sys.stdin", Standard())

    assert read_log(open_log("-")).lines == 3


def test_access_lines_of_a_run_that_is_only_likely_are_given_once() -> None:
    lines: list[int] = []
    reader = LogReader(on_requests=lambda block: lines.extend(int(line) for line in block.columns["line"]))

    reader.feed(b"Starting, command='python3 -m sglang_router.launch_router --port 1'\n")
    reader.feed(b'[2026-02-03 04:05:06] INFO:     127.0.0.1:1 - "POST /generate HTTP/1.1" 200 OK\n')
    first = reader.result()
    reader.feed(b'[2026-02-03 04:05:07] INFO:     127.0.0.1:1 - "POST /generate HTTP/1.1" 200 OK\n')
    second = reader.result()
    reader.result()

    assert [len(log.runs) for log in (first, second)] == [1, 1]
    assert lines == [2, 3]
