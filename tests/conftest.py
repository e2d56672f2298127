"""For all tests."""

from __future__ import annotations

import os

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""Commands that tests start keep their bytecode; else each of some thousand compiles the program anew."""
