"""Made-up releases in place of the packaged ones, and a data folder of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logscope.knowledge import library
from logscope.knowledge.build.pack import write_facts
from tests.logscope.knowledge.made_release import read

Publish = Callable[[dict[str, dict[str, str]]], None]


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publish:
    """Packs made-up releases (version -> files) and lets the lookups answer from them."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def packed(releases: dict[str, dict[str, str]]) -> None:
        facts = {version: read(tmp_path / version, files, version) for version, files in releases.items()}
        write_facts(tmp_path / "packed.facts", facts)
        monkeypatch.setattr(library, "PACKAGED", tmp_path / "packed.facts")
        library.forget()

    return packed
