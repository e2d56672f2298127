"""The records that packed facts are read into: a site, its wording, what guards it, where it stands."""

from __future__ import annotations

from parsers.lazy_dataclass import dataclass

KINDS = ("raise", "assert", "exit", "error", "warning", "info")
FATAL = frozenset({"raise", "assert", "exit"})


@dataclass(frozen=True, slots=True)
class Guarded:
    """One variable or argument that guards a site or is named by it (see build.guards.Atom)."""

    kind: str
    name: str
    operator: str
    value: str
    is_enough: bool
    is_early: bool
    default: str


@dataclass(frozen=True, slots=True)
class Wording:
    """A template: hashed pieces in order."""

    pieces: tuple[tuple[int, int], ...]
    """Length and hash."""
    starts: bool
    ends: bool

    @property
    def literal(self) -> int:
        """Literal characters."""
        return sum(size for size, _ in self.pieces)


@dataclass(frozen=True, slots=True)
class SiteFact:
    """One distinct site; where it stands depends on the release."""

    row: int
    path: str
    function: str
    kind: str
    type: str
    guard: int
    flags: str
    atoms: tuple[Guarded, ...]
    templates: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A site in one release."""

    row: int
    line: int
    last_line: int
    body: int
    """Hash of the enclosing function's source."""
