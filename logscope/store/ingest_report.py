"""What became of each input of an ingest."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from logscope.store.records import RunId
from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from logscope.store.headline import Headline


class IngestStatus(StrEnum):
    """What an ingest did with one path."""

    NEW = "new"
    KNOWN = "known"
    """The same bytes are in the store; nothing was written but the path."""
    GROWN = "grown"
    """Read on from where an earlier ingest stopped."""
    REPLACED = "replaced"
    """The path holds another log now; the old one stays in the store."""
    REREAD = "reread"
    """Read again as a whole: asked for, or its context file changed."""
    SKIPPED = "skipped"
    """Found in a folder and no launch log."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IngestedPath:
    """One input and what became of it."""

    path: str
    status: IngestStatus
    runs: tuple[RunId, ...] = ()
    """All runs of the log, in its order."""
    message: str = ""
    """Why it failed or was passed over; what changed when it was read again. One line."""
    hint: str = ""
    new_bytes: int = 0
    """Bytes read into the store by this ingest."""
    changes: tuple[str, ...] = ()
    """For a log read again: what differs from before, one thing each."""
    notes: tuple[str, ...] = ()
    """What the reader had to say about the log."""
    beginning_of: str = ""
    """Path (without one: the run) of the stored log that begins with this one, which was read by itself."""
    longer_runs: tuple[RunId, ...] = ()
    """Runs of that log, as far as this store holds them."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The outcome of one ingest, in the order of the inputs."""

    paths: tuple[IngestedPath, ...]
    newest_failure: Headline | None = None
    """How the newest failed run of the whole store ended; None when nothing was written or none failed."""

    @property
    def runs(self) -> tuple[RunId, ...]:
        """Every run of every path that is in the store now, in the order of the inputs."""
        return tuple(dict.fromkeys(run for path in self.paths for run in path.runs))

    @property
    def failed(self) -> tuple[IngestedPath, ...]:
        return self.with_status(IngestStatus.FAILED)

    def with_status(self, *statuses: IngestStatus) -> tuple[IngestedPath, ...]:
        """The paths with one of these statuses."""
        return tuple(path for path in self.paths if path.status in statuses)
