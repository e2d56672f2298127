"""Config rules: each holds for its right example and is broken by its wrong one."""

from __future__ import annotations

from typing import Any

import pytest

from logscope.compare.facts import RunFacts
from logscope.compare.mismatches import broken_rules, mismatches
from logscope.knowledge.config_rules import config_rules
from logscope.knowledge.records import ConfigRule
from tests.logscope.making import make_run


def run_of(sides: Any, **more: Any) -> Any:
    configs = {role: sides[role] for role in ("target", "draft") if role in sides}
    return make_run("x", sides.get("args") or {"page_size": 1}, model_configs=configs, **more)


@pytest.mark.parametrize("rule", config_rules(), ids=lambda rule: rule.id)
def test_the_wrong_example_breaks_the_rule_and_the_right_one_keeps_it(rule: ConfigRule) -> None:
    example: Any = rule.example

    wrong = [found.id for found, _, _ in broken_rules(run_of(example["wrong"]), [rule])]
    right = [found.id for found, _, _ in broken_rules(run_of(example["right"]), [rule])]

    assert (wrong, right) == ([rule.id], [])


SEED = {
    "args": {"speculative_algorithm": "EAGLE3"},
    "target": {"max_position_embeddings": 262144},
    "draft": {"max_position_embeddings": 131072},
}


def test_both_values_and_the_reason_are_told() -> None:
    (found,) = mismatches(run_of(SEED))

    assert found.subject == "draft.max_position_embeddings"
    assert "131072" in found.text and "262144" in found.text
    assert found.relevance == 0.5


def test_a_contradiction_that_the_good_run_had_too_weighs_less() -> None:
    (found,) = mismatches(run_of(SEED), run_of(SEED))

    assert found.in_good_too
    assert found.relevance < 0.2


def test_the_override_variable_turns_it_into_a_warning() -> None:
    (found,) = mismatches(run_of(SEED, env={"SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN": "1"}))

    assert "only warn" in found.reason
    assert found.relevance < 0.2


@pytest.mark.parametrize(
    ("scaling", "length"),
    [
        (None, 4096),
        ({"rope_type": "linear", "factor": 2.0}, 8192),
        ({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}, 4096),
        ({"rope_type": "llama3", "factor": 8.0}, 4096),
    ],
)
def test_the_derived_length_knows_rope_scaling(scaling: Any, length: int) -> None:
    facts = RunFacts(run_of({"target": {"max_position_embeddings": 4096, "rope_scaling": scaling}}))

    assert facts.value("target.derived_context") == length


def test_keys_of_a_multimodal_config_are_found_below_text_config() -> None:
    facts = RunFacts(run_of({"target": {"text_config": {"num_attention_heads": 32}}, "args": {"tp_size": 3}}))

    assert facts.value("target.num_attention_heads") == 32
