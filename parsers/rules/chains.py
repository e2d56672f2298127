"""What an exception means for a launch, and which exception of a chain tells the cause.

The first exception of a chain is the cause, unless a later one was raised on purpose to say it more
clearly; what comes from another process (remote tracebacks, groups) is nearer to the cause than the
exception that carries it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import regex

from parsers.digits import AS_ZEROS
from parsers.lazy_dataclass import dataclass
from parsers.records import Frame
from parsers.rules.echoes import ECHO_RULES
from parsers.rules.errors import (
    CONNECTION_TYPES,
    CONSEQUENCE_TYPES,
    HUB_TYPES,
    PROBE_TYPES,
    STOP_TYPES,
    WRAPPER_TYPES,
)
from parsers.rules.message_rule import MAX_BODY, Taken, Weight, take
from parsers.traceback_block import Link, Whereabouts

_TEXT_RULES = tuple(
    one
    for one in ECHO_RULES
    if one.weight in (Weight.PEER, Weight.WRAPPER, Weight.KILL, Weight.CHILD_DEATH)
    or one.id in ("asyncio-teardown", "harness-server-exited")
)
_SHAPED_WORDS = tuple({word.translate(AS_ZEROS): None for one in _TEXT_RULES for word in one.words})

_FATAL = regex.compile(
    r"hit an exception|_init_state|^Process \S+:?$|Exception in Model\w+|controller_init"
    r"|Exception in thread .*\((?:forward_thread|launch_server|run_)"
)
_WARMUP = regex.compile(r"warm-?up", regex.IGNORECASE)
_REQUEST = regex.compile(
    r"ASGI application|Error in request|Exception in callback|Exception while serving|Exception on /"
    r"|Error processing request"
)
_NOISE = regex.compile(
    r"^Exception ignored in|atexit\.|--- Logging error ---|Exception in thread .*(?:monitor|usage"
    r"|QueueFeeder)|^Error in sys\.excepthook"
)

_HARNESS = regex.compile(
    r"[/\\](?:unittest|_pytest|pluggy|pytest|nose|ipykernel|IPython|xoscar|xinference|locust|evalscope"
    r"|lm_eval)[/\\]|sglang[/\\]test[/\\]|[/\\]tests?[/\\]"
    r"|(?:^|[/\\])(?:test|bench)_[\w.]+\.py|benchmark|_test_framework|(?:^|[/\\])conftest\.py"
)
_SERVER = regex.compile(
    r"sglang[/\\](?:srt[/\\](?!utils)|launch_server|cli|lang|multimodal_gen|jit_kernel|entrypoints"
    r"|_version|__init__|serve|utils\.py|global_config)"
    r"|sgl_kernel|sglang_router|sglang-[\d.]|sglang\.srt|launch_server"
)
_SERVER_FUNCTIONS = frozenset(
    {
        "run_scheduler_process",
        "run_detokenizer_process",
        "launch_server",
        "_launch_subprocesses",
        "_wait_and_warmup",
    }
)

CUT_TRACEBACK = "cut-traceback"
"""Rule of a traceback that ended a process and whose exception is not in the text."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the exception is, before anything else in the log is weighed."""

    weight: Weight
    rule: str
    is_fatal: bool = False


@dataclass(frozen=True, slots=True)
class _Context:
    """What the words before a traceback say."""

    is_fatal: bool
    is_noise: bool
    is_warmup: bool
    is_request: bool


@lru_cache(maxsize=1024)
def _read_context(context: str) -> _Context:
    patterns = (_FATAL, _NOISE, _WARMUP, _REQUEST)
    return _Context(*(pattern.search(context) is not None for pattern in patterns))


def judge_exception(
    type_name: str, message: str, context: str, where: Whereabouts, is_server: bool
) -> Verdict:
    """The weight of an exception by its class, its words, its frames and what introduced it.

    `is_server`: server code is in the whole chain.
    """
    by_class = _by_class(type_name, context)
    if by_class is not None:
        return by_class
    taken = _take_text(f"{type_name}: {message}")
    if taken is not None:
        return Verdict(taken.rule.weight, taken.rule.id, _read_context(context).is_fatal)
    return _by_place(type_name, context, where, is_server)


@lru_cache(maxsize=4096)
def _by_class(type_name: str, context: str) -> Verdict | None:
    """What the words of the message cannot change."""
    if class_name(type_name) in STOP_TYPES:
        return Verdict(Weight.STOP, "stop-exception")
    if _read_context(context).is_noise:
        return Verdict(Weight.CONSEQUENCE, "teardown-traceback")
    return None


