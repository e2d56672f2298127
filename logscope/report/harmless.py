"""Makes text of a log, a path or a query harmless to show: nothing in it can move a cursor or turn a line.

Every report puts foreign text through here. Control characters, escape sequences, direction marks and
invisible characters are shown as what they are (``\\x1b``, ``\\u202e``); nothing is taken out.
"""

from __future__ import annotations

import unicodedata

from parsers.records import Json

_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories that a reader cannot see or that change how the rest is shown."""


def harmless(text: str) -> str:
    """`text` on one line: line ends and tabs become spaces, what cannot be seen becomes its escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def harmless_lines(text: str) -> list[str]:
    """`text` as lines, each of them harmless."""
    return [harmless(line) for line in text.replace("\r\n", "\n").split("\n")]


def folded(text: str) -> str:
    """`text` harmless and with every run of white space as one space."""
    return " ".join(harmless(text).split())


def is_hidden(char: str) -> bool:
    """True for a character that cannot be seen or that changes how others are shown."""
    return unicodedata.category(char) in _INVISIBLE


def escape(char: str) -> str:
    """``\\x1b``, ``\\u202e`` or ``\\U000e0041``: how a hidden character is written."""
    point = ord(char)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def cells(text: str) -> int:
    """How many terminal columns `text` takes (wide characters take two, combining ones none)."""
    if text.isascii():
        return len(text)
    return sum(_cell(char) for char in text)


def clip(text: str, width: int) -> str:
    """The beginning of `text` in at most `width` columns, with an ellipsis when something is cut."""
    if cells(text) <= width:
        return text
    kept, used = [], 0
    for char in text:
        used += _cell(char)
        if used > width - 1:
            break
        kept.append(char)
    return "".join(kept) + "…"


def clip_middle(text: str, width: int) -> str:
    """`text` in at most `width` columns with its middle cut: for paths, whose ends tell most."""
    if cells(text) <= width or width < 8:
        return clip(text, width)
    head = (width - 1) // 3
    tail = width - 1 - head
    while cells(text[-tail:]) > width - 1 - head:
        tail -= 1
    return clip(text, head + 1).rstrip("…") + "…" + text[-tail:]


def value_text(value: Json) -> str:
    """A value as SGLang users write it: ``None``, ``True``, ``0.9``, bare words, quoted when ambiguous."""
    if isinstance(value, str):
        plain = harmless(value)
        ambiguous = not plain or plain != plain.strip() or plain in ("None", "True", "False")
        return f"'{plain}'" if ambiguous else plain
    return harmless(str(value))


def _shown(char: str) -> str:
    if char in "\n\r\t\v\f":
        return " "
    return escape(char) if is_hidden(char) else char


def _cell(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
