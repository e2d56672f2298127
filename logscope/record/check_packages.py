"""Installed packages of a planned launch against what SGLang and the libraries beneath it ask for.

Reads metadata files only. transformers refuses to be imported with some of its requirements unmet, so those
end the launch; a pin of SGLang's that is not met is only worth knowing: people override pins on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from email.parser import HeaderParser
from pathlib import Path

from logscope.explain.records import Remedy
from logscope.record.checking import Finding, Planned, Severity
from logscope.record.command_line import interpreter_of
from logscope.record.packages import site_folders

_ENFORCED_BY_TRANSFORMERS = frozenset(
    (
        *("regex", "requests", "packaging", "filelock", "numpy", "tokenizers", "huggingface-hub"),
        *("safetensors", "accelerate", "pyyaml", "tqdm"),
    )
)
"""transformers checks these when it is imported (its dependency_versions_check)."""


def package_findings(plan: Planned) -> Iterator[Finding]:
    """Requirements of sglang and transformers that the environment does not meet."""
    if plan.is_recorded or not plan.context.packages:
        return
    interpreter = interpreter_of(plan.command.words(), plan.env)
    if interpreter is None:
        return
    folders = site_folders(interpreter, plan.env)
    for owner in ("transformers", "sglang"):
        if owner in plan.context.packages:
            yield from _unmet(owner, _requirements(folders, owner), plan.context.packages)


def _unmet(owner: str, requirements: list[str], installed: Mapping[str, str]) -> Iterator[Finding]:
    from packaging.requirements import InvalidRequirement, Requirement  # 15 ms
    from packaging.version import InvalidVersion

    for text in requirements:
        try:
            wanted = Requirement(text)
            if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
                continue
            name = re.sub(r"[-_.]+", "-", wanted.name).lower()
            have = installed.get(name)
            if have is not None and wanted.specifier.contains(have, prereleases=True):
                continue
        except (InvalidRequirement, InvalidVersion):
            continue
        yield _finding(owner, name, have, f"{wanted.name}{wanted.specifier}")


def _finding(owner: str, name: str, have: str | None, wanted: str) -> Finding:
    is_enforced = owner == "transformers" and name in _ENFORCED_BY_TRANSFORMERS
    state = f"{name} {have} is installed" if have is not None else f"{name} is not installed"
    ending = ": it cannot be imported" if is_enforced else ""
    return Finding(
        "package-requirement",
        "version",
        name,
        Severity.FAILS if is_enforced else Severity.NOTE,
        f"{state}, {owner} asks for {wanted}{ending}",
        (f"from the metadata of {owner}",),
        (
            Remedy(
                f"Install what {owner} asks for.",
                f"pip install '{wanted}'",
                "lasting",
                "nothing else needs the other",
            ),
        ),
    )


def _requirements(folders: tuple[Path, ...], owner: str) -> list[str]:
    for folder in folders:
        for metadata in folder.glob(f"{owner}-*.dist-info/METADATA"):
            try:
                text = metadata.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            return HeaderParser().parsestr(text).get_all("Requires-Dist") or []
    return []
