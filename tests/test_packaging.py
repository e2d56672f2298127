"""The wheel holds both packages with all their files, and works from wherever it is unpacked."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_every_file_of_both_packages_and_no_test(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "logscope", "parsers"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()

    assert {"logscope/py.typed", "parsers/py.typed"} <= held
    assert sorted(name for name in tracked if (ROOT / name).exists() and name not in held) == []
    assert not [name for name in held if name.startswith(("tests/", "sample_logs/", "benchmarks/"))]


def test_the_unpacked_wheel_reads_a_log(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(place)
    log = ROOT / "sample_logs" / "r01_ok_baseline.log"

    done = subprocess.run(
        [sys.executable, "-m", "logscope", "show", str(log)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(place), "LOGSCOPE_DB": str(tmp_path / "store.duckdb")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("= ready\n")
