"""Environment variables that a log itself shows: on launch command lines, exports and listings.

Only shapes in which the variable certainly was set for the server are read; a mention in a message is none.
"""

from __future__ import annotations

import functools

import regex

SAMPLES: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "$ SGLANG_X=1 NCCL_DEBUG=INFO python3 -m sglang.launch_server --model-path /m/a",
        (("SGLANG_X", "1"), ("NCCL_DEBUG", "INFO")),
    ),
    (
        "user@host:~$ CUDA_VISIBLE_DEVICES=0,1 sglang serve --model-path /m/a",
        (("CUDA_VISIBLE_DEVICES", "0,1"),),
    ),
    ("export NCCL_IB_HCA=mlx5_0", (("NCCL_IB_HCA", "mlx5_0"),)),
    ("+ export GLOO_SOCKET_IFNAME='eth0'", (("GLOO_SOCKET_IFNAME", "eth0"),)),
    ('declare -x HOME_DIR="/data"', (("HOME_DIR", "/data"),)),
    ("ENV_VAR HCCL_BUFFSIZE=400", (("HCCL_BUFFSIZE", "400"),)),
    ("ENV_VAR_SYS ASCEND_LAUNCH_BLOCKING:1", (("ASCEND_LAUNCH_BLOCKING", "1"),)),
    (
        "docker run -e NCCL_DEBUG=INFO --env HF_HUB_OFFLINE=1 img python3 -m sglang.launch_server",
        (("NCCL_DEBUG", "INFO"), ("HF_HUB_OFFLINE", "1")),
    ),
)
NO_SAMPLES: tuple[str, ...] = (
    "Set SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1 to allow it.",
    "You can export NCCL_DEBUG=INFO for more.",
    "ServerArgs(model_path='/m/a')",
)

_LONGEST = 8000
"""Characters of a line that are looked at."""
_COMMANDS = ("sglang.launch_server", "sglang serve", "sglang.srt", "launch_server.py", "sglang_router.launch")


def shown_variables(text: str) -> tuple[tuple[str, str], ...]:
    """(name, value) of each variable that the line shows as set for the server."""
    if "=" not in text and ":" not in text:
        return ()
    head = text[:_LONGEST]
    if any(command in head for command in _COMMANDS) and not text.startswith(" "):
        return _from_command(head)
    if "export " in text[:12] or "declare -x " in text[:14] or text.startswith("ENV"):
        match = _single().match(text)
        if match is not None:
            return ((match["name"], _unquoted(match["value"])),)
    return ()


def _from_command(text: str) -> tuple[tuple[str, str], ...]:
    start = min(position for position in (text.find(command) for command in _COMMANDS) if position >= 0)
    found = [(match["name"], _unquoted(match["value"])) for match in _assignment().finditer(text, 0, start)]
    return tuple(found)


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"" else value


@functools.cache
def _single() -> regex.Pattern[str]:
    return regex.compile(
        r"(?:(?:\+{1,3} )?export |declare -x |ENV(?:_VAR)?(?:_SYS)?:? )(?P<name>[A-Z_][A-Z0-9_]{1,80})[=:]"
        r"(?P<value>[^\n]{0,2000})\Z"
    )


@functools.cache
def _assignment() -> regex.Pattern[str]:
    return regex.compile(
        r"(?:(?<=\s)|(?<=^))(?P<name>[A-Z_][A-Z0-9_]{1,80})=(?P<value>'[^']{0,500}'|\"[^\"]{0,500}\"|[^\s'\"]{0,500})(?=\s)"
    )
