"""One launch in the making, and the rules that say where it begins and ends.

Lines in front of the first banner (command line, pip, CI text) belong to the launch that follows: its
command and versions stand there. A later banner begins a new launch, except where the offline engine
prints its arguments a second time.
"""

from __future__ import annotations

from datetime import datetime

from parsers.blocks import BatchRows, RequestRows
from parsers.failures import FailureReader
from parsers.lazy_dataclass import dataclass, field, replace
from parsers.likeness import Likeness
from parsers.records import (
    Argument,
    EnvVar,
    Line,
    Milestone,
    Progress,
    Stage,
)
from parsers.rules.access import AccessLine
from parsers.rules.args import Banner
from parsers.rules.batches import BatchLine
from parsers.rules.milestones import MilestoneHit
from parsers.rules.starts import Start, is_usage_error
from parsers.versions import VersionEvidence

MAX_MILESTONES = 20_000
"""Milestones kept for a run; weight updates in training repeat them without end."""

_ORDER = {stage: place for place, stage in enumerate(Stage)}
_SAME_ENGINE = frozenset({"random_seed", "nccl_port", "dist_init_addr", "log_level", "log_level_http"})
"""Arguments that may differ when one engine prints its arguments twice."""
_ENGINE_GAP_S = 30.0
_DEAD_GAP_S = 60.0
"""Silence after the report that a child failed, behind which the server does not speak again."""
_VERSION_BATCHES = 20
"""Batch lines that are looked at for the version; later ones tell nothing new."""
CERTAIN = (
    "Scheduler hit an exception",
    "TokenizerManager hit an exception",
    "DetokenizerManager hit an exception",
    "DataParallelController hit an exception",
    "TpModelWorkerClient hit an exception",
    "MultiTokenizer",
    "Initialization failed.",
    "Exception in ModelTpServer",
    "Exception in ModelRpcClient",
    "Scheduler or DataParallel",
    "Health check failed. Server couldn't",
    "KV cache pool is full.",
    "Decode out of memory happened",
    "decode out of memory happened",
    "Detected errors during sampling",
    "Watchdog timeout (self.",
    "Scheduler watchdog timeout (self.",
    "launch_server.py: error:",
)
"""Begins of messages that only an SGLang server prints, and that are no milestones."""
DRAFTED = frozenset(
    {
        "distributed-begin",
        "distributed-end",
        "memory-baseline",
        "load-begin",
        "load-end",
        "kv-cache",
        "state-cache",
        "hybrid-pool",
        "memory-pool-end",
        "load-progress",
    }
)
"""Milestones that a draft model prints a second time on the same rank."""


