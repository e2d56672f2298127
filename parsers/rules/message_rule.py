"""The shape of a rule for one-line errors, warnings and echoes, and how a line is offered to the rules.

A rule is data: words of which one must be in the line (looked up with ``in``, so that an ordinary
line costs next to nothing), a pattern, what the line means for the launch, and samples that the
tests run. A pattern is never tried on more than ``MAX_BODY`` characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import regex

from parsers.lazy_dataclass import dataclass
from parsers.lazy_pattern import lazy_pattern

MAX_BODY = 3000
"""Characters of a line that the patterns see; longer lines are dumps of requests or arguments."""


class Weight(StrEnum):
    """What a message can be in the story of a launch; decides whether it can be the root error."""

    NATIVE = "native"
    """Last words of a runtime below Python: a signal, a device assert, a C++ or HIP abort."""
    ERROR = "error"
    """A logged line that by itself ends a launch: bind error, usage error, watchdog."""
    EXCEPTION = "exception"
    """A Python exception."""
    PEER = "peer"
    """Another rank or node went away: an echo of a death that stands elsewhere."""
    FORERUNNER = "forerunner"
    """A warning that becomes the root when an exception of the same library follows (NCCL WARN)."""
    DUMP = "dump"
    """An abort whose reason is printed before it."""
    REQUEST = "request"
    """Ends one request."""
    HEADLINE = "headline"
    """Announces the error of one request, whose traceback may follow."""
    WARMUP = "warmup"
    """The warm-up request failed: an echo of what the server said about that request."""
    WRAPPER = "wrapper"
    """Repeats or points to an error that stands above."""
    CONSEQUENCE = "consequence"
    """Teardown: broken pipes, cancelled tasks, exit statuses."""
    KILL = "kill"
    """Evidence that a process was killed from outside."""
    CHILD_DEATH = "child-death"
    """A child's exit status that tells no killing from outside (abort, segfault, Python error)."""
    SIGQUIT = "sigquit"
    """A parent says that a child failed: the end mark of a launch."""
    STOP = "stop"
    """The server is told to end: SIGTERM, Ctrl-C, a cancelled job."""
    LOGGED = "logged"
    """An error-level line that ends nothing by itself."""
    WARNING = "warning"
    OUTSIDE = "outside"
    """Text of a harness, a client or a caller around the server."""
    NOTICE = "notice"
    """Looks bad and stands in good launches too."""


_WARNING_WEIGHTS = frozenset({Weight.WARNING, Weight.NOTICE, Weight.FORERUNNER})


@dataclass(frozen=True, slots=True)
class MessageRule:
    """One kind of message line."""

    id: str
    weight: Weight
    words: tuple[str, ...]
    """One of them must be in the line as it is written."""
    pattern: regex.Pattern[str]
    """Searched in the line. Groups ``type`` and ``message``, where it has them, give those of the event."""
    type: str | None = None
    """Word for the class of the error where the pattern gives none."""
    samples: tuple[str, ...] = ()
    after_ready: Weight | None = None
    """What it means once the server is ready, where that differs."""

    @property
    def level(self) -> str:
        """``error`` or ``warning``, by what the library itself called it."""
        is_error_line = self.weight is Weight.FORERUNNER and "error" in self.id
        return "warning" if self.weight in _WARNING_WEIGHTS and not is_error_line else "error"


@dataclass(frozen=True, slots=True)
class Taken:
    """What a rule made of a line."""

    rule: MessageRule
    type: str | None
    message: str


def rule(
    id: str,
    weight: Weight,
    words: str | tuple[str, ...],
    pattern: str,
    *samples: str,
    type: str | None = None,
    after_ready: Weight | None = None,
    flags: int = 0,
) -> MessageRule:
    """Builds a rule; `words` may be one word."""
    listed = (words,) if isinstance(words, str) else words
    return MessageRule(id, weight, listed, lazy_pattern(pattern, flags), type, samples, after_ready)


def take(rules: Iterable[MessageRule], body: str) -> Taken | None:
    """The first rule that takes the line, or None."""
    shown = body if len(body) <= MAX_BODY else body[:MAX_BODY]
    for one in rules:
        for word in one.words:
            if word in shown:
                taken = apply(one, shown)
                if taken is not None:
                    return taken
                break
    return None


def apply(one: MessageRule, shown: str) -> Taken | None:
    """What this rule makes of the line (at most `MAX_BODY` characters of it), or None."""
    match = one.pattern.search(shown)
    if match is None:
        return None
    groups = match.groupdict()
    message = groups.get("message")
    text = shown.strip() if message is None else message.strip()
    return Taken(one, groups.get("type") or one.type, text)
