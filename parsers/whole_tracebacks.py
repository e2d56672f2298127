"""Tracebacks that stand whole in the text: a header, frames with their source lines, one exception line.

Most of a failing log is made of them, and the same ones come again and again: from each rank and for each
request, with other times and figures. One is taken at once where each of its parts is known to tell nothing
else.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from parsers.digits import AS_ZEROS
from parsers.dumps import PRINTED_STARTS
from parsers.exception_lines import read_exception
from parsers.heads import parse_head
from parsers.lazy_dataclass import dataclass
from parsers.plain import Header
from parsers.times import is_dated
from parsers.tracebacks import HEADER, context_of

HEADER_END = b"Traceback (most recent call last):"


@dataclass(slots=True)
class WholeTraceback:
    """The parts of a traceback as they stand in the log, without line ends."""

    header: bytes
    """Without SGLang's own head."""
    is_headed: bool
    at: datetime | None
    rank: str
    front: bytes
    """That head; empty where there is none."""
    inner: bytes
    exception: bytes


def header_of(text: str) -> Header | None:
    """The first line of a traceback that stands alone or behind SGLang's own head; None for any other."""
    head = parse_head(text)
    if head is not None and not (head.is_bracket and head.level is None and head.source_file is None):
        return None
    if head is not None and not is_dated(head.at):
        return None
    body = text if head is None else text[head.end :]
    if body[:1].isspace() or body[:1] == "[" or body[:4] in PRINTED_STARTS:
        return None
    context = context_of(body)
    return None if context is None else Header(context, body)


def exception_of(text: str) -> tuple[str, str] | None:
    """Class and message of the line behind the frames of a traceback; None where it may be something else."""
    places = _places_of_exception(text.translate(AS_ZEROS))
    if places is None:
        return None
    end_of_class, begin, end = places
    return text[:end_of_class], text[begin:end]


@lru_cache(maxsize=4096)
def _places_of_exception(shape: str) -> tuple[int, int, int] | None:
    """Where the class ends, and where the message begins and ends, in lines of this shape.

    All digits are 0 in a shape: nothing here tells one from another.
    """
    first = shape[:1]
    if not (first.isalpha() or first == "_") or shape.startswith("File ") or shape[:4] in PRINTED_STARTS:
        return None
    found = None if HEADER in shape else read_exception(shape.rstrip(), is_strict=False)
    if found is None:
        return None
    name, message = found
    behind = shape[len(name) + 1 :]  # a colon stands between
    begin = len(shape) - len(behind.lstrip())
    return len(name), begin, begin + len(message)
