"""What the terminal UI costs: ``python benchmarks/tui.py [FOLDER]`` (needs 1.2 GB; default: the temp folder).

Prints CPU seconds to the first paint with 5,000 runs and of an empty Textual app, CPU to open a 1 GB log near
its end, and the longest time that the event loop was held while that log is scrolled and searched.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_logs"
RUNS = int(os.environ.get("LOGSCOPE_BENCH_RUNS", "5000"))
LINE = (
    b"[2026-11-30 17:00:00 TP0] Decode batch, #running-req: 12, #token: 12345, token usage: 0.12, "
    b"cuda graph: True, gen throughput (token/s): 812.33, #queue-req: 0\n"
)

_EMPTY = """
import asyncio, time
from textual.app import App
async def main():
    app = App()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
asyncio.run(main())
print(time.process_time())
"""
_OURS = """
import asyncio, sys, time
from pathlib import Path
from logscope.tui.app import LogScopeApp
async def main():
    app = LogScopeApp(Path(sys.argv[1]), start=sys.argv[2])
    async with app.run_test(size=(120, 40)) as pilot:
        painted = time.process_time()
        while not app.screen.query_one('LineList').rows:
            await asyncio.sleep(0.002)
        await pilot.pause()
        print(painted, time.process_time())
asyncio.run(main())
"""


def cpu(code: str, *words: str) -> list[float]:
    """The figures that a fresh interpreter prints; the least of five."""
    told = []
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, cwd=ROOT
        )
        told.append([float(word) for word in done.stdout.split()])
    return [min(column) for column in zip(*told, strict=True)]


def store_with_runs(folder: Path) -> Path:
    """A store with 5,000 runs: those of the sample logs, and their rows again for earlier days."""
    import duckdb

    from logscope.store import Store

    path = folder / "many.duckdb"
    Store.open(path).ingest([str(SAMPLES)])
    connection = duckdb.connect(str(path))
    first = connection.execute("SELECT count(*) FROM runs").fetchone()
    copies = RUNS // (first[0] if first else 1)
    identity = "x.run_no + 1000 * k AS run_no, md5(x.run_id || k)[:16] AS run_id"
    for table, more in (("runs", ", x.order_at - k * INTERVAL 1 DAY AS order_at"), ("events", "")):
        connection.execute(
            f"INSERT INTO {table} SELECT x.* REPLACE ({identity}{more}) "
            f"FROM {table} x, range(1, {copies + 1}) r(k)"
        )
    connection.close()
    return path


def large_log(folder: Path) -> tuple[Path, Path]:
    """A log of 1 GB whose failure stands at its end, and a store that has it."""
    from logscope.store import Store

    log, store = folder / "large.log", folder / "large.duckdb"
    sample = (SAMPLES / "s03_fail_eagle3_context_len.log").read_bytes()
    cut = sample.index(b"Traceback")
    cut = sample.rindex(b"\n", 0, cut) + 1
    if not log.exists():
        with log.open("wb") as file:
            file.write(sample[:cut])
            for _ in range(64):
                file.write(LINE * ((1 << 24) // len(LINE)))
            file.write(sample[cut:])
    Store.open(store).ingest([str(log)])
    return log, store


async def held_while(work: Callable[[], Awaitable[None]]) -> float:
    """Longest time, seconds, for which the event loop did not come round while `work` was done."""
    longest, stop = 0.0, False

    async def watch() -> None:
        nonlocal longest
        while not stop:
            # CPU of this thread: what other processes take from the machine is not the app's doing
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)

    watcher = asyncio.create_task(watch())
    await work()
    stop = True
    await watcher
    return longest


async def large(log: Path, store: Path) -> dict[str, Any]:
    """Opens the log at its failure, scrolls to both ends, searches what is only at its begin and nowhere."""
    from logscope.tui.app import LogScopeApp
    from logscope.tui.rows import Place
    from logscope.tui.screens.log import LogPage
    from logscope.tui.widgets.log_view import LogView
    from tests.tui.conftest import settle

    app = LogScopeApp(store, start="runs")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)  # the run list and its verdict are there: what follows is the log's alone
        run = await asyncio.to_thread(app.service._store().load, "last-failed")
        assert run.run.root_error is not None
        import numpy  # noqa: F401 - as after the first log that was opened

        began = time.process_time()
        page = LogPage(Place("bad", str(log), run.run.root_error.line), run)
        await app.push_screen(page)
        view = page.query_one(LogView)
        while not view.line_text(run.run.root_error.line):
            await asyncio.sleep(0.001)
        opened = time.process_time() - began

        async def scroll() -> None:
            for keys in (["g"], ["ctrl+d"] * 20, ["G"], ["ctrl+u"] * 20):
                await pilot.press(*keys)
            while not page._file or not page._file.is_counted:
                await asyncio.sleep(0.01)
            await pilot.press("G")

        async def search() -> None:
            for text in ("server_args=", "nowhere to be found"):
                page.find(text)
                page.action_next_hit(-1)
                while page._jobs:
                    await asyncio.sleep(0.01)

        return {
            "open_cpu_s": round(opened, 3),
            "longest_block_scroll_ms": round(1000 * await held_while(scroll), 1),
            "longest_block_search_ms": round(1000 * await held_while(search), 1),
        }


def main() -> None:
    """Prints one JSON object."""
    given = sys.argv[1] if len(sys.argv) > 1 else tempfile.gettempdir()
    with tempfile.TemporaryDirectory(dir=given) as name:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        empty = cpu(_EMPTY)[0]
        result: dict[str, Any] = {"empty_app_cpu_s": round(empty, 3)}
        store = store_with_runs(folder)
        for screen in ("runs", "diff"):
            painted, shown = cpu(_OURS, str(store), screen)
            result[f"{screen}_first_paint_cpu_s"] = round(painted, 3)
            result[f"{screen}_first_paint_ratio"] = round(painted / empty, 2)
            result[f"{screen}_rows_shown_cpu_s"] = round(shown, 3)
        result.update(asyncio.run(large(*large_log(folder))))
        sys.stdout.write(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
