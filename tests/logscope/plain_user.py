"""Commands under the permissions of files, which root is above."""

from __future__ import annotations

import os
import shutil

import pytest


def as_plain_user() -> list[str]:
    """Words before a command that let permissions hold for it; none where they hold already."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("permissions do not hold for root, and there is no setpriv to give that up")
    return [setpriv, "--bounding-set", "-dac_override,-dac_read_search"]
