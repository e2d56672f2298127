"""The small interface through which compare, explain, tui and record see the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from logscope.store.records import Baseline, Contrast, RunFacts, RunId, Seen, SetupSpread, StoredRun
from parsers.records import Json


class RunHistory(Protocol):
    """Read-only questions over stored runs. `logscope.store.Store` answers them all."""

    def load(self, reference: str) -> StoredRun:
        """The run that `reference` names (id, unique prefix, path, ``PATH#2``, ``last``,
        ``last-failed``, ``last-ready``). Raises RunNotFound."""
        ...

    def facts(self) -> Sequence[RunFacts]:
        """Every run, newest first."""
        ...

    def baseline(self, run_id: RunId) -> Baseline:
        """The last successful comparable run before `run_id`; never raises for lack of one."""
        ...

    def seen_before(self, fingerprint: str, run_id: RunId) -> Seen:
        """What runs before `run_id` say of this fingerprint."""
        ...

    def contrast(self, run_id: RunId, kind: str, name: str, value: Json, fingerprint: str) -> Contrast:
        """How often ``kind`` (``arg``, ``env``, ``config`` with name ``draft.KEY``, ``version``) `name`
        had `value` in the failures with `fingerprint` and in the successes of the same setup."""
        ...

    def usual(self, run_id: RunId, before: bool = True) -> SetupSpread:
        """The spread of the good runs of the same setup, those before `run_id` only by default."""
        ...
