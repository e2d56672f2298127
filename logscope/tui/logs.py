"""The logs that screens read lines from: opened once, unpacked where they are packed, closed with the app."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import RLock

from logscope.errors import SourceError
from logscope.tui.excerpt import Excerpt
from logscope.tui.log_file import LogFile, never
from logscope.tui.rows import Place
from parsers.lazy_dataclass import dataclass

MOST_OPEN = 8
"""Logs that are kept open at once."""
_HEAD = 512

KnownEnd = Callable[[str], tuple[int, int] | None]
"""Path -> (bytes, lines) that the store took in of it; None when it does not know."""


@dataclass(frozen=True, slots=True)
class _Held:
    stamp: tuple[int, int]
    log: LogFile
    unpacked: Path | None


class Logs:
    """Open logs by path. Used from workers; each log may be shared by several screens."""

    def __init__(self, known_end: KnownEnd = lambda path: None) -> None:
        self._known_end = known_end
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._lock = RLock()

    def get(
        self, path: str, say: Callable[[str], None] = lambda text: None, cancelled: Callable[[], bool] = never
    ) -> LogFile:
        """The log at `path`. `say` hears how far unpacking is. Raises SourceError."""
        with self._lock:
            stamp = _stamp(path)
            held = self._held.get(path)
            if held is not None and (held.unpacked is None or held.stamp == stamp):
                self._held.move_to_end(path)
                held.log.grow()
                return held.log
            unpacked = _unpack(Path(path), say, cancelled) if needs_unpacking(Path(path)) else None
            log = LogFile(unpacked or Path(path))
            end = self._known_end(path)
            if end is not None:
                log.end_is(*end)
            self._drop(path)
            self._held[path] = _Held(stamp, log, unpacked)
            while len(self._held) > MOST_OPEN:
                self._drop(next(iter(self._held)))
            return log

    def excerpts(self, places: Sequence[Place], around: int) -> tuple[Excerpt, ...]:
        """The lines around each place; a log that is gone is said, not hidden."""
        return tuple(self._excerpt(place, around) for place in places)

    def _excerpt(self, place: Place, around: int) -> Excerpt:
        name = place.path.rsplit("/", 1)[-1]
        title = f"{place.run}  {name}:{place.line}"
        try:
            log = self.get(place.path)
        except SourceError:
            kept = (place.text,) if place.text else ()
            return Excerpt(title, place.line, kept, place.line, f"{place.path} is not here any more")
        first = max(1, place.line - around)
        log.count_to(first)
        log.count_to(place.line + around)
        last = min(place.line + around, max(log.lines, 1))
        return Excerpt(title, first, tuple(log.line(n) for n in range(first, last + 1)), place.line)

    def close(self) -> None:
        """Closes all and removes what was unpacked."""
        with self._lock:
            for path in list(self._held):
                self._drop(path)

    def _drop(self, path: str) -> None:
        held = self._held.pop(path, None)
        if held is not None:
            held.log.close()
            if held.unpacked is not None:
                held.unpacked.unlink(missing_ok=True)


def _stamp(path: str) -> tuple[int, int]:
    try:
        facts = os.stat(path)  # noqa: PTH116 - of the file named, wherever it leads
    except OSError as error:
        raise SourceError(f"{path}: cannot be opened: {error.strerror}") from error
    return facts.st_size, facts.st_mtime_ns


def needs_unpacking(path: Path) -> bool:
    """True for packed logs and for those that are not UTF-8: their lines cannot be found by place."""
    from parsers.reader import ByteDecoder, open_log

    try:
        with open_log(path) as stream:
            if type(stream).__module__ not in ("_io", "io"):
                return True
            decoder = ByteDecoder()
            decoder.feed(stream.read(_HEAD))
    except OSError as error:
        raise SourceError(f"{path}: cannot be opened: {error.strerror or error}") from error
    return decoder.encoding != "utf-8"


def _unpack(path: Path, say: Callable[[str], None], cancelled: Callable[[], bool]) -> Path:
    """The log's text in a temporary file. Raises SourceError, also when it was cancelled."""
    from parsers.reader import ByteDecoder, open_log, read_blocks

    done = 0
    with NamedTemporaryFile(prefix="logscope-", suffix=".log", delete=False) as target:
        unpacked = Path(target.name)
        try:
            decoder = ByteDecoder()
            with open_log(path) as stream:
                for block in read_blocks(stream, 1 << 20):
                    target.write(decoder.feed(block))
                    done += len(block)
                    say(f"unpacking {path.name}: {done / 1e6:,.0f} MB  (esc stops it)")
                    if cancelled():
                        raise SourceError(f"{path}: unpacking was stopped", "r unpacks it again")
            target.write(decoder.finish())
        except OSError as error:
            unpacked.unlink(missing_ok=True)
            raise SourceError(
                f"{path}: cannot be unpacked: {error.strerror or error}", f"free space in {unpacked.parent}"
            ) from error
        except BaseException:
            unpacked.unlink(missing_ok=True)
            raise
    return unpacked
