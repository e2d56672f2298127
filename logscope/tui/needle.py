"""What is looked for in a log: lower case finds any case, a capital makes it exact (as lnav, ripgrep -S)."""

from __future__ import annotations


def is_in(wanted: str, text: str) -> bool:
    """True when the text of a row holds `wanted`."""
    return wanted.casefold() in text.casefold() if wanted == wanted.lower() else wanted in text


class Needle:
    """A text to look for. Only A to Z have two cases here: bytes of the log are compared, not letters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._any_case = text == text.lower()
        self.wanted = text.encode()

    def __bool__(self) -> bool:
        return bool(self.text)

    def prepared(self, block: bytes) -> bytes:
        """The bytes in which `wanted` is to be looked for; as long as `block`."""
        return block.lower() if self._any_case else block

    def is_in(self, line: str) -> bool:
        """True when the line holds it."""
        return self.text in line or (self._any_case and self.wanted in line.encode().lower())
