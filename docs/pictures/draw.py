"""Draws every screen from the sample logs as SVG, at 80x24 and 120x40: ``python docs/pictures/draw.py``."""

from __future__ import annotations

import asyncio
import os
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
}


async def draw(store: Path, name: str, size: tuple[int, int]) -> None:
    """One screen at one size."""
    from logscope.tui.app import LogScopeApp
    from tests.tui.conftest import press, settle

    start, keys = SCREENS[name]
    app = LogScopeApp(store, start=start)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, *keys)
        text = app.export_screenshot(title="logscope triage")
        text = text.replace(f"{ROOT}/", "").replace(str(ROOT).replace("-", "&#x2011;"), "")
        (HERE / f"{name}-{size[0]}x{size[1]}.svg").write_text(text, encoding="utf-8")
        app.memory.put("runs.filter", "")


def main() -> None:
    """All screens at all sizes."""
    from logscope.store import Store

    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(XDG_STATE_HOME=folder, TEXTUAL_ANIMATIONS="none")
        store = Path(folder) / "logscope.duckdb"
        Store.open(store).ingest(["sample_logs"])
        for name in SCREENS:
            for size in SIZES:
                asyncio.run(draw(store, name, size))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
