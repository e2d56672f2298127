#!/usr/bin/env python3
"""CPU seconds of reading a log that is in memory already, start-up aside: ``python benchmarks/feed.py LOG``.

Prints them as JSON: of LogScope's reader, of its careful lane alone, and of one pattern (`re`, a head's time
and rank) tried on each line. They take turns; the least of each counts, since other work only adds to it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from parsers.log import LogReader

BLOCK = 4 << 20
WARM_UP = 2_000_000
"""Bytes that are read once before, so that no pattern is compiled while it counts."""
_HEAD = re.compile(rb"(?:sglang-1  \| )?\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: ([^\]]+))?\] ")


def _feed(text: bytes, hot: bool) -> None:
    reader = LogReader(hot=hot)
    for start in range(0, len(text), BLOCK):
        reader.feed(text[start : start + BLOCK])


def _match_heads(text: bytes) -> None:
    for line in text.splitlines():
        _HEAD.match(line)


WAYS: dict[str, Callable[[bytes], None]] = {
    "logscope": lambda text: _feed(text, True),
    "one line at a time": lambda text: _feed(text, False),
    "re": _match_heads,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("log", type=Path)
    parser.add_argument("--repeat", type=int, default=3, help="turns (default 3)")
    given = parser.parse_args()
    text = given.log.read_bytes()
    least = dict.fromkeys(WAYS, float("inf"))
    for read in WAYS.values():
        read(text[:WARM_UP])
    for _ in range(given.repeat):
        for name, read in WAYS.items():
            before = time.process_time()
            read(text)
            least[name] = min(least[name], time.process_time() - before)
    sys.stdout.write(json.dumps(least) + "\n")


if __name__ == "__main__":
    main()
