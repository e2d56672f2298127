"""What the Throughput screen shows of one run."""

from __future__ import annotations

from dataclasses import dataclass

from logscope.store.records import Series, SetupSpread, StoredRun


@dataclass(frozen=True, slots=True)
class ThroughputView:
    """What the screen shows of one run."""

    run: StoredRun
    other: StoredRun | None
    """The baseline."""
    series: tuple[Series, ...]
    other_series: tuple[Series, ...]
    usual: SetupSpread
