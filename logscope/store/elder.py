"""What the store on disk knows of a log that is read into a store in memory: its id, or that it is only the
beginning of a known one."""

from __future__ import annotations

from logscope.errors import LogScopeError
from logscope.store.connection import Database
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


def plan_beside(elder: Knowledge, source: Source, log: ReadLog, plan: Plan) -> Plan | None:
    """What the store on disk would do with this log by itself; None where it cannot be asked."""
    try:
        planned = elder.plan(source, plan.stamp, plan.surroundings, False)
        return elder.by_itself(elder.settled(planned, source, log, False), source)
    except LogScopeError:  # the store became locked meanwhile
        return None
