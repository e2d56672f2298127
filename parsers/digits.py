"""Digits made alike: texts that differ only in their numbers' values have one shape."""

from __future__ import annotations

AS_ZEROS = str.maketrans("123456789", "000000000")
"""For `str.translate`; lengths and places stay as they are."""
