"""What stands on the Diff screen while its causes are worked out: how the run ended, and its error.

Every ingest leaves the headline of the newest failed run in the state folder, under the stamp of the store
as it left it: the first start after it needs no answer of DuckDB to say what failed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logscope.tui.harmless import clip_middle, harmless
from logscope.tui.last_view import store_stamp
from logscope.tui.memory import state_file
from logscope.tui.rows import Place, Row, Sign, Tone
from parsers.records import RootError

if TYPE_CHECKING:
    from logscope.store.headline import Headline
    from logscope.store.ingest_report import IngestReport

WORKING = "looking for the last good run of this setup, and for what differs from it…"
NOT_WORKED_OUT = "not looked for: r reads again"
_CAUSES = "cause:unknown"


def headline_rows(headline: Headline) -> list[Row]:
    """The root error, and that its causes are on their way."""
    return [
        Row("Root error", tone=Tone.HEADING, key="heading:Root error"),
        root_row(headline.path, headline.root, headline.reason),
        Row("Causes", tone=Tone.HEADING, key="heading:Causes"),
        Row(WORKING, Sign.UNKNOWN, Tone.MUTED, _CAUSES),
    ]


def is_headline(rows: Sequence[Row]) -> bool:
    """True for rows that only say what failed."""
    return bool(rows) and rows[-1].key == _CAUSES


def without_causes(rows: Sequence[Row]) -> list[Row]:
    """The headline's rows when nobody looks for the causes any more."""
    return [*rows[:-1], Row(NOT_WORKED_OUT, Sign.UNKNOWN, Tone.MUTED, _CAUSES)]


def root_row(path: str, root: RootError | None, reason: str) -> Row:
    """The error that ended a run; without one, why the run is taken as failed."""
    if root is None:
        return Row(f"none: {reason}", Sign.UNKNOWN, Tone.MUTED, "root")
    text = f"{root.type}: {root.message}"
    frames = tuple(f"  {frame.file}:{frame.line} {frame.function}" for frame in root.traceback[-8:])
    more = ("", "Traceback, innermost last:", *frames) if frames else ()
    ranks = f"  [{', '.join(root.ranks)}]" if root.ranks else ""
    place = Place("bad", path, root.line, root.excerpt)
    detail = (text, "", root.reason)
    return Row(text + ranks, Sign.ERROR, Tone.BAD, "root", (place,), detail, more, text, is_difference=True)


def side_line(side: str, path: str, version: str | None, outcome: str, width: int) -> str:
    """``good: s02.log 0.5.23 ready`` in at most `width` columns; the name of the log is cut in its middle.

    Any run may stand where the bad one does: one that did not fail is called ``run``.
    """
    if side == "bad" and outcome in ("ready", "running"):
        side = "run"
    rest = f"{version or '?'} {outcome}"
    name = harmless(path.rsplit("/", 1)[-1])
    return f"{side}: {clip_middle(name, max(12, width - len(side) - len(rest) - 3))} {rest}"


def keep_headline(store: Path, report: IngestReport) -> None:
    """Keeps what an ingest says of the newest failed run; a folder that cannot be written is no trouble."""
    headline = report.newest_failure
    if headline is None:
        return
    root = headline.root
    told = {
        "stamp": store_stamp(store),
        "run": [headline.run_id, headline.path, headline.outcome, headline.reason, headline.sglang_version],
        "root": root and [
            root.type, root.message, root.line, root.rank, root.fingerprint, [], root.reason, root.ranks,
            root.excerpt,
        ],
    }  # fmt: skip
    path = state_file(store, "headline")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(told), encoding="utf-8")
    except OSError:
        return


def kept_headline(store: Path) -> Headline | None:
    """How the newest failed run ended; None when the store is another one than after the last ingest."""
    from logscope.store.headline import Headline

    try:
        told: Any = json.loads(state_file(store, "headline").read_text(encoding="utf-8"))
        if told["stamp"] != store_stamp(store):
            return None
        root = told["root"]
        run_id, path, outcome, reason, version = told["run"]
        return Headline(run_id, path, outcome, reason, version, root and RootError(*root))
    except (OSError, ValueError, KeyError, TypeError):
        return None
