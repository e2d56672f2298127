"""Every rule for one-line messages takes its own samples and no other rule's; no pattern is slow."""

from __future__ import annotations

import pytest

from parsers.failures import FailureReader
from parsers.records import Line
from parsers.rules.classify import ALL_RULES, LineClassifier, understand
from parsers.rules.errors import WORDED_RULES
from parsers.rules.message_rule import MAX_BODY, MessageRule, take
from parsers.rules.native import signal_name
from parsers.rules.suspicion import is_suspicious

_SAMPLES = [(rule, sample) for rule in ALL_RULES for sample in rule.samples]
_SPECIFIC = [rule for rule in ALL_RULES if rule not in WORDED_RULES]
_HOSTILE = [
    "a" * 100_000,
    "[" * 100_000,
    "E0203 " * 20_000,
    "[E " * 33_000,
    "/x.cu:1: " * 11_000,
    ("NCCL WARN " + "which ") * 6_000,
    "error: " * 14_000,
    "Warning: " * 11_000,
    " failed for request with exception " * 3_000,
    "Capture a b c graph " * 5_000,
    "gloo " + "Connection closed by pee " * 4_000,
    "1" * 50_000 + ": " + "-" * 50_000,
    "a.b" * 33_000 + ": x",
    'File "' * 16_000,
]


@pytest.mark.parametrize(
    ("rule", "sample"), _SAMPLES, ids=[f"{rule.id}-{n}" for n, (rule, _) in enumerate(_SAMPLES)]
)
def test_sample_is_taken_by_its_own_rule_and_by_no_other(rule: MessageRule, sample: str) -> None:
    others = [other.id for other in _SPECIFIC if other is not rule and take((other,), sample) is not None]

    first = take(ALL_RULES, sample)

    assert first is not None
    assert first.rule.id == rule.id
    assert others == [] or rule in WORDED_RULES


@pytest.mark.parametrize(
    ("rule", "sample"), _SAMPLES, ids=[f"{rule.id}-{n}" for n, (rule, _) in enumerate(_SAMPLES)]
)
def test_sample_passes_the_cheap_filter(rule: MessageRule, sample: str) -> None:
    assert is_suspicious(sample)


def test_every_rule_has_a_sample_and_an_own_id() -> None:
    assert all(rule.samples for rule in ALL_RULES)
    assert len({rule.id for rule in ALL_RULES}) == len(ALL_RULES)


@pytest.mark.parametrize(
    "line",
    [
        "Load weight end. type=DemoForCausalLM, dtype=torch.bfloat16, avail mem=55.25 GB",
        "max_total_num_tokens=300000, chunked_prefill_size=8192, context_len=32768",
        "INFO:     Application startup complete.",
        "The server is fired up and ready to roll!",
        "Use torch.compile with backend inductor",
        "KV Cache is allocated. #tokens: 65536, K size: 0.02 GB, V size: 0.02 GB",
        "Gracefully exiting... Remaining number of requests 0. Remaining requests remaining_rids=[].",
        "Tree cache initialized: source=default impl=DemoCache",
    ],
)
def test_ordinary_line_is_no_error(line: str) -> None:
    assert take(ALL_RULES, line) is None


@pytest.mark.parametrize("rule", ALL_RULES, ids=[rule.id for rule in ALL_RULES])
def test_pattern_is_linear_on_hostile_lines(rule: MessageRule) -> None:
    for text in _HOSTILE:
        rule.pattern.search(text[:MAX_BODY], timeout=2)


@pytest.mark.parametrize("text", _HOSTILE, ids=range(len(_HOSTILE)))
def test_hostile_line_is_read(text: str) -> None:
    reader = FailureReader()

    for head in ("", "Traceback (most recent call last):", '  File "/x.py", line 1, in f', "ValueError: "):
        reader.feed(Line(1, 0, "", None, "", None, False, head + text, head + text), None)


def test_prose_without_a_head_is_no_warning() -> None:
    prose = "I might be wrong here, the file was not found in my memory and could not be read."

    assert understand(Line(1, 0, "", None, "", None, False, prose, prose)) is None
    assert understand(Line(1, 0, "", None, "TP0", None, True, prose, prose)) is not None


def test_what_a_line_says_does_not_hang_on_lines_before_it() -> None:
    classifier = LineClassifier()
    text = "ValueError: demo 5"
    headed, bare = (Line(1, 0, "", None, "", None, head, text, text) for head in (True, False))

    first, second = classifier.say(headed), classifier.say(bare)

    assert (first, second) == (understand(headed), understand(bare))


def test_signals_are_named() -> None:
    assert signal_name("Caught signal 11 (Segmentation fault)") == "SIGSEGV"
    assert signal_name("Caught signal 99 (?)") == "signal 99"
