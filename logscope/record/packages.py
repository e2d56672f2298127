"""Versions of the packages that a command will use, from its site-packages folders; runs nothing of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlparse

from parsers.lazy_dataclass import dataclass, field

_METADATA = re.compile(
    r"\A(?P<name>[A-Za-z0-9][A-Za-z0-9._]*)-(?P<version>[^-]+)(?:-py[\d.]+)?\.(?:dist|egg)-info\Z"
)
_GIT_SECONDS = 5.0
_PYTHON_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Installed:
    """What one Python environment holds."""

    packages: Mapping[str, str] = field(default_factory=dict)
    """Name in lower case with hyphens -> version."""
    sglang_commit: str | None = None
    """Of an SGLang in a git checkout; ``-dirty`` follows when tracked files differ from it."""
    sglang_folder: Path | None = None
    """The checkout, when SGLang is not an ordinary installed package."""
    python_version: str | None = None


def read_installed(interpreter: Path, env: Mapping[str, str]) -> Installed:
    """The packages of `interpreter`. Folders that cannot be read count as empty."""
    folders = site_folders(interpreter, env)
    packages: dict[str, str] = {}
    checkout: Path | None = None
    for folder in folders:
        if "sglang" not in packages and (version := _source_version(folder)) is not None:
            packages["sglang"] = version
            checkout = folder
        for name, version, metadata in _distributions(folder):
            if name == "sglang" and name not in packages:
                checkout = _editable_folder(metadata)
            packages.setdefault(name, version)
    commit = git_state(checkout) if checkout is not None else None
    return Installed(packages, commit, checkout, _python_version(folders))


def site_folders(interpreter: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """PYTHONPATH and the site-packages folders of `interpreter`, in import order."""
    named = [Path(part) for part in env.get("PYTHONPATH", "").split(os.pathsep) if part]
    own = list(_folders_below(interpreter.parent.parent))
    if not own:  # a shim or an unusual layout: the interpreter itself has to say
        own = list(_asked_folders(interpreter))
    base = _base_prefix(interpreter.parent.parent)
    if base is not None:
        own += _folders_below(base)
    return tuple(dict.fromkeys(folder for folder in (*named, *own) if folder.is_dir()))


def git_state(folder: Path) -> str | None:
    """``COMMIT`` or ``COMMIT-dirty`` of the checkout that holds `folder`; None when it is none."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return commit + ("-dirty" if changed else "")


def _distributions(folder: Path) -> Iterator[tuple[str, str, Path]]:
    try:
        entries = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return
    for entry in entries:
        hit = _METADATA.match(entry)
        if hit is not None:
            yield re.sub(r"[-_.]+", "-", hit["name"]).lower(), hit["version"], folder / entry


def _source_version(folder: Path) -> str | None:
    """The version of an SGLang that lies as source in a folder of the import path (PYTHONPATH,
    ``.egg-link``); None where its metadata lies beside it."""
    link = folder / "sglang.egg-link"
    source = folder
    try:
        if link.is_file():
            source = Path(link.read_text(encoding="utf-8").splitlines()[0])
        elif any(folder.glob("sglang-*.dist-info")):
            return None
        text = (source / "sglang" / "version.py").read_text(encoding="utf-8")
    except (OSError, IndexError, UnicodeDecodeError):
        return None
    hit = re.search(r"__version__\s*=\s*[\"']([^\"']+)[\"']", text)
    return hit[1] if hit is not None else None


def _editable_folder(metadata: Path) -> Path | None:
    """The source folder of an editable install, and of an ``.egg-info`` that stands in a checkout."""
    if metadata.name.endswith(".egg-info"):
        return metadata.parent
    try:
        held = json.loads((metadata / "direct_url.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    address = urlparse(str(held.get("url", "")))
    if address.scheme != "file":
        return None
    return Path(unquote(address.path))


def _folders_below(prefix: Path) -> Iterator[Path]:
    for pattern in (
        "lib/python3*/site-packages",
        "lib64/python3*/site-packages",
        "lib/python3*/dist-packages",
    ):
        yield from sorted(prefix.glob(pattern))
    if prefix == Path("/usr"):
        yield from sorted(Path("/usr/local").glob("lib/python3*/dist-packages"))


def _base_prefix(prefix: Path) -> Path | None:
    """The environment below a virtual one that may use its packages."""
    try:
        rows = (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    held = {key.strip(): value.strip() for key, _, value in (row.partition("=") for row in rows)}
    if held.get("include-system-site-packages", "").lower() != "true" or "home" not in held:
        return None
    return Path(held["home"]).parent


def _asked_folders(interpreter: Path) -> Iterator[Path]:
    asked = _output(
        [str(interpreter), "-c", "import site, sys; print(*site.getsitepackages(), *sys.path, sep='\\n')"],
        _PYTHON_SECONDS,
    )
    for row in (asked or "").splitlines():
        if row.endswith("-packages"):
            yield Path(row)


def _python_version(folders: tuple[Path, ...]) -> str | None:
    for folder in folders:
        hit = re.search(r"/python(3\.\d+)/", f"{folder}/")
        if hit is not None:
            return hit[1]
    return None


def _git(folder: Path, *words: str) -> str | None:
    return _output(["git", "-C", str(folder), "--no-optional-locks", *words], _GIT_SECONDS)


def _output(words: list[str], seconds: float) -> str | None:
    """What a short program prints; None when it fails, is missing or takes longer than `seconds`."""
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=True, text=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip()
