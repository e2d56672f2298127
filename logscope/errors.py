"""Errors that a front end prints as one line and a hint. Library code raises, front ends print."""

from __future__ import annotations


class LogScopeError(Exception):
    """Something went wrong that the user can do something about."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(LogScopeError):
    """The words of the command line do not fit together."""


class SourceError(LogScopeError):
    """A log or another input file cannot be read."""


class OutputError(LogScopeError):
    """A result cannot be written: a full disk behind a redirection, say."""


class NotALaunchLog(SourceError):
    """The input can be read, but nothing in it is of an SGLang launch."""


class RunNotFound(LogScopeError):
    """A run reference names no run, or several."""


class NoComparableRun(LogScopeError):
    """No earlier successful run can be compared with this one."""


class StoreError(LogScopeError):
    """The store cannot be opened, read or written."""


class StoreLocked(StoreError):
    """Another process holds the store; the message names it."""


class QueryError(LogScopeError):
    """A query of the user's was refused or failed."""
