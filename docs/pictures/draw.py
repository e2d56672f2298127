"""Draws every screen from the sample logs as SVG, at 80x24 and 120x40: ``python docs/pictures/draw.py``.

``draw.py FOLDER 200x50 textual-light`` draws them elsewhere, at another size, in another theme.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SIZES = [(80, 24), (120, 40)]
SCREENS: dict[str, tuple[str, tuple[str, ...]]] = {
    "runs": ("runs", ("j", "j", "j", "j", "j")),
    "diff": ("diff", ()),
    "errors": ("runs", ("3",)),
    "throughput": ("runs", ("slash", "p", "0", "2", "enter", "t")),
    "log": ("diff", ("enter",)),
    "sql": ("runs", ("5", "f5")),
    "help": ("diff", ("question_mark",)),
    "palette": ("diff", ("ctrl+p",)),
}


async def draw(store: Path, name: str, size: tuple[int, int], folder: Path, theme: str) -> None:
    """One screen at one size."""
    from logscope.tui.app import LogScopeApp
    from tests.tui.conftest import press, settle

    start, keys = SCREENS[name]
    app = LogScopeApp(store, start=start)
    app.theme = theme
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, *keys)
        text = app.export_screenshot(title="logscope triage")
        (folder / f"{name}-{size[0]}x{size[1]}.svg").write_text(text, encoding="utf-8")
        app.memory.put("runs.filter", "")


def main(words: list[str]) -> None:
    """All screens at all sizes."""
    from logscope.store import Store

    target = Path(words[0]).absolute() if words else HERE
    sizes = [(int(w), int(h)) for w, _, h in (words[1].partition("x"),)] if len(words) > 1 else SIZES
    theme = words[2] if len(words) > 2 else "textual-dark"

    logs = Path(tempfile.gettempdir()) / "sample_logs"  # a short path, and the same on every machine
    shutil.copytree(ROOT / "sample_logs", logs, dirs_exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(XDG_STATE_HOME=folder, TEXTUAL_ANIMATIONS="none")
        store = Path(folder) / "logscope.duckdb"
        Store.open(store).ingest([str(logs)])
        for name in SCREENS:
            for size in sizes:
                asyncio.run(draw(store, name, size, target, theme))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(sys.argv[1:])
