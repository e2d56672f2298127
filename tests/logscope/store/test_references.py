"""Which run a word means."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from logscope.errors import RunNotFound
from logscope.store import Store
from tests.logscope.store.launches import START, launch_log, write_log


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.open(tmp_path / "s.duckdb")
    write_log(tmp_path / "good.log", launch_log())
    write_log(
        tmp_path / "bad.log", launch_log(START + timedelta(hours=1), ready=False, error="ValueError: no")
    )
    write_log(
        tmp_path / "two.log", launch_log(START + timedelta(hours=2)) + launch_log(START + timedelta(hours=3))
    )
    store.ingest([tmp_path / "good.log", tmp_path / "bad.log", tmp_path / "two.log"])
    return store


def test_ids_prefixes_paths_and_words_name_runs(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = store.load(str(tmp_path / "bad.log"))
    monkeypatch.chdir(tmp_path)

    assert store.load(bad.run_id).run_id == bad.run_id
    assert store.load(bad.run_id[:8]).run_id == bad.run_id
    assert store.load(bad.run_id[:8].upper()).run_id == bad.run_id
    assert store.load("./bad.log").run_id == bad.run_id
    assert store.load("last-failed").run_id == bad.run_id
    assert store.load("last-ready").path == str(tmp_path / "two.log")
    assert store.load("last").run.ordinal == 2
    assert store.load("two.log#1").run.ordinal == 1


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("goood.log", "near: .*good.log"),
        ("elsewhere/bad.log", "near: .*bad.log"),
        ("two.log#3", "a run id"),
        ("zzzz", "give a run id"),
    ],
)
def test_a_word_that_names_no_run_says_what_is_near(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(RunNotFound) as wrong:
        store.load(word)

    import re

    assert re.search(said, wrong.value.hint)
    assert "\n" not in wrong.value.message


def test_a_mistyped_word_or_id_is_answered_with_what_was_meant(store: Store, tmp_path: Path) -> None:
    bad = store.load(str(tmp_path / "bad.log"))
    wrong = ("0" if bad.run_id[5] != "0" else "1").join((bad.run_id[:5], bad.run_id[6:12]))

    for word, meant in (("last-faild", "last-failed"), ("latest", "last"), (wrong, bad.run_id[:12])):
        with pytest.raises(RunNotFound) as unknown:
            store.load(word)
        assert unknown.value.hint == f"did you mean {meant}?"


def test_an_ambiguous_prefix_names_the_runs(tmp_path: Path) -> None:
    store = Store.in_memory()
    for number in range(20):
        store.ingest([write_log(tmp_path / f"{number}.log", launch_log(START + timedelta(hours=number)))])
    first = [run.run_id[0] for run in store.facts()]
    shared = next(letter for letter in first if first.count(letter) > 1)

    with pytest.raises(RunNotFound, match="names several runs"):
        store.load(shared)


def test_an_empty_store_says_so() -> None:
    store = Store.in_memory()
    store.ingest([])

    with pytest.raises(RunNotFound, match="holds no failed run"):
        store.load("last-failed")
