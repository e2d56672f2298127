"""Finds out by launching which changes between a good and a bad launch make it fail.

Every try is written down before the next begins, so that a bisection that was ended in the middle goes on
where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from logscope.errors import SourceError
from logscope.record.changes import ChangeSet
from logscope.record.search import Suspect, Verdict, find_cause
from logscope.record.trial import TryOutcome, TryPlan, end_leftovers, run_try
from parsers.lazy_dataclass import dataclass, field

SCHEMA = "logscope.bisect/1"
_MOST_REPEATS = 6
_FLAKY_REPEATS = 3
_REFERENCE_TRIES = 3


class OutOfBudget(Exception):
    """The tries or the time that the user allowed are used up."""


@dataclass(frozen=True, slots=True)
class Try:
    """One launch of the bisection."""

    number: int
    chosen: tuple[int, ...]
    """Indices of the changes that were made to the good launch."""
    word: str
    signature: str
    reason: str
    seconds: float
    log: str


@dataclass(frozen=True, slots=True)
class Budget:
    """What a bisection may cost."""

    tries: int | None = None
    seconds: float | None = None
    repeats: int = 1
    """How often a set of changes must get ready before it counts as good (for failures that come and go)."""
    any_failure: bool = False
    """Any failure counts as the failure that is looked for, not only the same root error."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a bisection found."""

    culprits: tuple[frozenset[int], ...]
    """() when nothing was found. A set of several: changes that could not be told apart."""
    reason: str
    """One sentence."""
    tries: tuple[Try, ...]
    failure: str = ""
    """The failure that was looked for, in words."""
    is_flaky: bool = False
    rest_is_good: bool | None = None
    """The bad launch without the culprits gets ready; None when it was not or could not be tested."""
    remaining: frozenset[int] = frozenset()
    """When nothing was found in the budget: the changes among which the cause still is."""


