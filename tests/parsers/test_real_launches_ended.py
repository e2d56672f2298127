"""Outcome, readiness and root error of complete launches of real SGLang servers."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

import pytest

from parsers.log import LogReader
from parsers.outcome import refine
from parsers.records import Conclusion, Run

_DATA = os.environ.get("LOGSCOPE_EVAL_DATA")
_TRUTHS = sorted(Path(_DATA, "real_runs").glob("*.truth.json")) if _DATA else []
_ROOTS = {
    "r02_fail_unknown_flag": ("argparse", "--max-runing-requests"),
    "r04_fail_eagle3_no_triton_driver": ("RuntimeError", "0 active drivers"),
    "r06_fail_mem_fraction_too_small": ("RuntimeError", "Not enough memory"),
    "r14_fail_watchdog": ("Watchdog timeout", "4.0"),
    "r21_fail_port_in_use": ("OSError", "address already in use"),
    "r24_fail_eagle3_missing_dependency": ("ModuleNotFoundError", "datasets"),
    "q06_fail_context_length": ("ValueError", "16384"),
    "q08_fail_eagle3_context_len": ("ValueError", "8192"),
    "s00_fail_eagle3_shallow_target": ("RuntimeError", "mat1 and mat2"),
    "p04_fail_dependency_upgrade": ("ImportError", "huggingface-hub"),
}

pytestmark = pytest.mark.skipif(not _TRUTHS, reason="LOGSCOPE_EVAL_DATA names no folder with real launches")


def _run(truth: Path) -> Run:
    reader = LogReader()
    reader.feed(Path(str(truth).replace(".truth.json", ".log")).read_bytes())
    (run,) = reader.result().runs
    return run


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=None) if text else None


@pytest.mark.parametrize("truth", _TRUTHS, ids=[path.name.split(".")[0] for path in _TRUTHS])
def test_outcome_agrees_with_what_was_done_to_the_launch(truth: Path) -> None:
    told = json.loads(truth.read_text())
    context = json.loads(Path(str(truth).replace(".truth.json", ".context.json")).read_text())
    run = _run(truth)
    conclusion = Conclusion(run.outcome, run.ready, run.stage, run.reason, run.root_error, run.events)

    outcome, reason = refine(
        conclusion,
        context.get("exit_code"),
        context.get("exit_signal"),
        _time(context.get("start_time")),
        _time(context.get("end_time")),
        run.ended_at,
    )

    assert outcome.value in told.get("acceptable_outcomes", [told["outcome"]]), reason
    assert run.ready is told["ready"]
    if told["outcome"] == "ready":
        assert run.root_error is None


@pytest.mark.parametrize("name", sorted(_ROOTS))
def test_root_error_is_the_one_that_was_provoked(name: str) -> None:
    (truth,) = [path for path in _TRUTHS if path.name.startswith(name + ".")]
    kind, words = _ROOTS[name]

    root = _run(truth).root_error

    assert root is not None
    assert root.type == kind
    assert words in root.message
