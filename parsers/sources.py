"""Which launch a line belongs to, where several servers write into one log.

Each label of a carrier is a source with launches one after another. Ray actors of one name are one server
as long as their ranks differ; the same rank under two labels means two servers.
"""

from __future__ import annotations

from parsers.heads import Head
from parsers.launches import RunBuilder
from parsers.lazy_dataclass import dataclass, field

HOST_LABELS = frozenset({"kernel", "systemd", "dockerd", "containerd", "kubelet", "systemd-oomd"})
"""Programs of the host in a journal: what they say (an OOM kill) concerns the server."""


@dataclass(slots=True)
class Source:
    """One server's stream of lines."""

    key: str
    current: RunBuilder
    finished: list[RunBuilder] = field(default_factory=list)
    has_bracket_heads: bool = False
    rank_owner: dict[str, str] = field(default_factory=dict)
    orphan_line: int = 0
    orphan_head: Head | None = None
    """Head of a record whose message was torn off by another process."""

    def begin_launch(self, number: int) -> None:
        """End the current launch and begin another one."""
        self.finished.append(self.current)
        self.current = RunBuilder(self.key, number)

    @property
    def builders(self) -> list[RunBuilder]:
        return [*self.finished, self.current]


class Sources:
    """All sources of a log."""

    def __init__(self) -> None:
        self.by_key: dict[str, Source] = {}
        self._key_of: dict[str, str] = {}
        self._last_certain = ""

    def of(self, label: str, number: int, carriers: tuple[str, ...]) -> Source:
        """The source of a label; a new one where the label is new."""
        if label in HOST_LABELS and "journald" in carriers and self._last_certain:
            return self.by_key[self._last_certain]
        key = self._key_of.get(label)
        if key is None:
            key = self._join(label) if "ray" in carriers else label
            self._key_of[label] = key
        source = self.by_key.get(key)
        if source is None:
            source = self.by_key[key] = Source(key, RunBuilder(key, number))
        return source

    def note(self, source: Source) -> None:
        """Remember where the last line of a server stood."""
        if source.current.is_certain:
            self._last_certain = source.key

    def part_by_rank(self, source: Source, label: str, rank: str, number: int) -> Source:
        """The source again, or another one when the rank is another actor's there."""
        if not label or not rank:
            return source
        owner = source.rank_owner.setdefault(rank, label)
        if owner == label or " pid=" not in label:
            return source
        return self._move(label, rank, number)

    def part_by_banner(self, source: Source, label: str, number: int) -> Source:
        """A second actor that prints arguments is a second server."""
        if " pid=" not in label or source.key == label or source.current.banner_line is None:
            return source
        return self._move(label, "", number)

    def _join(self, label: str) -> str:
        actor = label.split(" pid=")[0]
        for key in reversed(self.by_key):
            if " pid=" in key and key.split(" pid=")[0] == actor:
                return key
        return label

    def _move(self, label: str, rank: str, number: int) -> Source:
        actor = label.split(" pid=")[0]
        for key, source in self.by_key.items():
            fits = " pid=" in key and key.split(" pid=")[0] == actor
            if fits and rank and source.rank_owner.get(rank, label) == label:
                source.rank_owner[rank] = label
                self._key_of[label] = key
                return source
        self._key_of[label] = label
        moved = self.by_key.setdefault(label, Source(label, RunBuilder(label, number)))
        if rank:
            moved.rank_owner[rank] = label
        return moved
