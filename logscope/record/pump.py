"""Carries a command's output to where it would have gone, and a copy of it into the log.

Must never hold output back, never change a byte of it, and never stop because the log cannot be written.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Sequence

from parsers.lazy_dataclass import dataclass

_BLOCK = 1 << 16
_SAFE_WRITE = 4096
"""A pipe that polls as writable takes this much without blocking (PIPE_BUF on Linux)."""
_LONGEST_TAIL = 1 << 16
_TAIL_MS = 200
"""An unfinished line (a progress bar, a prompt) goes into the log after this time."""


class LogFile:
    """The log. A write that fails is told once and ends the recording, not the launch."""

    def __init__(self, descriptor: int, tell: Callable[[str], None]) -> None:
        self._descriptor: int | None = descriptor
        self._tell = tell

    def write(self, block: bytes | bytearray) -> None:
        view = memoryview(block)
        while self._descriptor is not None and len(view):
            try:
                view = view[os.write(self._descriptor, view) :]
            except OSError as error:
                self._tell(f"the log ends here, it cannot be written: {error}")
                self.close()

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@dataclass(slots=True)
class Stream:
    """One output of the command: where it comes from and where it goes."""

    source: int
    """Read end of the pipe, or the terminal's controlling side."""
    target: int
    """The descriptor that the command would have written to."""
    pending: bytes = b""
    """Read, in the log, not yet taken by the target."""
    tail: bytes = b""
    """An unfinished line that is not yet in the log."""
    is_open: bool = True


class Pump:
    """Copies streams until they end. One thread; every stream blocks only itself."""

    def __init__(self, streams: Sequence[Stream], log: LogFile, wake: int) -> None:
        self._streams = tuple(streams)
        self._log = log
        self._wake = wake
        self._poll = select.poll()
        self._poll.register(wake, select.POLLIN)
        for stream in self._streams:
            self._watch(stream)

    @property
    def is_open(self) -> bool:
        """True while the command, or a process it left behind, can still write."""
        return any(stream.is_open for stream in self._streams)

    def run(self, seconds_left: Callable[[], float | None]) -> None:
        """Copies until all streams end or `seconds_left` (asked after every event) says 0 or less;
        None means without limit."""
        while self.is_open:
            left = seconds_left()
            if left is not None and left <= 0:
                return
            self._step(self._timeout(left))
        self._flush_tails()

    def wait(self, seconds_left: Callable[[], float | None]) -> None:
        """Waits for signals after the streams have ended (the command may close them early)."""
        while (left := seconds_left()) is None or left > 0:
            self._step(self._timeout(left))

    def _timeout(self, left: float | None) -> int | None:
        limits = [] if left is None else [max(1, int(left * 1000))]
        if any(stream.tail for stream in self._streams):
            limits.append(_TAIL_MS)
        return min(limits) if limits else None

    def _step(self, timeout: int | None) -> None:
        events = self._poll.poll(timeout)
        if not events:
            self._flush_tails()
        happened = dict(events)
        if self._wake in happened:
            _drain(self._wake)
        for stream in self._streams:
            if stream.is_open:
                self._serve(stream, happened)

    def _serve(self, stream: Stream, happened: dict[int, int]) -> None:
        """Reads or writes as the stream's turn is; the reader's end going away is passed on at once."""
        told = happened.get(stream.target, 0)
        if told & (select.POLLERR | select.POLLHUP | select.POLLNVAL) and not stream.pending:
            self._end(stream)
        elif stream.pending and told:
            self._push(stream)
        elif happened.get(stream.source, 0):
            self._pull(stream)

    def _pull(self, stream: Stream) -> None:
        try:
            block = os.read(stream.source, _BLOCK)
        except OSError:  # a terminal without a writer gives EIO
            block = b""
        if not block:
            self._end(stream)
            return
        self._keep(stream, block)
        stream.pending = block
        if len(self._streams) == 1:
            self._push(stream)
        else:
            self._watch(stream)

    def _push(self, stream: Stream) -> None:
        """Writes what is pending: all of it for a lone stream (blocking holds nobody else up)."""
        alone = len(self._streams) == 1
        view = memoryview(stream.pending)
        try:
            while len(view):
                view = view[os.write(stream.target, view if alone else view[:_SAFE_WRITE]) :]
                if not alone:
                    break
        except BlockingIOError:  # the outside set its end non-blocking: the poll says when to go on
            pass
        except OSError:  # nobody reads any more: the command shall learn it as it would have
            self._end(stream)
            return
        stream.pending = bytes(view)
        self._watch(stream)

    def _watch(self, stream: Stream) -> None:
        self._forget(stream)
        if stream.pending:
            self._poll.register(stream.target, select.POLLOUT)
        else:
            self._poll.register(stream.source, select.POLLIN)
            self._poll.register(stream.target, 0)  # errors are reported all the same

    def _forget(self, stream: Stream) -> None:
        for descriptor in (stream.source, stream.target):
            try:
                self._poll.unregister(descriptor)
            except KeyError:
                continue

    def _end(self, stream: Stream) -> None:
        self._forget(stream)
        os.close(stream.source)
        stream.is_open = False
        self._log.write(stream.tail)
        stream.tail = b""

    def _keep(self, stream: Stream, block: bytes) -> None:
        """Puts a block into the log; with two streams by whole lines, so that they do not tear each other."""
        if len(self._streams) == 1:
            self._log.write(block)
            return
        text = stream.tail + block
        cut = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        if len(text) - cut > _LONGEST_TAIL:
            cut = len(text)
        self._log.write(text[:cut])
        stream.tail = text[cut:]

    def _flush_tails(self) -> None:
        for stream in self._streams:
            self._log.write(stream.tail)
            stream.tail = b""


def deadline_in(seconds: float) -> Callable[[], float]:
    """A countdown for `Pump.run`."""
    end = time.monotonic() + seconds
    return lambda: end - time.monotonic()


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 512):
            pass
    except BlockingIOError:
        return
