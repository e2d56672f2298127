"""Real launches with the truth beside each: the cause first, no bystander, every quote where it says it stands.

Needs the folder of labelled data in LOGSCOPE_EVAL_DATA; skips without it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from logscope.compare import compare
from logscope.explain import explain
from logscope.explain.records import Explanation
from logscope.store import Store

DATA = os.environ.get("LOGSCOPE_EVAL_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="LOGSCOPE_EVAL_DATA names no folder of labelled runs")
BLAMES = ("arg", "env", "config", "version")


def truths() -> Iterator[dict[str, Any]]:
    for path in sorted((Path(DATA) / "real_runs").glob("*.truth.json")) if DATA else ():
        held = json.loads(path.read_text())
        if "cause_subjects" in held and held.get("last_successful_comparable"):
            yield held


def pairs() -> Iterator[dict[str, Any]]:
    path = Path(DATA or ".") / "public_logs" / "pairs.jsonl"
    for line in path.read_text().splitlines() if DATA and path.exists() else ():
        yield json.loads(line)


@cache
def told(good: Path, bad: Path) -> Explanation:
    store = Store.in_memory()
    store.ingest([good, bad])
    before, failing = store.load(str(good)), store.load(str(bad))
    return explain(compare(store, failing, before), store)


def real(name: str) -> Path:
    return Path(DATA or ".") / "real_runs" / f"{name}.log"


def folded(text: str) -> str:
    return text.lower().replace("-", "_")


TRUTHS = list(truths())
NAMES = [truth["name"] for truth in TRUTHS]


@pytest.mark.parametrize("truth", TRUTHS, ids=NAMES)
def test_the_cause_of_a_real_run_stands_first(truth: dict[str, Any]) -> None:
    answer = told(real(truth["last_successful_comparable"]), real(truth["name"]))

    words = [folded(word) for word in truth["cause_subjects"]]
    if not words:
        assert not answer.causes or answer.causes[0].kind not in BLAMES
        return
    first = answer.causes[0]
    assert any(word in folded(first.subject) or word in folded(first.title) for word in words), first.title


@pytest.mark.parametrize("truth", TRUTHS, ids=NAMES)
def test_no_bystander_of_a_real_run_is_blamed(truth: dict[str, Any]) -> None:
    answer = told(real(truth["last_successful_comparable"]), real(truth["name"]))

    subjects = [folded(cause.subject) for cause in answer.causes[:3]]
    assert not [word for word in truth.get("never_blame", []) if any(folded(word) in one for one in subjects)]


@pytest.mark.parametrize("truth", TRUTHS, ids=NAMES)
def test_each_quote_of_a_real_run_stands_on_its_line(truth: dict[str, Any]) -> None:
    good, bad = real(truth["last_successful_comparable"]), real(truth["name"])

    assert_quotes(told(good, bad), good, bad)


@pytest.mark.parametrize("pair", list(pairs()), ids=lambda pair: str(pair["id"]))
def test_each_quote_of_a_public_pair_stands_on_its_line(pair: dict[str, Any]) -> None:
    folder = Path(DATA or ".") / "public_logs" / "logs"
    good, bad = folder / pair["good"], folder / pair["bad"]

    assert_quotes(told(good, bad), good, bad)


def assert_quotes(answer: Explanation, good: Path, bad: Path) -> None:
    text = {
        side: path.read_bytes().decode("utf-8", "replace").split("\n")
        for side, path in (("good", good), ("bad", bad))
    }
    for cause in answer.causes:
        for quote in cause.evidence:
            if quote.line is not None:
                near = squeezed(" ".join(text[quote.run][quote.line - 1 : quote.line + 2]))
                assert squeezed(quote.text.rstrip("…"))[:60] in near


def squeezed(text: str) -> str:
    return " ".join(re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).split())
