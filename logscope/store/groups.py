"""Which runs are parts of one launch: one log a node, or one a rank, joined by what their arguments say.

Nodes of one launch are given the same rendezvous address and the same number of nodes, and each its own
number. Logs of single ranks often hold no arguments: these are joined only among runs named together.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import PurePath
from typing import TYPE_CHECKING

from logscope.store.clocks import SLACK, clock_shift, ran_together
from logscope.store.records import RunId, StoredRun
from parsers.lazy_dataclass import dataclass, field

if TYPE_CHECKING:
    from logscope.store.first_failure import GroupFailure
    from logscope.store.store import Store

MAX_SIBLINGS = 64
"""Stored runs with the same rendezvous address that are looked at."""

_OWN = frozenset(
    {"node_rank", "host", "port", "nccl_port", "random_seed", "base_gpu_id", "log_level", "api_key",
     "dist_init_addr", "gpu_id_step", "nnodes", "model_path", "tokenizer_path", "served_model_name", "device"}
)  # fmt: skip
"""Arguments that parts of one launch may have for themselves."""


@dataclass(frozen=True, slots=True)
class LaunchGroup:
    """Runs that are parts of one launch."""

    runs: tuple[RunId, ...]
    """In the order of their nodes or ranks."""
    names: tuple[str, ...]
    """What each part is: ``node 1``, ``TP2``; in the order of `runs`."""
    joined_by: str
    """What they have in common, in words."""
    is_ready: bool
    """One part got ready and none failed."""
    verdict: str
    """One sentence: which part failed first, or why that cannot be told."""
    first_failure: GroupFailure | None
    echoes: tuple[GroupFailure, ...]
    """Parts that only report that another part went away, and what failed later."""
    missing_nodes: tuple[int, ...]
    """Nodes of which no log is there."""
    clock_shifts: tuple[tuple[RunId, float], ...] = ()
    """Seconds by which a part's clock is ahead of the first part's, where that is evident."""

    @property
    def lacks_cause(self) -> bool:
        """Parts ended, and all of them only report that another part went away."""
        return self.first_failure is None and bool(self.echoes)


@dataclass(slots=True)
class _Joined:
    """A group in the making."""

    members: list[StoredRun]
    joined_by: str
    nodes: dict[int, StoredRun] = field(default_factory=dict)
    shifts: dict[str, timedelta] = field(default_factory=dict)


def find_groups(runs: Sequence[StoredRun]) -> tuple[LaunchGroup, ...]:
    """Groups of two parts or more among `runs`, and lone parts whose cause stands in a missing log."""
    left = [stored for stored in runs if _node(stored) is None]
    joined = _by_node([stored for stored in runs if _node(stored) is not None]) + _by_rank(left)
    found = [_finished(group) for group in joined if len(group.members) > 1 or _node(group.members[0])]
    return tuple(one for one in found if len(one.runs) > 1 or (one.missing_nodes and one.lacks_cause))


def siblings(store: Store, stored: StoredRun) -> list[StoredRun]:
    """Runs of the store that are other parts of the launch of `stored`: with its rendezvous address."""
    if _node(stored) is None:
        return []
    rows = store.query(
        "SELECT DISTINCT r.run_id, r.run_no FROM runs r JOIN server_args a USING (run_no) "
        "WHERE a.name = 'dist_init_addr' AND a.text = ? AND r.nnodes = ? AND r.run_id <> ? "
        "ORDER BY r.run_no DESC LIMIT ?",
        [stored.argument("dist_init_addr"), stored.argument("nnodes"), stored.run_id, MAX_SIBLINGS],
    ).rows
    found = [store.load(str(row[0])) for row in rows]
    for group in find_groups([stored, *found]):
        if stored.run_id in group.runs:
            return [one for one in found if one.run_id in group.runs]
    return []


def _node(stored: StoredRun) -> tuple[str, int, int] | None:
    """Rendezvous address, number of nodes, number of this node; None for a launch on one node."""
    address, nodes, node = map(stored.argument, ("dist_init_addr", "nnodes", "node_rank"))
    if not isinstance(nodes, int) or not isinstance(node, int) or nodes < 2:
        return None
    return (address if isinstance(address, str) else "", nodes, node)


def _model(stored: StoredRun) -> str:
    return PurePath((stored.run.model_path or "").rstrip("/")).name


def _by_node(runs: Sequence[StoredRun]) -> list[_Joined]:
    groups: list[_Joined] = []
    for stored in sorted(runs, key=_start_order):
        where = _node(stored)
        assert where is not None
        address, nodes, node = where
        fitting = [group for group in groups if node not in group.nodes and _fits(group, stored)]
        group = max(fitting, key=lambda one: _together(one, stored), default=None)
        if group is None:
            text = f"dist_init_addr {address}, " if address else ""
            group = _Joined([], f"{text}model {_model(stored) or '?'}, {nodes} nodes, time")
            groups.append(group)
        elif (shift := clock_shift(group.members[0], stored)) != timedelta():
            group.shifts[stored.run_id] = shift
        group.members.append(stored)
        group.nodes[node] = stored
    for group in groups:
        group.members.sort(key=lambda one: (_node(one) or ("", 0, 0))[2])
    return groups


def _fits(group: _Joined, stored: StoredRun) -> bool:
    first = group.members[0]
    if (_node(first) or ())[:2] != (_node(stored) or ())[:2] or _model(first) != _model(stored):
        return False
    together = ran_together(first, stored, {**group.shifts, stored.run_id: clock_shift(first, stored)})
    return together is None or together >= -SLACK


def _together(group: _Joined, stored: StoredRun) -> timedelta:
    shifts = {**group.shifts, stored.run_id: clock_shift(group.members[0], stored)}
    return ran_together(group.members[0], stored, shifts) or timedelta()


def _by_rank(runs: Sequence[StoredRun]) -> list[_Joined]:
    """Logs of single ranks: no rank stands in two of them, and nothing that they print contradicts."""
    groups: list[_Joined] = []
    for stored in sorted(runs, key=lambda one: (not one.run.ranks, one.run.ranks, one.path)):
        group = next((one for one in groups if _is_other_rank(one, stored)), None)
        if group is None:
            group = _Joined([], "distinct ranks, time")
            groups.append(group)
        group.members.append(stored)
    return groups


def _is_other_rank(group: _Joined, stored: StoredRun) -> bool:
    for member in group.members:
        if member.path == stored.path and member.run.label == stored.run.label:
            return False
        if not member.run.ranks or not stored.run.ranks or set(member.run.ranks) & set(stored.run.ranks):
            return False
        if _shape(member) != _shape(stored) or not _agree(member, stored):
            return False
        together = ran_together(member, stored)
        if together is None or together < -SLACK:
            return False
    return True


def _shape(stored: StoredRun) -> set[tuple[str, ...]]:
    """The kinds of rank tags: ``TP`` and ``DP TP`` are ranks of different launches."""
    return {tuple(word.rstrip("0123456789") for word in rank.split()) for rank in stored.run.ranks}


def _agree(one: StoredRun, other: StoredRun) -> bool:
    mine = {argument.name: argument.raw for argument in one.run.server_args}
    theirs = {argument.name: argument.raw for argument in other.run.server_args}
    if mine and theirs and _model(one) != _model(other):
        return False
    return all(mine[name] == theirs[name] for name in mine.keys() & theirs.keys() - _OWN)


def _start_order(stored: StoredRun) -> tuple[bool, str, str]:
    moment = stored.started_at
    return moment is None, moment.isoformat() if moment is not None else "", stored.run_id


def _finished(group: _Joined) -> LaunchGroup:
    from logscope.store.first_failure import Part, tell_story  # loads the rules: most runs are no parts

    nodes = (_node(group.members[0]) or ("", 0, 0))[1]
    missing = tuple(number for number in range(nodes) if number not in group.nodes)
    parts = [Part(one, _name(one), group.shifts.get(one.run_id, timedelta())) for one in group.members]
    story = tell_story(parts, missing)
    return LaunchGroup(
        runs=tuple(one.run_id for one in group.members),
        names=tuple(part.name for part in parts),
        joined_by=group.joined_by,
        is_ready=story.is_ready,
        verdict=story.verdict,
        first_failure=story.first_failure,
        echoes=story.echoes,
        missing_nodes=missing,
        clock_shifts=tuple(
            (one.run_id, group.shifts[one.run_id].total_seconds())
            for one in group.members
            if one.run_id in group.shifts
        ),
    )


def _name(stored: StoredRun) -> str:
    where = _node(stored)
    if where is not None:
        return f"node {where[2]}"
    ranks = stored.run.ranks
    return ranks[0] if len(ranks) == 1 else f"{ranks[0]} to {ranks[-1]}" if ranks else "launcher"
