"""The shapes in which tracebacks stand in logs."""

from __future__ import annotations

import textwrap

import pytest

from parsers.exception_lines import read_exception
from parsers.records import Line
from parsers.traceback_block import Traceback
from parsers.tracebacks import TracebackReader

_LABELS = ("a1| ", "b2| ")


def _read(text: str) -> list[Traceback]:
    """Tracebacks of the text; `[TP0] ` begins a headed line, `a1| ` and `b2| ` are two sources."""
    reader = TracebackReader()
    for number, raw in enumerate(textwrap.dedent(text).strip("\n").split("\n"), 1):
        label = raw[:2] if raw.startswith(_LABELS) else ""
        text_ = raw[4:] if label else raw
        head = text_.startswith("[TP")
        rank, body = (text_[1:4], text_[6:]) if head else ("", text_)
        reader.feed(Line(number, 0, label, None, rank, None, head, body, text_), None)
    reader.finish()
    return [block for block in reader.take_done() if block.links]


def test_header_behind_words_of_a_headed_line() -> None:
    (block,) = _read(
        """
        [TP1] Scheduler hit an exception: Traceback (most recent call last):
          File "/app/a.py", line 12, in load
            x = table[key]
        KeyError: 'blk.3.scale'
        """
    )

    assert (block.rank, block.context) == ("TP1", "Scheduler hit an exception")
    assert [(link.type, link.message, link.line) for link in block.links] == [
        ("KeyError", "'blk.3.scale'", 4)
    ]
    assert block.links[0].frames[0].function == "load"


def test_indentation_that_was_lost() -> None:
    (block,) = _read(
        """
        [TP3] Scheduler hit an exception: Traceback (most recent call last):
        File "/app/fit.py", line 7, in fit
        lambda: check(a)
        File "/app/fit.py", line 9, in check
        raise ValueError(msg)
        ValueError: demo shape 5 does not fit 4
        """
    )

    assert [(link.type, link.line) for link in block.links] == [("ValueError", 6)]
    assert [frame.line for frame in block.links[0].frames] == [7, 9]


def test_message_of_several_lines_begins_on_its_first() -> None:
    (block,) = _read(
        """
        Traceback (most recent call last):
          File "/app/a.py", line 1, in f
            raise Exception(x)
        Exception: 2 errors happen:
        Field one has a value
        Field two has a value
        """
    )

    assert (block.links[0].message, block.links[0].line) == ("2 errors happen:", 4)
    assert "Field two has a value" in block.text


def test_message_that_begins_on_the_line_below_the_class() -> None:
    (block,) = _read(
        """
        Traceback (most recent call last):
          File "/app/a.py", line 1, in f
            raise ImportError(x)
        ImportError:
        [demo] CRITICAL: no library could be loaded
        """
    )

    assert (block.links[0].message, block.links[0].line) == ("[demo] CRITICAL: no library could be loaded", 5)


def test_syntax_error() -> None:
    (block,) = _read(
        """
        Traceback (most recent call last):
          File "/app/a.py", line 1, in <module>
            from b import c
          File "/app/b.py", line 5
            match x
                  ^
        SyntaxError: invalid syntax
        """
    )

    assert block.links[0].type == "SyntaxError"
    assert block.links[0].frames[-1].line == 5


def test_chain_gives_one_block_with_a_link_for_each_exception() -> None:
    (block,) = _read(
        """
        Traceback (most recent call last):
          File "/app/a.py", line 1, in f
            g()
        KeyError: 'x'

        The above exception was the direct cause of the following exception:

        Traceback (most recent call last):
          File "/app/a.py", line 3, in h
            raise RuntimeError(y)
        RuntimeError: no x

        During handling of the above exception, another exception occurred:

        Traceback (most recent call last):
          File "/app/a.py", line 9, in main
            end()
        SystemExit: 1
        """
    )

    assert [(link.type, link.joined) for link in block.links] == [
        ("KeyError", ""),
        ("RuntimeError", "cause"),
        ("SystemExit", "context"),
    ]


def test_chain_goes_on_after_a_message_with_empty_lines_in_it() -> None:
    (block,) = _read(
        """
        Traceback (most recent call last):
          File "/app/a.py", line 1, in f
            g()
        demo.GatedError: 401 for this name

        Access to this name is restricted.

        The above exception was the direct cause of the following exception:

        Traceback (most recent call last):
          File "/app/a.py", line 3, in h
            raise OSError(y)
        OSError: no access
        """
    )

    assert [(link.type, link.joined) for link in block.links] == [
        ("demo.GatedError", ""),
        ("OSError", "cause"),
    ]


