"""`FailureReader` over long and strange input: bounded memory, neutral lines, picklable, never an exception."""

from __future__ import annotations

import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.failures import FailureReader
from parsers.records import Conclusion, Line, Outcome, Progress


def _line(number: int, text: str, rank: str = "", *, head: bool = False) -> Line:
    return Line(number, 0, "", None, rank, None, head, text, text)


def _progress(last_line: int) -> Progress:
    return Progress(1, last_line, None, None, (), None, None, None, None, None, 0, None)


def _concluded(lines: list[Line]) -> Conclusion:
    reader = FailureReader()
    for line in lines:
        reader.feed(line, None)
    return reader.conclude(_progress(lines[-1].number if lines else 1))


def _traceback(number: int, rank: str, message: str) -> list[Line]:
    return [
        _line(number, "Scheduler hit an exception: Traceback (most recent call last):", rank, head=True),
        _line(number + 1, '  File "/app/sglang/srt/managers/scheduler.py", line 7, in run'),
        _line(number + 2, "    self.step()"),
        _line(number + 3, message),
        _line(number + 4, ""),
    ]


def test_ordinary_lines_between_two_errors_change_nothing() -> None:
    before, after = _traceback(1, "TP0", "ValueError: demo 5"), _traceback(200_001, "TP1", "KeyError: 'x'")
    between = [
        _line(n, f"KV pool has {n % 977} pages for request {n % 13}", head=True) for n in range(6, 200_001)
    ]

    short, long = _concluded(before + after), _concluded(before + between + after)

    assert short == long


def test_a_million_errors_of_one_kind_are_one_event_with_a_count() -> None:
    reader = FailureReader()
    for number in range(1, 100_001):
        reader.feed(_line(number, f"Detected errors during sampling! NaN in the logits. {number}"), None)

    (event,) = reader.conclude(_progress(100_000)).events

    assert (event.count, event.line, event.last_line) == (100_000, 1, 100_000)
    assert len(pickle.dumps(reader)) < 100_000


def test_errors_of_ever_new_kinds_use_bounded_memory_and_keep_first_and_last() -> None:
    reader = FailureReader()
    names = [
        "a" * (n % 60 + 1) + chr(97 + n % 26) + "b" * (n // 60 % 60) + "c" * (n // 3600) for n in range(9_000)
    ]
    for number, name in enumerate(names, 1):
        reader.feed(_line(number, f"DemoError: the part called {name} is broken in some way"), None)

    lines = {event.line for event in reader.conclude(_progress(len(names))).events}

    assert {1, len(names)} <= lines
    assert len(lines) <= 2_000
    assert len(pickle.dumps(reader)) < 3_000_000


def test_state_can_be_pickled_in_the_middle_of_a_traceback() -> None:
    lines = _traceback(1, "TP0", "ValueError: demo 5")

    for cut in range(len(lines) + 1):
        reader = FailureReader()
        for line in lines[:cut]:
            reader.feed(line, None)
        reader = pickle.loads(pickle.dumps(reader))
        for line in lines[cut:]:
            reader.feed(line, None)

        assert reader.conclude(_progress(5)) == _concluded(lines)


def test_concluding_does_not_end_the_reading() -> None:
    reader = FailureReader()
    for line in _traceback(1, "TP0", "ValueError: demo 5"):
        reader.feed(line, None)
        reader.conclude(_progress(line.number))

    assert reader.conclude(_progress(5)) == _concluded(_traceback(1, "TP0", "ValueError: demo 5"))


def test_lines_of_a_newest_first_file_are_weighed_by_time_and_keep_their_numbers() -> None:
    lines = _traceback(1, "TP3", "ValueError: demo 5")
    lines.append(_line(6, "Received sigquit from a child process. It usually means the child failed."))
    turned = [
        Line(7 - line.number, 0, "", None, line.rank, None, line.has_head, line.body, line.text)
        for line in lines
    ]

    conclusion = _concluded(turned)

    assert conclusion.root_error is not None
    assert (conclusion.outcome, conclusion.root_error.line) == (Outcome.FAILED, 3)
    assert "after" not in conclusion.root_error.reason


def test_a_harness_alone_is_no_launch_that_failed() -> None:
    lines = [
        _line(1, "Traceback (most recent call last):"),
        _line(2, '  File "/usr/lib/python3/unittest/case.py", line 7, in fail'),
        _line(3, "    raise self.failureException(msg)"),
        _line(4, "AssertionError: 7.5 not less than or equal to 4.5"),
    ]

    conclusion = _concluded(lines)

    assert (conclusion.outcome, conclusion.root_error) == (Outcome.UNKNOWN, None)


def test_traceback_quoted_in_a_request_dump_is_not_taken() -> None:
    quoted = [
        "Receive: obj=GenerateReqInput(text='Why? Traceback (most recent call last):",
        '  File "/app/sglang/srt/demo.py", line 7, in run',
        "    step()",
        "RuntimeError: demo', sampling_params={})",
    ]
    one_line = "Receive: obj=GenerateReqInput(text='CUDA error: bad\\nKilled\\nFatal Python error: Aborted')"

    conclusion = _concluded([_line(n, text, head=n == 1) for n, text in enumerate([*quoted, one_line], 1)])

    assert conclusion.outcome is Outcome.UNKNOWN
    assert [
        event.level for event in conclusion.events if event.level == "error" and event.rule == "exception"
    ] == []


_text = st.sampled_from(
    [
        "Traceback (most recent call last):", "  File \"x.py\", line 1, in f", "    x()", "ValueError: demo", "",
        "During handling of the above exception, another exception occurred:", "Killed", "Exit code: -9",
        "terminate called after throwing an instance of 'a'", "  what():  b", "Fatal Python error: Aborted",
        "Current thread 0x1 (most recent call first):", "  + Exception Group Traceback (most recent call "
                                                        "last):",
        "  | ExceptionGroup: x (1 sub-exception)", "  +-+------ 1 ------", "Process Process-1:", "^^^^", "x" * 5_000,
    ]
) | st.text(max_size=80)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(_text, st.booleans(), st.sampled_from(["", "TP0", "TP1"])), max_size=40))
def test_no_text_makes_it_fail(rows: list[tuple[str, bool, str]]) -> None:
    lines = [_line(n, text, rank if head else "", head=head) for n, (text, head, rank) in enumerate(rows, 1)]

    conclusion = _concluded(lines)

    assert conclusion.reason
    assert all(1 <= event.line <= event.last_line for event in conclusion.events)
