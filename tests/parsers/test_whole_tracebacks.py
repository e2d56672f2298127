"""Tracebacks that are taken whole are read as their lines are."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import parsers.log
from parsers.careful import CarefulReader
from parsers.log import LogReader
from parsers.records import ParsedLog

_BANNER = "[2026-02-03 04:05:00 TP0] server_args=ServerArgs(model_path='/m/a', tp_size={n})\n"
_HEADERS = (
    "{head}Scheduler hit an exception: Traceback (most recent call last):\n",
    "{head}Scheduler hit an exception: Traceback (most recent call last):\n",
    "{head}TokenizerManager hit an exception: Traceback (most recent call last):\n",
    "{head}ERROR: a plug-in: Traceback (most recent call last):\n",
    "Process sglang::scheduler_TP{n}:\nTraceback (most recent call last):\n",
    "Traceback (most recent call last):\n",
    "Exception in callback demo(<Task {n}>)\n\nTraceback (most recent call last):\n",
    "{head}prompt='Traceback (most recent call last):\n",
    "  + Exception Group Traceback (most recent call last):\n",
    "{head}a key hf_abcdefghijklmnop1234 in: Traceback (most recent call last):\n",
)
_FRAMES = (
    '  File "/opt/sglang/python/sglang/srt/a.py", line {n}, in run\n    self.step(key={n})\n',
    '  File "/opt/demo/benchmark/b.py", line {n}, in warmup\n    go()\n    ~~^^\n',
    '  File "<string>", line {n}, in <module>\n',
    '  File "/opt/bin/sglang", line {n}, in <module>\n    from sglang import x\n',
    '  File "/x/multiprocessing/spawn.py", line {n}, in spawn_main\n    exitcode = _main(fd)\n',
    '  File "/x/sglang/launch_server.py", line {n}, in <module>\n    from sglang.srt import y\n',
    '  File "/x/sglang/srt/server_args.py", line {n}, in __post_init__\n    check()\n',
)
_EXCEPTIONS = (
    "RuntimeError: size {n} but {n}0 was expected\n",
    "RuntimeError: size {n} but {n}0 was expected\n",
    "AssertionError\n",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {n}.00 MiB.\n",
    "KeyError: 'a.{n}'\n",
    "ValueError: no\nmore of the message {n}\n",
    "[rank{n}]: OSError: gone\n",
    "File not found\n",
    "self.cur_batch: None\n",
    "EOFError\r\n",
    "subprocess.CalledProcessError: Command 'x' died with exit code {n}.\n",
    "",
)
_BEHIND = (
    "",
    "\n",
    "\n\n",
    "\nDuring handling of the above exception, another exception occurred:\n\n",
    "{head}words behind a head {n}\n",
    "words without a head {n}\n",
    "{head}Warning: a thing {n} is deprecated\n",
    "\nReceived sigquit from a child process. It usually means the child failed.\n",
)


def _text(seed: int) -> bytes:
    choose = Random(seed)
    parts = [_BANNER.replace("{n}", "2")] if seed % 4 else []
    few = seed % 2 == 0
    for turn in range(120):
        if turn % 50 == 40:
            parts.append(_BANNER.replace("{n}", str(turn)))
        part = choose.choice(_HEADERS[: 6 if few else None])
        part += "".join(choose.choices(_FRAMES[: 3 if few else None], k=choose.randrange(1, 5)))
        part += choose.choice(_EXCEPTIONS[: 5 if few else None])
        part += choose.choice(_BEHIND[: 6 if few else None])
        head = f"[2026-02-03 04:{turn // 60 + 5:02d}:{turn % 60:02d}{choose.choice(('', ' TP0', ' TP1'))}] "
        parts.append(part.replace("{head}", head).replace("{n}", str(choose.randrange(12))))
    return "".join(parts).encode()


def _read(text: bytes, in_blocks: bool, size: int = 4_001) -> ParsedLog:
    reader = LogReader(hot=in_blocks)
    for start in range(0, len(text), size):
        reader.feed(text[start : start + size])
    return reader.result()


@pytest.fixture(autouse=True)
def small_blocks_go_hot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lane for blocks normally starts where a block is large."""
    monkeypatch.setattr(parsers.log, "HOT_BYTES", 1)
    monkeypatch.setattr(parsers.log, "_PROBE_LINES", 3)


@pytest.mark.parametrize("seed", range(24))
def test_whole_tracebacks_and_lines_give_one_result(seed: int) -> None:
    text = _text(seed)
    careful = _read(text, False)

    assert _read(text, True) == careful
    assert _read(text, True, 1 << 20) == careful


def test_a_traceback_that_came_before_is_taken_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    take_whole = CarefulReader.take_whole

    def count(reader: CarefulReader, *words: Any) -> int:
        taken.append(take_whole(reader, *words))
        return taken[-1]

    monkeypatch.setattr(CarefulReader, "take_whole", count)
    head = "[2026-02-03 04:05:06 TP{n}] "
    block = (_HEADERS[0] + _FRAMES[0] + _EXCEPTIONS[0] + "\n").replace("{head}", head)
    text = (_BANNER + f"{head}Load weight begin. avail mem=70.50 GB\n" * 300).replace("{n}", "0")
    text += "".join(block.replace("{n}", str(turn % 8)) for turn in range(40))

    log = _read(text.encode(), True)

    assert taken[-30:] == [5] * 30
    assert [(error.type, error.count) for error in log.runs[0].errors] == [("RuntimeError", 40)]
