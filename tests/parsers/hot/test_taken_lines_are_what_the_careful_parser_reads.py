"""The lane on its own: each line that it takes, read again one at a time."""

from __future__ import annotations

import pytest

from parsers.blocks import microseconds
from parsers.carriers import CarrierReader
from parsers.heads import parse_head
from parsers.hot.eye import ReaderEye
from parsers.hot.lane import HotLane
from parsers.rules.access import parse_access
from parsers.rules.batches import parse_batch
from tests.parsers.hot.log_kinds import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_every_taken_line_has_the_careful_values(kind: str) -> None:
    text = KINDS[kind](3)
    text = text[: text.rfind(b"\n") + 1]
    lane = HotLane()

    found = lane.take(text, ReaderEye(CarrierReader()))

    lines = text.split(b"\n")
    for group in found.batches:
        for place, row in enumerate(group.rows.tolist()):
            prefix = lane.heads.prefixes[found.heads.prefixes[row]]
            body = lines[row].decode().removesuffix("\r")[prefix.size - 1 :]
            head = parse_head(body)
            assert head is not None
            batch = parse_batch(body[head.end :])
            assert batch is not None
            values = {name: column[place] for name, column in group.values.items()}
            assert values.pop("other", "") == batch.other()
            assert values == batch.values()
            assert group.kind == batch.kind
            assert found.heads.at[row] == microseconds(head.at)
            assert lane.heads.ranks[found.heads.tags[row]] == head.rank
    for place, row in enumerate(found.requests.rows.tolist()):
        prefix = lane.heads.prefixes[found.heads.prefixes[row]]
        body = lines[row].decode().removesuffix("\r")[prefix.size - 1 :]
        head = parse_head(body)
        assert head is not None
        assert lane.access.lines[found.requests.tails[place]] == parse_access(body[head.end :])
        assert found.heads.at[row] == microseconds(head.at)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"time only"}))
def test_most_regular_lines_are_taken(kind: str) -> None:
    text = KINDS[kind](4)
    text = text[: text.rfind(b"\n") + 1]

    found = HotLane().take(text, ReaderEye(CarrierReader()))

    regular = text.count(b" batch") + text.count(b'HTTP/1.1"')
    taken = (found.is_batch | found.is_request).sum()
    assert taken > (0.4 if kind in ("dirty", "quoted") else 0.9) * regular
