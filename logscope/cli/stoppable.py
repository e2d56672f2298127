"""Ctrl-C stops a query: DuckDB itself does not look for signals while it works."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
Stop = Callable[[], None]

STOP_AGAIN = 0.02
"""Seconds after which work that has not ended is told to stop once more."""


def stoppable(ask: Callable[[Callable[[Stop], None]], Answer]) -> Answer:
    """The answer of `ask`, which is given a function to hand its stop function to.

    Raises what `ask` raises; KeyboardInterrupt after the work has ended.
    """
    stops: list[Stop] = []
    answers: list[Answer] = []
    troubles: list[BaseException] = []

    def work() -> None:
        try:
            answers.append(ask(stops.append))
        except BaseException as error:  # carried to the thread that waits, whatever it is
            troubles.append(error)
        finally:
            done.set()

    done = threading.Event()  # Python 3.11 takes a thread for ended when its join is interrupted
    thread = threading.Thread(target=work, name="query", daemon=True)
    try:
        thread.start()
        done.wait()
    except KeyboardInterrupt:
        # A stop is lost while the store is still being opened, so it is said again until the work ends.
        while thread.ident is not None and not done.wait(STOP_AGAIN):
            for stop in stops:
                stop()
        raise
    if troubles:
        raise troubles[0]
    return answers[0]
