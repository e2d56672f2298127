"""Packed facts: nothing is lost, the same input gives the same bytes, one release can be added."""

from __future__ import annotations

from pathlib import Path

import pytest

from logscope.errors import SourceError
from logscope.knowledge.build.pack import write_facts
from logscope.knowledge.build.release import ReleaseFacts
from logscope.knowledge.build.sources import read_tree
from logscope.knowledge.build.unpack import read_facts
from logscope.knowledge.catalogue import Catalogue
from logscope.knowledge.pack_format import Pack, PackError
from tests.logscope.knowledge.made_release import read, write_release

POOL = """
def check(server_args):
    if server_args.page_size > 1:
        raise ValueError(f"pages of {server_args.page_size} do not fit this layout")
    logger.warning("pages of one are slow on this machine")
"""


@pytest.fixture
def two(tmp_path: Path) -> dict[str, ReleaseFacts]:
    """Two releases that differ in one file."""
    edited = POOL.replace("> 1", "> 8") + '\ndef more():\n    assert False, "this cannot be reached at all"\n'
    return {
        "9.0.0": read(tmp_path / "a", {"srt/pool.py": POOL, "srt/kept.py": "raise KeyError(1)\n"}, "9.0.0"),
        "9.1.0": read(tmp_path / "b", {"srt/pool.py": edited, "srt/kept.py": "raise KeyError(1)\n"}, "9.1.0"),
    }


def test_facts_come_back_as_they_were(tmp_path: Path, two: dict[str, ReleaseFacts]) -> None:
    write_facts(tmp_path / "p.facts", two)

    back = read_facts(tmp_path / "p.facts")

    for version, facts in two.items():
        assert back[version].files == facts.files
        assert back[version].arguments.declared == facts.arguments.declared
        assert back[version].arguments.retired == facts.arguments.retired
        assert back[version].env == facts.env
        assert back[version].resolved == facts.resolved


def test_the_same_facts_give_the_same_bytes(tmp_path: Path, two: dict[str, ReleaseFacts]) -> None:
    write_facts(tmp_path / "once.facts", two)
    write_facts(tmp_path / "again.facts", dict(reversed(two.items())))

    assert (tmp_path / "once.facts").read_bytes() == (tmp_path / "again.facts").read_bytes()


def test_adding_a_release_gives_what_reading_all_gives(tmp_path: Path, two: dict[str, ReleaseFacts]) -> None:
    write_facts(tmp_path / "all.facts", two)
    write_facts(tmp_path / "first.facts", {"9.0.0": two["9.0.0"]})

    held = read_facts(tmp_path / "first.facts")
    write_facts(tmp_path / "added.facts", {**held, "9.1.0": two["9.1.0"]})

    assert (tmp_path / "added.facts").read_bytes() == (tmp_path / "all.facts").read_bytes()


def test_a_site_knows_its_releases_and_its_line_in_each(tmp_path: Path, two: dict[str, ReleaseFacts]) -> None:
    write_facts(tmp_path / "p.facts", two)

    catalogue = Catalogue(tmp_path / "p.facts")
    at = catalogue.path_index("srt/pool.py")
    assert at is not None
    warned = [row for row in catalogue.rows_in(at, 0) if catalogue.site(row).kind == "warning"]

    assert catalogue.releases_of(warned[0]) == [0, 1]
    assert [place.line for place in catalogue.places_in(at, 1) if place.row == warned[0]] == [5]
    raised = {row for release in (0, 1) for row in catalogue.rows_in(at, release)} - set(warned)
    assert sorted(map(catalogue.releases_of, raised)) == [[0], [1], [1]]


def test_no_word_of_the_source_is_in_the_file(tmp_path: Path, two: dict[str, ReleaseFacts]) -> None:
    write_facts(tmp_path / "p.facts", two)

    pack = Pack(tmp_path / "p.facts")
    held = b"".join(pack.raw(name) for name in pack.names())

    for words in (b"do not fit", b"slow on this", b"cannot be reached"):
        assert words not in held
    assert b"page_size" in held


def test_another_file_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "other.facts").write_bytes(b"something else entirely")

    with pytest.raises(PackError, match=r"other\.facts"):
        Catalogue(tmp_path / "other.facts")


def test_a_folder_without_sglang_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no folder sglang/srt"):
        read_tree(tmp_path)


def test_the_version_is_read_from_the_package(tmp_path: Path) -> None:
    assert read_tree(write_release(tmp_path, {}, "9.2.0.post1")).version == "9.2.0.post1"
