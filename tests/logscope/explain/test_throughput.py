"""Slower without an error: generated logs through the store, as a person would give them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from logscope.compare import compare
from logscope.explain import explain
from logscope.explain.records import Explanation
from logscope.store import Store
from logscope.store.records import StoredRun


def lines(
    minute: int, speed: float, speculative: bool, running: int, queue: int, limit: int
) -> Iterator[str]:
    """One served launch: the arguments, the limits, ready, and forty decode lines around `speed` tokens/s."""
    stamp = f"[2026-02-03 04:{minute:02d}:"
    draft = "'EAGLE3'" if speculative else "None"
    path = "'/m/demo-eagle3'" if speculative else "None"
    yield (
        f"{stamp}01] server_args=ServerArgs(model_path='/m/demo', tokenizer_path='/m/demo', tp_size=1, "
        f"max_running_requests={limit}, random_seed={minute * 7}, port=30000, speculative_algorithm={draft}, "
        f"speculative_draft_model_path={path}, disable_cuda_graph=False)"
    )
    yield f"{stamp}02] Load weight begin. avail mem=70.00 GB"
    yield f"{stamp}04] Load weight end. type=DemoForCausalLM, dtype=torch.bfloat16, avail mem=55.00 GB, mem usage=15.00 GB."
    yield f"{stamp}05] KV Cache is allocated. #tokens: 300000, K size: 20.00 GB, V size: 20.00 GB"
    yield f"{stamp}05] Memory pool end. avail mem=14.00 GB"
    yield (
        f"{stamp}06] max_total_num_tokens=300000, chunked_prefill_size=8192, max_prefill_tokens=16384, "
        f"max_running_requests={limit}, context_len=32768, available_gpu_mem=12.25 GB"
    )
    yield f"{stamp}07] INFO:     Application startup complete."
    yield f"{stamp}07] INFO:     Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)"
    yield f"{stamp}08] The server is fired up and ready to roll!"
    accept = "accept len: 2.10, " if speculative else ""
    for step in range(40):
        rate = speed * (1 + 0.004 * ((step * 7) % 5 - 2))
        yield (
            f"{stamp}{10 + step}] Decode batch. #running-req: {running}, #token: {1000 + step}, token usage: 0.01, "
            f"{accept}cuda graph: {not speculative}, gen throughput (token/s): {rate:.2f}, #queue-req: {queue}"
        )


def stored(
    store: Store,
    folder: Path,
    name: str,
    minute: int,
    speed: float,
    speculative: bool = False,
    running: int = 1,
    queue: int = 0,
    limit: int = 32,
) -> StoredRun:
    path = folder / f"{name}.log"
    path.write_text("\n".join(lines(minute, speed, speculative, running, queue, limit)) + "\n")
    store.ingest([path])
    return store.load(str(path))


@pytest.fixture
def series(tmp_path: Path) -> tuple[Store, list[StoredRun], list[StoredRun]]:
    """Three plain runs at 82 to 83 tokens/s and one at 94, then three with a draft and without graphs."""
    store = Store.in_memory()
    plain = [
        stored(store, tmp_path, f"plain{number}", number, speed)
        for number, speed in enumerate((82.0, 94.0, 83.0, 82.6), start=1)
    ]
    drafted = [
        stored(store, tmp_path, f"draft{number}", 10 + number, speed, speculative=True)
        for number, speed in enumerate((59.0, 61.0, 60.0), start=1)
    ]
    return store, plain, drafted


def told(store: Store, good: StoredRun, bad: StoredRun) -> Explanation:
    return explain(compare(store, bad, good), store)


def test_speculation_without_graphs_is_told_with_its_price(
    series: tuple[Store, list[StoredRun], list[StoredRun]],
) -> None:
    store, plain, drafted = series

    answer = told(store, plain[-1], drafted[-1])

    assert answer.causes[0].subject == "speculative_algorithm"
    assert "-27%" in answer.verdict
    assert "cuda graph share 1 -> 0" in answer.verdict
    assert "94 does not reproduce" in answer.verdict


def test_a_stray_good_run_is_named_also_when_it_is_the_one_compared_with(
    series: tuple[Store, list[StoredRun], list[StoredRun]],
) -> None:
    store, plain, drafted = series

    answer = told(store, plain[1], drafted[-1])

    row = next(row for row in answer.diff.metrics if row.metric == "decode throughput")
    assert row.is_significant
    assert "94 does not reproduce" in row.noise
    assert row.interval is not None and row.interval[1] < 0.8


def test_two_plain_runs_differ_by_noise_only(series: tuple[Store, list[StoredRun], list[StoredRun]]) -> None:
    store, plain, _ = series

    answer = told(store, plain[0], plain[2])

    assert not answer.diff.matters
    assert answer.causes == ()


def test_a_lower_request_limit_with_a_queue_is_the_cause(tmp_path: Path) -> None:
    store = Store.in_memory()
    good = stored(store, tmp_path, "good", 1, 400.0, running=8, queue=0, limit=32)
    bad = stored(store, tmp_path, "bad", 2, 100.0, running=2, queue=6, limit=2)

    answer = told(store, good, bad)

    assert answer.causes[0].subject == "max_running_requests"
    assert any(quote.line == 6 for quote in answer.causes[0].evidence)


def test_a_slower_run_of_the_same_setup_points_at_the_machine(tmp_path: Path) -> None:
    store = Store.in_memory()
    runs = [
        stored(store, tmp_path, f"run{number}", number, speed) for number, speed in enumerate((82, 83, 82.5))
    ]
    slow = stored(store, tmp_path, "slow", 30, 55.0)

    answer = told(store, runs[-1], slow)

    assert (answer.causes[0].kind, answer.causes[0].subject) == ("host", "clocks or load")
    assert "decode throughput" in answer.verdict


@pytest.mark.parametrize(
    ("plain", "drafted", "price"),
    [
        ((1450.0, 1462.0, 1610.0, 1455.0, 1448.0), (1160.0, 1171.0), "-20%"),
        ((31.0, 31.2, 36.0, 30.9), (15.4, 15.5, 15.6, 15.5), "-50%"),
        ((210.0, 214.0, 212.0, 240.0, 209.0, 211.0), (180.0,), "-15%"),
    ],
    ids=["a fast model", "a slow model", "one run with a draft"],
)
def test_the_price_of_speculation_holds_for_other_figures_and_counts(
    plain: tuple[float, ...], drafted: tuple[float, ...], price: str, tmp_path: Path
) -> None:
    store = Store.in_memory()
    good = [stored(store, tmp_path, f"plain{number}", number, speed) for number, speed in enumerate(plain, 1)]
    bad = [
        stored(store, tmp_path, f"draft{number}", 20 + number, speed, speculative=True)
        for number, speed in enumerate(drafted)
    ]

    answer = told(store, good[-1], bad[-1])

    assert answer.causes[0].subject == "speculative_algorithm"
    assert price in answer.verdict
    assert f"{max(plain):g} does not reproduce" in answer.verdict
    assert "cuda graph share 1 -> 0" in answer.verdict
