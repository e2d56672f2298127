"""A question that a worker answers, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic


class Job:
    """One question that a worker answers; stopping it reaches into what it waits for."""

    def __init__(self) -> None:
        self.began = monotonic()
        self._is_stopped = False
        self._stops: list[Callable[[], None]] = []

    def __call__(self) -> bool:
        """True when nobody wants the answer any more."""
        return self._is_stopped

    def stops_with(self, stop: Callable[[], None]) -> None:
        """`stop` ends what the worker waits for, a query for example."""
        self._stops.append(stop)
        if self._is_stopped:
            stop()

    def stop(self) -> None:
        """Ends it: no answer will come."""
        self._is_stopped = True
        for stop in self._stops:
            stop()