@lru_cache(maxsize=4096)
def _by_place(type_name: str, context: str, where: Whereabouts, is_server: bool) -> Verdict:
    """What an exception is whose words no rule knows."""
    said, last = _read_context(context), class_name(type_name)
    if last in CONSEQUENCE_TYPES:
        return Verdict(Weight.CONSEQUENCE, "consequence-class", said.is_fatal)
    if not is_server and where.is_outside:
        return Verdict(Weight.OUTSIDE, "outside-traceback")
    if last in WRAPPER_TYPES:
        return Verdict(Weight.WRAPPER, "wrapper-class", said.is_fatal)
    if said.is_warmup or where.is_warmup:
        return Verdict(Weight.WARMUP, "warmup-exception")
    if said.is_request:
        return Verdict(Weight.REQUEST, "request-exception")
    return Verdict(Weight.EXCEPTION, "exception", said.is_fatal)


def _take_text(text: str) -> Taken | None:
    """The rule for the words of an exception that takes it."""
    return take(_TEXT_RULES, text) if _may_be_taken(text[:MAX_BODY].translate(AS_ZEROS)) else None


@lru_cache(maxsize=1024)
def _may_be_taken(shape: str) -> bool:
    """True where a word that a rule asks for can stand in a text of this shape, all its digits being 0."""
    return any(word in shape for word in _SHAPED_WORDS)


def ends_process(context: str) -> bool:
    """True when the words before a traceback say that a process of the server ends with it."""
    return _read_context(context).is_fatal


def is_of_request(context: str) -> bool:
    """True when the words before a traceback say that one request ended with it."""
    return _read_context(context).is_request


def class_name(type_name: str) -> str:
    """The last part of a dotted class name, without a Ray proxy's brackets."""
    return type_name.split("(", 1)[0].rsplit(".", 1)[-1].rsplit("/", 1)[-1]


def whereabouts(frames: Sequence[Frame]) -> Whereabouts:
    """What the frames of one exception tell of the program that raised it."""
    is_server = any(frame.function in _SERVER_FUNCTIONS or _is_of_server(frame.file) for frame in frames)
    is_outside = not is_server and any(_is_of_harness(frame.file) for frame in frames)
    is_warmup = any("warmup" in frame.function and frame.file.endswith("server.py") for frame in frames)
    return Whereabouts(is_server, is_outside, is_warmup)


@lru_cache(maxsize=4096)
def _is_of_server(file: str) -> bool:
    return _SERVER.search(file) is not None and not _is_of_harness(file)


@lru_cache(maxsize=4096)
def _is_of_harness(file: str) -> bool:
    return _HARNESS.search(file) is not None


def pick_link(links: Sequence[Link]) -> tuple[int, str]:
    """Index of the exception that tells the cause, and why it was taken."""
    if len(links) == 1:
        return 0, ""
    remote = [index for index, link in enumerate(links) if link.joined in ("remote", "group")]
    if remote:
        return remote[0], "the exception that came from the other process, not its carrier"
    chosen, note = 0, "first exception of its chain"
    for index in range(1, len(links)):
        reason = _is_clearer(links[index], links[chosen])
        if reason:
            chosen, note = index, reason
    return chosen, note


def _is_clearer(later: Link, earlier: Link) -> str:
    """Why a later exception of the chain says the cause more clearly; '' when it does not."""
    text = f"{later.type}: {later.message}"
    if later.message.rstrip().endswith("raised:"):
        return "embeds the traceback of what it called"
    if (
        _take_text(text) is not None
        or class_name(later.type) in WRAPPER_TYPES | CONSEQUENCE_TYPES | STOP_TYPES
    ):
        return ""
    before = class_name(earlier.type)
    repeats = bool(earlier.message) and before != "KeyError" and earlier.message[:80] in later.message
    if repeats or before in CONNECTION_TYPES:
        return ""
    if before == "CalledProcessError":
        return "holds the output of the command that failed"
    names_values = regex.search(r"\d|['\"`]", later.message) is not None
    if before in HUB_TYPES and class_name(later.type) in HUB_TYPES | {"OSError"}:
        return "says what the hub's answer means for the model"
    if before in PROBE_TYPES and names_values and len(later.message) > len(earlier.message):
        return "was raised on purpose to say the cause more clearly"
    if not earlier.message and later.message and before in ("TimeoutError", "Empty", "Full", "StopIteration"):
        return "gives the words that the first exception lacks"
    return ""
