"""What the terminal UI costs: ``python benchmarks/tui.py [FOLDER]`` (needs 1.2 GB; default: the temp folder).

Prints one JSON object:

- CPU seconds of the whole command, in a terminal of 120x40, until something is seen: of an empty Textual app,
  of ``logscope triage`` (Diff) and of the run list over a store of 5,000 runs. Compared commands take turns;
  told are medians and multiples of the empty app. Of the Diff: what failed (outcome, root error and its line)
  and the verdict with its causes, each when the last thing done was ``logscope ingest``, when this user never
  saw the store before, and when it was looked at before. Of the run list: its frame and its rows.
- Bytes that a key sends over the wire, for each screen.
- CPU seconds to open a log of 1 GB at its failure, beyond what the app took before, and the longest time that
  the event loop was held while that log is scrolled and searched.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from terminal import Terminal

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_logs"
NEWEST = "s03_fail_eagle3_context_len.log"
RUNS = int(os.environ.get("LOGSCOPE_BENCH_RUNS", "5000"))
TURNS = 7
LINE = (
    b"[2026-11-30 17:00:00 TP0] Decode batch, #running-req: 12, #token: 12345, token usage: 0.12, "
    b"cuda graph: True, gen throughput (token/s): 812.33, #queue-req: 0\n"
)
EMPTY = (sys.executable, "-c", "from textual.app import App; App().run()")
RUN_LIST = (
    "import gc, sys; gc.disable()\nfrom pathlib import Path\nfrom logscope.tui.app import LogScopeApp\n"
    "LogScopeApp(Path(sys.argv[1]), start='runs').run()"
)
FAILURE, VERDICT, MODEL = "failed: ValueError|Failed in stage", "Failed in stage", "tiny-llama"
"""What is seen first of a failure, of its explanation and of the run list."""
STEPS = 6
"""Times that a key is pressed; the median counts."""


def first_paint(store: Path, state: Path) -> dict[str, Any]:
    """CPU until something is seen, medians of turns. `state` is what the last ingest left."""
    diff = (sys.executable, "-m", "logscope", "triage", "--db", str(store))
    runs = (sys.executable, "-c", RUN_LIST, str(store))
    nothing, now = state.with_name("nothing"), state.with_name("now")
    paints = (
        ("empty_app", EMPTY, nothing, " {100}"),
        ("diff_failure_after_ingest", diff, state, FAILURE),
        ("diff_causes_after_ingest", diff, state, VERDICT),
        ("diff_failure_never_seen", diff, nothing, FAILURE),
        ("diff_causes_never_seen", diff, nothing, VERDICT),
        ("diff_causes_again", diff, _seen(diff, VERDICT, now), VERDICT),
        ("runs_frame", runs, nothing, "reading the history"),
        ("runs_never_seen", runs, nothing, MODEL),
        ("runs_again", runs, _seen(runs, MODEL, now), MODEL),
    )
    costs: dict[str, list[float]] = {name: [] for name, *_ in paints}
    for _ in range(TURNS):
        for name, words, kept, wanted in paints:
            shutil.rmtree(now, ignore_errors=True)
            if kept.exists():
                shutil.copytree(kept, now)
            terminal = Terminal(words, env={"XDG_STATE_HOME": str(now)})
            terminal.until(wanted)
            costs[name].append(terminal.kill())
    medians = {name: statistics.median(taken) for name, taken in costs.items()}
    return {
        "first_paint_cpu_s": {name: round(cpu, 3) for name, cpu in medians.items()},
        "first_paint_ratio": {name: round(cpu / medians["empty_app"], 2) for name, cpu in medians.items()},
    }


def _seen(words: tuple[str, ...], wanted: str, now: Path) -> Path:
    """The state folder after the app was looked at until it came to rest."""
    shutil.rmtree(now, ignore_errors=True)
    terminal = Terminal(words, env={"XDG_STATE_HOME": str(now)})
    terminal.until(wanted)
    while not list(now.rglob("views-*.json")):
        terminal.rest()
    terminal.kill()
    return Path(shutil.copytree(now, now.with_name(f"seen-{len(wanted)}")))


def wire(store: Path, state: Path) -> dict[str, dict[str, int]]:
    """Screen and size -> key -> bytes that one press of it sends."""
    told: dict[str, dict[str, int]] = {}
    screens = {"Diff": "", "Log": "\r", "Runs": "1", "Errors": "3", "Throughput": "4"}
    for width, height in ((80, 24), (120, 40)):
        for name, way in screens.items():
            words = (sys.executable, "-m", "logscope", "triage", "--db", str(store))
            terminal = Terminal(words, (width, height), {"XDG_STATE_HOME": str(state)})
            terminal.until("max_position_embeddings")
            terminal.rest()
            if way:
                terminal.press(way)
            terminal.press("g")
            told[f"{name} {width}x{height}"] = {
                said: round(statistics.median(terminal.press(key) for _ in range(STEPS)))
                for said, key in (("j", "j"), ("ctrl+d", "\x04"), ("k", "k"))
            }
            terminal.kill()
    return told


def store_with_runs(folder: Path) -> Path:
    """A store with 5,000 runs: those of the sample logs, and their rows again for earlier days.

    The newest failed launch is taken in by a command of its own at last.
    """
    import duckdb

    from logscope.store import Store

    path = folder / "many.duckdb"
    Store.open(path).ingest([str(log) for log in SAMPLES.glob("*.log") if log.name != NEWEST])
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
    ingest = (sys.executable, "-m", "logscope", "ingest", "--db", str(path), str(SAMPLES / NEWEST))
    subprocess.run(ingest, check=True, stdout=subprocess.DEVNULL)
    return path


def large_log(folder: Path) -> tuple[Path, Path]:
    """A log of 1 GB whose failure stands at its end, and a store that has it."""
    from logscope.store import Store

    log, store = folder / "large.log", folder / "large.duckdb"
    sample = (SAMPLES / NEWEST).read_bytes()
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
    """Longest time, milliseconds, for which the event loop did not come round while `work` was done."""
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
    return round(1000 * longest, 1)


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
        gc.freeze()  # as `logscope triage` does
        began = time.process_time()
        page = LogPage(Place("bad", str(log), run.run.root_error.line), run)
        await app.push_screen(page)
        view = page.query_one(LogView)
        while not view.line_text(run.run.root_error.line) or view.cursor != run.run.root_error.line:
            await asyncio.sleep(0.001)
        await pilot.pause()
        opened = time.process_time() - began

        async def scroll() -> None:
            for keys in (["g"], ["ctrl+d"] * 20, ["G"], ["ctrl+u"] * 20):
                await pilot.press(*keys)
            while not page._file or not page._file.is_counted:
                await asyncio.sleep(0.01)
            await pilot.press("G")

        async def look(text: str) -> None:
            page.find(text)
            while page._jobs:
                await asyncio.sleep(0.01)
            page.action_next_hit(-1)
            while page._jobs:
                await asyncio.sleep(0.01)

        async def search() -> None:
            for text in ("nowhere to be found", "Nowhere to be found", "server_args="):
                await look(text)

        return {
            "large_log_open_cpu_s": round(opened, 3),
            "longest_block_scroll_ms": await held_while(scroll),
            "longest_block_search_ms": await held_while(search),
        }


def main() -> None:
    """Prints one JSON object."""
    given = sys.argv[1] if len(sys.argv) > 1 else tempfile.gettempdir()
    with tempfile.TemporaryDirectory(dir=given) as name:
        folder = Path(name)
        state = folder / "state"
        os.environ.update(XDG_STATE_HOME=str(state), PYTHONPATH=str(ROOT))
        store = store_with_runs(folder)
        result = first_paint(store, state)
        os.environ["XDG_STATE_HOME"] = str(folder / "now")
        result["bytes_a_key"] = wire(store, folder / "now")
        result.update(asyncio.run(large(*large_log(folder))))
        sys.stdout.write(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