@dataclass(slots=True)
class Bisection:
    """A bisection with its state."""

    changes: ChangeSet
    base_env: Mapping[str, str]
    """The environment below the launch's own variables."""
    plan: TryPlan
    budget: Budget
    on_try: Callable[[Try], None] = field(default=lambda done: None)
    tries: list[Try] = field(default_factory=list)
    _reference: str = ""
    """Signature of the failure that is looked for."""
    _reference_words: str = ""
    _repeats: int = 1
    _began: float = 0.0
    _spent_before: float = 0.0

    def resume(self) -> None:
        """Takes over the tries of an unfinished bisection of the same changes. Raises SourceError."""
        try:
            held = json.loads(self._state_path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise SourceError(f"{self._state_path}: nothing to resume: {error}") from error
        if held.get("identity") != self._identity():
            raise SourceError(f"{self._state_path}: is of another bisection", "start without --resume")
        self.tries = [Try(**{**one, "chosen": tuple(one["chosen"])}) for one in held["tries"]]
        self._spent_before = float(held.get("seconds", 0.0))

    def start_anew(self) -> None:
        """Sets the logs and state of an earlier bisection in this folder aside."""
        folder = self.plan.folder
        end_leftovers(folder)
        if not self._state_path.exists():
            return
        count = 1
        while (older := folder.with_name(f"{folder.name}.{count}")).exists():
            count += 1
        folder.rename(older)

    def run(self) -> Answer:
        """Launches until the cause is found or the budget is used up."""
        end_leftovers(self.plan.folder)
        self._began = time.monotonic()
        self._repeats = max(1, self.budget.repeats)
        if not self.changes.changes:
            return self._nothing("the two launches have the same arguments and environment")
        try:
            return self._search()
        except OutOfBudget as limit:
            return self._nothing(f"{limit}; the cause is among {len(self._still_possible())} changes", True)

    def _search(self) -> Answer:
        everything = frozenset(range(len(self.changes.changes)))
        trouble = self._reproduce(everything)
        if trouble:
            return self._nothing(trouble)
        verdict = self._test(frozenset())
        if verdict is not Verdict.PASS:
            last = self._of(frozenset())[-1]
            same = "in the same way" if verdict is Verdict.FAIL else f"in another way ({last.reason})"
            return self._nothing(
                f"the good launch fails now too, {same}: the cause is none of the changed arguments and "
                "variables (look at the machine, the model's files and the versions)"
            )
        suspects = [Suspect(change.weight, change.group) for change in self.changes.changes]
        culprits = self._shrink(find_cause(suspects, self._test))
        if self._is_flaky():  # a set that got ready by luck leaves changes too many in the answer
            self._repeats = max(self._repeats, _FLAKY_REPEATS)
            culprits = self._shrink(culprits)
        return self._conclude(culprits, everything)

    def _reproduce(self, everything: frozenset[int]) -> str:
        """Makes the bad launch fail; returns why it could not, '' when it did."""
        for _ in range(max(_REFERENCE_TRIES, self._repeats)):
            failing = [done for done in self._of(everything) if done.word not in ("ready", "untestable")]
            if failing:
                self._reference, self._reference_words = failing[-1].signature, failing[-1].reason
                self._repeats = max(self._repeats, self._needed_repeats(everything))
                return ""
            self._launch(everything)
        failing = [done for done in self._of(everything) if done.word not in ("ready", "untestable")]
        if failing:
            self._reference, self._reference_words = failing[-1].signature, failing[-1].reason
            self._repeats = max(self._repeats, self._needed_repeats(everything))
            return ""
        if any(done.word == "untestable" for done in self._of(everything)):
            return "the bad launch cannot be tested here (exit code 125)"
        return "the bad launch gets ready here: these arguments and variables do not reproduce the failure"

    def _needed_repeats(self, chosen: frozenset[int]) -> int:
        """How many passes in a row tell a good set from a lucky one, by how often the bad launch failed."""
        done = self._of(chosen)
        failed = sum(one.word not in ("ready", "untestable") for one in done)
        if failed == len(done) or failed == 0:
            return 1
        repeats, doubt = 1, 1 - failed / len(done)
        while doubt**repeats > 0.05 and repeats < _MOST_REPEATS:
            repeats += 1
        return repeats

    def _shrink(self, culprits: tuple[frozenset[int], ...]) -> tuple[frozenset[int], ...]:
        """Leaves out each culprit that is not needed: where a failure comes and goes one may be left over."""
        for one in culprits:
            without = tuple(other for other in culprits if other != one)
            if without and self._test(frozenset().union(*without)) is Verdict.FAIL:
                culprits = without
        return culprits

    def _conclude(self, culprits: tuple[frozenset[int], ...], everything: frozenset[int]) -> Answer:
        chosen = frozenset().union(*culprits)
        rest = everything - chosen
        rest_is_good: bool | None = None
        try:
            if not rest:
                rest_is_good = True
            elif (verdict := self._test(rest)) is not Verdict.SKIP:
                rest_is_good = verdict is Verdict.PASS
        except OutOfBudget:
            rest_is_good = None
        texts = " together with ".join(
            " and ".join(self.changes.changes[i].text() for i in sorted(one)) for one in culprits
        )
        reason = f"{texts}: with it the good launch fails"
        if rest_is_good:
            reason += ", without it the bad one gets ready" if rest else ""
        elif rest_is_good is False:
            reason += "; the other changes fail too: there is a second cause among them"
        if any(len(one) > 1 for one in culprits):
            reason += " (they can only be launched together)"
        return Answer(
            culprits, reason, tuple(self.tries), self._reference_words, self._is_flaky(), rest_is_good
        )

    def _is_flaky(self) -> bool:
        by_set: dict[tuple[int, ...], set[str]] = {}
        for done in self.tries:
            by_set.setdefault(done.chosen, set()).add("ready" if done.word == "ready" else "failed")
        return any(len(words) > 1 for words in by_set.values())

    def _nothing(self, reason: str, is_open: bool = False) -> Answer:
        remaining = self._still_possible() if is_open else frozenset()
        return Answer(
            (), reason, tuple(self.tries), self._reference_words, self._is_flaky(), remaining=remaining
        )

    def _still_possible(self) -> frozenset[int]:
        """The smallest set that failed so far."""
        failed = [frozenset(done.chosen) for done in self.tries if self._is_failure(done)]
        return min(failed, key=len, default=frozenset(range(len(self.changes.changes))))

    def _test(self, chosen: frozenset[int]) -> Verdict:
        while True:
            verdict = self._verdict(chosen)
            if verdict is not None:
                return verdict
            self._launch(chosen)

    def _verdict(self, chosen: frozenset[int]) -> Verdict | None:
        """What the tries of this set say; None when more are needed. A failure counts, a pass may be luck."""
        done = self._of(chosen)
        if any(self._is_failure(one) for one in done):
            return Verdict.FAIL
        if any(one.word != "ready" for one in done):
            return Verdict.SKIP
        return Verdict.PASS if len(done) >= self._repeats else None

    def _is_failure(self, done: Try) -> bool:
        if done.word in ("ready", "untestable"):
            return False
        if done.signature == self._reference:
            return True
        return self.budget.any_failure and done.word != "refused"

    def _of(self, chosen: frozenset[int]) -> list[Try]:
        key = tuple(sorted(chosen))
        return [done for done in self.tries if done.chosen == key]

    def _launch(self, chosen: frozenset[int]) -> None:
        if self.budget.tries is not None and len(self.tries) >= self.budget.tries:
            raise OutOfBudget(f"{len(self.tries)} tries are used up")
        if self.budget.seconds is not None and self._spent() >= self.budget.seconds:
            raise OutOfBudget(f"{self.budget.seconds:g} s are used up")
        words, env = self.changes.apply(chosen)
        number = len(self.tries) + 1
        outcome: TryOutcome = run_try(self.plan, number, words, {**self.base_env, **env})
        done = Try(
            number,
            tuple(sorted(chosen)),
            outcome.word,
            outcome.signature,
            outcome.reason,
            round(outcome.seconds, 3),
            str(outcome.log),
        )
        self.tries.append(done)
        self._save()
        self.on_try(done)

    def _spent(self) -> float:
        return self._spent_before + time.monotonic() - self._began

    @property
    def _state_path(self) -> Path:
        return self.plan.folder / "state.json"

    def _save(self) -> None:
        held = {
            "schema": "logscope.bisect-state/1",
            "identity": self._identity(),
            "seconds": self._spent(),
            "tries": [asdict(done) for done in self.tries],
        }
        unfinished = self._state_path.with_suffix(".tmp")
        unfinished.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(self._state_path)

    def _identity(self) -> str:
        return identity_of(self.changes)


def identity_of(changes: ChangeSet) -> str:
    """Equal for bisections of the same two launches."""
    parts: Sequence[object] = (
        changes.good.prefix,
        [option.words() for option in changes.good.options],
        sorted(changes.good.env.items()),
        [(change.kind, change.name, change.good, change.bad) for change in changes.changes],
    )
    return hashlib.sha256(json.dumps(parts, default=list).encode()).hexdigest()[:16]
