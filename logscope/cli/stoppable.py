"""Ctrl-C stops a query: DuckDB itself does not look for signals while it works."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
Stop = Callable[[], None]


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
    threading.Thread(target=work, name="query").start()
    try:
        done.wait()
    except KeyboardInterrupt:
        for stop in stops:
            stop()
        done.wait()
        raise
    if troubles:
        raise troubles[0]
    return answers[0]
