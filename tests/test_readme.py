"""What the README says is what the program does.

``LOGSCOPE_UPDATE_GOLDEN=1`` writes the generated parts of the README anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from logscope.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
FIRST_DIFF = ["diff", "sample_logs/s02_ok_eagle3.log", "sample_logs/s03_fail_eagle3_context_len.log"]
SHOWN = 46
"""Lines of the first diff that the README shows: verdict, root error, first cause and remedy."""


def _commands() -> str:
    rows = [f"| `logscope {name}` | {text} |" for name, text in COMMANDS.items()]
    return "\n".join(["| command | does |", "|---|---|", *rows])


def _first_diff(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "logscope", *FIRST_DIFF],
        cwd=ROOT,
        env={**os.environ, "LOGSCOPE_DB": str(folder / "store.duckdb"), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    shown = "\n".join(done.stdout.splitlines()[:SHOWN])
    return f"```console\n$ logscope {' '.join(FIRST_DIFF)} | head -n {SHOWN}\n{shown}\n```"


def _part(text: str, mark: str) -> str:
    """What stands between the comment `mark` and the next empty line outside a code block."""
    after = text.split(f"<!-- {mark} -->\n", 1)[1].lstrip("\n")
    return re.match(r"```.*?\n```|.*?(?=\n\n)", after, re.DOTALL).group()  # type: ignore[union-attr]


@pytest.mark.parametrize("mark", ["commands", "first diff"])
def test_a_generated_part_is_what_the_program_gives(mark: str, tmp_path: Path) -> None:
    made = _commands() if mark == "commands" else _first_diff(tmp_path)
    text = README.read_text(encoding="utf-8")

    if os.environ.get("LOGSCOPE_UPDATE_GOLDEN"):
        text = text.replace(_part(text, mark), made)
        README.write_text(text, encoding="utf-8")

    assert _part(text, mark) == made


def test_every_link_of_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))

    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_first_command_prints_a_report_where_there_is_no_terminal(tmp_path: Path) -> None:
    command = re.search(r"\.venv/bin/logscope (triage \S+)", README.read_text(encoding="utf-8"))
    assert command is not None

    done = subprocess.run(
        [sys.executable, "-m", "logscope", *command[1].split()],
        cwd=ROOT,
        env={**os.environ, "LOGSCOPE_DB": str(tmp_path / "store.duckdb")},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "max_position_embeddings" in done.stdout.splitlines()[0]
    assert "s02_ok_eagle3.log" in done.stdout
    assert "\x1b[" not in done.stdout


def test_continuous_integration_runs_the_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    shown = _part(README.read_text(encoding="utf-8"), "test command")

    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    extracted = subprocess.run(
        ["bash", "-c", re.search(r"^command=\$\((.*)\)$", script, re.MULTILINE)[1]],  # type: ignore[index]
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"```bash\n{extracted}```" == shown
    assert "pytest" in extracted


def test_the_python_example_runs_as_it_stands(tmp_path: Path) -> None:
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    logs = tmp_path / "logs"
    logs.mkdir()
    for file in (ROOT / "sample_logs").glob("s0[23]*"):
        shutil.copy(file, logs)
    *steps, last = code[1].strip().splitlines()
    script = "\n".join([*steps, f"print({last})"])

    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "max_position_embeddings" in done.stdout
