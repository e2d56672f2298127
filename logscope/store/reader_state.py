"""The log reader's state as bytes, so that a grown file is read on.

A store may come from somebody else, so unpacking builds nothing but this program's own records and plain
values: any other name in the bytes makes the state unusable and the log is read again from its begin.
"""

from __future__ import annotations

import io
import pickle
import zlib
from typing import Any

from parsers.log import LogReader

LARGEST = 1 << 24
"""Packed states beyond this (16 MiB) are not kept: reading again costs less than storing them."""

_CLASSES_OF = ("parsers", "datetime", "collections")
"""Packages whose classes a state may hold; none of their functions."""
_BUILTINS = frozenset(
    (
        "set", "frozenset", "bytearray", "complex", "range", "slice", "list", "dict", "tuple", "str", "bytes",
        "int", "float", "bool", "object",
    )
)  # fmt: skip
_NUMPY = frozenset(("dtype", "ndarray", "_reconstruct", "scalar", "_frombuffer"))
_OTHERS = frozenset(
    (
        ("_codecs", "encode"), ("copyreg", "_reconstructor"), ("copyreg", "__newobj__"), ("array", "array"),
        ("array", "_array_reconstructor"),
    )
)  # fmt: skip


def pack(reader: LogReader) -> bytes | None:
    """The state as bytes; None when it is too large to be worth keeping."""
    packed = zlib.compress(pickle.dumps(reader, pickle.HIGHEST_PROTOCOL), level=1)
    return packed if len(packed) <= LARGEST else None


def unpack(state: bytes) -> LogReader | None:
    """The reader, or None when these bytes are not a state that this version wrote."""
    try:
        reader = _Unpickler(io.BytesIO(zlib.decompress(state))).load()
    except (
        pickle.UnpicklingError,
        zlib.error,
        EOFError,
        AttributeError,
        ImportError,
        IndexError,
        TypeError,
        ValueError,
    ):
        return None
    return reader if isinstance(reader, LogReader) else None


class _Unpickler(pickle.Unpickler):
    """Knows the parsers' records and plain values only."""

    def find_class(self, module: str, name: str) -> Any:
        root = module.partition(".")[0]
        is_plain = (module == "builtins" and name in _BUILTINS) or (module, name) in _OTHERS
        if is_plain or (root == "numpy" and "." not in name and name in _NUMPY):
            return super().find_class(module, name)
        found = super().find_class(module, name) if root in _CLASSES_OF else None
        if not isinstance(found, type):
            raise pickle.UnpicklingError(f"{module}.{name} has no place in a reader's state")
        return found
