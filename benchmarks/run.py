#!/usr/bin/env python3
"""Measure LogScope against other programs, and print ratios.

    python benchmarks/run.py                       # all parts on 200 MB logs
    python benchmarks/run.py --size 1G ingest      # one part on a larger log
    python benchmarks/run.py ingest --only lnav parse
    python benchmarks/run.py --repeat 5 start-up

Inputs are made with benchmarks/make_log.py and kept in benchmarks/data. Commands that are compared take
turns (A B C A B C); shown are medians of CPU seconds (user and system), of wall time and of peak memory.
Only ratios within one part mean anything: machines differ, and a busy one is slower for all.
lnav and polars take part when they are installed (`--python` names another interpreter that has polars),
SGLang's own log parser when `--sglang` names a wheel of it.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from make_failing_log import KINDS, make_failing_log
from make_log import Options, make_log, size_of
from measure import Contender, Cost, in_turn, median

HERE = Path(__file__).parent
ROOT = HERE.parent
PEERS = str(HERE / "peers.py")
LOGSCOPE = (sys.executable, "-m", "logscope")


@dataclass(frozen=True, slots=True)
class Bench:
    """What all parts share."""

    folder: Path
    size: int
    repeat: int
    polars: str | None
    """An interpreter that has polars."""
    sglang: str | None
    """A wheel of SGLang, or the folder that holds the package."""
    only: tuple[str, ...]
    """Other programs take part in `ingest` when their name holds one of these words; empty: all."""

    def log(self, name: str, options: Options) -> Path:
        """A made log, kept from an earlier run where it is there."""
        path = self.folder / f"{name}-{self.size // 1_000_000}M.log"
        truth = path.with_suffix(".truth")
        if not truth.exists():
            truth.write_text(json.dumps(make_log(path, options)))
        return path

    def clean(self, seed: int = 1) -> Path:
        return self.log(f"clean{seed}", Options(self.size, seed=seed))

    def dirty(self) -> Path:
        return self.log("dirty", Options(self.size, wrap="docker", dirty=True, ranks=4))

    def store(self, name: str) -> Path:
        return self.folder / f"{name}.duckdb"

    def large_store(self) -> Path:
        """A store of 5,000 runs, built anew once in each call of this script."""
        store = self.store("large")
        if not store.exists():
            words = [sys.executable, str(HERE / "store.py"), "build", str(store), "--batch-rows", "500000"]
            subprocess.run(words, check=True, capture_output=True)
        return store

    def ingest(self, name: str, *logs: Path) -> Contender:
        """`logscope ingest` into a store that holds no run each time."""
        store, empty = self.store(name), self.store("empty")
        if not empty.exists():
            nothing = self.folder / "nothing.log"
            nothing.write_text("nothing of a launch\n")
            make_empty = [*LOGSCOPE, "ingest", str(nothing), "--db", str(empty)]
            subprocess.run(make_empty, check=False, capture_output=True)

        def forget() -> None:
            store.with_name(store.name + ".wal").unlink(missing_ok=True)
            shutil.copyfile(empty, store)

        words = (*LOGSCOPE, "ingest", *map(str, logs), "--db", str(store))
        return Contender(f"logscope ingest ({name})", words, forget)


def ingest(bench: Bench) -> None:
    """Ingest and parsing against other programs."""
    log = str(bench.clean())
    peer = (sys.executable, PEERS)
    contenders = [
        bench.ingest("clean", Path(log)),
        Contender("logscope, parse only", (*peer, "parse", log)),
        Contender("re, line by line", (*peer, "re", log)),
        Contender("regex, line by line", (*peer, "regex", log)),
        Contender("DuckDB regexp_extract", (*peer, "duckdb", log)),
        Contender("wc -l", ("wc", "-l", log)),
    ]
    if bench.polars:
        contenders.append(Contender("polars, three kinds", (bench.polars, PEERS, "polars", log)))
    if bench.polars and bench.sglang:
        words = (bench.polars, PEERS, "sglang", log, bench.sglang)
        contenders.append(Contender("SGLang's log parser (polars)", words))
    if shutil.which("lnav"):
        query = ";SELECT log_level, count(*) FROM all_logs GROUP BY log_level"
        contenders += [
            Contender("lnav -n, index and print", ("lnav", "-n", log)),
            Contender("lnav -n -q, index only", ("lnav", "-n", "-q", log)),
            Contender("lnav, one query", ("lnav", "-n", "-q", "-c", query, log)),
        ]
    others = [one for one in contenders[1:] if not bench.only or any(word in one.name for word in bench.only)]
    costs = in_turn([contenders[0], *others], bench.repeat)
    _table(costs, contenders[0].name, Path(log).stat().st_size)
    _check(bench.store("clean"), Path(log))


def dirty(bench: Bench) -> None:
    """A dirty log of four ranks behind docker's prefix against a clean one."""
    clean, damaged = bench.ingest("clean", bench.clean()), bench.ingest("dirty", bench.dirty())
    costs = in_turn([clean, damaged], bench.repeat)
    _table(costs, clean.name, bench.clean().stat().st_size)
    _check(bench.store("dirty"), bench.dirty())


