"""`python -m logscope`."""

from __future__ import annotations

import sys

from logscope.cli.main import program

if __name__ == "__main__":
    sys.exit(program())
