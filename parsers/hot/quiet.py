"""Finds the lines of a block in which no rule of the careful lane can find anything.

Such a line is only counted. What makes a line worth reading here is more than any rule asks for:
`tests/parsers/hot/test_quiet_lines.py` tries the samples of all rules. A new rule adds its word here.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from parsers.carriers import CarrierReader
from parsers.dumps import PRINTED_STARTS
from parsers.hot.lane import HotBlock
from parsers.hot.words import Bytes, Mask, Places, Text, Words, low_mask, word
from parsers.launches import CERTAIN
from parsers.likeness import NEAR, OTHER_ENGINES
from parsers.rules.milestone_table import MILESTONES
from parsers.rules.suspicion import TRIGGERS
from parsers.secrets import TRIGGERS as SECRETS
from parsers.secrets import may_hold_secret
from parsers.versions import WORDINGS

WORDS: tuple[str, ...] = (
    *TRIGGERS,
    "raceback", "http/", "server_args", "serverargs", "glang", "launch_server", "export ", "declare -x ",
    "kv cache", "pid=", "it/s", "s/it", "b/s]", " smg::", "<ipython", "note: typically", "warm", "hit an",
    "asgi", 'file "',
)  # fmt: skip
"""In lower case. A line that holds one of them is read, wherever it stands."""
_SECRET_WORDS = frozenset((*(trigger.decode().lower() for trigger in SECRETS), "://"))
"""A line that holds one of them is asked for secrets as the careful lane asks."""
_NAMES = (
    "TRACE", "DEBUG", "INFO", "NOTICE", "DEFAULT", "WARN", "ERROR", "CRITICAL", "FATAL", "ALERT", "EMERG",
    "Jan ", "Feb ", "Mar ", "Apr ", "May ", "Jun ", "Jul ", "Aug ", "Sep ", "Oct ", "Nov ", "Dec ",
)  # fmt: skip
"""Levels and months, as heads and carriers begin with them."""
_BATCHES = ("Prefill", "Decode", "Mixed", "new fill", "prefill", "decode", "#running")
BEGINS: tuple[str, ...] = (
    *(begin for rule in MILESTONES for begin in rule.begins if begin and begin.isascii()),
    *(span.text for span in WORDINGS), *CERTAIN, *PRINTED_STARTS, *_NAMES, *_BATCHES,
    "Rank ", "Process ", "Exception ", "Call stack:", "ENV", "---", '"""',
)  # fmt: skip
"""A line or message whose first four letters are those of one of them is read."""

_FIRST_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz<>*+=-_~/\\\"'`!?.,;&$%^"
"""How a line without a head may begin: no carrier's, head's or traceback's own character."""
_DIGITS = b"0123456789"
_AFTER_BRACKET = b"20grEWF"
"""Behind ``[``: times, colours, ``[gpu=``, ``[rank``, letters of levels."""
_LONGEST = 10_000
_BITS = 20
_MIX = np.uint32(0x9E3779B1)
_SHIFT = np.uint32(32 - _BITS)
_FOLD = 0x20
"""Set in every byte, it makes capitals small; other characters that fall together do no harm."""
_COMMON = " etaoinsrlh"

_Sign: TypeAlias = tuple[bytes, int, bool]
"""A folded word, the place in it of the four bytes that are looked for, and whether it may be a secret's."""


