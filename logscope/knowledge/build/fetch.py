"""Fetches SGLang's published packages with pip, without their dependencies."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from logscope.errors import SourceError


def published_versions() -> tuple[str, ...]:
    """Every release on the package index, release candidates too, newest first."""
    asked = _pip("index", "versions", "--pre", "sglang")
    listed = re.search(r"^Available versions: (.+)$", asked, re.MULTILINE)
    if listed is None:
        raise SourceError("pip lists no versions of sglang", "is the package index reachable?")
    return tuple(version.strip() for version in listed.group(1).split(","))


def package_of(version: str, folder: Path) -> Path:
    """The package of `version` in `folder`, fetched when it is not there yet."""
    held = _in_folder(version, folder)
    if held is None:
        folder.mkdir(parents=True, exist_ok=True)
        _pip("download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(folder), f"sglang=={version}")
        held = _in_folder(version, folder)
    if held is None:
        raise SourceError(f"sglang {version} has no wheel on the index")
    return held


def _in_folder(version: str, folder: Path) -> Path | None:
    for pattern in (f"sglang-{version}-*.whl", f"sglang-{version}.tar.gz"):
        for place in sorted(folder.glob(pattern)):
            return place
    return None


def _pip(*words: str) -> str:
    asked = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)
    if asked.returncode:
        reason = (asked.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise SourceError(f"pip {words[0]} failed: {reason}")
    return asked.stdout
