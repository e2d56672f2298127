"""Peers, strays and the bootstrap."""

from __future__ import annotations

from logscope.compare.bootstrap import ratio_interval
from logscope.compare.peers import peers_of
from logscope.store.records import StoredRun, Throughput
from tests.logscope.making import ListHistory, make_run


def serving(name: str, tokens_per_second: float, algorithm: str | None = None) -> StoredRun:
    args = {"tp_size": 1, "speculative_algorithm": algorithm, "model_path": "/m/demo"}
    return make_run(name, args, throughput=Throughput(40, gen_median=tokens_per_second))


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
