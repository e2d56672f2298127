"""Properties of reading that hold for any bytes: no exception, no lost line, no difference by block sizes."""

from __future__ import annotations

import pickle

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parsers import LogReader
from parsers.rules.args import read_call, read_dict
from parsers.rules.batches import parse_batch
from tests.parsers.reading import TRICKY, Reading, lines_of, read

FRAGMENTS = [
    "[2026-02-03 04:05:06] ",
    "[2026-02-03 04:05:06 TP0] ",
    "[2026-02-03 04:05:07 DP1 TP3] ",
    "[04:05:06 TP1] ",
    "[02-03 04:05:06] ",
    "[gpu=3] ",
    "api-1  | ",
    "12: ",
    "(Engine pid=41, ip=10.0.0.7) ",
    "2026-02-03T04:05:06.123456789Z ",
    "2026-02-03T04:05:06.1Z stderr P ",
    "2026-02-03T04:05:06.1Z stderr F ",
    "ERROR 2025-05-02T10:00:09.300000000Z ",
    '{"log": "a\\n", "stream": "stderr", "time": "2026-02-03T04:05:06Z"}',
    "[bench.core] [INFO] [worker_0] ",
    "Feb 03 04:05:06 host unit[7]: ",
    "server_args=ServerArgs(model_path='/m/a', tp_size=2, ",
    "lora_paths=['a', ",
    "api_key='secret', ",
    ")",
    "server_args={'model_path': '/m/b', ",
    "}",
    "'port': 7, ",
    "Decode batch, #running-req: 3, #token: 700, ",
    "Prefill batch [7], #new-seq: 1, ",
    "gen throughput (token/s): 101.50, #queue-req: 0",
    'INFO:     10.0.0.5:4000 - "POST /generate HTTP/1.1" 200 OK',
    "Load weight begin. avail mem=70.50 GB",
    "Load weight end. elapsed=9.50 s, type=A",
    "The server is fired up and ready to roll!",
    "Received sigquit from a child process. It usually means the child failed.",
    "Scheduler hit an exception: Traceback (most recent call last):",
    '  File "/opt/sglang/srt/x.py", line 3, in f',
    "ValueError: demo 3",
    "launch_server.py: error: unrecognized arguments: --x",
    "  0%|          | 0/4 [00:00<?, ?it/s]",
    "Capturing batches (bs=8):  25%|##  | 1/4 [00:01<00:03,  1.0s/it]",
    " [repeated 3x across cluster]",
    "\r",
    "\x1b[36m",
    "\x1b[0m",
    "\x00",
    "é",
    "'",
    '"',
    "\n",
    "\n",
    "\n",
    "\n",
]
LOGS = st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join).map(str.encode)
ANY = st.one_of(st.binary(max_size=400), LOGS)
QUICK = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(ANY)
def test_reading_never_raises_and_counts_every_line(data: bytes) -> None:
    log = read(data).log

    if not data.startswith((b"\xff\xfe", b"\xfe\xff")) and data.count(0) * 3 < len(data):
        assert log.lines == data.count(b"\n") + (
            not data.endswith(b"\n") and data != b"" and data != b"\xef\xbb\xbf"
        )
    assert sum(run.coverage.lines for run in log.runs) <= log.lines
    for run in log.runs:
        assert run.coverage.understood + run.coverage.unknown == run.coverage.lines
        assert 1 <= run.first_line <= run.last_line <= log.lines
    assert [run.ordinal for run in log.runs] == list(range(1, len(log.runs) + 1))


@QUICK
@given(LOGS, st.lists(st.integers(1, 97), min_size=1, max_size=5))
def test_any_split_into_blocks_gives_the_same(data: bytes, sizes: list[int]) -> None:
    whole = read(data)
    rows: list[tuple[int, int]] = []
    reader = LogReader(b"s", lambda block: rows.extend((block.ordinal, line) for line in lines_of(block)))

    position = step = 0
    while position < len(data):
        size = sizes[step % len(sizes)]
        reader.feed(data[position : position + size])
        position, step = position + size, step + 1

    assert reader.result() == whole.log
    assert sorted(rows, key=lambda row: row[1]) == [(row.ordinal, row.line) for row in whole.batches]


@QUICK
@given(LOGS, st.integers(0, 400), st.integers(0, 400))
def test_results_and_pickling_in_the_middle_change_nothing(data: bytes, first: int, second: int) -> None:
    reader = LogReader(b"s")

    reader.feed(data[:first])
    reader.result()
    reader = pickle.loads(pickle.dumps(reader))
    reader.feed(data[first : first + second])
    reader.result()
    reader.feed(data[first + second :])

    assert reader.result() == read(data).log


@QUICK
@given(LOGS)
def test_no_secret_leaves_the_reader(data: bytes) -> None:
    text = (
        data
        + b"\n[2026-02-03 04:05:06] server_args=ServerArgs(model_path='/m/a', api_key='Zq81secret', tp_size=1)\n"
    )

    log = read(text).log

    assert "Zq81secret" not in repr(log)


@QUICK
@given(st.text(max_size=300))
def test_argument_readers_never_raise(text: str) -> None:
    for reader in (read_call, read_dict):
        banner = reader(text)
        assert 0 <= banner.end <= len(text)


@QUICK
@given(
    st.dictionaries(
        st.from_regex(r"\A[a-z_][a-z0-9_]{0,12}\Z"),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20)),
            lambda inner: st.one_of(
                st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
            ),
            max_leaves=6,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_printed_arguments_come_back(values: dict[str, object]) -> None:
    as_call = ", ".join(f"{name}={value!r}" for name, value in values.items()) + ")"

    for banner in (read_call(as_call), read_dict(repr(values)[1:])):
        assert banner.complete
        assert {one.name: one.value for one in banner.arguments} == values


@QUICK
@given(
    st.sampled_from(["Decode batch, ", "Prefill batch [3], ", "#running-req: 1, ", "new fill batch. "]),
    st.text(max_size=200),
)
def test_batch_lines_never_raise_and_point_into_their_text(begin: str, text: str) -> None:
    body = begin + text

    batch = parse_batch(body)

    if batch is not None:
        assert all(0 <= pair.start <= pair.end <= len(body) for pair in batch.pairs)


def test_tricky_lines_read_the_same_in_single_bytes() -> None:
    for path in sorted(TRICKY.glob("*.log")):
        single, whole = read(path, block=1), read(path)

        assert _comparable(single) == _comparable(whole), path.name


def _comparable(reading: Reading) -> tuple[object, ...]:
    return reading.log, [repr(row) for row in reading.batches], reading.requests
