"""One SGLang source tree, wherever it lies: a wheel, an sdist, a folder, site-packages, a git checkout."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from logscope.errors import SourceError
from parsers.lazy_dataclass import dataclass

_SKIPPED = re.compile(r"(?:^|/)(?:tests?|benchmarks?|examples?|docs?|\.agents|__pycache__)(?:/|$)")
_VERSION = re.compile(
    r"""^(?:__version__\s*=\s*(?:version\s*=\s*)?|version\s*=\s*)['"]([^'"]+)['"]""", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One Python file: its path below the folder ``sglang`` and its text."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class SourceTree:
    """The Python files of one release and the version it calls itself."""

    version: str
    files: tuple[SourceFile, ...]
    root: Path | None
    """The folder ``sglang`` where it is one on disk (a git checkout can then be asked), else None."""


def read_tree(place: Path, version: str | None = None) -> SourceTree:
    """Reads a wheel, an sdist or a folder. Raises SourceError when no SGLang package is in it."""
    if place.is_dir():
        root = _package_folder(place)
        files = tuple(_from_folder(root))
        named = version or _own_version(files) or _dist_version(root.parent) or _git_version(root)
    elif zipfile.is_zipfile(place):
        root, files = None, tuple(_from_wheel(place))
        named = version or _own_version(files) or _named_version(place.name)
    elif place.is_file() and tarfile.is_tarfile(place):
        root, files = None, tuple(_from_sdist(place))
        named = version or _own_version(files) or _named_version(place.name)
    else:
        raise SourceError(f"{place}: no folder, wheel or sdist", "give an installed or unpacked SGLang")
    if not any(file.path.startswith("srt/") for file in files):
        raise SourceError(f"{place}: no SGLang server package (sglang/srt) in it")
    if not named:
        raise SourceError(f"{place}: the version of this SGLang is not written in it", "give it with --name")
    return SourceTree(named, tuple(sorted(files, key=lambda file: file.path)), root)


def wanted(path: str) -> bool:
    """Whether a path below ``sglang/`` can run in a server: tests, benchmarks and examples cannot."""
    return path.endswith(".py") and not _SKIPPED.search(path) and not path.startswith(("bench_", "profiler"))


def _package_folder(place: Path) -> Path:
    for folder in (place, place / "sglang", place / "python" / "sglang"):
        if (folder / "srt").is_dir():
            return folder
    raise SourceError(
        f"{place}: no folder sglang/srt in it", "give site-packages, a checkout or sglang itself"
    )


def _from_folder(root: Path) -> Iterator[SourceFile]:
    for path in root.rglob("*.py"):
        below = path.relative_to(root).as_posix()
        if wanted(below):
            yield SourceFile(below, path.read_text(encoding="utf-8", errors="replace"))


def _from_wheel(place: Path) -> Iterator[SourceFile]:
    with zipfile.ZipFile(place) as archive:
        for name in archive.namelist():
            if name.startswith("sglang/") and wanted(name[7:]):
                yield SourceFile(name[7:], archive.read(name).decode("utf-8", "replace"))


def _from_sdist(place: Path) -> Iterator[SourceFile]:
    with tarfile.open(place) as archive:
        for member in archive:
            below = member.name.partition("/sglang/")[2]
            held = archive.extractfile(member) if below and wanted(below) else None
            if held is not None:
                yield SourceFile(below, held.read().decode("utf-8", "replace"))


def _own_version(files: tuple[SourceFile, ...]) -> str | None:
    """From _version.py (newer) or version.py (older, a literal)."""
    texts = {file.path: file.text for file in files}
    for path in ("_version.py", "version.py"):
        written = _VERSION.search(texts.get(path, ""))
        if written and not written.group(1).startswith("0.0.0"):
            return written.group(1)
    return None


def _dist_version(parent: Path) -> str | None:
    for info in sorted(parent.glob("sglang-*.dist-info")):
        return info.name.removeprefix("sglang-").removesuffix(".dist-info")
    return None


def _git_version(root: Path) -> str | None:
    import subprocess

    try:
        asked = subprocess.run(
            ["git", "-C", str(root), "describe", "--tags", "--always", "--match", "v*"],
            capture_output=True, text=True, timeout=20, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return asked.stdout.strip().removeprefix("v").replace("-", "+", 1).replace("-", ".") or None


def _named_version(name: str) -> str | None:
    written = re.match(r"sglang-(.+?)(?:-(?:py|cp)\d.*\.whl|\.tar\.gz|\.zip)\Z", name)
    return written.group(1) if written else None
