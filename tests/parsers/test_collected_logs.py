"""Logs of real launches, where they are at hand: ``LOGSCOPE_EVAL_DATA`` names the folder of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from tests.parsers.reading import read

DATA = Path(os.environ.get("LOGSCOPE_EVAL_DATA", ""))
HAS_DATA = bool(os.environ.get("LOGSCOPE_EVAL_DATA"))
pytestmark = pytest.mark.skipif(not HAS_DATA, reason="LOGSCOPE_EVAL_DATA names no folder of collected logs")


def _runs() -> list[Path]:
    return sorted((DATA / "real_runs").glob("*.log")) if HAS_DATA else []


def _labels() -> list[dict[str, Any]]:
    path = DATA / "public_logs" / "labels.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if HAS_DATA else []


@pytest.mark.parametrize("path", _runs(), ids=lambda path: path.stem)
def test_a_recorded_launch_is_read_as_it_happened(path: Path) -> None:
    truth = json.loads(path.with_suffix(".truth.json").read_text())
    context = json.loads(path.with_suffix(".context.json").read_text())
    text = path.read_bytes()

    reading = read(text)

    run = reading.run
    assert run.ready == truth["ready"]
    assert sum(row.kind == 1 for row in reading.batches) == text.count(b"] Decode batch")
    assert sum(row.kind == 0 for row in reading.batches) == text.count(b"] Prefill batch")
    assert run.coverage.lines == reading.log.lines
    if run.version.version is not None:
        assert run.version.version == context["sglang_version"]
    elif run.version.first and run.version.last:
        true = Version(context["sglang_version"])
        assert Version(run.version.first) <= true <= Version(run.version.last)


@pytest.mark.parametrize("label", _labels(), ids=lambda label: label["file"][:3])
def test_a_labelled_log_gives_what_a_person_found_in_it(label: dict[str, Any]) -> None:
    reading = read(DATA / "public_logs" / "logs" / label["file"])

    runs = reading.log.runs
    assert len(runs) == max(1, label["n_server_args_blocks"])
    values = [{one.name: one.value for one in run.server_args} for run in runs]
    for name, value in label["args"].items():
        assert any(_same(value, found.get(name)) for found in values), name
    assert {rank for run in runs for rank in run.ranks} == set(label["ranks"])
    assert runs[0].carrier == label["prefix_kind"]
    assert sum(row.kind == 1 for row in reading.batches) == label["n_decode_lines"]
    assert sum(row.kind == 0 for row in reading.batches) == label["n_prefill_lines"]
    if label.get("ready_line"):
        assert label["ready_line"] in {one.line for run in runs for one in run.milestones}


def _same(wanted: object, found: object) -> bool:
    return wanted == found or str(wanted).replace('"', "'") == str(found).replace('"', "'")
