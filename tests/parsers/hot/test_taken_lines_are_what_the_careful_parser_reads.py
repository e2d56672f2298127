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
    assert found.taken.sum() == found.batches.rows.size + found.requests.rows.size
    values = {}
    for places, columns in found.batches.groups:
        for index, place in enumerate(places.tolist()):
            values[place] = {name: column[index] for name, column in columns.items()}
    for place, row in enumerate(found.batches.rows.tolist()):
        prefix = lane.heads.prefixes[found.batches.prefixes[place]]
        body = lines[row].decode().removesuffix("\r")[prefix.size - 1 :]
        head = parse_head(body)
        assert head is not None
        batch = parse_batch(body[head.end :])
        assert batch is not None
        other = values[place].pop("other", "")
        assert values[place] == batch.values()
        assert other == batch.other()
        assert found.batches.kinds[place] == batch.kind
        assert found.batches.at[place] == microseconds(head.at)
        assert lane.heads.ranks[found.batches.tags[place]] == head.rank
    for place, row in enumerate(found.requests.rows.tolist()):
        prefix = lane.heads.prefixes[found.requests.prefixes[place]]
        body = lines[row].decode().removesuffix("\r")[prefix.size - 1 :]
        head = parse_head(body)
        assert head is not None
        assert lane.access.lines[found.requests.tails[place]] == parse_access(body[head.end :])
        assert found.requests.at[place] == microseconds(head.at)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"time only"}))
def test_most_regular_lines_are_taken(kind: str) -> None:
    text = KINDS[kind](4)
    text = text[: text.rfind(b"\n") + 1]

    found = HotLane().take(text, ReaderEye(CarrierReader()))

    regular = text.count(b" batch") + text.count(b'HTTP/1.1"')
    assert found.taken.sum() > (0.4 if kind in ("dirty", "quoted") else 0.9) * regular
