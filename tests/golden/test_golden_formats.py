"""The bytes of every output format over the sample logs, compared with files that are read in review.

``LOGSCOPE_UPDATE_GOLDEN=1 python -m pytest tests/golden tests/test_readme.py`` writes them anew.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from logscope.cli.main import main

ROOT = Path(__file__).parent.parent.parent
EXPECTED = Path(__file__).parent / "expected"
S02, S03 = "sample_logs/s02_ok_eagle3.log", "sample_logs/s03_fail_eagle3_context_len.log"
S04 = "sample_logs/s04_ok_eagle3_overwrite_env.log"
P01, P02 = "sample_logs/p01_perf_base.log", "sample_logs/p02_perf_regress_max_running.log"
Q03 = "sample_logs/q03_fail_upgrade_removed_flag.log"
R06 = "sample_logs/r06_fail_mem_fraction_too_small.log"
R18 = "sample_logs/r18_hang_scheduler_stopped.log"

CASES: dict[str, tuple[int, list[str]]] = {
    "show_s02.txt": (0, ["show", S02]),
    "show_s03.txt": (1, ["show", S03]),
    "show_s03.json": (1, ["show", S03, "--format", "json"]),
    "show_s03.md": (1, ["show", S03, "--format", "markdown"]),
    "show_r18.txt": (1, ["show", R18]),
    "diff_s02_s03.txt": (1, ["diff", S02, S03]),
    "diff_s02_s03.json": (1, ["diff", S02, S03, "--format", "json"]),
    "diff_s02_s03.md": (1, ["diff", S02, S03, "--format", "markdown"]),
    "diff_s02_s03.html": (1, ["diff", S02, S03, "--format", "html"]),
    "diff_s02_s03.xml": (1, ["diff", S02, S03, "--format", "junit"]),
    "diff_s02_s03.github": (1, ["diff", S02, S03, "--format", "github"]),
    "diff_s03_in.txt": (1, ["diff", S03, "--in", "sample_logs", "--why"]),
    "diff_q03_in.txt": (1, ["diff", Q03, "--in", "sample_logs"]),
    "diff_p01_p02.txt": (1, ["diff", P01, P02]),
    "explain_r06.txt": (0, ["explain", R06, "--in", "sample_logs"]),
    "compare_s02_s03_s04.txt": (0, ["compare", S02, S03, S04, "--width", "100"]),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_bytes_of_a_report_are_those_of_its_golden_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    code, words = CASES[name]
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("LOGSCOPE_DB", str(tmp_path / "store.duckdb"))

    got_code = main(words)

    got = capfdbinary.readouterr().out
    if os.environ.get("LOGSCOPE_UPDATE_GOLDEN"):
        EXPECTED.mkdir(exist_ok=True)
        (EXPECTED / name).write_bytes(got)
    assert got_code == code
    assert got.decode().splitlines() == (EXPECTED / name).read_bytes().decode().splitlines()
    assert got == (EXPECTED / name).read_bytes()


def test_every_golden_file_has_its_case() -> None:
    assert {path.name for path in EXPECTED.iterdir()} == set(CASES)


def _keys(value: object) -> set[str]:
    """Names of all keys, but not of those below a key whose names come from the log."""
    if isinstance(value, list):
        return {key for each in value for key in _keys(each)}
    if not isinstance(value, dict):
        return set()
    free = ("server_args", "origins", "env", "context", "values")
    return set(value) | {key for name, held in value.items() if name not in free for key in _keys(held)}


@pytest.mark.parametrize("name", ["show_s03.json", "diff_s02_s03.json"])
def test_every_key_of_the_json_is_documented(name: str) -> None:
    reference = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")

    keys = _keys(json.loads((EXPECTED / name).read_text(encoding="utf-8")))

    assert len(keys) > 40
    assert sorted(key for key in keys if not re.search(rf'[`."]{key}[`"]', reference)) == []
