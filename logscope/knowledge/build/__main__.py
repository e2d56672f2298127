"""Builds the packed facts that come with LogScope: ``python -m logscope.knowledge.build``.

Without words it reads every release on the package index; ``--add VERSION`` reads one more into the
existing file. Wheels and per-file facts are kept in a folder outside of the repository.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import tempfile
import time
from pathlib import Path

from logscope.errors import LogScopeError
from logscope.knowledge.build.fetch import package_of, published_versions
from logscope.knowledge.build.pack import write_facts
from logscope.knowledge.build.release import FileCache, ReleaseFacts, read_release
from logscope.knowledge.build.scan import SCANNER
from logscope.knowledge.build.sources import read_tree
from logscope.knowledge.build.unpack import read_facts
from logscope.knowledge.library import PACKAGED


def main() -> int:
    """Runs the build and returns an exit code."""
    options = _options()
    started = time.monotonic()
    try:
        releases = read_facts(options.output) if options.add else {}
        wanted = options.add or options.only or published_versions()
        for version in wanted:
            releases[version] = _read(version, options.wheels, options.cache)
    except LogScopeError as error:
        sys.stderr.write(f"{error.message}\n")
        return 2
    write_facts(options.output, releases)
    sys.stderr.write(
        f"{len(releases)} releases, {options.output.stat().st_size} bytes, "
        f"{time.monotonic() - started:.0f} s\n"
    )
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m logscope.knowledge.build", description=__doc__)
    kept = Path(tempfile.gettempdir()) / "logscope-knowledge"
    parser.add_argument("--add", nargs="+", metavar="VERSION", help="read these into the existing file")
    parser.add_argument("--only", nargs="+", metavar="VERSION", help="read only these, from nothing")
    parser.add_argument("--wheels", type=Path, default=kept / "wheels", help="where packages are kept")
    parser.add_argument("--cache", type=Path, default=kept / "facts", help="where facts of files are kept")
    parser.add_argument("--output", type=Path, default=PACKAGED, help="the packed file")
    return parser.parse_args()


def _read(version: str, wheels: Path, cache: Path) -> ReleaseFacts:
    """The facts of one release, remembered per scanner."""
    held = cache / f"releases-{SCANNER}" / version
    if held.exists():
        known: ReleaseFacts = pickle.loads(held.read_bytes())
        return known
    started = time.monotonic()
    tree = read_tree(package_of(version, wheels), version)
    release = read_release(tree, FileCache(cache / "files"))
    held.parent.mkdir(parents=True, exist_ok=True)
    held.write_bytes(pickle.dumps(release))
    sites = sum(map(len, release.files.values()))
    sys.stderr.write(f"{version}: {sites} sites, {time.monotonic() - started:.1f} s\n")
    return release


if __name__ == "__main__":
    sys.exit(main())