def careful(bench: Bench) -> None:
    """Logs without a regular line, read from memory, at most 12 MB each: MB per CPU second."""
    size = min(bench.size, 12_000_000)
    columns = ("logscope", "one line at a time", "re")
    _say(f"\n{'':<28}{'one by one':>11}{'now':>7}{'x':>7}{'re':>7}{'re : now':>10}")
    for kind, prefix in [*((kind, "none") for kind in KINDS), ("mix", "docker"), ("mix", "k8s")]:
        log = bench.folder / f"failing-{kind}-{prefix}-{size // 1_000_000}M.log"
        if not log.exists():
            make_failing_log(log, kind, size, prefix)
        words = [sys.executable, str(HERE / "feed.py"), str(log), "--repeat", str(bench.repeat)]
        told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        now, before, peer = (size / 1e6 / told[column] for column in columns)
        name = kind if prefix == "none" else f"{kind}, {prefix} prefix"
        _say(f"{name:<28}{before:>11.1f}{now:>7.1f}{now / before:>7.1f}{peer:>7.0f}{peer / now:>10.1f}")


def compare(bench: Bench) -> None:
    """`diff` of two raw logs against one ingest."""
    good, bad = bench.clean(1), bench.clean(2)
    one = bench.ingest("clean", good)
    raw = Contender("logscope diff, two raw logs", (*LOGSCOPE, "diff", str(good), str(bad)), codes=(0, 1))
    _table(in_turn([one, raw], bench.repeat), one.name, good.stat().st_size)


def start_up(bench: Bench) -> None:
    """Short commands against the interpreter and DuckDB alone, on a store of 5,000 runs."""
    store = bench.large_store()
    good, bad = (hashlib.md5(number).hexdigest()[:16] for number in (b"4940", b"4920"))
    contenders = [
        Contender("python -c pass", (sys.executable, "-c", "pass")),
        Contender("logscope --help", (*LOGSCOPE, "--help")),
        Contender("logscope --version", (*LOGSCOPE, "--version")),
        Contender("python -c 'import duckdb'", (sys.executable, "-c", "import duckdb")),
        Contender(
            "logscope diff, two stored runs",
            (*LOGSCOPE, "diff", good, bad, "--db", str(store)),
            codes=(0, 1),
        ),
        Contender("logscope runs", (*LOGSCOPE, "runs", "--db", str(store))),
    ]
    costs = in_turn(contenders, max(bench.repeat, 7))
    _table(costs, contenders[0].name, 0)
    duckdb, diff = (median(costs[contenders[place].name]).cpu for place in (3, 4))
    _say(f"diff of two stored runs = {diff / duckdb:.1f} x import duckdb")


PARTS: dict[str, Callable[[Bench], None]] = {
    "ingest": ingest,
    "dirty": dirty,
    "careful": careful,
    "diff": compare,
    "start-up": start_up,
}


def _table(costs: dict[str, list[Cost]], base: str, size: int) -> None:
    """Medians, with the CPU of each as a multiple of the first one's."""
    first = median(costs[base])
    columns = f"\n{'':<36}{'CPU s':>8}{'x':>7}{'wall s':>8}{'MB':>7}"
    _say(columns + (f"{'MB/CPU s':>10}" if size else ""))
    for name, runs in costs.items():
        cost = median(runs)
        rate = f"{size / 1e6 / cost.cpu:>10.0f}" if size and cost.cpu else ""
        figures = f"{cost.cpu:>8.2f}{cost.cpu / first.cpu:>7.2f}{cost.wall:>8.2f}{cost.peak_mb:>7.0f}"
        _say(f"{name:<36}{figures}{rate}")


def _check(store: Path, log: Path) -> None:
    """Compare what is in the store with what the generator wrote."""
    truth: dict[str, int] = json.loads(log.with_suffix(".truth").read_text())
    query = (
        "SELECT count(*) FILTER (kind = 'decode'), count(*) FILTER (kind = 'prefill'), "
        "sum(running_req) FILTER (kind = 'decode'), sum(new_token), (SELECT count(*) FROM requests), "
        "(SELECT sum(lines) FROM logs) FROM batches"
    )
    words = [*LOGSCOPE, "sql", query, "--db", str(store), "--format", "csv"]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    row = told.splitlines()[1].split(",")
    names = ("decode", "prefill", "sum_decode_running", "sum_prefill_new_token", "access", "lines")
    found = dict(zip(names, map(int, map(float, row)), strict=True))
    wrong = {name: (value, truth[name]) for name, value in found.items() if value != truth[name]}
    share = log.stat().st_size / store.stat().st_size
    _say(f"store : log = 1 : {share:.1f}; {'rows and sums as written' if not wrong else f'WRONG: {wrong}'}")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _interpreter_with_polars(given: str | None) -> str | None:
    if given:
        return given
    return sys.executable if importlib.util.find_spec("polars") else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="parts to run (default: all)")
    parser.add_argument("--size", type=size_of, default=size_of("200M"), help="bytes of a log (default 200M)")
    parser.add_argument("--repeat", type=int, default=5, help="turns (default 5)")
    parser.add_argument("--folder", type=Path, default=HERE / "data", help="where inputs and stores lie")
    parser.add_argument("--python", help="an interpreter that has polars")
    parser.add_argument("--sglang", help="a wheel of SGLang, or the folder that holds the package")
    parser.add_argument("--only", nargs="*", default=[], help="words in the names of those that take part")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    os.environ["PYTHONPATH"] = str(ROOT)
    for name in ("empty", "large"):  # the schema may have changed since
        (given.folder / f"{name}.duckdb").unlink(missing_ok=True)
    polars = _interpreter_with_polars(given.python)
    bench = Bench(given.folder, given.size, given.repeat, polars, given.sglang, tuple(given.only))
    _say(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    for name in given.parts or PARTS:
        _say(f"\n{name}: {PARTS[name].__doc__}")
        PARTS[name](bench)


if __name__ == "__main__":
    main()