def test_remote_traceback_below_the_message_of_its_carrier() -> None:
    (block,) = _read(
        """
        Traceback (most recent call last):
          File "/app/a.py", line 1, in f
            raise self._obj
        demo.core/torch._get.<locals>.Derived: CUDA out of memory.

        ========= Remote Traceback (1) =========
        Traceback (most recent call last):
          File "/app/b.py", line 2, in g
            empty()
        torch.cuda.OutOfMemoryError: CUDA out of memory.
        """
    )

    assert [(link.type, link.joined) for link in block.links] == [
        ("demo.core/torch._get.<locals>.Derived", ""),
        ("torch.cuda.OutOfMemoryError", "remote"),
    ]


def test_lines_of_other_processes_do_not_break_a_traceback() -> None:
    blocks = _read(
        """
        [TP0] Scheduler hit an exception: Traceback (most recent call last):
          File "/app/a.py", line 1, in f
        [TP1] Load weight end.
        Loading shards:  50% | 1/2
            g()
        ValueError: demo
        [TP1] Memory pool end.
        """
    )

    assert [(block.rank, block.links[0].type) for block in blocks] == [("TP0", "ValueError")]


def test_two_sources_are_kept_apart() -> None:
    blocks = _read(
        """
        a1| Traceback (most recent call last):
        b2| Traceback (most recent call last):
        a1|   File "/app/a.py", line 1, in f
        b2|   File "/app/b.py", line 2, in g
        a1|     x()
        b2|     y()
        b2| KeyError: 'b'
        a1| ValueError: a
        """
    )

    assert {(block.label, block.links[0].type, block.links[0].frames[0].function) for block in blocks} == {
        ("a1", "ValueError", "f"),
        ("b2", "KeyError", "g"),
    }


def test_the_line_above_says_which_process_it_was() -> None:
    reader = TracebackReader()
    reader.note("", "Process Process-7:", 1)
    for number, body in enumerate(
        [
            "Traceback (most recent call last):",
            '  File "a.py", line 1, in f',
            "    x()",
            "OSError: [Errno 12] no",
        ],
        2,
    ):
        reader.feed(Line(number, 0, "", None, "", None, False, body, body), None)
    reader.finish()

    assert reader.take_done()[0].context == "Process Process-7:"


def test_cut_traceback_still_names_the_class_that_its_last_line_raises() -> None:
    (block,) = _read(
        """
        Traceback (most recent call last):
          File "/app/a.py", line 1, in f
            assert a == b
        """
    )

    assert [(link.type, link.is_certain) for link in block.links] == [("AssertionError", False)]


@pytest.mark.parametrize(
    "line",
    [
        'User said: "Traceback (most recent call last):" what is that?',
        "prompt='Traceback (most recent call last):",
        "obj=GenerateReqInput(text='x Traceback (most recent call last):",
    ],
)
def test_quoted_header_opens_nothing(line: str) -> None:
    reader = TracebackReader()

    assert reader.feed(Line(1, 0, "", None, "", None, False, line, line), None) is False
    assert not reader.is_open("")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ValueError: demo", ("ValueError", "demo")),
        ("AssertionError", ("AssertionError", "")),
        ("**RuntimeError: sizes differ**", ("RuntimeError", "sizes differ")),
        ("torch.OutOfMemoryError: CUDA out of memory.", ("torch.OutOfMemoryError", "CUDA out of memory.")),
        (
            "triton.runtime.errors.OutOfResources: out of resource",
            ("triton.runtime.errors.OutOfResources", "out of resource"),
        ),
        ("ValueError: Warning: too long", ("ValueError", "Warning: too long")),
        (
            "ray.exceptions.RayTaskError(ValueError): ray::f()",
            ("ray.exceptions.RayTaskError(ValueError)", "ray::f()"),
        ),
        ("INFO: ready", None),
        ("lambda: x", None),
        ("WARNING: old", None),
        ("Killed", None),
        ("Process Process-3:", None),
        ("loading: 5", None),
    ],
)
def test_exception_lines_are_told_from_others(line: str, expected: tuple[str, str] | None) -> None:
    assert read_exception(line, is_strict=True) == expected


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("OSError: [Errno 12] Cannot allocate memory", True),
        ("zmq.error.ZMQError: Address already in use", True),
        ("demo.RepositoryNotFound: no such name", True),
        ("Error: no such name", False),
        ("Invalid: 0.000", False),
        ("Note: this is an Exception: it is rare", False),
    ],
)
def test_outside_a_traceback_only_usual_names_are_exceptions(line: str, is_one: bool) -> None:
    assert (read_exception(line, is_strict=True, is_bare=True) is not None) is is_one
