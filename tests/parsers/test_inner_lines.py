"""Inner lines of tracebacks taken many at once are what the careful lane makes of each of them."""

from __future__ import annotations

from random import Random

import pytest

import parsers.log
from parsers.inner_lines import InnerReader
from parsers.log import LogReader
from parsers.records import ParsedLog

_BEGIN = "[2026-02-03 04:05:06 TP0] server_args=ServerArgs(model_path='/m/a', tp_size=1)\n"
_LINES = (
    '  File "/opt/sglang/python/sglang/srt/a.py", line {n}, in run',
    '  File "/opt/sglang-0.4.7/python/sglang/srt/a.py", line {n}, in run',
    '  File "/a/b c.py", line {n}',
    "    self.step(batch, key={n})",
    "    ~~~~~^^^^^^^",
    "    raise RuntimeError('exception {n}')",
    "    api_key = 'sk-abcdefghijklmnop1234'",
    "    ** On entry to demo",
    "  [Previous line repeated {n} more times]",
    "  12: a task",
    "   ",
    "    a 10%|## | 1/9 [00:01<00:02,  8.9it/s]",
    "    \x1b[31mred\x1b[0m",
    "    python -m sglang.launch_server --port {n}",
    "    caf\u00e9 \u5b8c",
    "    " + "x" * 3000,
    "    torch.cuda.init()",
)


def _text(seed: int) -> bytes:
    choose = Random(seed)
    parts = [_BEGIN] if seed % 3 else []
    for turn in range(40):
        head = "[2026-02-03 04:05:06 TP0] Scheduler hit an exception: " if choose.random() < 0.6 else ""
        parts.append(f"{head}Traceback (most recent call last):\n")
        for _ in range(choose.randrange(1, 90 if turn % 10 == 0 else 12)):
            line = choose.choice(_LINES[: 5 if choose.random() < 0.7 else None])
            parts.append(
                line.replace("{n}", str(choose.randrange(3))) + choose.choice(("\n", "\n", "\n", "\r\n"))
            )
        parts.append(choose.choice(("ValueError: no\n", "ValueError: 5\n\n", "")))
    return "".join(parts).encode()


def _read(text: bytes, in_blocks: bool) -> ParsedLog:
    reader = LogReader(hot=in_blocks)
    for start in range(0, len(text), 4_001):
        reader.feed(text[start : start + 4_001])
    return reader.result()


@pytest.mark.parametrize("seed", range(12))
def test_blocks_and_lines_give_one_result(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers.log, "HOT_BYTES", 1)
    monkeypatch.setattr(parsers.log, "_PROBE_LINES", 3)
    text = _text(seed)

    assert _read(text, True) == _read(text, False)


def test_what_stands_in_inner_lines_is_found_once() -> None:
    reader = InnerReader()
    text = b'  File "/a/b.py", line 3, in f\n    g()\n    ^^^\n  File "/a/b.py", line 4, in g\n    h()'

    inner = reader.read(text)

    assert [(frame.file, frame.line, frame.function) for frame in inner.frames] == [
        ("/a/b.py", 3, "f"),
        ("/a/b.py", 4, "g"),
    ]
    assert inner.count == 5
    assert inner.source == "h()"
    assert reader.read(bytes(bytearray(text))) is inner


@pytest.mark.parametrize("line", [b"    key='hf_abcdefghijklmnop1234'", b"  9: text", b"  ", b"    x\x00y"])
def test_a_line_that_tells_more_ends_them(line: bytes) -> None:
    inner = InnerReader().read(b'  File "/a/b.py", line 3, in f\n' + line + b"\n    g()")

    assert inner.count == 1
