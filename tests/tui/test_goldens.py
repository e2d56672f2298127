"""What each screen looks like, as text. After a wanted change: ``LOGSCOPE_UPDATE_GOLDEN=1 pytest tests/tui``."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.tui.conftest import SAMPLES, Drive, press, screen_text

GOLDEN = Path(__file__).parent / "golden"
SIZES = [(60, 16), (80, 24), (120, 40)]
SCREENS: dict[str, tuple[str, tuple[str, ...]]] = {
    "runs": ("runs", ()),
    "diff": ("diff", ()),
    "errors": ("runs", ("3",)),
    "throughput": ("runs", ("slash", "p", "0", "2", "enter", "t")),
    "sql": ("runs", ("5", "f5")),
    "log": ("diff", ("enter",)),
    "help": ("diff", ("question_mark",)),
}


def steady(name: str, text: str) -> str:
    """The text without what differs from machine to machine: folders (also by length) and durations."""
    text = text.replace(str(SAMPLES.resolve()), "/logs")
    if name == "log":
        text = text.split("\n", 1)[1]  # the path of the log, cut to the width
    if name == "runs":
        text = "\n".join(line.split("│")[0].rstrip() for line in text.split("\n"))  # beside: the wrapped path
    return re.sub(r"\d+ ms", "N ms", text)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
async def test_the_screen_looks_as_it_did(
    drive: Drive, sample_store: Path, name: str, size: tuple[int, int]
) -> None:
    start, keys = SCREENS[name]
    async with drive(sample_store, size, start) as pilot:
        await press(pilot, *keys)
        shown = steady(name, screen_text(pilot)) + "\n"
    file = GOLDEN / f"{name}-{size[0]}x{size[1]}.txt"
    if os.environ.get("LOGSCOPE_UPDATE_GOLDEN"):
        file.write_text(shown, encoding="utf-8")

    assert shown == file.read_text(encoding="utf-8")
