"""The failure atlas: samples, precedence, phases, and rules of the user's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from logscope.errors import SourceError
from logscope.knowledge.atlas import atlas, finds, match, read_rules
from logscope.knowledge.records import AtlasRule
from parsers.records import EventRole, Outcome, Stage
from tests.logscope.making import error, frames, make_run, milestone

LINE_RULES = [rule for rule in atlas() if rule.match_kind in ("line", "line+phase")]


@pytest.mark.parametrize("rule", atlas(), ids=lambda rule: rule.id)
def test_each_rule_finds_its_own_samples(rule: AtlasRule) -> None:
    assert rule.samples
    for sample in rule.samples:
        assert finds(rule, sample), sample


@pytest.mark.parametrize("rule", atlas(), ids=lambda rule: rule.id)
def test_tokens_hold_back_no_match(rule: AtlasRule) -> None:
    for sample in rule.samples:
        assert not rule.tokens or any(token in sample.lower() for token in rule.tokens)


def test_rules_name_only_rules_that_exist() -> None:
    known = {rule.id for rule in atlas()}

    assert len(known) == len(atlas())
    assert all(set(rule.more_specific_than) <= known for rule in atlas())


def test_harmless_rules_match_no_failure_sample_of_another_word() -> None:
    failures = [sample for rule in LINE_RULES if rule.rule_class == "failure" for sample in rule.samples]
    allowed = {"nan-with-dummy-input", "optional-package-missing", "retraction-notice", "params-dict-skip"}

    taken = {
        (rule.id, sample)
        for rule in atlas()
        if rule.rule_class == "benign" and rule.id not in allowed
        for sample in failures
        if finds(rule, sample)
    }

    assert taken == set()


def test_the_more_specific_rule_wins() -> None:
    run = make_run(events=[error("Cannot find any model weights with `/m/demo`", "RuntimeError")]).run

    ids = [hit.rule.id for hit in match(atlas(), run)]

    assert ids == ["no-weights-found"]


def test_named_groups_come_with_the_match() -> None:
    text = "[Errno 98] error while attempting to bind on address ('0.0.0.0', 30007): address already in use"
    run = make_run(events=[error(text, "OSError")]).run

    hit = match(atlas(), run)[0]

    assert hit.rule.id == "port-in-use"
    assert hit.groups["port"] == "30007"


def test_the_phase_tells_one_out_of_memory_from_another() -> None:
    oom = error("CUDA out of memory. Tried to allocate 2 GiB", "torch.OutOfMemoryError", line=50)
    loading = make_run(events=[oom], milestones=[milestone("load-begin", 20)]).run
    serving = make_run(
        events=[oom],
        milestones=[milestone(name, 20 + n) for n, name in enumerate(("load-begin", "kv-cache", "ready"))],
    ).run

    assert match(atlas(), loading)[0].rule.id == "gpu-oom-weights"
    assert match(atlas(), serving)[0].rule.id == "gpu-oom-serving"


def test_a_rule_may_ask_for_a_place_in_the_traceback() -> None:
    text = "mat1 and mat2 shapes cannot be multiplied (12x128 and 192x64)"
    draft = make_run(
        events=[error(text, "RuntimeError", traceback=frames("/x/models/llama_eagle3.py:forward"))]
    )
    plain = make_run(events=[error(text, "RuntimeError", traceback=frames("/x/models/llama.py:forward"))])

    assert [hit.rule.id for hit in match(atlas(), draft.run)] == ["eagle3-aux-hidden-width-mismatch"]
    assert match(atlas(), plain.run) == ()


def test_an_ignored_import_error_is_no_failure() -> None:
    text = "Ignore import error when loading sglang.srt.models.demo: No module named 'demo'"
    notice = error(text, "ImportError", level="warning", role=EventRole.NONE)

    assert match(atlas(), make_run(events=[notice]).run) == ()


def test_echoes_do_not_explain_a_run_that_has_a_root() -> None:
    root = error("it broke in its own way", "RuntimeError")
    echo = error("[Errno 98] address already in use", "OSError", line=90, role=EventRole.ECHO)

    assert match(atlas(), make_run(events=[root, echo]).run) == ()


def test_a_killed_run_is_matched_by_its_own_lines() -> None:
    dead = error(
        "Rank 0 scheduler died during initialization (exit code: -9).", "RuntimeError", role=EventRole.NONE
    )
    run = make_run(events=[dead], outcome=Outcome.KILLED, stage=Stage.LOAD).run

    assert match(atlas(), run)[0].rule.id == "host-oom-kill"


def write(path: Path, held: Any) -> Path:
    path.write_text(held if isinstance(held, str) else json.dumps(held))
    return path


def test_own_rules_stand_first_and_replace_rules_of_the_same_id(tmp_path: Path) -> None:
    own = {
        "rules": [
            {
                "id": "port-in-use",
                "title": "our port",
                "patterns": ["in use here"],
                "samples": ["in use here"],
            }
        ]
    }

    rules = atlas(write(tmp_path / "rules.json", own))

    assert [rule.title for rule in rules if rule.id == "port-in-use"] == ["our port"]
    assert rules[0].origin.endswith("rules.json")


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ("{", "no valid JSON"),
        ({"rule": []}, "no list of rules"),
        ([{"title": "x", "patterns": ["a"]}], "rule 1: 'id' is missing"),
        ([{"id": "x", "title": "y"}], "rule 1: 'patterns' is missing"),
        ([{"id": "x", "title": "y", "patterns": "a"}], "'patterns' is no list of texts"),
        ([{"id": "x", "title": "y", "patterns": ["(a"]}], "(x): pattern '(a' is no regular expression"),
        ([{"id": "x", "title": "y", "patterns": ["a"], "class": "bad"}], "class is 'bad'"),
        ([{"id": "x", "title": "y", "patterns": ["a"], "after": ["noon"]}], "unknown phase mark 'noon'"),
        ([{"id": "x", "title": "y", "patterns": ["a"], "samples": ["b"]}], "its own sample is not matched"),
        (
            [{"id": "x", "title": "y", "patterns": ["a"], "remedies": [["only"]]}],
            "'remedies' is a list of 4, 5 or 6 texts",
        ),
    ],
)
def test_a_wrong_rule_is_named_with_what_is_wrong(tmp_path: Path, held: Any, words: str) -> None:
    with pytest.raises(SourceError) as raised:
        read_rules(write(tmp_path / "own.json", held))

    assert words in raised.value.message
    assert "own.json" in raised.value.message


def test_a_missing_rules_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read_rules(tmp_path / "absent.json")
