"""Ctrl-C reaches a query at whatever moment it is pressed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import duckdb
import pytest

from logscope.cli.stoppable import stoppable


def test_ctrl_c_before_the_query_runs_is_not_lost() -> None:
    connection = duckdb.connect()

    def opens_slowly_then_asks(started: Callable[[Callable[[], None]], None]) -> None:
        started(connection.interrupt)
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        time.sleep(0.3)  # an interrupt of a connection that does nothing is forgotten
        with suppress(RuntimeError, duckdb.Error):
            connection.execute("SELECT count(*) FROM range(100000000) a, range(100000000) b").fetchall()

    with pytest.raises(KeyboardInterrupt):
        stoppable(opens_slowly_then_asks)
