"""What each entry point may load: looked at in a fresh process, since imports are for ever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_logs"
HEAVY = {"duckdb", "_duckdb", "pandas", "numpy", "textual", "pyarrow", "rich"}


MAIN = """
import sys
from logscope.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
"""
TELL = """
import json, sys
print("LOADED" + json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""


def _loaded(code: str, folder: Path, *words: str) -> set[str]:
    """The top-level modules that are loaded after `code` ran with `words` as its arguments."""
    script = f"{code}\n{TELL}"
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "LOGSCOPE_DB": str(folder / "store.duckdb"), "NO_COLOR": "1"},
        timeout=120,
        check=False,
    )
    last = done.stdout.rsplit("LOADED", 1)
    assert len(last) == 2, done.stderr
    return set(json.loads(last[1]))


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["diff", "--help"], ["show", "--help"], ["triage", "--help"], ["nonsense"]],
)
def test_help_and_version_load_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    assert not _loaded(MAIN, tmp_path, *words) & HEAVY


def test_parsers_know_nothing_of_the_product(tmp_path: Path) -> None:
    modules = "".join(
        f"import {'.'.join(path.relative_to(ROOT).with_suffix('').parts)}\n"
        for path in sorted((ROOT / "parsers").rglob("*.py"))
        if path.name != "__init__.py"
    )

    assert not _loaded(modules, tmp_path) & {"logscope", "duckdb", "_duckdb", "textual", "pandas"}


def test_reports_load_no_store_engine_and_no_screen(tmp_path: Path) -> None:
    modules = "".join(
        f"import logscope.report.{path.stem}\n"
        for path in sorted((ROOT / "logscope" / "report").glob("*.py"))
        if path.name != "__init__.py"
    )

    assert not _loaded(modules, tmp_path) & {"duckdb", "_duckdb", "textual", "pandas"}


def test_diff_of_stored_runs_loads_no_screen_and_no_pandas(tmp_path: Path) -> None:
    good, bad = str(SAMPLES / "s02_ok_eagle3.log"), str(SAMPLES / "s03_fail_eagle3_context_len.log")
    taken = _loaded(MAIN, tmp_path, "ingest", "-q", good, bad)

    loaded = _loaded(MAIN, tmp_path, "diff", "last-failed")

    assert not taken & {"textual", "pandas"}
    assert "_duckdb" in loaded
    assert not loaded & {"duckdb", "numpy", "textual", "pandas", "rich"}
