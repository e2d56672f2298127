"""Exit codes of the commands, as the public contract fixes them."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit status says."""

    OK = 0
    """Done; for ``diff``: nothing that matters differs; for ``show``: ready."""
    DIFFERENT = 1
    """Done, and the answer is 'no': differs, not ready, no cause, findings."""
    TROUBLE = 2
    """Bad usage, unreadable input, store or SQL error."""
    HUNG = 124
    """``watch`` gave up on a launch that went silent."""
    UNTESTABLE = 125
    """``bisect``: this combination cannot be tried."""
    INTERRUPTED = 130
    """Ctrl-C."""
