"""Peers, strays and the bootstrap."""

from __future__ import annotations

from typing import Any

from logscope.compare.bootstrap import ratio_interval
from logscope.compare.peers import peers_of
from logscope.store.records import StoredRun, Throughput
from parsers.records import Outcome
from tests.logscope.making import ListHistory, make_run


def serving(
    name: str, tokens_per_second: float, algorithm: str | None = None, running: int | None = None, **more: Any
) -> StoredRun:
    args = {"tp_size": 1, "speculative_algorithm": algorithm, "model_path": "/m/demo"}
    figures = Throughput(40, gen_median=tokens_per_second, running_max=running)
    return make_run(name, args, throughput=figures, **more)


def test_the_interval_is_the_same_each_time_and_holds_the_ratio() -> None:
    first, second = ratio_interval((82, 83, 82.5), (59, 60, 61)), ratio_interval((82, 83, 82.5), (59, 60, 61))

    assert first == second
    assert first[0] < 60 / 82.5 < first[1] < 1


def test_equal_runs_give_an_interval_around_one() -> None:
    low, high = ratio_interval((82, 83, 81), (82, 82.5))

    assert low < 1 < high


def test_a_run_that_the_others_do_not_reproduce_is_a_stray() -> None:
    plain = [serving(f"plain{n}", value) for n, value in enumerate((82, 94, 83, 82.6))]
    drafted = [serving(f"draft{n}", value, "EAGLE3") for n, value in enumerate((59, 61, 60))]

    peers = peers_of(ListHistory(*plain, *drafted), drafted[-1], plain[-1])

    assert peers.stray == (94,)
    assert sorted(peers.good) == [82, 82.6, 83]
    assert sorted(peers.bad) == [59, 60, 61]
    assert "94 does not reproduce" in peers.story(60)
    assert "-27%" in peers.story(60)


def test_two_runs_of_one_kind_are_not_each_other_s_evidence() -> None:
    runs = [serving(f"r{n}", value) for n, value in enumerate((82, 83, 60))]

    peers = peers_of(ListHistory(*runs), runs[-1], runs[0])

    assert sorted(peers.good) == [82, 83]
    assert peers.bad == ()


def test_now_is_this_run_s_figure_also_among_others_of_its_kind() -> None:
    plain = [serving(f"plain{n}", value) for n, value in enumerate((82, 83))]
    drafted = [serving(f"draft{n}", value, "EAGLE3") for n, value in enumerate((59, 64))]

    told = peers_of(ListHistory(*plain, *drafted), drafted[0], plain[0]).story(59)

    assert "2 runs like this one at 59 to 64; now 59, -25%" in told


def test_a_run_that_died_while_it_served_is_not_judged_by_its_good_siblings() -> None:
    good = [serving(f"good{n}", value) for n, value in enumerate((82, 83, 84))]
    died = serving("died", 60, outcome=Outcome.FAILED, ready=True)

    peers = peers_of(ListHistory(*good, died), died, good[0])

    assert peers.bad == ()
    assert "now 60, -28%" in peers.story(60)


def test_good_runs_at_another_load_are_no_spread() -> None:
    alike = [serving(f"four{n}", value, running=4) for n, value in enumerate((458, 424))]
    others = [serving("two", 106, running=2), serving("eight", 629, running=8)]
    now = serving("now", 416, running=4)

    peers = peers_of(ListHistory(*alike, *others, now), now, alike[0])

    assert sorted(peers.good) == [424, 458]
