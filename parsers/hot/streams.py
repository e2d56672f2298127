"""The lines of a block that need no careful reading, by the source that they are of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.hot.lane import HotBlock, HotLane
from parsers.hot.words import Mask, Places


@dataclass(slots=True)
class Quiet:
    """A block's quiet lines."""

    is_quiet: Mask
    is_told: Mask
    """Those that are not empty: the failure model counts them."""
    is_headed: Mask
    """Those with SGLang's own head."""
    is_own: Mask
    """All lines with SGLang's own head, quiet or not."""
    with_libraries: bool
    """They name no library beneath SGLang either."""


@dataclass(slots=True)
class Stream:
    """The taken lines of one block with one label and the same carriers, as indexes of lines in the block."""

    label: str
    carriers: tuple[str, ...]
    rows: Places
    own_rows: Places
    """Those of them with SGLang's own head: batch and access lines, and quiet ones."""
    told_rows: Places
    """Quiet lines that are not empty."""
    headed_rows: Places
    """Quiet lines with SGLang's own head."""
    batch_rows: Places
    """Batch lines."""
    work_rows: Places
    """Served requests."""
    ranks: set[str]


def find_streams(lane: HotLane, found: HotBlock, quiet: Quiet) -> list[Stream]:
    """The block's taken lines by label and carriers, lines of all kinds together in line order."""
    is_work: Mask = np.zeros(found.starts.size, dtype=np.bool_)
    if found.requests.rows.size:
        works = np.array([line.is_work for line in lane.access.lines], dtype=np.bool_)
        is_work[found.requests.rows] = works[found.requests.tails]
    is_regular = found.is_batch | found.is_request
    has_quiet = bool(quiet.is_quiet.any())
    is_taken = is_regular | quiet.is_quiet
    keys = [(prefix.label, prefix.carriers) for prefix in lane.heads.prefixes]
    keys.append(("", ()))  # of lines without a head: prefix -1
    distinct = list(dict.fromkeys(keys))
    groups = np.array([distinct.index(key) for key in keys], dtype=np.int16)[found.heads.prefixes]
    present = np.flatnonzero(np.bincount(groups[is_taken])).tolist()
    streams = []
    for index in present:
        is_here = is_taken if len(present) == 1 else is_taken & (groups == index)
        rows = np.flatnonzero(is_here)
        own_rows = np.flatnonzero(is_here & (is_regular | quiet.is_headed)) if has_quiet else rows
        tags = np.flatnonzero(np.bincount(found.heads.tags[own_rows])).tolist()
        streams.append(
            Stream(
                *distinct[index],
                rows,
                own_rows,
                np.flatnonzero(is_here & quiet.is_told) if has_quiet else rows[:0],
                np.flatnonzero(is_here & quiet.is_headed) if has_quiet else rows[:0],
                np.flatnonzero(is_here & found.is_batch),
                np.flatnonzero(is_here & is_work),
                {lane.heads.ranks[tag] or "" for tag in tags} - {""},
            )
        )
    return streams
