"""Text that stands at the begin of a launch, before its arguments are printed."""

from __future__ import annotations

import functools
from enum import IntEnum

import regex


class Start(IntEnum):
    """How surely a line begins a launch."""

    NONE = 0
    LIKELY = 1
    """Begins one where the launch before it has ended."""
    SURE = 2
    """Begins one wherever something of a launch stands before it."""


SAMPLES: tuple[tuple[str, Start], ...] = (
    ("== SGLang ==", Start.SURE),
    ("SGLang Version 0.5.11+05fb6a52", Start.SURE),
    ("user@host:~$ python3 -m sglang.launch_server --model-path /m/a", Start.SURE),
    ("(env) root@host:/w# A=1 B=2 nohup python -u -m sglang.launch_server --model-path /m/a", Start.SURE),
    ("+ python3 -m sglang.launch_server --model-path /m/a", Start.SURE),
    ("$ sglang serve --model-path /m/a", Start.SURE),
    ("python3 -m sglang.launch_server --model-path /m/a", Start.LIKELY),
    ("A=1 /opt/bin/python3.11 -m sglang.launch_server --model-path /m/a", Start.LIKELY),
    ("usage: launch_server.py [-h] --model-path MODEL_PATH", Start.LIKELY),
    ("./run.sh: line 9:    41 Killed                  python3 -m sglang.launch_server", Start.NONE),
    ("Starting server worker_0 with command: python -m sglang.launch_server --port 1", Start.NONE),
    ('  File "/opt/sglang/launch_server.py", line 3, in <module>', Start.NONE),
)
_LONGEST = 2000


def launch_start(text: str) -> Start:
    """Whether a line without a head begins a launch."""
    if "glang" not in text and "launch_server" not in text and "SGLang" not in text:
        return Start.NONE
    match = _pattern().match(text[:_LONGEST])
    if match is None:
        return Start.NONE
    return Start.SURE if match["banner"] or match["prompt"] else Start.LIKELY


@functools.cache
def _pattern() -> regex.Pattern[str]:
    return regex.compile(
        r"usage: launch_server\.py|(?P<banner>== SGLang ==|SGLang Version \d)"
        r"|(?P<prompt>[^\n$#%>]{0,200}[$#%>] +|\+{1,3} +)?(?:[A-Z_][A-Z0-9_]*=\S{0,200} +)*"
        r"(?:(?:nohup|exec|sudo|time|env) +)*(?:\S{0,200}/)?"
        r"(?:python[\d.]* +(?:-[a-zA-Z] +)*\S{0,200}(?:sglang\.launch_server|launch_server\.py)"
        r"|sglang +serve )"
    )
