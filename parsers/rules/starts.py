"""Text that stands at the begin of a launch, before its arguments are printed."""

from __future__ import annotations

import functools
from enum import IntEnum

import regex


class Start(IntEnum):
    """How surely a line begins a launch."""

    NONE = 0
    FRESH = 1
    """Begins one where the launch before it died before its arguments were printed."""
    LIKELY = 2
    """Begins one where the launch before it has ended."""
    SURE = 3
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
    ("usage: launch_server.py [-h] --model-path MODEL_PATH", Start.SURE),
    ("usage: sglang serve [-h] --model-path MODEL_PATH", Start.SURE),
    ("/x/sglang/launch_server.py:71: UserWarning: 'python -m sglang.launch_server' is ...", Start.LIKELY),
    ("/x/sglang/srt/layers/quantization/awq.py:73: UserWarning: Only CUDA supports AWQ.", Start.FRESH),
    ("/x/torch/cuda/__init__.py:61: FutureWarning: The pynvml package is deprecated.", Start.FRESH),
    ("<frozen importlib._bootstrap_external>:1301: FutureWarning: a demo is deprecated.", Start.FRESH),
    ("Traceback (most recent call last):", Start.FRESH),
    ("/usr/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: leaked", Start.NONE),
    ("./run.sh: line 9:    41 Killed                  python3 -m sglang.launch_server", Start.NONE),
    ("Starting server worker_0 with command: python -m sglang.launch_server --port 1", Start.NONE),
    ('  File "/opt/sglang/launch_server.py", line 3, in <module>', Start.NONE),
)
USAGE_ERRORS: tuple[str, ...] = (
    "launch_server.py: error: unrecognized arguments: --demo-switch 3",
    "sglang serve: error: argument --dtype: invalid choice: 'float99' (choose from 'auto', 'half')",
)
_LONGEST = 2000
_ECHOES = ("kill_process_tree",)


def is_usage_error(body: str) -> bool:
    """True when the command line of a launch is refused."""
    return ": error: " in body[:80] and _usage_error().match(body) is not None


def head_start(body: str) -> Start:
    """Whether a line with SGLang's own head can begin a launch: any but the last words of one."""
    return Start.NONE if body.startswith(_ECHOES) else Start.FRESH


def launch_start(text: str) -> Start:
    """Whether a line without a head begins a launch."""
    if text.startswith("Traceback (most") or ("Warning: " in text[:300] and _warning().match(text)):
        return Start.LIKELY if "launch_server.py:" in text[:200] else Start.FRESH
    if "glang" not in text and "launch_server" not in text and "SGLang" not in text:
        return Start.NONE
    match = _pattern().match(text[:_LONGEST])
    if match is None:
        return Start.NONE
    return Start.SURE if match["banner"] or match["prompt"] else Start.LIKELY


@functools.cache
def _pattern() -> regex.Pattern[str]:
    return regex.compile(
        r"(?P<banner>usage: (?:launch_server\.py|sglang(?: serve)? \[)|== SGLang ==|SGLang Version \d)"
        r"|(?P<prompt>[^\n$#%>]{0,200}[$#%>] +|\+{1,3} +)?(?:[A-Z_][A-Z0-9_]*=\S{0,200} +)*"
        r"(?:(?:nohup|exec|sudo|time|env) +)*(?:\S{0,200}/)?"
        r"(?:python[\d.]* +(?:-[a-zA-Z] +)*\S{0,200}(?:sglang\.launch_server|launch_server\.py)"
        r"|sglang +serve )"
    )


@functools.cache
def _usage_error() -> regex.Pattern[str]:
    return regex.compile(r"(?:\S{0,200}launch_server(?:\.py)?|sglang(?: serve)?): error: ")


@functools.cache
def _warning() -> regex.Pattern[str]:
    """A warning of Python itself, as it stands at the begin of most launches."""
    return regex.compile(
        r"(?!\S*resource_tracker)(?:/\S{1,250}\.py|<frozen [\w. ]{1,60}>):\d+: [A-Z]\w*Warning: "
    )
