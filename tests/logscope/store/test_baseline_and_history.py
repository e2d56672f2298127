"""Which run is the baseline, and what earlier runs say."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from logscope.store import Store
from logscope.store.records import RunId, StoredRun, short_id
from tests.logscope.store.launches import SAMPLES, START, launch_log, write_log

ERROR = "ValueError: no room for the cache"


class Story:
    """Launches one hour after the other, in a store in memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.store = Store.in_memory()
        self._count = 0

    def launch(self, name: str, context: dict[str, Any] | None = None, **launch: Any) -> StoredRun:
        self._count += 1
        text = launch_log(START + timedelta(hours=self._count), **launch)
        log = write_log(self._folder / f"{name}.log", text, **(context or {}))
        self.store.ingest([log])
        return self.store.load(str(log))

    def fails(self, name: str, context: dict[str, Any] | None = None, **launch: Any) -> StoredRun:
        return self.launch(name, context, **{"ready": False, "error": ERROR, **launch})

    def base_of(self, run: StoredRun) -> str | None:
        base = self.store.baseline(run.run_id)
        return None if base.run_id is None else Path(self.store.load(base.run_id).path).stem


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path)


def test_the_last_of_equally_near_good_runs_counts(story: Story) -> None:
    story.launch("old")
    story.launch("new")
    bad = story.fails("bad")

    assert story.base_of(bad) == "new"
    assert story.store.baseline(bad.run_id).runner_up is not None


def test_a_nearer_run_counts_before_a_later_one(story: Story) -> None:
    story.launch("near", mem_fraction_static=0.9)
    story.launch("later", mem_fraction_static=0.5, chunked_prefill_size=1, max_running_requests=7)
    bad = story.fails("bad", mem_fraction_static=0.95)

    base = story.store.baseline(bad.run_id)

    assert story.base_of(bad) == "near"
    assert base.differences == ("arg mem_fraction_static: 0.9 -> 0.95",)
    assert base.reason == (
        "the nearest good run before it: same model and tp, 1 argument away; "
        f"runner-up {short_id(base.runner_up or '')} is 3 arguments away"
    )


def test_a_run_that_crashed_after_ready_is_no_success(story: Story) -> None:
    story.launch("good")
    story.launch("crashed", error=ERROR, decode=3)
    bad = story.fails("bad")

    assert story.base_of(bad) == "good"


def test_a_later_run_is_never_the_baseline(story: Story) -> None:
    bad = story.fails("bad")
    story.launch("later")

    base = story.store.baseline(bad.run_id)

    assert base.run_id is None
    assert base.reason.startswith("none is comparable")


def test_another_model_is_not_comparable_but_the_same_one_elsewhere_is(story: Story) -> None:
    story.launch("moved", model_path="/mnt/models/tiny/", served_model_name="tiny")
    story.launch("other", model_path="/models/huge", served_model_name="huge", port=31000)
    bad = story.fails("bad")
    lonely = story.fails("lonely", model_path="/models/new", served_model_name="new", port=32000)

    assert story.base_of(bad) == "moved"
    assert story.base_of(lonely) is None
    assert "model: " in story.store.baseline(lonely.run_id).reason


def test_a_mistyped_model_path_finds_its_deployment(story: Story) -> None:
    story.launch("good")
    bad = story.fails("bad", model_path="/models/tinny")

    assert story.base_of(bad) == "good"


def test_marks_override_the_judged_outcome(story: Story) -> None:
    story.launch("first")
    second = story.launch("second")
    bad = story.fails("bad")

    story.store.mark(second.run_id, "bad", "half the speed")
    after_bad = story.base_of(bad)
    story.store.mark(second.run_id, "good")
    after_good = story.base_of(bad)

    assert (after_bad, after_good) == ("first", "second")


