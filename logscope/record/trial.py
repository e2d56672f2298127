"""One try of a bisection: starts a launch, waits until it is ready or has failed, and ends it.

Must never leave a process or a bound port behind.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from logscope.context import context_path
from logscope.errors import SourceError
from logscope.exit_codes import ExitCode
from logscope.record.command_line import parse_command
from logscope.record.environment import Masker
from logscope.record.follow import LaunchFollower
from logscope.record.ports import wait_for_port
from logscope.record.processes import descendants, send
from logscope.record.surroundings import Surroundings, Watched
from parsers.fingerprint import fingerprint
from parsers.lazy_dataclass import dataclass
from parsers.records import Outcome, Run

MARK = "LOGSCOPE_TRY"
"""Variable that every process of a try inherits: by it they are found again, whatever group they are in."""

_POLL_SECONDS = 0.1
_SETTLE_SECONDS = 0.5
"""A launch that cannot bind its port prints the ready line all the same, and fails right after it."""
_AFTER_FAILURE_SECONDS = 5.0
"""A launch with a fatal error is given this time to end by itself, or to go on after all."""
_GRACE_SECONDS = 15.0
_PORT_SECONDS = 20.0
_USAGE = 2
_USAGE_KIND = re.compile(
    r"unrecognized arguments|argument [^:]+: (?:invalid choice|invalid \w+ value|expected [\w ]+ arguments?)"
    r"|the following arguments are required"
)
"""What argparse complains about, without the words that were typed."""


@dataclass(frozen=True, slots=True)
class TryPlan:
    """How launches are tried."""

    folder: Path
    """Where logs and context files of the tries go."""
    seconds: float
    """After this time a try counts as hung."""
    probe: str | None
    """A shell command that must succeed once the server is ready; None: the ready line is enough."""
    masker: Masker


@dataclass(frozen=True, slots=True)
class TryOutcome:
    """How one try ended."""

    log: Path
    word: str
    """``ready``, ``failed``, ``hung``, ``refused`` (usage error) or ``untestable`` (exit 125)."""
    signature: str
    """Identity of the failure, equal for the same one; '' when it got ready."""
    reason: str
    """One clause for people."""
    seconds: float


def run_try(plan: TryPlan, number: int, words: Sequence[str], env: Mapping[str, str]) -> TryOutcome:
    """Launches once. Raises SourceError when the command cannot be started or its port is taken."""
    plan.folder.mkdir(parents=True, exist_ok=True)
    log = plan.folder / f"try-{number:02d}.log"
    port = port_of(words)
    wait_for_port(port, _PORT_SECONDS)
    began = time.monotonic()
    mark = f"{os.getpid()}-{uuid.uuid4().hex[:12]}"
    full = {**env, MARK: mark}
    (plan.folder / "running").write_text(mark, encoding="ascii")
    with _launched(words, full, log, mark) as process:
        surroundings = Surroundings(
            Watched(words, full, (), context_path(log), plan.masker), lambda text: None
        )
        surroundings.start()
        follower = LaunchFollower(log)
        word = _Watch(process, follower, plan, full).word()
        follower.close()
        ended_itself = process.poll() is not None
    code = process.wait()
    surroundings.end(code if code >= 0 else 128 - code, -code if code < 0 else None)
    surroundings.finish()
    (plan.folder / "running").unlink(missing_ok=True)
    wait_for_port(port, _PORT_SECONDS)
    signature, reason = _describe(word, follower.run, code if ended_itself else None, log)
    return TryOutcome(log, word, signature, reason, time.monotonic() - began)


def end_leftovers(folder: Path) -> None:
    """Ends processes of a try that was interrupted with its bisection (killed, power cut)."""
    note = folder / "running"
    try:
        mark = note.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return
    if mark:
        _end_marked(mark)
    note.unlink(missing_ok=True)


def port_of(words: Sequence[str]) -> tuple[str, int]:
    """Host and port that the launch will listen on (SGLang's defaults where not given)."""
    command = parse_command(words)
    port = command.value("--port") or "30000"
    return command.value("--host") or "127.0.0.1", int(port) if port.isdigit() else 30000


@contextmanager
def _launched(
    words: Sequence[str], env: Mapping[str, str], log: Path, mark: str
) -> Iterator[subprocess.Popen[bytes]]:
    """The running command; at the end of the block every process of it is gone."""
    try:
        with log.open("wb") as file:
            process = subprocess.Popen(
                words, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
            )
    except OSError as error:
        raise SourceError(f"{words[0]}: cannot be launched: {error.strerror}") from error
    try:
        yield process
    finally:
        _end(process, mark)


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """Asks the command to end, as an operator would, then ends whatever is left of it."""
    below = descendants(process.pid)
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for left in below:
        send(left, signal.SIGKILL)
    _end_marked(mark)
    process.wait()


def _end_marked(mark: str) -> None:
    wanted = f"{MARK}={mark}".encode()
    for _ in range(50):
        found = [pid for pid in _pids() if wanted in _environment(pid).split(b"\0")]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


@dataclass(frozen=True, slots=True)
class _Watch:
    """A running try and what is looked at."""

    process: subprocess.Popen[bytes]
    follower: LaunchFollower
    plan: TryPlan
    env: Mapping[str, str]

    def word(self) -> str:
        """How the try ended: waits until the launch is ready, has ended, or the time is up."""
        end = time.monotonic() + self.plan.seconds
        failed_at: float | None = None
        while True:
            is_over = self.process.poll() is not None
            self.follower.look()
            run = self.follower.run
            if is_over:
                return _word_of_end(self.process.returncode, run)
            if run is not None and run.outcome is Outcome.FAILED:
                failed_at = failed_at or time.monotonic()
                if time.monotonic() - failed_at > _AFTER_FAILURE_SECONDS:
                    return "failed"
            elif run is not None and run.ready:
                return self._settle()
            if time.monotonic() > end:
                return "hung"
            time.sleep(_POLL_SECONDS)

    def _settle(self) -> str:
        """After the ready line: does it stay up, and does the user's own probe succeed."""
        end = time.monotonic() + _SETTLE_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            time.sleep(_POLL_SECONDS / 2)
        self.follower.look()
        run = self.follower.run
        if self.process.poll() is not None or (run is not None and run.outcome is Outcome.FAILED):
            return "failed"
        return "ready" if self.plan.probe is None else self._probe(self.plan.probe)

    def _probe(self, command: str) -> str:
        try:
            probed = subprocess.run(
                ["/bin/sh", "-c", command],
                env=dict(self.env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.plan.seconds,
            )
        except subprocess.TimeoutExpired:
            return "failed"
        if probed.returncode == ExitCode.UNTESTABLE:
            return "untestable"
        return "ready" if probed.returncode == 0 else "failed"


def _word_of_end(code: int, run: Run | None) -> str:
    if code == ExitCode.UNTESTABLE:
        return "untestable"
    if code == _USAGE and (run is None or not run.milestones):
        return "refused"
    return "failed"


def _describe(word: str, run: Run | None, code: int | None, log: Path) -> tuple[str, str]:
    """(identity of the failure, one clause about it)."""
    if word == "ready":
        return "", "ready"
    if word == "hung":
        stage = run.stage if run is not None else None
        return "hung", f"no result in time, last stage: {stage or 'none'}"
    last = _last_line(log)
    if word == "refused":
        kind = _USAGE_KIND.search(last)
        return f"refused {kind[0] if kind else fingerprint(last)}", last
    if run is not None and run.root_error is not None:
        error = run.root_error
        return f"error {error.fingerprint}", f"{error.type}: {error.message}".splitlines()[0]
    if run is not None and run.ready and code is None:
        return "probe", "ready, but the probe failed"
    return f"{word} {code} {fingerprint(last)}", last or f"ended with {code}, nothing printed"


def _last_line(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - 4096))
        lines = file.read().decode("utf-8", "replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
