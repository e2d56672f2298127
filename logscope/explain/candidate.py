"""A cause while its score is still being summed up."""

from __future__ import annotations

from logscope.compare.records import Evidence
from logscope.explain.records import Cause, Remedy, ScorePart
from logscope.explain.remedies import merged
from logscope.store.records import Contrast, Seen
from parsers.lazy_dataclass import dataclass, field
from parsers.records import Json

_HIGHEST = 0.99
_MOST_EVIDENCE = 6


@dataclass(slots=True)
class Candidate:
    """One thing that may have made the run fail or slow."""

    kind: str
    subject: str
    title: str
    mechanism: str = ""
    parts: list[ScorePart] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    remedies: list[Remedy] = field(default_factory=list)
    is_linked: bool = False
    """Something ties it to the error: a name, a number, a frame, a known failure."""
    is_filler: bool = False
    """It only says what happened; not shown beside a certain cause."""
    is_known_failure: bool = False
    """A rule of the atlas names this cause, whatever changed."""
    asks: tuple[str, str, Json] | None = None
    """(kind, name, value) under which history is asked for its contrast."""
    seen: Seen | None = None
    contrast: Contrast | None = None

    def add(self, name: str, points: float, why: str, links: bool = True) -> None:
        """One summand; of two with one name the greater stays."""
        held = next((part for part in self.parts if part.name == name), None)
        if held is not None:
            if held.points >= points:
                return
            self.parts.remove(held)
        self.parts.append(ScorePart(name, round(points, 3), why))
        self.is_linked |= links and points > 0

    def quote(self, *quotes: Evidence | None) -> None:
        """Adds evidence, each piece once."""
        for quote in quotes:
            if quote is not None and quote not in self.evidence:
                self.evidence.append(quote)

    @property
    def points(self) -> float:
        """The sum; not clipped, so that the order survives above 1."""
        return sum(part.points for part in self.parts)

    def absorb(self, other: Candidate) -> None:
        """Takes the parts, evidence and remedies of another candidate for the same thing."""
        for part in other.parts:
            self.add(part.name, part.points, part.why, links=False)
        self.is_linked |= other.is_linked
        self.quote(*other.evidence)
        self.remedies.extend(other.remedies)
        self.asks = self.asks or other.asks
        self.mechanism = self.mechanism or other.mechanism

    def cause(self, rank: int) -> Cause:
        """The finished record."""
        return Cause(
            rank=rank,
            title=self.title,
            kind=self.kind,
            subject=self.subject,
            score=round(min(max(self.points, 0.01), _HIGHEST), 2),
            mechanism=self.mechanism,
            evidence=tuple(self.evidence[:_MOST_EVIDENCE]),
            remedies=tuple(merged(self.remedies)),
            seen_before=self.seen,
            contrast=self.contrast,
            parts=tuple(sorted(self.parts, key=lambda part: -abs(part.points))),
        )


def sentence(text: str) -> str:
    """`text` as a sentence; a name with an underscore keeps its small first letter, '' stays ''."""
    first = text.partition(" ")[0]
    begun = text if "_" in first or not text else text[0].upper() + text[1:]
    return begun.rstrip(".") + "." if begun else ""
