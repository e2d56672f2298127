"""The JSON of runs and diffs has the keys and types of the public contract."""

from __future__ import annotations

import json
from dataclasses import replace

from logscope.report.json_diff import diff_json
from logscope.report.json_report import runs_json
from parsers.records import Argument
from tests.logscope.report import values

RUN_KEYS = {
    "run_id", "source", "outcome", "ready", "stage", "reason", "started_at", "ready_at", "ended_at",
    "sglang_version", "model_path", "ranks", "carrier", "server_args", "server_args_line", "env",
    "root_error", "errors", "warnings", "milestones", "coverage", "throughput",
}  # fmt: skip
DIFF_KEYS = {
    "schema", "good", "bad", "baseline_reason", "first_bad", "verdict", "causes", "args", "cleared", "env",
    "versions", "configs", "mismatches", "validations", "milestones", "throughput",
}  # fmt: skip


def test_a_run_has_every_key_of_the_contract() -> None:
    stored = values.stored(values.run(), "bad.log", "b" * 32)

    document = json.loads(runs_json([stored], {stored.run_id: {"context_length": "user"}}))

    assert document["schema"] == "logscope.run/1"
    made = document["runs"][0]
    assert set(made) >= RUN_KEYS
    assert made["source"]["first_line"] == 1
    assert made["source"]["last_line"] == 50
    assert list(made["server_args"]) == ["model_path", "context_length", "mem_fraction_static", "odd"]
    assert made["server_args_text"] == ["odd"]
    assert made["origins"] == {"context_length": "user"}
    assert made["env"] == {"SGLANG_X": "1"}
    assert made["started_at"] == "2026-05-04T10:00:00"
    assert made["root_error"]["line"] == 40
    assert made["root_error"]["reason"]
    assert made["root_error"]["traceback"][0]["function"] == "_derive_context_length"
    assert set(made["errors"][0]) >= {
        "fingerprint",
        "level",
        "type",
        "message",
        "line",
        "count",
        "ranks",
        "benign",
    }
    assert set(made["milestones"][0]) >= {"name", "rank", "line", "at", "seconds"}
    assert set(made["throughput"]["decode"]["gen_throughput"]) == {"last", "median", "p10", "p90"}
    assert made["throughput"]["prefill"]["lines"] == 3
    assert made["coverage"]["masked"] == 1


def test_a_diff_has_every_key_of_the_contract() -> None:
    document = json.loads(diff_json(values.explanation()))

    assert set(document) >= DIFF_KEYS
    assert document["schema"] == "logscope.diff/1"
    assert set(document["bad"]) >= RUN_KEYS - {"errors", "warnings", "milestones"}
    assert not {"errors", "warnings", "milestones"} & set(document["bad"])
    cause = document["causes"][0]
    assert cause["evidence"][0] == {
        "text": "ValueError: context length 8192 is larger than 4096", "run": "bad", "line": 40,
    }  # fmt: skip
    assert set(cause["remedies"][0]) >= {"action", "apply", "durability", "assumes"}
    assert cause["seen_before"]["runs"] == 2
    assert cause["seen_before"]["fixed_by"] == ["arg context_length: 8192 -> None"]
    assert cause["contrast"] == {"failures_with": 2, "failures": 2, "successes_with": 0, "successes": 5}
    renamed = next(row for row in document["args"] if row["change"] == "renamed")
    assert renamed["renamed_from"] == "max_requests"
    assert document["configs"][0]["role"] == "target"
    assert document["first_missing_stage"] == "kv-cache"
    assert document["throughput"][0]["ratio"] == 0.5
    assert document["cleared"] == ["model files: same", "driver: not in the good log"]


def test_without_a_baseline_good_is_null_and_causes_stay() -> None:
    base = values.explanation()

    document = json.loads(diff_json(replace(base, diff=values.diff(good=None))))

    assert document["good"] is None
    assert document["causes"]


def test_values_that_json_lacks_become_text() -> None:
    made = values.run(
        server_args=(Argument("limit", float("inf"), "inf"), Argument("none", float("nan"), "nan"))
    )

    text = runs_json([values.stored(made, "bad.log", "b" * 32)])

    assert json.loads(text, parse_constant=_refuse)["runs"][0]["server_args"] == {
        "limit": "inf",
        "none": "nan",
    }


def test_hostile_text_comes_back_unchanged_and_is_never_written_raw() -> None:
    text = diff_json(values.hostile_explanation())

    assert json.loads(text)["verdict"] == values.HOSTILE
    assert all(char == "\n" or char.isprintable() for char in text)


def test_the_same_values_give_the_same_bytes() -> None:
    assert diff_json(values.explanation()) == diff_json(values.explanation())


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")
