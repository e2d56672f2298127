"""The arithmetic of the hot lane against Python's own reading of the same text."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.carriers import CarrierReader
from parsers.hot import templates
from parsers.hot.eye import ReaderEye
from parsers.hot.heads import HeadTaker
from parsers.hot.lane import HotLane
from parsers.hot.tables import TextTable
from parsers.hot.words import Buffer, matches
from parsers.rules.batches import parse_batch

_NUMBERS = st.one_of(
    st.integers(0, 10**12).map(str),
    st.floats(0, 10**9).map(lambda value: f"{value:.2f}"),
    st.decimals(0, 1000, places=5).map(str),
    st.sampled_from(["", "nan", "-1", "1e5", "1.", ".5", "007", "1234567", "12345678", "99999.99", "999999.99"]),
)


@given(st.lists(_NUMBERS, min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_numbers_are_read_as_the_careful_parser_reads_them(numbers: list[str]) -> None:
    bodies = [f"Decode batch, #running-req: 3, gen throughput (token/s): {each}, #queue-req: 0" for each in numbers]
    model = "Decode batch, #running-req: 3, gen throughput (token/s): 10.25, #queue-req: 0"
    whole = "Decode batch, #running-req: 3, gen throughput (token/s): 7, #queue-req: 0"
    block = "".join(body + "\n" for body in bodies).encode()
    text = Buffer().text(block)
    stops = np.flatnonzero(text.raw[: len(block)] == 10)
    starts = np.concatenate([[0], stops[:-1] + 1])

    for line in (model, whole):
        parsed = parse_batch(line)
        assert parsed is not None
        template = templates.learn(line, parsed)
        assert template is not None
        passed, values = templates.run(template, text, starts, stops)

        for place in np.flatnonzero(passed).tolist():
            careful = parse_batch(bodies[place])
            assert careful is not None
            assert {name: column[place] for name, column in values.items()} == careful.values()


@given(st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)))
@settings(max_examples=200, deadline=None)
def test_times_are_those_of_the_calendar(at: datetime) -> None:
    at = at.replace(microsecond=at.microsecond // 1000 * 1000)
    heads = HeadTaker()
    heads.add_prefix(b"", "", ())
    line = f"[{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d}] x".encode()
    year = line[1 : line.index(b"-")]
    line = line.replace(year, year.rjust(4, b"0"), 1)

    lines = heads.take(Buffer().text(line + b"\n"), np.array([0]), np.array([0], dtype=np.int32))

    assert lines.has_head.tolist() == [True]
    assert datetime(1970, 1, 1) + timedelta(microseconds=int(lines.at[0])) == at


@given(st.integers(0, 9999), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
@settings(max_examples=300, deadline=None)
def test_a_time_that_no_calendar_has_is_left_to_the_careful_lane(
    year: int, month: int, day: int, hour: int, minute: int
) -> None:
    try:
        is_right = datetime(year, month, day, hour, minute, 59).year >= 1000
    except ValueError:
        is_right = False
    heads = HeadTaker()
    heads.add_prefix(b"", "", ())
    line = f"[{year:04d}-{month:02d}-{day:02d} {hour:02d}:{minute:02d}:59] x\n".encode()

    lines = heads.take(Buffer().text(line), np.array([0]), np.array([0], dtype=np.int32))

    assert lines.has_head.tolist() == [is_right]


@given(st.binary(max_size=300).filter(lambda text: b"\n" not in text), st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_a_label_stands_only_where_its_bytes_stand(text: bytes, size: int) -> None:
    label = (text[7 : 7 + size] or b"x").replace(b"\0", b"y")
    places = np.arange(len(text) + 1)

    found = matches(Buffer().text(text), places, label)

    assert found.tolist() == [text[place : place + len(label)] == label for place in places.tolist()]


@given(st.lists(st.binary(max_size=40), max_size=60), st.lists(st.binary(max_size=50), max_size=60))
@settings(max_examples=60, deadline=None)
def test_a_table_gives_a_code_to_its_own_texts_only(known: list[bytes], asked: list[bytes]) -> None:
    table = TextTable(4, 32)
    for each in known:
        table.add(each)
    asked = [*asked, *known]
    text = Buffer().text(b"".join(asked))
    sizes = np.array([len(each) for each in asked], dtype=np.int64)
    starts = np.cumsum(sizes) - sizes

    codes = table.codes(text, starts, sizes)

    expected = [table.texts.index(each) if each in table.texts else -1 for each in asked]
    assert codes.tolist() == expected


def test_line_ends_are_found_wherever_they_stand() -> None:
    block = b"a\n\n\nbcd\n" + b"x" * 100 + b"\n" + b"\n" * 20 + b"end\n"
    buffer = Buffer()

    buffer.text(block)

    assert buffer.line_ends(100).tolist() == [place for place, byte in enumerate(block) if byte == 10]


def test_a_cut_off_line_teaches_nothing_that_others_could_pass() -> None:
    cut = b"[2026-02-03 04:05:06] Decode batch, #running-req: 3, #tok\n"
    whole = b"[2026-02-03 04:05:07] Decode batch, #running-req: 3, #token: 9, #queue-req: 0\n"
    lane = HotLane()

    found = lane.take(whole + cut * 5 + whole * 5, ReaderEye(CarrierReader()))

    assert np.flatnonzero(found.is_batch).tolist() == [7, 8, 9, 10]


def test_what_a_lane_remembers_is_bounded() -> None:
    eye, lane = ReaderEye(CarrierReader()), HotLane()
    for number in range(400):
        lines = [
            f"[2026-02-03 04:05:06 TP{number}] Decode batch, #running-req: 3, field {number}: 1, #queue-req: 0",
            f'[2026-02-03 04:05:06] INFO:     10.0.0.1:50 - "GET /p/{number} HTTP/1.1" 200 OK',
            f"box-{number}  | [2026-02-03 04:05:06] Decode batch, #running-req: 3, #queue-req: 0",
        ]
        lane.take("".join(f"{line}\n" for line in lines * 3).encode(), eye)

    assert len(lane.heads.prefixes) <= 64
    assert len(lane.heads.tags.texts) <= 256
    assert len(lane.access.tails.texts) <= 256
    assert sum(map(len, lane.templates.values())) <= 48 * 3