def test_a_run_without_an_args_line_is_placed_by_its_command_line(story: Story, tmp_path: Path) -> None:
    argv = ["python", "-m", "sglang.launch_server", "--model", "/models/tiny", "--port", "30000"]
    story.launch("good", {"argv": [*argv, "--tp", "1"], "start_time": "2026-02-03T05:05:06+00:00"})
    story.launch("other", model_path="/models/huge", served_model_name="huge", port=31000)
    usage = "usage: launch_server.py [-h] --model-path MODEL_PATH\nlaunch_server.py: error: unrecognized arguments: --tpp 1\n"
    log = write_log(
        tmp_path / "typo.log",
        usage,
        argv=[*argv, "--tpp", "1"],
        start_time="2026-02-03T09:00:00+00:00",
        exit_code=2,
    )
    story.store.ingest([log])
    bad = story.store.load(str(log))

    assert story.base_of(bad) == "good"
    assert story.store.baseline(bad.run_id).differences == ("arg tpp: None -> 1",)


def test_the_first_failure_since_the_last_success_is_named(story: Story) -> None:
    story.fails("before")
    story.launch("good")
    first = story.fails("first", tp_size=2)
    later = story.fails("later", tp_size=2)

    chosen = story.store.baseline(later.run_id)
    assert (chosen.first_bad, chosen.first_failed) == (first.run_id, first.run_id)
    chosen = story.store.baseline(first.run_id)
    assert (chosen.first_bad, chosen.first_failed) == (None, None)


def test_the_first_bad_run_is_the_first_with_the_same_error(story: Story) -> None:
    story.launch("good")
    other = story.fails("other", error="RuntimeError: another thing went wrong in the pool")
    first = story.fails("first")
    later = story.fails("later")

    chosen = story.store.baseline(later.run_id)
    assert (chosen.first_bad, chosen.first_failed) == (first.run_id, other.run_id)
    chosen = story.store.baseline(first.run_id)
    assert (chosen.first_bad, chosen.first_failed) == (None, other.run_id)


def test_a_clock_of_another_zone_does_not_reorder_runs(story: Story, tmp_path: Path) -> None:
    story.launch("good", {"start_time": (START + timedelta(hours=1 + 8)).isoformat() + "+00:00"})
    usage = "usage: launch_server.py [-h]\nlaunch_server.py: error: unrecognized arguments: --x\n"
    argv = ["python", "-m", "sglang.launch_server", "--model-path", "/models/tiny"]
    at = (START + timedelta(hours=2 + 8)).isoformat() + "+00:00"
    log = write_log(tmp_path / "typo.log", usage, argv=argv, start_time=at)
    story.store.ingest([log])

    order = story.store.query("SELECT order_at FROM runs WHERE order_from = 'context'").rows

    assert order == ((START + timedelta(hours=2),),)


def test_what_fixed_an_error_before_is_told(story: Story) -> None:
    story.launch("good", {"env": {"A": "1"}})
    story.fails("first", {"env": {"A": "1"}}, mem_fraction_static=0.9)
    fixed = story.launch("fixed", {"env": {"A": "1", "ROOMY": "1"}}, mem_fraction_static=0.9)
    bad = story.fails("bad", {"env": {"A": "1"}}, mem_fraction_static=0.9)
    root = bad.run.root_error
    assert root is not None

    seen = story.store.seen_before(root.fingerprint, bad.run_id)

    assert seen.runs == 1
    assert seen.fixed_by == ("env ROOMY: None -> 1",)
    assert seen.fixed_in == fixed.run_id
    assert story.store.seen_before("0" * 16, bad.run_id).runs == 0


def test_contrast_counts_a_value_in_failures_and_successes(story: Story) -> None:
    for number in range(3):
        story.launch(f"good{number}", {"env": {"A": "1"}}, mem_fraction_static=0.8)
    story.launch("odd", {"env": {"A": "2"}}, mem_fraction_static=0.9)
    story.fails("bad1", {"env": {"A": "2"}}, mem_fraction_static=0.9)
    bad = story.fails("bad2", {"env": {}}, mem_fraction_static=0.9)
    root = bad.run.root_error
    assert root is not None

    def contrast(kind: str, name: str, value: Any) -> tuple[int, int, int, int]:
        found = story.store.contrast(bad.run_id, kind, name, value, root.fingerprint)
        return found.failures_with, found.failures, found.successes_with, found.successes

    assert contrast("arg", "mem_fraction_static", 0.9) == (2, 2, 1, 4)
    assert contrast("env", "A", "2") == (1, 2, 1, 4)
    assert contrast("env", "A", None) == (1, 2, 0, 4)
    assert contrast("config", "draft.vocab_size", 5) == (0, 0, 0, 0)


