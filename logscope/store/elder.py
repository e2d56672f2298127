"""What the store on disk knows of a log that is read into a store in memory: its id."""

from __future__ import annotations

from logscope.errors import LogScopeError
from logscope.store.connection import Database
from logscope.store.loading import KnownLog
from logscope.store.planning import Knowledge, Plan
from logscope.store.reading import ReadLog
from logscope.store.sources import Source


def knowledge_beside(database: Database) -> Knowledge | None:
    """What the store beside one in memory knows; None where it cannot be read at once: a log alone can be
    shown without any store."""
    disk = database.beside
    if disk is None or database.is_copy:
        return None
    try:
        if not disk.exists():
            return None
        with disk.reading() as connection:
            return Knowledge(connection, disk.beginnings_at)
    except (LogScopeError, OSError):
        return None


def known_beside(elder: Knowledge, source: Source, log: ReadLog, plan: Plan) -> KnownLog | None:
    """The log in the store on disk that this one is, continues or begins."""
    try:
        planned = elder.plan(source, plan.stamp, plan.surroundings, False)
        return elder.settled(planned, source, log, False).known
    except LogScopeError:  # the store became locked meanwhile
        return None
