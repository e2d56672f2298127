"""Errors and warnings of one run, folded by fingerprint, in bounded memory.

A log may hold millions of errors: of each fingerprint the first and the latest occurrences and a
count are kept; of the fingerprints the earliest and the latest.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from parsers.lazy_dataclass import dataclass, field, replace
from parsers.records import Frame, Stage
from parsers.rules.message_rule import Weight

MAX_EARLY = 1000
MAX_LATE = 1000
MAX_OCCURRENCES = 16
"""Occurrences kept at each end."""
MAX_RANKS = 1024
MAX_MESSAGE = 4000


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that a message was printed."""

    line: int
    rank: str
    at: datetime | None
    stage: Stage | None
    is_fatal: bool = False
    """True when the words before a traceback say that its process ends with it."""


@dataclass(slots=True)
class Candidate:
    """All occurrences of one message."""

    fingerprint: str
    weight: Weight
    rule: str
    type: str | None
    message: str
    excerpt: str
    level: str
    context: str = ""
    """What the log said just before a traceback: names the part of the server that ended."""
    is_fatal: bool = False
    """True when the context says that the process ends with it."""
    is_server: bool = False
    """True when server code is in its traceback or in one that it is chained with."""
    is_certain: bool = True
    """False for a class that was read from a cut traceback."""
    is_headed: bool = False
    """True when its first line had a head: written by a logger and not printed."""
    note: str = ""
    """Why this exception of its chain was taken."""
    frames: tuple[Frame, ...] = ()
    text: str = ""
    count: int = 0
    ranks: dict[str, None] = field(default_factory=dict)
    first: list[Occurrence] = field(default_factory=list)
    latest: list[Occurrence] = field(default_factory=list)

    def copy(self) -> Candidate:
        """A copy that counts on by itself."""
        return replace(self, ranks=dict(self.ranks), first=list(self.first), latest=list(self.latest))

    def put_in_order(self, sign: int) -> None:
        """Sorts the occurrences by time; tracebacks of several ranks end in another order than they began."""
        everything = sorted(
            (replace(one, line=sign * one.line) if sign < 0 else one for one in self.occurrences()),
            key=lambda one: one.line,
        )
        self.first, self.latest = everything[:MAX_OCCURRENCES], everything[MAX_OCCURRENCES:]

    def occurrences(self) -> Iterator[Occurrence]:
        """The kept occurrences in order."""
        yield from self.first
        yield from self.latest

    def learn(self, other: Candidate) -> None:
        """Takes over what a traceback of the same message tells."""
        self.rule, self.type, self.context, self.note = other.rule, other.type, other.context, other.note
        self.frames, self.text = other.frames, other.text
        self.is_server, self.is_certain = other.is_server, other.is_certain

    @property
    def first_line(self) -> int:
        return self.first[0].line

    @property
    def last_line(self) -> int:
        return (self.latest or self.first)[-1].line

    def add(self, occurrence: Occurrence) -> None:
        """Counts one more occurrence."""
        self.count += 1
        if len(self.first) < MAX_OCCURRENCES:
            self.first.append(occurrence)
        else:
            self.latest.append(occurrence)
            if len(self.latest) > MAX_OCCURRENCES:
                del self.latest[0]
        if occurrence.rank and len(self.ranks) < MAX_RANKS:
            self.ranks[occurrence.rank] = None


@dataclass(slots=True)
class CandidateTable:
    """The candidates of one run by weight and fingerprint."""

    early: dict[tuple[str, Weight], Candidate] = field(default_factory=dict)
    late: dict[tuple[str, Weight], Candidate] = field(default_factory=dict)
    dropped: int = 0

    def get(self, fingerprint: str, weight: Weight) -> Candidate | None:
        key = (fingerprint, weight)
        return self.early.get(key) or self.late.get(key)

    def put(self, candidate: Candidate) -> None:
        key = (candidate.fingerprint, candidate.weight)
        if len(self.early) < MAX_EARLY:
            self.early[key] = candidate
            return
        self.late[key] = candidate
        if len(self.late) > MAX_LATE:
            del self.late[next(iter(self.late))]
            self.dropped += 1

    def copy(self) -> CandidateTable:
        """The same candidates, to be put in order without touching those that go on counting."""
        early = {key: one.copy() for key, one in self.early.items()}
        return CandidateTable(early, {key: one.copy() for key, one in self.late.items()}, self.dropped)

    def in_order(self, sign: int) -> list[Candidate]:
        """All kept candidates by first line; `sign` is -1 where the latest lines stand first in the file.

        Positions are made to rise with time: in such a file they are negative line numbers.
        """
        kept = [*self.early.values(), *self.late.values()]
        for one in kept:
            one.put_in_order(sign)
        return sorted(kept, key=lambda one: one.first_line)
