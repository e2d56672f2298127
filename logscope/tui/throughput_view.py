"""What the Throughput screen shows of one run."""

from __future__ import annotations

from logscope.store.records import Series, SetupSpread, StoredRun
from parsers.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ThroughputView:
    """What the screen shows of one run."""

    run: StoredRun
    other: StoredRun | None
    """The baseline."""
    series: tuple[Series, ...]
    other_series: tuple[Series, ...]
    usual: SetupSpread
    usual_by_running: tuple[tuple[int, float, float, float], ...] = ()
    """(running requests, lowest, middle, highest median tokens/s) over the good runs of the setup."""
    moved: frozenset[str] = frozenset()
    """Figures that differ from the baseline's by more than noise, by the names and the judgement of diff."""
