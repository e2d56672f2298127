"""What a change of release, and the variable that gates a check, have to do with a failure."""

from __future__ import annotations

from typing import Any

import pytest

from logscope.compare import compare
from logscope.explain import explain
from logscope.explain.records import Explanation
from logscope.store.records import StoredRun
from parsers.records import EventRole, Frame
from tests.logscope.making import ListHistory, error, make_run

OVERRIDE = "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"
WARNED = "Warning: User-specified context_length (262144) is greater than the derived context_length (131072). Advice."
FAILED = (
    "Warning: Target model's context_length (262144) is greater than the derived context_length (131072). "
    "This may lead to incorrect model outputs or CUDA errors. Note that the derived context_length may differ "
    "from max_position_embeddings in the model's config. To allow overriding this maximum, set the env var "
    f"{OVERRIDE}=1"
)
PLACE = (Frame("/x/site-packages/sglang/srt/configs/model_config.py", 300, "_derive_context_length"),)
ARGS: dict[str, Any] = {"model_path": "/m/demo", "speculative_algorithm": "EAGLE3"}
SHARED: dict[str, Any] = {
    "argv": ("python", "-m", "sglang.launch_server"),
    "model_configs": {
        "target": {"max_position_embeddings": 262144},
        "draft": {"max_position_embeddings": 131072},
    },
}


def explained(good: StoredRun, bad: StoredRun) -> Explanation:
    history = ListHistory(good, bad)
    return explain(compare(history, bad, good), history)


def upgrade(before: str, after: str) -> Explanation:
    warning = error(WARNED, "Warning", line=33, level="warning", role=EventRole.NONE)
    good = make_run("good", ARGS, [warning], sglang_version=before, env={}, **SHARED)
    bad = make_run("bad", ARGS, [error(FAILED, traceback=PLACE)], sglang_version=after, env={}, **SHARED)
    return explained(good, bad)


def test_a_default_that_the_release_flipped_is_the_cause() -> None:
    answer = upgrade("0.4.10.post2", "0.5.1.post3")

    cause = answer.causes[0]
    assert (cause.kind, cause.subject) == ("version", "sglang")
    assert f"{OVERRIDE} was true by default in 0.4.4 to 0.5.0rc2 and is false since 0.5.1" in cause.title
    assert "131072" in answer.verdict and "262144" in answer.verdict
    assert cause.remedies[0].apply == f"{OVERRIDE}=true"


def test_the_warning_of_the_good_run_is_quoted_beside_the_error() -> None:
    answer = upgrade("0.4.10.post2", "0.5.1.post3")

    assert answer.diff.validations[0].status == "promoted"
    assert any((quote.run, quote.line) == ("good", 33) for quote in answer.causes[0].evidence)


def test_a_check_that_both_releases_have_does_not_blame_the_release() -> None:
    answer = upgrade("0.5.2", "0.5.9")

    assert answer.causes[0].subject == "draft.max_position_embeddings"


def test_a_variable_that_gated_the_check_and_is_gone_is_the_cause() -> None:
    good = make_run("good", ARGS, sglang_version="0.5.9", env={OVERRIDE: "1"}, **SHARED)
    bad = make_run("bad", ARGS, [error(FAILED, traceback=PLACE)], sglang_version="0.5.9", env={}, **SHARED)

    answer = explained(good, bad)

    assert (answer.causes[0].kind, answer.causes[0].subject) == ("env", OVERRIDE)
    assert answer.causes[0].remedies[0].apply == f"{OVERRIDE}=1"


@pytest.mark.parametrize("package", ["torch", "huggingface-hub"])
def test_a_package_in_whose_code_it_failed_is_a_cause(package: str) -> None:
    module = package.replace("-", "_")
    failure = error(
        "unexpected layout of the table",
        "RuntimeError",
        traceback=(
            Frame("/x/site-packages/sglang/srt/server.py", 3, "launch"),
            Frame(f"/x/site-packages/{module}/inner.py", 9, "load"),
        ),
    )
    good = make_run("good", {"tp_size": 1}, packages={package: "1.0", "attrs": "1"})
    bad = make_run("bad", {"tp_size": 1}, [failure], packages={package: "2.0", "attrs": "2"})

    answer = explained(good, bad)

    assert (answer.causes[0].kind, answer.causes[0].subject) == ("version", package)
    assert "attrs" not in [cause.subject for cause in answer.causes]
