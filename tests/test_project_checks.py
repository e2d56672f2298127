"""The linter, the type checker and the import contracts are part of the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHECKS = {
    "ruff check": [sys.executable, "-m", "ruff", "check", "."],
    "mypy": [sys.executable, "-m", "mypy", "logscope", "parsers", "tests"],
    "import contracts": [str(Path(sys.executable).with_name("lint-imports"))],
}


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_the_project_passes(name: str) -> None:
    done = subprocess.run(CHECKS[name], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
