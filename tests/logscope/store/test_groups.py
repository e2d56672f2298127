"""One launch over several logs: which runs belong together, and which part failed first."""

from __future__ import annotations

from pathlib import Path

from logscope.store import Store
from logscope.store.groups import LaunchGroup, find_groups, siblings

PEER = "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.9]:27"
SIGQUIT = "Received sigquit from a child process. It usually means the child failed."


def node(
    number: int, hour: str, error: str, second: int, address: str = "10.0.0.1:5000", nodes: int = 2
) -> str:
    """The log of one node that fails in the weights at `second` with `error`."""
    rank = f"TP{number * 8}"
    args = f"model_path='/m/demo', tp_size=16, nnodes={nodes}, node_rank={number}, dist_init_addr='{address}'"
    lines = [
        f"[2026-02-03 {hour}:00:00] server_args=ServerArgs({args}, port=30000)",
        f"[2026-02-03 {hour}:00:05 {rank}] Init torch distributed begin.",
        f"[2026-02-03 {hour}:00:20 {rank}] Init torch distributed ends. mem usage=0.25 GB",
        f"[2026-02-03 {hour}:00:21 {rank}] Load weight begin. avail mem=70.50 GB",
    ]
    if error:
        lines += [
            f"[2026-02-03 {hour}:01:{second:02d} {rank}] Scheduler hit an exception: Traceback (most recent call last):",
            '  File "/opt/sglang/srt/managers/scheduler.py", line 2000, in run_scheduler_process',
            "    scheduler = Scheduler(server_args)",
            error,
            "",
            f"[2026-02-03 {hour}:01:{second + 1:02d}] {SIGQUIT}",
        ]
    return "\n".join(lines) + "\n"


def groups_of(folder: Path, *logs: str) -> tuple[Store, tuple[LaunchGroup, ...]]:
    """The groups among the runs of the logs, in a store in memory."""
    store = Store.in_memory()
    for number, text in enumerate(logs):
        (folder / f"{number}.log").write_text(text)
    report = store.ingest([folder / f"{number}.log" for number in range(len(logs))])
    return store, find_groups([store.load(run_id) for run_id in report.runs])


def test_the_part_that_names_a_cause_failed_first_and_the_other_echoes(tmp_path: Path) -> None:
    logs = node(0, "04", PEER, 40), node(1, "04", "FileNotFoundError: '/m/demo/model-2.safetensors'", 44)

    _, (group,) = groups_of(tmp_path, *logs)

    assert group.names == ("node 0", "node 1")
    assert group.first_failure is not None
    assert (group.first_failure.part, group.first_failure.rank) == ("node 1", "TP8")
    assert group.first_failure.type == "FileNotFoundError"
    assert [(one.part, one.is_echo) for one in group.echoes] == [("node 0", True)]
    assert group.missing_nodes == ()
    assert "10.0.0.1:5000" in group.joined_by


def test_a_clock_of_another_zone_is_aligned_on_the_rendezvous(tmp_path: Path) -> None:
    logs = node(0, "04", "ValueError: late", 40), node(1, "09", "ValueError: soon", 20)

    _, (group,) = groups_of(tmp_path, *logs)

    assert [seconds for _, seconds in group.clock_shifts] == [5 * 3600]
    assert group.first_failure is not None and group.first_failure.message == "soon"
    assert group.first_failure.at is not None and group.first_failure.at.hour == 4
    assert [(one.part, one.is_echo) for one in group.echoes] == [("node 0", False)]


def test_only_echoes_mean_that_the_cause_lies_in_another_log(tmp_path: Path) -> None:
    logs = node(0, "04", PEER, 40, nodes=3), node(2, "04", PEER, 44, nodes=3)

    _, (group,) = groups_of(tmp_path, *logs)

    assert group.first_failure is None
    assert len(group.echoes) == 2
    assert group.missing_nodes == (1,)
    assert "the cause lies in a log that was not given (node 1)" in group.verdict


def test_a_part_that_does_not_complain_may_be_the_culprit(tmp_path: Path) -> None:
    _, (group,) = groups_of(tmp_path, node(0, "04", PEER, 40), node(1, "04", "", 0))

    assert "node 1 does not complain and may be the culprit" in group.verdict


def test_launches_that_differ_in_address_or_time_or_share_a_node_are_no_parts_of_one(tmp_path: Path) -> None:
    error = "ValueError: own"
    logs = [
        node(0, "04", error, 10),
        node(1, "04", error, 10, address="10.0.0.2:5000"),
        node(0, "06", error, 10),
        node(0, "04", error, 12, nodes=4),
    ]

    _, groups = groups_of(tmp_path, *logs)

    assert groups == ()


def test_each_start_of_a_restarted_launch_finds_its_own_parts(tmp_path: Path) -> None:
    error = "ValueError: own"
    first = node(0, "04", error, 10) + node(0, "06", error, 10)
    second = node(1, "04", error, 15) + node(1, "06", error, 15)

    store, groups = groups_of(tmp_path, first, second)

    hours = [{store.load(run_id).started_at.hour for run_id in group.runs} for group in groups]  # type: ignore[union-attr]
    assert sorted(map(sorted, hours)) == [[4], [6]]


def test_logs_of_single_ranks_are_joined_by_their_ranks(tmp_path: Path) -> None:
    def rank(number: int, error: str) -> str:
        head = f"[2026-02-03 04:00:2{number} TP{number}]"
        frame = '  File "/opt/sglang/srt/managers/scheduler.py", line 2000, in run_scheduler_process'
        return (
            f"{head} Load weight begin. avail mem=70.50 GB\n"
            f"{head} Scheduler hit an exception: Traceback (most recent call last):\n{frame}\n    x()\n{error}\n"
        )

    _, (group,) = groups_of(tmp_path, rank(0, PEER), rank(1, PEER), rank(2, "KeyError: 'lm_head.bias'"))

    assert group.names == ("TP0", "TP1", "TP2")
    assert group.first_failure is not None and group.first_failure.part == "TP2"
    assert [one.part for one in group.echoes] == ["TP0", "TP1"]


def test_a_stored_part_finds_the_others(tmp_path: Path) -> None:
    store, _ = groups_of(
        tmp_path, node(0, "04", PEER, 40), node(1, "04", "ValueError: x", 30), node(1, "14", "", 0)
    )
    zero = store.load(str(tmp_path / "0.log"))

    assert [one.path for one in siblings(store, zero)] == [str(tmp_path / "1.log")]


def test_a_launch_whose_nodes_all_go_on_is_ready_as_a_whole(tmp_path: Path) -> None:
    ready = "[2026-02-03 04:02:00] The server is fired up and ready to roll!\n"

    _, (group,) = groups_of(tmp_path, node(0, "04", "", 0) + ready, node(1, "04", "", 0))

    assert group.is_ready and group.first_failure is None and group.echoes == ()
