"""A draft shorter than its target, after the release in which the override stopped being the default.

The logs are the samples with other lengths, names and versions: the check, its warning and its error are SGLang's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from logscope.cli.main import main

SAMPLES = Path(__file__).parents[3] / "sample_logs"
OVERRIDE = "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"
OLD = "0.4.6.post5"
FLIP = f"{OVERRIDE} was true by default in 0.4.4 to 0.5.0rc2 and is false since 0.5.1"


def _write(
    log: Path,
    sample: str,
    version: str = "0.5.23",
    override: str | None = None,
    lengths: tuple[int, int] = (131072, 262144),
    model: str = "/models/demo-30b",
    prefix: str = "",
    without: tuple[str, ...] = (),
) -> Path:
    """A sample as another deployment would have printed it; `without` leaves keys of the context file out."""
    text, held = ((SAMPLES / f"{sample}{end}").read_text() for end in (".log", ".context.json"))

    def told(text: str) -> str:
        text = text.replace("4096", "@").replace("2048", str(lengths[0])).replace("@", str(lengths[1]))
        return text.replace("0.5.23", version).replace("/srv/models/tiny-llama-spec", model)

    log.write_text("".join(f"{prefix}{line}\n" for line in told(text).splitlines()))
    context = json.loads(told(held))
    context["env"].pop(OVERRIDE, None)
    if override is not None:
        context["env"][OVERRIDE] = override
    for key in without:
        context["model_configs"].pop("draft", None) if key == "draft" else context.pop(key, None)
    if "context" not in without:
        log.with_name(f"{log.stem}.context.json").write_text(json.dumps(context))
    return log


def _good(folder: Path, **how: Any) -> Path:
    return _write(folder / "good.log", "s04_ok_eagle3_overwrite_env", **{"version": OLD, **how})


def _bad(folder: Path, **how: Any) -> Path:
    return _write(folder / "bad.log", "s03_fail_eagle3_context_len", **how)


def _told(folder: Path, capsys: pytest.CaptureFixture[str], *logs: Path) -> dict[str, Any]:
    capsys.readouterr()
    main(["diff", *map(str, logs), "--db", str(folder / "none.duckdb"), "--format", "json"])
    held: dict[str, Any] = json.loads(capsys.readouterr().out)
    return held


def _applies(told: dict[str, Any], first: int = 8) -> list[str]:
    return [remedy["apply"] for cause in told["causes"][:first] for remedy in cause["remedies"]]


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"lengths": (4096, 32768), "model": "/m/other-405b"},
        {"prefix": "sglang-server  | "},
        {"without": ("draft",)},
        {"without": ("env",)},
        {"without": ("context",)},
        {"without": ("context",), "prefix": "sglang-server  | "},
    ],
    ids=["plain", "other lengths", "docker", "no draft config", "no environment", "logs alone", "docker alone"],
)
def test_the_flip_is_told_with_both_releases_and_every_way_out(
    how: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft, target = how.get("lengths", (131072, 262144))

    told = _told(tmp_path, capsys, _good(tmp_path, **how), _bad(tmp_path, **how))

    assert FLIP in told["verdict"] and f"{OLD} -> 0.5.23" in told["verdict"]
    assert str(draft) in told["verdict"] and str(target) in told["verdict"]
    first = told["causes"][0]
    assert (first["kind"], first["subject"]) == ("version", "sglang")
    override = next(remedy for remedy in first["remedies"] if remedy["apply"].startswith(OVERRIDE))
    assert "extrapolates" in override["assumes"] and "illegal memory" in override["risks"]
    assert {f"--context-length {draft}", f"pip install sglang=={OLD}"} <= set(_applies(told))
    assert {quote["run"] for quote in first["evidence"]} == {"good", "bad"}


def test_a_variable_switched_off_by_hand_is_the_cause_and_unsetting_it_is_no_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = _told(tmp_path, capsys, _good(tmp_path), _bad(tmp_path, override="0"))

    assert told["causes"][0]["subject"] == OVERRIDE
    assert "In 0.5.23 it is false where it is not set." in told["causes"][0]["mechanism"]
    assert f"unset {OVERRIDE}" not in _applies(told, 1)
    assert _applies(told, 1)[0].startswith(f"{OVERRIDE}=")
    assert "which lets it fire" not in told["verdict"]


@pytest.mark.parametrize("value", ["1", "true"])
def test_a_variable_that_is_taken_away_is_the_cause_within_one_release(
    value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = _told(tmp_path, capsys, _good(tmp_path, version="0.5.23", override=value), _bad(tmp_path))

    assert told["causes"][0]["subject"] == OVERRIDE
    assert f"changed from {value} to not set" in told["verdict"]
    assert f"{OVERRIDE}={value}" in _applies(told, 1)


def test_what_is_set_already_is_neither_offered_nor_called_a_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = _told(tmp_path, capsys, _good(tmp_path), _bad(tmp_path, override="1"))

    assert told["causes"][0]["subject"] == "draft.max_position_embeddings"
    assert not any(apply.startswith(f"{OVERRIDE}=") for apply in _applies(told))
    assert "by default" not in told["verdict"] and "lets it fire" not in told["verdict"]


@pytest.mark.parametrize("without", [(), ("context",)], ids=["with context", "log alone"])
def test_one_log_alone_names_both_lengths_and_says_that_nothing_is_there_to_compare(
    without: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = _told(tmp_path, capsys, _bad(tmp_path, without=without))

    assert told["good"] is None and "none" in told["baseline_reason"]
    assert told["causes"][0]["subject"] == "draft.max_position_embeddings"
    assert "131072" in told["verdict"] and "262144" in told["verdict"]
    assert {f"{OVERRIDE}=1", "--context-length 131072"} <= set(_applies(told, 1))


def test_what_fixed_an_earlier_run_stands_in_the_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("s02_ok_eagle3", "s03_fail_eagle3_context_len", "s04_ok_eagle3_overwrite_env")
    db = str(tmp_path / "store.duckdb")
    main(["ingest", "-q", "--db", db, *(str(SAMPLES / f"{name}.log") for name in names)])
    again = tmp_path / "again.log"
    for end in (".log", ".context.json"):
        text = (SAMPLES / f"s03_fail_eagle3_context_len{end}").read_text().replace("2026-11-30", "2026-12-02")
        again.with_name(f"again{end}").write_text(text)
    capsys.readouterr()

    main(["explain", str(again), "--db", db, "--format", "json"])
    seen = json.loads(capsys.readouterr().out)["causes"][0]["seen_before"]

    assert seen["runs"] == 1
    assert any(OVERRIDE in fix for fix in seen["fixed_by"])
