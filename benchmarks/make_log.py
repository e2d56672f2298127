#!/usr/bin/env python3
"""Write a made-up server log of a given size, the same bytes for the same options.

    python benchmarks/make_log.py --size 200M -o big.log
    python benchmarks/make_log.py --size 1G --wrap docker --dirty --ranks 4 -o big.log --truth big.json

Line shapes are those of current releases (45 % decode lines, 25 % prefill lines, 30 % access lines, and a
few warnings, errors and tracebacks per megabyte). ``--truth`` writes what a right parser must count.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import BinaryIO

TILE = 6000
"""Regular lines of one tile, about 0.8 MB."""
_START = 1_770_000_000
_ARGUMENTS = (
    "model_path='acme/tiny-8b', tokenizer_path='acme/tiny-8b', trust_remote_code=True, context_length=None, "
    "host='0.0.0.0', port=30000, dtype='auto', quantization=None, mem_fraction_static=0.835, "
    "max_running_requests=None, chunked_prefill_size=8192, schedule_policy='fcfs', device='cuda', "
    "tp_size={ranks}, pp_size=1, random_seed=1234, log_level='info', decode_log_interval=40, "
    "served_model_name='acme/tiny-8b', dp_size=1, nnodes=1, node_rank=0, attention_backend='fa3', "
    "speculative_algorithm=None, ep_size=1, "
    "disable_radix_cache=False, cuda_graph_max_bs=256, disable_cuda_graph=False, enable_torch_compile=False"
)
_PATHS = (
    *[("POST", "/v1/chat/completions", "200 OK")] * 12,
    *[("POST", "/generate", "200 OK")] * 4,
    ("GET", "/health", "200 OK"),
    ("POST", "/v1/completions", "400 Bad Request"),
    ("GET", "/metrics", "200 OK"),
)


@dataclass(frozen=True, slots=True)
class Options:
    """What to write."""

    size: int
    seed: int = 1
    ranks: int = 1
    wrap: str = "none"
    dirty: bool = False
    speculative: bool = False
    milliseconds: bool = False


@dataclass(slots=True)
class LogMaker:
    """Writes one log and counts what it wrote."""

    options: Options
    out: BinaryIO
    second: int = _START
    written: int = 0
    truth: Counter[str] = field(default_factory=Counter)
    random: Random = field(init=False)
    tags: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.options.seed)
        ranks = self.options.ranks
        self.tags = [""] if ranks == 1 else [f" TP{rank}" for rank in range(ranks)]

    def write_all(self) -> None:
        """The whole log, to within one tile of the wished size."""
        self._launch()
        blocks = [self._block() for _ in range(6)]
        while self.written < self.options.size:
            self._tile(self.random.choice(blocks))
            for _ in range(2):
                self._trouble()
            if self.options.dirty:
                self._dirt()
        self._say("INFO:     Shutting down")
        self.truth["bytes"] = self.written

    def _carrier(self) -> str:
        when = time.gmtime(self.second)
        iso = time.strftime("%Y-%m-%dT%H:%M:%S", when) + f".{self.second * 7919 % 10**9:09d}Z "
        return {
            "none": "",
            "docker": "sglang-1  | ",
            "slurm": "0: ",
            "ray": "(ServeReplica:llm pid=21833, ip=10.0.4.17) ",
            "k8s": iso,
            "cri": iso + "stderr F ",
        }[self.options.wrap]

    def _head(self, is_http: bool = False) -> str:
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(self.second))
        if self.options.milliseconds and not is_http:
            stamp += f".{self.second * 379 % 1000:03d}"
        return f"{self._carrier()}[{stamp}"

    def _put(self, text: bytes, lines: int) -> None:
        self.out.write(text)
        self.written += len(text)
        self.truth["lines"] += lines

    def _say(self, message: str, tag: str = "") -> None:
        first, *rest = message.split("\n")
        lines = [f"{self._head(message.startswith('INFO:'))}{tag}] {first}"]
        lines += [self._carrier() + each for each in rest]
        self._put(("\n".join(lines) + "\n").encode(), len(lines))

    def _bare(self, text: bytes) -> None:
        self._put(self._carrier().encode() + text + b"\n", 1)
        self.truth["dirty_lines"] += 1

    def _launch(self) -> None:
        self._say(f"server_args=ServerArgs({_ARGUMENTS.format(ranks=self.options.ranks)})")
        self.second += 12
        for message in (
            "Init torch distributed begin.",
            "Init torch distributed ends. mem usage=0.00 GB",
            "Load weight begin. avail mem=78.50 GB",
            "Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, "
            "avail mem=63.25 GB, mem usage=15.25 GB.",
            "KV Cache is allocated. #tokens: 398214, K size: 24.25 GB, V size: 24.25 GB",
            "Memory pool end. avail mem=13.00 GB",
        ):
            self.second += 2
            for tag in self.tags:
                self._say(message, tag)
        self.second += 10
        self._say(
            "max_total_num_tokens=398214, chunked_prefill_size=8192, max_prefill_tokens=16384, "
            "max_running_requests=4096, context_len=131072, available_gpu_mem=12.50 GB",
            self.tags[0],
        )
        for message in (
            "INFO:     Started server process [4077]",
            "INFO:     Application startup complete.",
            "INFO:     Uvicorn running on http://0.0.0.0:30000 (Press CTRL+C to quit)",
            "The server is fired up and ready to roll!",
        ):
            self._say(message)

    def _block(self) -> list[tuple[int, bool, bytes, bytes]]:
        """Regular lines: (seconds later, is an access line, text before two free digits, text after)."""
        choose, rows = self.random, []
        second, running, token, queue = 0, choose.randint(1, 40), choose.randint(2000, 60000), 0
        for _ in range(TILE):
            second += choose.random() < 0.05
            share = choose.random()
            if share < 0.3:
                verb, path, status = choose.choice(_PATHS)
                client = ".".join(str(choose.randint(1, 250)) for _ in range(3))
                before = f"] INFO:     10.{client}:{choose.randint(320, 609)}"
                after = f' - "{verb} {path} HTTP/1.1" {status}\n'
            elif share < 0.55:
                running = min(256, running + choose.randint(0, 3))
                token = min(390_000, token + 200)
                before = (
                    f"{choose.choice(self.tags)}] Prefill batch, #new-seq: {choose.randint(1, 8)}, "
                    f"#new-token: {choose.randint(1, 81)}"
                )
                after = (
                    f", #cached-token: {choose.choice((0, 0, choose.randint(1, 9000)))}, token usage: "
                    f"{token / 398214:.2f}, #running-req: {running}, #queue-req: {queue}, \n"
                )
            else:
                running = max(1, running + choose.randint(-2, 2))
                token = max(500, min(390_000, token + choose.randint(-900, 900)))
                accepted = f"accept len: {choose.uniform(1.5, 4):.2f}, accept rate: {choose.random():.2f}, "
                before = (
                    f"{choose.choice(self.tags)}] Decode batch, #running-req: {running}, #token: {token}, "
                    f"token usage: {token / 398214:.2f}, {accepted if self.options.speculative else ''}"
                    f"cuda graph: {running <= 256}, "
                    f"gen throughput (token/s): {int(running * choose.uniform(38, 96)) + 1}."
                )
                after = f", #queue-req: {queue}, \n"
            rows.append((second, share < 0.3, before.encode(), after.encode()))
        return rows

    def _tile(self, rows: list[tuple[int, bool, bytes, bytes]]) -> None:
        base = self.second
        stamps: dict[tuple[int, bool], bytes] = {}
        parts: list[bytes] = []
        for seconds, is_http, before, after in rows:
            stamp = stamps.get((seconds, is_http))
            if stamp is None:
                self.second = base + seconds
                stamp = stamps[seconds, is_http] = self._head(is_http).encode()
            digits = b"%02d" % self.random.randrange(100)
            parts += (stamp, before, digits, after)
            if is_http:
                self.truth["access"] += 1
            elif b"Prefill" in before:
                self.truth["prefill"] += 1
                self.truth["sum_prefill_new_token"] += int(before[before.rindex(b" ") :] + digits)
            else:
                self.truth["decode"] += 1
                running = before[before.index(b"req: ") + 5 : before.index(b", #token")]
                self.truth["sum_decode_running"] += int(running)
        self.second += 1
        self._put(b"".join(parts), len(rows))

    def _trouble(self) -> None:
        choose = self.random
        kind = choose.choice(("warning", "warning", "error", "traceback"))
        request = f"{choose.getrandbits(128):032x}"
        if kind == "warning":
            self._say(f"Warning: request {request} waited {choose.randint(900, 90000)} ms in the queue")
        elif kind == "error":
            tokens = choose.randint(131073, 400000)
            self._say(f"Error: request {request} was dropped: input of {tokens} tokens is too long")
        else:
            frames = "".join(
                f'  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/part{depth:02d}.py", line '
                f"{choose.randint(20, 2900)}, in step_{depth}\n    out = self.inner.step_{depth + 1}(batch)\n"
                for depth in range(choose.randint(3, 14))
            )
            self._say(
                f"Scheduler hit an exception: Traceback (most recent call last):\n{frames}"
                f"ValueError: unusable sampling parameter at position {choose.randint(2, 4000)}\n",
                choose.choice(self.tags),
            )
        self.truth[kind + "s"] += 1

    def _dirt(self) -> None:
        choose = self.random
        bar = b"".join(
            b"\rCapturing batches (bs=%d avail_mem=12.50 GB): %3d%%|####  | %d/23 [00:01<00:02,  8.9it/s]"
            % (256 - step, step * 4, step)
            for step in range(24)
        )
        self._bare(
            choose.choice(
                (
                    b"\xff\xfe broken \xe2\x82 bytes " + choose.randbytes(20).replace(b"\n", b"\xff"),
                    b"\x1b[33mWARNING\x1b[0m \x1b[1mnotice\x1b[0m: coloured text %d" % choose.randint(0, 999),
                    bar,
                    b"x" * choose.randint(10_000, 300_000),
                    f"réponse à la requête n° {choose.randint(0, 99)} — 完了".encode(),
                )
            )
        )


def size_of(text: str) -> int:
    """``200M`` as bytes; K, M, G are powers of ten."""
    unit = {"K": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:].upper(), 1)
    return int(float(text.upper().rstrip("KMG")) * unit)


def make_log(path: Path, options: Options) -> dict[str, int]:
    """Write the log and give its true counts."""
    with path.open("wb", buffering=1 << 20) as out:
        maker = LogMaker(options, out)
        maker.write_all()
    return dict(maker.truth)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a made-up server log.")
    parser.add_argument("--size", type=size_of, default=size_of("200M"), help="bytes; K, M, G (default 200M)")
    parser.add_argument("-o", "--output", type=Path, required=True, help="file to write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=1, help="tensor-parallel ranks that log")
    parser.add_argument("--wrap", choices=("none", "docker", "k8s", "cri", "slurm", "ray"), default="none")
    parser.add_argument("--dirty", action="store_true", help="add damaged lines")
    parser.add_argument("--speculative", action="store_true")
    parser.add_argument("--milliseconds", action="store_true")
    parser.add_argument("--truth", type=Path, help="write the true counts as JSON")
    given = parser.parse_args()
    options = Options(
        given.size, given.seed, given.ranks, given.wrap, given.dirty, given.speculative, given.milliseconds
    )
    counts = make_log(given.output, options)
    if given.truth:
        given.truth.write_text(json.dumps(counts, indent=1) + "\n")
    sys.stderr.write(f"{counts['lines']} lines, {counts['bytes']} bytes\n")


if __name__ == "__main__":
    main()
