"""The commands on the page about recording are ones that the program takes."""

from __future__ import annotations

import argparse
import configparser
import importlib
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from logscope.cli.common import add_common_options

_PAGE = Path(__file__).parents[3] / "docs" / "recording.md"


def _snippets(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", _PAGE.read_text(), re.DOTALL | re.MULTILINE)


def _commands() -> list[list[str]]:
    """Every `logscope ...` of the page, as words."""
    found = []
    for text in _snippets("bash"):
        joined = text.replace("\\\n", " ")
        found += [shlex.split(line) for line in joined.splitlines() if line.startswith("logscope ")]
    for unit in _snippets("ini"):
        for line in unit.splitlines():
            if line.startswith("ExecStart="):
                found.append(shlex.split(line.partition("=")[2])[1:])
    lists = re.findall(r"^\s*(?:ENTRYPOINT|command:) (\[.*\])$", _PAGE.read_text(), re.MULTILINE)
    found += [[*re.findall(r'"([^"]*)"', text), "python3"] for text in lists]
    return found


@pytest.mark.parametrize("words", _commands(), ids=" ".join)
def test_command_of_the_page_is_understood(words: list[str]) -> None:
    module = importlib.import_module(f"logscope.cli.{words[1]}")
    parser = argparse.ArgumentParser(allow_abbrev=False)
    module.add_arguments(parser)
    add_common_options(parser)

    options = parser.parse_args(words[2:])

    if words[1] in ("record", "check"):
        assert options.command[0].startswith("python")


def test_page_has_every_kind_of_snippet() -> None:
    assert len(_commands()) >= 8
    assert [len(_snippets(kind)) for kind in ("ini", "dockerfile", "yaml")] == [1, 1, 1]


def test_shell_snippets_parse() -> None:
    for text in _snippets("bash"):
        subprocess.run(["bash", "-n"], input=text.encode(), check=True)


def test_systemd_unit_stops_the_recorder_first() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(_snippets("ini")[0])

    assert unit["Service"]["KillMode"] == "mixed"
