#!/usr/bin/env python3
"""Write a made-up log without a regular line: what only the careful lane reads.

    python benchmarks/make_failing_log.py --kind tracebacks --size 40M -o tracebacks.log

Kinds: ``tracebacks`` (300 different ones, again and again with other numbers and ranks, with and without a
head), ``new tracebacks`` (each with words of its own), ``words`` (each line new), ``repeats`` (300 lines
again and again with other numbers), ``both`` (tracebacks, and between them words and repeats, half of the
bytes), ``mix`` (tracebacks, words, repeats, with warnings between). The same
options give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from make_log import size_of

KINDS = ("tracebacks", "new tracebacks", "words", "repeats", "both", "mix")
PREFIXES: dict[str, Callable[[int], str]] = {
    "none": lambda second: "",
    "docker": lambda second: "sglang-1  | ",
    "k8s": lambda second: time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)) + ".123456789Z ",
    "kubectl": lambda second: "[pod/llm-0/server] ",
}
_START = 1_770_000_000
_DIFFERENT = 300
_LAUNCH = (
    "server_args=ServerArgs(model_path='acme/tiny-8b', port=30000, tp_size=4, random_seed=1234, "
    "log_level='info', context_length=None)",
    "Init torch distributed begin.",
    "Load weight begin. avail mem=70.50 GB",
)
_SOUNDS = ("ba", "cor", "del", "fi", "gram", "ho", "il", "jun", "ke", "lor", "mo", "nes", "ol", "pra", "qui")
_FILES = (
    "/usr/lib/python3.11/site-packages/{0}/{1}.py",
    "/opt/sglang/python/sglang/srt/{0}/{1}.py",
    "/usr/local/lib/python3.11/dist-packages/torch/nn/modules/{1}.py",
)
_ENDS = (
    "RuntimeError: {0} of {1} has size {n} but {m} was expected",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {n}.00 MiB. GPU {r} has {m} MiB free.",
    "ValueError: {0} {n} is not a {1}",
    "KeyError: '{0}.{1}.weight'",
    "AssertionError",
)
_WARNINGS = (
    "Warning: {0} {1} is deprecated and will be removed",
    "{0} is not supported on this device. Fallback to {1}.",
    "Failed to load {0}_{1}: no such file",
)


@dataclass(slots=True)
class FailingLog:
    """Lines of one log, without their carrier's prefix."""

    seed: int = 1
    second: int = _START
    random: Random = field(init=False)
    blocks: list[list[str]] = field(init=False)
    texts: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.blocks = [self._traceback() for _ in range(_DIFFERENT)]
        self.texts = [self._sentence() for _ in range(_DIFFERENT)]

    def lines(self, kind: str) -> Iterator[str]:
        """Lines without end."""
        yield from (self._head() + text for text in _LAUNCH)
        makers = {
            "tracebacks": self._again,
            "new tracebacks": self._new,
            "words": self._words,
            "repeats": self._repeat,
            "both": self._both,
        }
        while True:
            yield from makers[kind]() if kind in makers else self._mix()

    def _head(self) -> str:
        self.second += self.random.random() < 0.1
        rank = self.random.choice(("", " TP0", " TP1", " TP2", " TP3"))
        return time.strftime(f"[%Y-%m-%d %H:%M:%S{rank}] ", time.gmtime(self.second))

    def _word(self) -> str:
        return "".join(self.random.choices(_SOUNDS, k=self.random.randrange(1, 5)))

    def _sentence(self) -> str:
        words = [self._word() for _ in range(self.random.randrange(4, 14))]
        words.insert(2, str(self.random.randrange(10**6)))
        return " ".join(words)

    def _traceback(self) -> list[str]:
        block = ["Traceback (most recent call last):"]
        for _ in range(self.random.randrange(4, 16)):
            file = self.random.choice(_FILES).format(self._word(), self._word())
            block.append(f'  File "{file}", line {{l{self.random.randrange(900)}}}, in {self._word()}')
            block.append(f"    {self._word()} = self.{self._word()}({self._word()}, {self._word()}=1)")
        block.append(self.random.choice(_ENDS).replace("{0}", self._word()).replace("{1}", self._word()))
        return block

    def _new(self) -> Iterator[str]:
        """A traceback that never came before."""
        self.blocks = [self._traceback()]
        return self._again()

    def _again(self) -> Iterator[str]:
        """A traceback with other numbers; every fourth as its process prints it, without a head."""
        block = self.random.choice(self.blocks)
        if self.random.random() < 0.25:
            yield f"Process sglang::scheduler_TP{self.random.randrange(4)}:"
            yield block[0]
        else:
            yield f"{self._head()}Scheduler hit an exception: {block[0]}"
        move = self.random.randrange(3)
        for line in block[1:-1]:
            number, brace, rest = line.partition("{l")
            yield f"{number}{int(rest.split('}')[0]) + move}{rest.split('}')[1]}" if brace else line
        chosen = self.random.randrange
        yield (
            block[-1]
            .replace("{n}", str(chosen(10**5)))
            .replace("{m}", str(chosen(10**5)))
            .replace("{r}", str(chosen(8)))
        )
        yield ""

    def _words(self) -> Iterator[str]:
        head = self._head() if self.random.random() < 0.5 else ""
        yield head + self._sentence()

    def _repeat(self) -> Iterator[str]:
        head = self._head() if self.random.random() < 0.5 else ""
        yield f"{head}{self.random.choice(self.texts)} {self.random.randrange(10**6)}"

    def _both(self) -> Iterator[str]:
        """A traceback and about as many bytes of lines that no rule knows."""
        yield from self._again()
        for _ in range(self.random.randrange(20)):
            yield from self._words()
            yield from self._repeat()

    def _mix(self) -> Iterator[str]:
        for _ in range(self.random.randrange(12)):
            yield from self._words()
            yield from self._repeat()
        warning = self.random.choice(_WARNINGS).format(self._word(), self._word())
        yield self._head() + warning
        yield from self._again()


def make_failing_log(path: Path, kind: str, size: int, prefix: str = "none", seed: int = 1) -> None:
    """Write a log of at least `size` bytes."""
    log = FailingLog(seed)
    with path.open("wb") as out:
        written = 0
        for line in log.lines(kind):
            written += out.write(f"{PREFIXES[prefix](log.second)}{line}\n".encode())
            if written >= size:
                return


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", choices=KINDS, default="mix")
    parser.add_argument("--size", type=size_of, default="40M")
    parser.add_argument("--prefix", choices=sorted(PREFIXES), default="none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args(sys.argv[1:])
    make_failing_log(options.output, options.kind, options.size, options.prefix, options.seed)


if __name__ == "__main__":
    main()
