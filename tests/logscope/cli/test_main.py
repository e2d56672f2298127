"""What holds for every command: usage errors, help, pipes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from logscope.cli.main import COMMANDS, main


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["diff", "x", "--formt"], "unrecognized arguments: --formt (see 'logscope diff --help')"),
        (["bisect", "x"], "the following arguments are required: BAD (see 'logscope bisect --help')"),
        (["knowledge", "arg"], "the following arguments are required: NAME (see 'logscope knowledge arg --help')"),
        (["watch", "x", "--timeout", "long"], "argument --timeout: invalid float value: 'long'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage_is_one_line_and_exit_code_2(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(words)

    said = capsys.readouterr()
    assert code == 2
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert complaint in said.err


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_prose_of_the_help_fits_a_narrow_terminal(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    with pytest.raises(SystemExit):
        main([command, "--help"])

    lines = capsys.readouterr().out.splitlines()
    copied = [line for line in lines if line.startswith("  logscope ")]  # commands stay on one line
    assert [line for line in lines if len(line) > 80 and line not in copied] == []
    assert copied or "examples:" not in lines


def test_the_list_of_commands_fits_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")

    assert main(["--help"]) == 0

    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


@pytest.mark.parametrize("words", [["--help"], ["diff", "--help"], ["knowledge", "releases"]])
def test_a_reader_that_goes_away_is_no_trouble(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        done = subprocess.run(
            [sys.executable, "-m", "logscope.cli.main", *words],
            stdout=gone,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert (done.returncode, done.stderr) == (0, b"")
