"""The facts of one release as they come out of its source, before packing. Names, values and hashes only."""

from __future__ import annotations

from dataclasses import dataclass, field

from logscope.knowledge.build.guards import Atom


@dataclass(frozen=True, slots=True, order=True)
class Template:
    """A wording as hashed literal pieces in order."""

    pieces: tuple[tuple[int, int, int], ...]
    """Length, 40-bit hash and anchor of each folded piece (anchor 0: too short to be looked up by)."""
    starts: bool
    """The wording begins with a literal piece."""
    ends: bool
    words: tuple[int, ...]
    """Sorted 24-bit hashes of its words."""


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """One place that raises, asserts, exits, warns or logs."""

    function: str
    """Qualified name within the module; ``<module>`` outside of functions."""
    kind: str
    """``raise``, ``assert``, ``exit``, ``error``, ``warning``, ``info``."""
    type: str
    """Exception class or log level."""
    guard: int
    """Hash of the last four enclosing conditions with polarity."""
    atoms: tuple[Atom, ...]
    templates: tuple[Template, ...]
    flags: str
    """``c``: caught in the same function; ``h``: a call of a raise-or-warn helper; ``t``: the helper can also
    only warn; ``e``: past an early return; ``r``: a message with a raise or exit behind it in its block."""
    line: int
    span: int
    """Lines of the statement after the first."""
    body: int
    """24-bit hash of the enclosing function's source without spacing."""


@dataclass(frozen=True, slots=True)
class EnvUse:
    """One read, declaration or setting of an environment variable."""

    name: str
    action: str
    """``read``, ``declared`` or ``set``."""
    default: str | None
    kind: str
    """How its text is judged (see reads.EnvRead), or the declared class."""


@dataclass(frozen=True, slots=True)
class ArgWrite:
    """One assignment to a server argument, or a declaration of its resolved value."""

    name: str
    is_certain: bool
    follows_none: bool
    """Written where it was None."""


@dataclass(frozen=True, slots=True)
class Helper:
    """A function that raises or logs a text it is given."""

    name: str
    position: int
    """Of the text among the positional arguments of a call."""
    keyword: str
    kind: str
    type: str
    can_warn: bool
    atoms: tuple[Atom, ...]
    switches: tuple[tuple[int, str, bool], ...] = ()
    """(position, keyword, truth that leads to the raise) of parameters in the helper's own condition."""


@dataclass(slots=True)
class FileFacts:
    """What one file gives."""

    sites: list[Site] = field(default_factory=list)
    helpers: list[Helper] = field(default_factory=list)
    env: list[EnvUse] = field(default_factory=list)
    renamed_env: list[tuple[str, str, str]] = field(default_factory=list)
    """(one name, the other, ``inverted`` or '')."""
    writes: list[ArgWrite] = field(default_factory=list)
    names: frozenset[str] = frozenset()
    """Strings used as keys of dicts, where a file declares overrides."""