class QuietLines:
    """Looks for quiet lines; with libraries: those that name none either."""

    def __init__(self, with_libraries: bool) -> None:
        names = (*NEAR, *OTHER_ENGINES) if with_libraries else ()
        words = (*WORDS, *(name.lower() for name in names))
        self._by_gram: dict[int, list[_Sign]] = {}
        for one in (*words, *sorted(_SECRET_WORDS)):
            folded = bytes(byte | _FOLD for byte in one.encode())
            for gram, offset in _grams(folded):
                sign = (folded, offset, one in _SECRET_WORDS)
                self._by_gram.setdefault(int.from_bytes(gram, "little"), []).append(sign)
        self._is_known: Mask = np.zeros(1 << _BITS, dtype=np.bool_)
        self._is_known[(np.array(list(self._by_gram), dtype=np.uint32) * _MIX) >> _SHIFT] = True

    def find(self, block: bytes, found: HotBlock, own: Mask, may_be_bare: bool) -> Mask:
        """True for quiet lines, empty ones among them.

        `own`: lines whose head is read; `may_be_bare`: lines without a head have no carrier either.
        """
        starts, ends, raw = found.starts, found.ends, found.text.raw
        first, stop = int(starts[0]), found.stop
        bodies = np.where(own, found.heads.bodies, starts)
        quiet = (ends - starts) < _LONGEST
        quiet &= _begins_quietly(found.text, bodies, own)
        quiet &= raw[np.maximum(ends - 1, 0)] != ord(":")  # it may introduce a traceback
        quiet |= ends == starts
        quiet &= own | (may_be_bare & (found.heads.prefixes < 0))
        for places in _odd_bytes(raw, first, stop):
            rows = np.searchsorted(starts, places, "right") - 1
            quiet[rows[(places >= bodies[rows]) & (places < ends[rows])]] = False
        for places in _odd_bytes_without_head(raw, first, stop):
            rows = np.searchsorted(starts, places, "right") - 1
            quiet[rows[~own[rows]]] = False
        self._look_for_words(block, found, bodies, quiet)
        return quiet

    def _look_for_words(self, block: bytes, found: HotBlock, bodies: Places, quiet: Mask) -> None:
        """Take the lines that hold one of the words out of `quiet`."""
        first = int(found.starts[0]) & -4
        folded = found.text.raw[first : found.stop + 8] | np.uint8(_FOLD)
        places, grams = self._known_grams(folded, found.stop - first)
        rows = np.searchsorted(found.starts, places + first + 1, "right") - 1  # a gram may begin too early
        left = np.flatnonzero((rows >= 0) & quiet[rows] & (places + first + 3 >= bodies[rows]))
        letters = folded.tobytes() if left.size else b""
        hits = (values[left].tolist() for values in (places, grams, rows))
        for place, gram, row in zip(*hits, strict=True):
            for sign, offset, is_secret in self._by_gram.get(gram, ()):
                if not letters.startswith(sign, place - offset):
                    continue
                if not is_secret or may_hold_secret(block[found.starts[row] : found.ends[row]]):
                    quiet[row] = False

    def _known_grams(self, folded: Bytes, size: int) -> tuple[Places, NDArray[np.uint32]]:
        """Where four bytes of one of the words may stand, at even places, and those bytes."""
        found = []
        for first in (0, 2):
            grams = folded[first : first + (size + 3) // 4 * 4].view("<u4")
            mixed = grams * _MIX
            mixed >>= _SHIFT
            hits = np.flatnonzero(self._is_known.take(mixed))
            found.append((hits * 4 + first, grams[hits]))
        places, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
        inside = places < size
        return places[inside], values[inside]


@functools.cache
def quiet_lines(with_libraries: bool) -> QuietLines:
    """One for all readers: it holds nothing of a log."""
    return QuietLines(with_libraries)


def may_stand_bare(carriers: CarrierReader) -> bool:
    """False where a line without a head can have a carrier that its first letter does not show."""
    return carriers.margin is None and all(carrier != "pod-and-container" for carrier, _ in carriers.proven)


def _begins_quietly(text: Text, bodies: Places, own: Mask) -> Mask:
    first = text.at(bodies)
    letters = _byte(first, 0)
    quiet: Mask = np.where(own, letters != ord("["), _members(_FIRST_LETTERS)[letters])
    four = first & low_mask(4)
    quiet &= ~np.isin(four, _starts(4))
    quiet &= ~np.isin(four & low_mask(3), _starts(3))
    quiet &= ~(_members(b"EFW")[letters] & _members(_DIGITS)[_byte(first, 1)])  # a level of glog
    for place in (1, 2, 3):
        quiet &= own | (_byte(first, place) != ord(":"))
    return quiet


def _byte(words: Words, place: int) -> Bytes:
    return (words >> np.uint64(8 * place)).astype(np.uint8)


@functools.cache
def _starts(size: int) -> Words:
    texts = {one.encode()[:4] for one in BEGINS}
    return np.array([word(one) for one in texts if len(one) == size], dtype=np.uint64)


def _odd_bytes(raw: Bytes, first: int, stop: int) -> Iterable[Places]:
    """Places of bytes that make any line worth reading."""
    strange = np.flatnonzero((raw[first:stop] - np.uint8(32)) >= 96) + first  # control bytes, beyond ASCII
    yield strange[(raw[strange] != 10) & (raw[strange] != 9)]
    brackets = np.flatnonzero(raw[first:stop] == ord("[")) + first
    yield brackets[_members(_AFTER_BRACKET)[raw[brackets + 1]]]
    percents = np.flatnonzero(raw[first:stop] == ord("%")) + first
    yield percents[raw[percents + 1] == ord("|")]


def _odd_bytes_without_head(raw: Bytes, first: int, stop: int) -> Iterable[Places]:
    """Places of bytes that can be a carrier's."""
    yield np.flatnonzero(raw[first:stop] == ord("|")) + first
    colons = np.flatnonzero(raw[first:stop] == ord(":")) + first
    digits = _members(_DIGITS)
    yield colons[digits[raw[colons - 1]] & digits[raw[colons + 1]]]


@functools.cache
def _members(letters: bytes) -> Mask:
    table: Mask = np.zeros(256, dtype=np.bool_)
    table[list(letters)] = True
    return table


def _grams(folded: bytes) -> Iterable[tuple[bytes, int]]:
    """Four bytes at an even and four at an odd place of a word, those that other words share least."""
    if len(folded) >= 5:
        places = range(len(folded) - 4)
        least = min(places, key=lambda place: sum(chr(one) in _COMMON for one in folded[place : place + 5]))
        for offset in (least, least + 1):
            yield folded[offset : offset + 4], offset
        return
    others = [bytes([byte]) for byte in range(256) if byte & _FOLD]
    if len(folded) == 4:
        yield folded, 0
        yield from ((folded[1:] + other, 1) for other in others)
    else:
        yield from ((folded + other, 0) for other in others)
        yield from ((other + folded, -1) for other in others)
