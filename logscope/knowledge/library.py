"""Which packed file answers for which release: the package's own, and the user's (``knowledge add``)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from logscope.config import knowledge_dir
from logscope.knowledge.catalogue import Catalogue
from logscope.knowledge.pack_format import PackError
from logscope.knowledge.versions import newest_not_above
from parsers.lazy_dataclass import dataclass

DATA = Path(__file__).parent / "data"
"""The folder of the facts and rules that come with the package."""
PACKAGED = DATA / "sglang.facts"
SUFFIX = ".facts"


@dataclass(frozen=True, slots=True)
class ReleaseView:
    """One release inside the file that knows it."""

    catalogue: Catalogue
    index: int
    asked: str
    """The version that was asked for."""

    @property
    def version(self) -> str:
        """The release that answers."""
        return self.catalogue.releases[self.index]

    @property
    def is_exact(self) -> bool:
        """Whether the asked version itself is known."""
        return self.asked == self.version


def releases() -> tuple[str, ...]:
    """All known releases: the packaged ones oldest first, then the user's own."""
    shipped = packaged()
    own = tuple(name for name in sorted(_own_files()) if shipped is None or name not in shipped.releases)
    return (() if shipped is None else shipped.releases) + own


def packaged() -> Catalogue | None:
    """The facts that come with LogScope; None where they are missing."""
    return _opened(PACKAGED) if PACKAGED.exists() else None


def view(version: str | None) -> ReleaseView | None:
    """The facts for `version`: the user's own build of that name first, else the nearest lower release."""
    if not version:
        return None
    own = _own_files().get(version)
    if own is not None:
        catalogue = _opened(own)
        if catalogue is not None:
            return ReleaseView(catalogue, len(catalogue.releases) - 1, version)
    shipped = packaged()
    if shipped is None:
        return None
    name = newest_not_above(version.removeprefix("v"), shipped.releases)
    return None if name is None else ReleaseView(shipped, shipped.releases.index(name), version)


def own_path(version: str) -> Path:
    """Where facts of a user's own build are kept."""
    return knowledge_dir() / (version.replace("/", "_") + SUFFIX)


def forget() -> None:
    """Drops what was read, after a file was added."""
    _opened.cache_clear()


def _own_files() -> dict[str, Path]:
    folder = knowledge_dir()
    if not folder.is_dir():
        return {}
    return {place.name.removesuffix(SUFFIX): place for place in sorted(folder.glob(f"*{SUFFIX}"))}


@cache
def _opened(path: Path) -> Catalogue | None:
    try:
        return Catalogue(path)
    except PackError:
        if path == PACKAGED:
            raise
        return None  # a file of another LogScope release: its build is simply not known


def value_at(changes: list[list[Any]] | None, index: int) -> Any:
    """The value of a list of changes [release index, value] that holds at `index`."""
    held = None
    for since, value in changes or ():
        if since > index:
            break
        held = value
    return held
