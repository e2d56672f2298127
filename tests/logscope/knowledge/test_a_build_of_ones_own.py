"""`logscope knowledge add`: a fork or a checkout answers under its own name, with the commit that did it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from logscope import knowledge
from logscope.cli.main import main
from tests.logscope.knowledge.conftest import Publish
from tests.logscope.knowledge.made_release import write_release

PLAIN = 'def f(server_args):\n    if server_args.page_size > 1:\n        raise ValueError("no pages with this draft")\n'
MESSAGE = "ValueError: no pages with this draft"


def _git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@b", *words],
        check=True,
        capture_output=True,
    )


def test_a_fork_answers_under_its_own_name(publish: Publish, tmp_path: Path) -> None:
    publish({"9.0.0": {"srt/pool.py": "x = 1\n"}})
    fork = write_release(tmp_path / "fork", {"srt/pool.py": PLAIN}, "9.0.0+ours")

    assert main(["knowledge", "add", str(fork), "-q"]) == 0

    assert knowledge.releases() == ("9.0.0", "9.0.0+ours")
    told = knowledge.validation("9.0.0", "9.0.0+ours", MESSAGE)
    assert (told.finding, told.confidence) == ("new", "unique template")
    assert knowledge.validation("9.0.0+ours", "9.0.0+ours", MESSAGE).finding == "unchanged"


def test_a_checks_text_is_the_same_over_two_files_of_facts(publish: Publish, tmp_path: Path) -> None:
    publish(
        {"9.0.0": {"srt/pool.py": PLAIN, "srt/other.py": 'raise KeyError("something else is said here")\n'}}
    )
    fork = write_release(tmp_path / "fork", {"srt/pool.py": PLAIN.replace("> 1", "> 4")}, "9.0.0+ours")
    main(["knowledge", "add", str(fork), "-q"])

    assert knowledge.validation("9.0.0", "9.0.0+ours", MESSAGE).finding == "guard-changed"
    assert knowledge.validation("9.0.0+ours", "9.0.0", MESSAGE).finding == "guard-changed"


def test_a_checkout_names_the_commits_of_the_check_and_its_condition(
    publish: Publish, tmp_path: Path
) -> None:
    publish({"9.0.0": {}})
    checkout = write_release(tmp_path / "checkout", {"srt/pool.py": PLAIN}, "9.0.0")
    _git(checkout, "init", "-q")
    _git(checkout, "add", ".")
    _git(checkout, "commit", "-qm", "pages and drafts")
    (checkout / "sglang/srt/pool.py").write_text(PLAIN.replace("> 1", "> 2"))
    _git(checkout, "commit", "-qam", "two pages are fine")

    main(["knowledge", "add", str(checkout), "--name", "mine", "-q"])
    told = knowledge.validation("9.0.0", "mine", MESSAGE)

    notes = "\n".join(told.notes)
    assert "the condition was last changed by" in notes
    assert "two pages are fine" in notes
    assert "the check was last changed by" in notes
    assert "pages and drafts" in notes


def test_a_folder_that_is_no_sglang_is_one_line_and_trouble(
    publish: Publish, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish({"9.0.0": {}})
    (tmp_path / "empty").mkdir()

    assert main(["knowledge", "add", str(tmp_path / "empty")]) == 2
    assert "no folder sglang/srt" in capsys.readouterr().err


def test_releases_and_lives_are_told_as_text_and_json(
    publish: Publish, capsys: pytest.CaptureFixture[str]
) -> None:
    publish({"9.0.0": {"srt/environ.py": "class Envs:\n    POOL_WIDE = EnvBool(False)\n"}})

    assert main(["knowledge", "releases"]) == 0
    assert capsys.readouterr().out == "9.0.0\n"
    assert main(["knowledge", "arg", "tp", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "logscope.knowledge/1"
    assert (told["life"]["name"], told["fact"]["default"]) == ("tp_size", "1")
    assert main(["knowledge", "env", "POOL_WIDE"]) == 0
    assert "default  false  since 9.0.0" in capsys.readouterr().out
    assert main(["knowledge", "env", "POOL_NONE"]) == 1


def test_a_validation_is_told_with_its_gates(publish: Publish, capsys: pytest.CaptureFixture[str]) -> None:
    publish({"9.0.0": {"srt/pool.py": PLAIN}, "9.1.0": {"srt/pool.py": PLAIN}})
    words = ["knowledge", "validation", "--good-version", "9.0.0", "--bad-version", "9.1.0"]

    assert (
        main([*words, "--message", MESSAGE, "--frame", "/x/sglang/srt/pool.py:3:f", "--format", "json"]) == 0
    )
    told = json.loads(capsys.readouterr().out)["validation"]
    assert (told["finding"], told["confidence"]) == ("unchanged", "frame")
    assert told["gates"][0] == {
        "name": "page_size", "kind": "arg", "good_default": "1", "bad_default": "1", "avoid": "<= 1",
        "defaults": [{"first": "9.0.0", "last": None, "value": "1"}],
    }  # fmt: skip
    assert main([*words, "--message", "CUDA error: out of memory somewhere"]) == 1
    assert main([*words, "--message", MESSAGE, "--frame", "nonsense"]) == 2