@dataclass(slots=True)
class RunBuilder:
    """A run while its lines come in."""

    label: str
    first_line: int
    ordinal: int = 0
    """0 until the run proved to be one."""
    is_certain: bool = False
    """Something that only SGLang prints was seen."""
    likeness: Likeness = field(default_factory=Likeness)
    """What makes the text likely to be of a launch while nothing is certain."""
    last_line: int = 0
    lines: int = 0
    understood: int = 0
    torn: int = 0
    repeated: int = 0
    """Repeats that the carrier folded into single lines."""
    masked: int = 0
    carriers: dict[str, int] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    arguments: tuple[Argument, ...] = ()
    banner_line: int | None = None
    banner_at: datetime | None = None
    banner_complete: bool = False
    env: dict[str, EnvVar] = field(default_factory=dict)
    milestones: list[Milestone] = field(default_factory=list)
    bars: set[str] = field(default_factory=set)
    """Kinds of progress bars that were seen."""
    loads: dict[str, int] = field(default_factory=dict)
    stage: Stage | None = None
    has_ended: bool = False
    dead_ranks: set[str] = field(default_factory=set)
    """Ranks whose scheduler ended with an exception."""
    has_own_messages: bool = False
    """Messages of a server that stand behind its arguments were seen."""
    has_usage_error: bool = False
    """The command line was refused."""
    is_diffusion: bool = False
    first_at: datetime | None = None
    first_own_at: datetime | None = None
    last_at: datetime | None = None
    last_own_at: datetime | None = None
    ready_line: int | None = None
    ready_at: datetime | None = None
    first_batch_line: int | None = None
    last_batch_line: int | None = None
    last_batch_at: datetime | None = None
    batch_lines: int = 0
    last_good_request_line: int | None = None
    request_lines: int = 0
    has_notebook_marks: bool = False
    has_errors: bool = False
    failures: FailureReader = field(default_factory=FailureReader)
    versions: VersionEvidence = field(default_factory=VersionEvidence)
    batches: BatchRows = field(default_factory=BatchRows)
    requests: RequestRows = field(default_factory=RequestRows)

    @property
    def is_over(self) -> bool:
        """Text after this can only be of another launch."""
        return self.has_ended or self.stage is Stage.SHUTDOWN or self.died_early

    @property
    def died_early(self) -> bool:
        """The launch ended before it printed its arguments, or anything else that follows them."""
        if self.banner_line is not None or self.milestones or self.batch_lines or self.ranks:
            return False
        return self.has_usage_error or self.failures.launcher_ended

    @property
    def has_content(self) -> bool:
        """Something of a launch that can only come after its arguments."""
        return bool(self.milestones) or self.batch_lines > 0 or self.has_ended or self.has_own_messages

    def is_followed_by(self, start: Start, record: Line | None = None) -> bool:
        """Does text that begins a launch, or a record of a server's own, begin another one than this?"""
        if start is Start.SURE and (self.has_content or self.banner_line is not None):
            return True
        if start is Start.FRESH:
            return self.died_early or (record is not None and self._cannot_say(record))
        return start is not Start.NONE and self.is_over

    def _cannot_say(self, record: Line) -> bool:
        """True for a record of a process of this launch that is gone: other nodes may live on for a while."""
        if not self.has_ended or record.at is None or self.last_own_at is None:
            return False
        is_gone = record.rank in self.dead_ranks if record.rank else not self.ranks
        return is_gone and (record.at - self.last_own_at).total_seconds() > _DEAD_GAP_S

    def count_line(self, number: int, carriers: tuple[str, ...], understood: bool) -> None:
        """Count a physical line of this run."""
        self.lines += 1
        self.understood += understood
        if number > self.last_line:  # a call of max() costs more than all the rest
            self.last_line = number
        if number < self.first_line:
            self.first_line = number
        name = carriers[0] if carriers else ""
        self.carriers[name] = self.carriers.get(name, 0) + 1

    @property
    def is_known(self) -> bool:
        """Names of libraries and of other engines tell nothing more of this run."""
        return self.is_certain or (self.likeness.is_near and self.likeness.is_foreign)

    @property
    def is_settled(self) -> bool:
        """More regular lines tell nothing of this run but their rows, times and ranks."""
        return self.ordinal > 0 and self.batch_lines >= _VERSION_BATCHES

    def count_lines(
        self, count: int, first: int, last: int, carriers: tuple[str, ...], unknown: int = 0
    ) -> None:
        """Count physical lines numbered from `first` to `last` with gaps; `unknown`: not understood ones."""
        self.lines += count - 1
        self.understood += count - 1 - unknown
        self.first_line = min(self.first_line, first)
        name = carriers[0] if carriers else ""
        self.carriers[name] = self.carriers.get(name, 0) + count - 1
        self.count_line(last, carriers, True)

    def see_time(self, at: datetime | None, is_own: bool) -> None:
        """Note a time; SGLang's own times count before those of carriers and other programs."""
        if at is None:
            return
        self.first_at = self.first_at or at
        self.last_at = at
        if is_own:
            self.first_own_at = self.first_own_at or at
            self.last_own_at = at

    def starts_anew(self, banner: Banner, at: datetime | None) -> bool:
        """Does this banner begin another launch than the one that was read so far?"""
        if self.banner_line is None:
            return self.has_content or self.died_early
        if not _is_same_engine(self.arguments, banner.arguments):
            return True
        late = [one for one in self.milestones if one.name != "args"]
        if late or self.batch_lines or self.has_ended:
            return True
        if at is None or self.banner_at is None:
            return False
        return (at - self.banner_at).total_seconds() > _ENGINE_GAP_S

    def take_banner(self, banner: Banner, line: Line) -> None:
        """Take the arguments; the last printed ones win."""
        self.is_diffusion = banner.is_diffusion
        if self.banner_line is None:
            self._add(
                Milestone("args", Stage.ARGS, line.rank, line.number, line.at, None, excerpt=line.text[:200])
            )
        self.arguments = banner.arguments
        self.banner_complete = banner.complete
        self.banner_line = line.number
        self.banner_at = line.at
        self.is_certain = True

    def take_milestone(self, hit: MilestoneHit, line: Line) -> None:
        """Take a milestone and move the stage on."""
        role = hit.role
        if hit.name == "load-begin" and self.ready_line is None:
            self.loads[line.rank] = self.loads.get(line.rank, 0) + 1
        if hit.name in DRAFTED and not role and self.ready_line is None and self.loads.get(line.rank, 0) > 1:
            role = "draft"
        if hit.name == "ready" and self.ready_line is None:
            self.ready_line, self.ready_at = line.number, line.at
        if hit.name in ("sigquit", "subprocess-death"):
            self.has_ended = True
        self.is_certain = self.is_certain or hit.counts_as_sglang
        self._add(
            Milestone(
                hit.name,
                hit.stage,
                line.rank,
                line.number,
                line.at,
                hit.seconds,
                role,
                hit.values,
                line.text[:300],
            )
        )
        if hit.name == "http-running" and self.is_diffusion and self.ready_line is None:
            # A diffusion server has its model when it opens its port, and says nothing more.
            self.take_milestone(replace(hit, name="ready", stage=Stage.SERVING), line)

    def _add(self, milestone: Milestone) -> None:
        if len(self.milestones) < MAX_MILESTONES or milestone.name not in DRAFTED:
            self.milestones.append(milestone)
        if self.stage is None or _ORDER[milestone.stage] > _ORDER[self.stage]:
            self.stage = milestone.stage

    def is_first_bar(self, name: str) -> bool:
        """True once for each kind of progress bar."""
        is_first = name not in self.bars
        self.bars.add(name)
        return is_first

    def take_batch(self, batch: BatchLine, line: Line, keep_row: bool) -> None:
        """Take a Prefill or Decode line."""
        if self.batch_lines < _VERSION_BATCHES:
            self.versions.see_body(line.body)
            self.versions.see_names(pair.name for pair in batch.pairs)
        self.see_batches(1, line.number, line.number, line.at)
        if keep_row:
            self.batches.add(line.number, line.at, line.rank, batch)

    def see_batches(self, rows: int, first_line: int, last_line: int, last_at: datetime | None) -> None:
        """Note batch lines whose rows are kept elsewhere."""
        self.batch_lines += rows
        if self.first_batch_line is None:
            self.first_batch_line = first_line
        self.last_batch_line = last_line
        self.last_batch_at = last_at or self.last_batch_at
        self.is_certain = True

    def take_access(self, access: AccessLine, line: Line, keep_row: bool) -> None:
        """Take an access line."""
        self.request_lines += 1
        if access.is_work:
            self.last_good_request_line = line.number
        if keep_row:
            self.requests.add(line.number, line.at, access)

    def see_message(self, body: str, rank: str) -> None:
        """Note a message that only an SGLang server prints."""
        if body.startswith("Scheduler hit an exception"):
            self.dead_ranks.add(rank)
        if not self.has_own_messages and body.startswith(CERTAIN):
            self.has_own_messages = self.is_certain = True
        self.has_usage_error = self.has_usage_error or is_usage_error(body)

    def see_variable(self, name: str, value: str, line: int) -> None:
        """Note an environment variable; the last value wins."""
        if len(self.env) < 2_000:
            self.env[name] = EnvVar(name, value, line)

    def see_likeness(self, text: str) -> None:
        """Note what makes a text without any SGLang record likely to be of a launch."""
        if not self.is_certain and ("sglang_router_rs::" in text[:80] or " smg::" in text[:80]):
            self.is_certain = True
        if not self.is_certain:
            self.likeness.see(text)
        if not self.has_notebook_marks and (
            "<IPython.core.display" in text or "NOTE: Typically, the server runs" in text
        ):
            self.has_notebook_marks = True

    @property
    def carrier(self) -> str:
        """The carrier that stands outermost before most lines."""
        name = max(self.carriers, key=lambda one: self.carriers[one], default="")
        if not name and self.has_notebook_marks:
            return "notebook"
        return name or "plain"

    @property
    def model_path(self) -> str | None:
        """The model as the arguments name it."""
        for argument in self.arguments:
            if argument.name == "model_path" and isinstance(argument.value, str):
                return argument.value
        return None

    @property
    def likely(self) -> int:
        """How surely a text without any SGLang record is of a launch: 0 for one that is not."""
        has_own_times = self.first_own_at is not None
        return self.likeness.degree(self.label, self.lines, self.has_errors, has_own_times)

    def see_rank(self, rank: str, number: int) -> None:
        if rank and rank not in self.ranks and not rank.startswith("Rank "):
            self.ranks[rank] = number

    def progress(self, is_torn_at_end: bool) -> Progress:
        """What the failure model weighs errors by."""
        return Progress(
            first_line=self.first_line,
            last_line=self.last_line,
            first_at=self.first_own_at or self.first_at,
            last_at=self.last_at,
            milestones=tuple(self.milestones),
            server_args_line=self.banner_line,
            ready_line=self.ready_line,
            first_batch_line=self.first_batch_line,
            last_batch_line=self.last_batch_line,
            last_batch_at=self.last_batch_at,
            batch_lines=self.batch_lines,
            last_good_request_line=self.last_good_request_line,
            is_torn_at_end=is_torn_at_end,
        )


def _is_same_engine(first: tuple[Argument, ...], second: tuple[Argument, ...]) -> bool:
    before = {one.name: one.raw for one in first}
    after = {one.name: one.raw for one in second}
    shared = before.keys() & after.keys()
    if not shared or len(shared) < 0.8 * max(len(before), len(after)):
        return False
    return all(before[name] == after[name] for name in shared - _SAME_ENGINE)
