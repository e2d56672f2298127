"""The order of SGLang's version names: release candidates before, post releases after their release."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from parsers.lazy_pattern import lazy_re

_SHAPE = lazy_re(
    r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:\.?(dev|a|b|rc|post)(\d*))?(?:\.?dev(\d+))?(.*)\Z", re.ASCII
)
_RANK = {"dev": 0, "a": 1, "b": 2, "rc": 3, "": 4, "post": 5}

Key = tuple[int, int, int, int, int, int, str]


def version_key(version: str) -> Key | None:
    """A sortable key, or None for a name that is no version."""
    shape = _SHAPE.match(version.strip())
    if shape is None:
        return None
    major, minor, patch, word, number, dev, rest = shape.groups()
    if word == "dev":
        return int(major), int(minor), int(patch or 0), 0, 0, int(number or 0), rest
    is_dev = dev is not None
    return (
        int(major), int(minor), int(patch or 0), _RANK[word or ""], int(number or 0),
        int(dev) if is_dev else 1 << 30, rest,
    )  # fmt: skip


def newest_not_above(version: str, known: Sequence[str]) -> str | None:
    """`version` itself when it is known, else the nearest lower one of `known` (in order), else None."""
    if version in known:
        return version
    wanted = version_key(version)
    if wanted is None:
        return None
    keys = [version_key(one) for one in known]
    sortable = [key for key in keys if key is not None]
    at = bisect_right(sortable, wanted)
    return known[at - 1] if at else None
