"""What the root error names: flags, variables, numbers, modules, frames. The ground of every mechanism."""

from __future__ import annotations

import re
from collections.abc import Sequence

from logscope.store.records import StoredRun
from parsers.lazy_dataclass import dataclass
from parsers.lazy_pattern import lazy_re
from parsers.records import Event, EventRole, Frame, Json, RootError, Stage

_NUMBER = lazy_re(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")
_FLAG = lazy_re(r"--([A-Za-z][\w-]+)")
_ENV = lazy_re(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_ADDRESS = lazy_re(r"^(?P<host>\d+\.\d+\.\d+\.\d+):\d+$")
_WORD = lazy_re(r"[A-Za-z][A-Za-z0-9]*")
# fmt: off
_PLAIN_WORDS = frozenset(
    [
        "device", "host", "port", "dtype", "revision", "quantization", "warmups", "memory", "model",
        "tokenizer", "size", "rank", "backend",
    ]
)
# fmt: on
"""Argument names that are also English words: only ``--name`` or ``name=`` names the argument."""
# fmt: off
_DULL_TOKENS = frozenset(
    [
        "auto", "none", "true", "false", "null", "default", "default_value", "models", "model", "path",
        "the", "and", "for", "with", "size", "base", "chat", "instruct", "srv", "home", "mnt", "data",
        "workspace", "opt", "usr", "root", "cache", "hub", "snapshots", "local", "weights", "http",
        "https", "com", "org", "int", "float", "large", "small", "mini", "tiny", "full", "fast",
        "eager", "json", "yaml", "log", "info", "debug", "error", "warning", "v1", "v2", "v3", "hf",
    ]
)
# fmt: on
_TAIL_LINES = 14
"""Lines at the end of a traceback's text that show where it was raised."""


@dataclass(frozen=True, slots=True)
class Clues:
    """The root error in the forms in which it is looked through; empty when there is none."""

    type: str
    message: str
    frames: tuple[Frame, ...]
    source: str
    """Raw traceback text."""
    line: int | None
    excerpt: str
    stage: Stage | None
    fingerprint: str
    numbers: frozenset[str]
    flags: frozenset[str]
    """Names of ``--flags`` in the message, with underscores."""
    env_names: frozenset[str]

    @property
    def has_error(self) -> bool:
        return self.line is not None

    @property
    def text(self) -> str:
        """Type and message, as one reads them."""
        return f"{self.type}: {self.message}" if self.message else self.type

    @property
    def tail(self) -> str:
        """The end of the traceback: where it was raised."""
        return "\n".join(self.source.splitlines()[-_TAIL_LINES:])

    def names_argument(self, name: str) -> bool:
        """True when the message names the argument, as flag or as word."""
        if name in self.flags or name in {flag.replace("-", "_") for flag in self.flags}:
            return True
        if name in _PLAIN_WORDS or "_" not in name:
            return re.search(rf"(?<![\w-]){re.escape(name)}\s?=", self.message) is not None
        return has_word(self.message, name)

    def tail_names(self, name: str) -> bool:
        """True when the lines of code that raised the error read the argument."""
        if "_" in name and name not in _PLAIN_WORDS:
            return has_word(self.tail, name)
        return re.search(rf"(?:server_args|self|args)\.{re.escape(name)}\b", self.tail) is not None

    def names_number(self, value: Json) -> bool:
        """True when a number of at least two digits (or a fraction) stands in the message."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if isinstance(value, int) and abs(value) < 10:
            return False
        return any(float(text) == float(value) for text in self.numbers)

    def names_value(self, value: Json) -> bool:
        """True when the text of a value stands in the message: whole, as its path or as its address."""
        return any(self._holds(piece) for piece in _pieces(value))

    def _holds(self, piece: str) -> bool:
        if len(piece) < 3 or piece.lower() in _DULL_TOKENS:
            return False
        flags = re.NOFLAG if any(char.isupper() for char in piece) else re.IGNORECASE
        return re.search(rf"(?<![\w]){re.escape(piece)}(?![\w])", self.message, flags) is not None

    def value_tokens_in(self, value: Json, text: str) -> list[str]:
        """The telling pieces of a value (``fp4`` of ``fp4_e2m1``) that stand in `text`."""
        low = text.lower()
        return [token for token in telling_tokens(value) if token in low]

    def words_in_message(self, words: Sequence[str]) -> str:
        """The first of `words` (lower case) that begins a word of the message; '' when none does."""
        low = self.message.lower()
        return next((word for word in words if _begins_a_word(low, word)), "")

    def frame_with(self, pieces: Sequence[str]) -> tuple[Frame | None, int]:
        """The innermost frame that holds one of `pieces`, and its distance from the innermost frame."""
        for distance, frame in enumerate(reversed(self.frames)):
            where = f"{frame.file}:{frame.function}".lower()
            if any(piece in where for piece in pieces):
                return frame, distance
        return None, -1


def clues_of(run: StoredRun) -> Clues:
    """The clues of the run's root error."""
    root = run.run.root_error
    if root is None:
        return Clues("", "", (), "", None, "", run.run.stage, "", frozenset(), frozenset(), frozenset())
    event = root_event(run)
    source = event.traceback_text if event is not None else ""
    return Clues(
        type=root.type,
        message=root.message,
        frames=root.traceback,
        source=source,
        line=root.line,
        excerpt=root.excerpt or (event.excerpt if event is not None else root.message),
        stage=(event.stage if event is not None and event.stage is not None else run.run.stage),
        fingerprint=root.fingerprint,
        numbers=frozenset(_NUMBER.findall(root.message)) | frozenset(re.findall(r"\d+", root.message)),
        flags=frozenset(name.replace("-", "_") for name in _FLAG.findall(root.message)),
        env_names=frozenset(_ENV.findall(root.message)),
    )


def root_event(run: StoredRun) -> Event | None:
    """The event of the root error."""
    root: RootError | None = run.run.root_error
    if root is None:
        return None
    same = [event for event in run.run.events if event.fingerprint == root.fingerprint]
    return next((event for event in same if event.role is EventRole.ROOT), next(iter(same), None))


def _pieces(value: Json) -> list[str]:
    """The texts under which a message may name a value: ``/a/b`` of ``name=/a/b``, ``10.0.0.9`` of a port."""
    if isinstance(value, list):
        return [piece for item in value for piece in _pieces(item)]
    if not isinstance(value, str):
        return []
    path = value[value.index("/") :] if "=/" in value else value
    address = _ADDRESS.match(value)
    return [path, address.group("host")] if address else [path]


def telling_tokens(value: Json) -> list[str]:
    """Pieces of a value that are rare enough to tell it: three letters or more, or letters with digits."""
    if not isinstance(value, str):
        return []
    tokens = [token.lower() for token in _WORD.findall(value)]
    return [token for token in dict.fromkeys(tokens) if len(token) >= 3 and token not in _DULL_TOKENS]


def has_word(text: str, word: str) -> bool:
    """True when `word` stands in `text` as a word of its own."""
    return word in text and re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", text) is not None


def _begins_a_word(text: str, word: str) -> bool:
    return word in text and re.search(rf"(?<![a-z0-9]){re.escape(word)}", text) is not None
