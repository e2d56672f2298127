"""The container of packed facts: named sections, each compressed by itself and read when first asked for."""

from __future__ import annotations

import json
import zlib
from array import array
from pathlib import Path
from typing import Any

from logscope.errors import LogScopeError

MAGIC = b"LSKF"
FORMAT = 1
"""Raised when a section's layout or a hash of `wording` changes."""


class PackError(LogScopeError):
    """A file of packed facts cannot be read."""


class Pack:
    """One file of packed facts, its sections decompressed on demand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._bytes = path.read_bytes()
        except OSError as error:
            raise PackError(f"{path}: not readable: {error.strerror}") from error
        if self._bytes[:4] != MAGIC or int.from_bytes(self._bytes[4:6], "little") != FORMAT:
            raise PackError(
                f"{path}: not facts of this LogScope", "build it again: logscope knowledge add PATH"
            )
        size = int.from_bytes(self._bytes[6:10], "little")
        self._places: dict[str, tuple[int, int]] = json.loads(self._bytes[10 : 10 + size])
        self._start = 10 + size

    def names(self) -> tuple[str, ...]:
        """Names of the sections."""
        return tuple(self._places)

    def raw(self, name: str) -> bytes:
        """The bytes of a section; empty when there is none."""
        place = self._places.get(name)
        if place is None:
            return b""
        return zlib.decompress(self._bytes[self._start + place[0] : self._start + place[0] + place[1]])

    def numbers(self, name: str) -> array[int]:
        """A section of numbers; the last letter of its name is the array's type code."""
        held: array[int] = array(name[-1])
        held.frombytes(self.raw(name))
        return held

    def lines(self, name: str) -> list[str]:
        """A section of one text a line."""
        text = self.raw(name).decode()
        return text.split("\n") if text else []

    def json(self, name: str) -> Any:
        """A section of JSON."""
        return json.loads(self.raw(name) or b"null")


def write_pack(path: Path, sections: dict[str, bytes]) -> None:
    """Writes the sections to `path`; the same sections always give the same bytes."""
    blobs = {name: zlib.compress(held, 9) for name, held in sorted(sections.items())}
    places: dict[str, tuple[int, int]] = {}
    offset = 0
    for name, blob in blobs.items():
        places[name] = (offset, len(blob))
        offset += len(blob)
    index = json.dumps(places, separators=(",", ":")).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_name(path.name + ".part")
    waiting.write_bytes(
        MAGIC
        + FORMAT.to_bytes(2, "little")
        + len(index).to_bytes(4, "little")
        + index
        + b"".join(blobs.values())
    )
    waiting.replace(path)


def packed_numbers(code: str, values: list[int]) -> bytes:
    """The bytes of a section of numbers (little endian on every platform that SGLang runs on)."""
    return array(code, values).tobytes()


def json_bytes(held: object) -> bytes:
    """JSON in a fixed order, without spaces."""
    return json.dumps(held, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