def test_usual_is_the_spread_of_good_runs_of_the_same_setup_before(story: Story) -> None:
    for number, lines in enumerate((5, 9, 7)):
        story.launch(f"good{number}", decode=lines)
    story.launch("other", tp_size=8, decode=3)
    bad = story.fails("bad")
    story.launch("later", decode=50)

    usual = story.store.usual(bad.run_id)

    assert len(usual.runs) == 3
    assert usual.gen_throughput is not None
    assert (usual.gen_throughput.low, usual.gen_throughput.median, usual.gen_throughput.high) == (
        102.5,
        103.5,
        104.5,
    )
    assert len(story.store.usual(bad.run_id, before=False).runs) == 4
    assert set(usual.stage_seconds) >= {"load"}


def test_series_are_thinned_to_slices(story: Story) -> None:
    run = story.launch("good", decode=100)

    series = story.store.series(run.run_id, "gen_throughput", 10)

    assert len(series.points) == 10
    assert series.lines == 100
    assert series.points[0].median < series.points[-1].median


def test_argument_history_tells_spans(story: Story) -> None:
    story.launch("a", tp_size=1)
    story.launch("b", tp_size=1)
    story.fails("c", tp_size=2)

    spans = story.store.argument_history("--tp-size")

    assert [(span.value, span.runs, span.good, span.bad) for span in spans] == [
        ("1", 2, 2, 0),
        ("2", 1, 0, 1),
    ]


def test_versions_are_ordered_by_number() -> None:
    from logscope.store.value_history import ordered_versions

    ordered = ordered_versions(["0.5.10", None, "0.5.9", "0.5.4.post3", "0.5.4", "main-abc", "0.5.9"])

    assert ordered == ("0.5.4", "0.5.4.post3", "0.5.9", "0.5.10", "main-abc")


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ("r06_fail_mem_fraction_too_small", "r03_ok_more_requests"),
        ("r08_crash_missing_shard", "r03_ok_more_requests"),
        ("r02_fail_unknown_flag", "r01_ok_baseline"),
        ("q03_fail_upgrade_removed_flag", "q02_ok_v0410_nan_detection"),
        ("q14_scheduler_oom_killed", "q04_ok_v0523"),
        ("r18_hang_scheduler_stopped", "r15_ok_again"),
        ("s03_fail_eagle3_context_len", "s02_ok_eagle3"),
    ],
)
def test_the_baseline_of_real_failures(samples: Store, bad: str, good: str) -> None:
    base = samples.baseline(samples.load(str(SAMPLES / f"{bad}.log")).run_id)

    assert base.run_id is not None
    assert Path(samples.load(base.run_id).path).stem == good


@pytest.fixture(scope="module")
def samples() -> Store:
    store = Store.in_memory()
    store.ingest([SAMPLES])
    return store


def test_ids_of_other_runs_and_ties_are_stable(samples: Store) -> None:
    facts = samples.facts()

    assert len({run.run_id for run in facts}) == len(facts)
    assert [run.run_id for run in facts] == [run.run_id for run in samples.facts()]
    assert samples.baseline(RunId("0" * 16)).run_id is None


def test_a_value_with_any_characters_in_it_is_told_in_its_span(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.duckdb")
    values = ["a\x1fb", "tab\there", None, ""]
    for hours, value in enumerate(values):
        log = write_log(tmp_path / f"{hours}.log", launch_log(START + timedelta(hours=hours), odd=value))
        store.ingest([log])

    assert [span.value for span in store.argument_history("odd")] == values
    assert [span.first_at for span in store.argument_history("odd")] == [
        START + timedelta(hours=hours) for hours in range(4)
    ]
