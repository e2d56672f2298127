"""Looks a few lines into a traceback: is it of a launch that has only begun?

A launch that printed its arguments has imported everything and read its command line. Where a traceback shows
either of them failing, it is of the next launch, whose begin left no other sign in the log.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from parsers.lazy_pattern import lazy_pattern

MOST_LINES = 24
_HEADER = b"Traceback (most recent call last):"
_OUTERMOST = lazy_pattern(rb"in (?:<module>|_run_module_as_main|_run_module_code)\s*\Z")
_CHILD = lazy_pattern(rb"in spawn_main|in _fixup_main|multiprocessing[/\\]")
_ENTRY = lazy_pattern(
    rb'(?:sglang[/\\](?:launch_server|cli[/\\]\w+|__main__)\.py|bin[/\\]sglang)", line \d+, in <module>'
)
_IMPORTS = lazy_pattern(rb"(?:\A|\s)(?:from [\w.]+ import |import \w)")
_READS_ARGUMENTS = lazy_pattern(
    rb'server_args\.py", line \d+, in (?:prepare_server_args|from_cli_args|__post_init__|resolve_once)\s*\Z'
)
"""Frames that every launch leaves before it prints its arguments."""
_GOES_ON = lazy_pattern(rb'  File "|(?<! ) {3,}+\S')


@dataclass(slots=True)
class HeldLines:
    """Lines of a traceback that wait until it is known whose they are: (number, bytes, keep rows)."""

    lines: list[tuple[int, bytes, bool]] = field(default_factory=list)
    is_at_entry: bool = False
    """The line before was the frame of the program that launches a server."""

    def add(self, number: int, raw: bytes, keep_rows: bool) -> bool | None:
        """True: of a new launch; False: not; None: more lines are needed."""
        self.lines.append((number, raw, keep_rows))
        if len(self.lines) == 1:
            return None
        if len(self.lines) == 2 and _OUTERMOST.search(raw) is None:
            return False
        if _CHILD.search(raw) or len(self.lines) > MOST_LINES:
            return False
        if _READS_ARGUMENTS.search(raw):
            return True
        if self.is_at_entry and _IMPORTS.search(raw):
            return True
        self.is_at_entry = _ENTRY.search(raw) is not None
        return None if _GOES_ON.search(raw) else False


def may_be_traceback(raw: bytes) -> bool:
    """True for the header of a traceback that nothing introduces."""
    return raw.rstrip().endswith(_HEADER) and len(raw) < 200 and b"exception" not in raw
