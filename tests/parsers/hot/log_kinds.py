"""Small made-up logs of several kinds, in which regular lines stand between everything else."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_BANNER = (
    "[2026-02-03 04:05:06] server_args=ServerArgs(model_path='acme/tiny', tp_size={ranks}, port=30000, "
    "random_seed={seed}, log_level='info', speculative_algorithm=None, context_length=None)"
)
_TAILS = (
    '"POST /generate HTTP/1.1" 200 OK',
    '"POST /v1/chat/completions HTTP/1.1" 200 OK',
    '"GET /health HTTP/1.1" 200 OK',
    '"GET /v1/models?limit=2 HTTP/1.1" 200 OK',
    '"POST /v1/completions HTTP/1.1" 400 Bad Request',
    '"POST /generate HTTP/1.1" 500 Internal Server Error',
)
_TRACEBACK = (
    "Scheduler hit an exception: Traceback (most recent call last):",
    '  File "/opt/sglang/srt/managers/scheduler.py", line 41, in run',
    "    self.step(batch)",
    "ValueError: position 41 is not usable",
    "",
)


class LogText:
    """Builds one log line by line."""

    def __init__(self, seed: int, ranks: int = 1, style: str = "comma", milliseconds: bool = False) -> None:
        self.random = Random(seed)
        self.seed = seed
        self.style = style
        self.milliseconds = milliseconds
        self.tags = [""] if ranks == 1 else [f" TP{rank}" for rank in range(ranks)]
        self.second = 0
        self.lines: list[bytes] = []

    def head(self, tag: str = "", plain: bool = False) -> str:
        """``[time ranks] `` with a time that sometimes moves on, over midnight too."""
        self.second += self.random.random() < 0.2
        at = 86_390 + self.second
        day, rest = divmod(at, 86_400)
        stamp = f"2026-02-{3 + day:02d} {rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
        fraction = f".{self.random.randrange(1000):03d}" if self.milliseconds and not plain else ""
        return f"[{stamp}{fraction}{tag}] "

    def add(self, *texts: str) -> None:
        self.lines += [text.encode() for text in texts]

    def launch(self) -> None:
        """The begin of a server."""
        self.add(_BANNER.format(ranks=len(self.tags), seed=self.seed))
        for message in ("Init torch distributed begin.", "Load weight begin. avail mem=70.50 GB"):
            self.add(*[self.head(tag) + message for tag in self.tags])
        self.add(self.head() + "The server is fired up and ready to roll!")

    def decode(self, extra: str = "", graph: str = "cuda graph") -> str:
        choose = self.random
        number = f"Decode batch [{choose.randrange(99999)}],"
        label = {"comma": "Decode batch,", "period": "Decode batch.", "number": number}
        end = {"comma": ", ", "period": "", "number": ""}[self.style]
        flag = f"{graph}: {choose.random() < 0.5}, " if self.style != "period" else ""
        return (
            f"{self.head(choose.choice(self.tags))}{label[self.style]} "
            f"#running-req: {choose.randrange(300)}, #token: {choose.randrange(10 ** choose.randrange(1, 7))}, "
            f"token usage: {choose.random():.2f}, {extra}{flag}"
            f"gen throughput (token/s): {choose.uniform(0, 10 ** choose.randrange(1, 6)):.2f}, "
            f"#queue-req: {choose.randrange(40)}{end}"
        )

    def prefill(self, extra: str = "") -> str:
        choose = self.random
        number = f"Prefill batch [{choose.randrange(99)}],"
        label = {"comma": "Prefill batch,", "period": "Prefill batch.", "number": number}
        end = {"comma": ", ", "period": ", ", "number": ""}[self.style]
        return (
            f"{self.head(choose.choice(self.tags))}{label[self.style]} "
            f"#new-seq: {choose.randrange(9)}, #new-token: {choose.randrange(9000)}, "
            f"#cached-token: {choose.randrange(99999)}, token usage: {choose.random():.2f}, "
            f"#running-req: {choose.randrange(300)}, {extra}#queue-req: {choose.randrange(40)}{end}"
        )

    def access(self) -> str:
        choose = self.random
        client = ".".join(str(choose.randrange(256)) for _ in range(4))
        port = choose.randrange(1, 65536)
        return f"{self.head(plain=True)}INFO:     {client}:{port} - {choose.choice(_TAILS)}"

    def other(self) -> None:
        """A line, or a few, that only the careful lane can take."""
        choose = self.random
        which = choose.randrange(5)
        if which == 0:
            self.add(self.head(choose.choice(self.tags)) + _TRACEBACK[0], *_TRACEBACK[1:])
        elif which == 1:
            request = f"{choose.getrandbits(64):x}"
            self.add(self.head() + f"Warning: request {request} waited {choose.randrange(900)} ms")
        elif which == 2:
            self.add(self.head() + 'INFO:     10.0.0.1:50 - "WEIRD')
        elif which == 3:
            head = self.head(choose.choice(self.tags))
            self.add(head + "KV cache pool is full. Retract requests. #retracted_reqs: 2")
        else:
            self.add("text without a head")

    def serve(self, lines: int, extra: str = "", prefill_extra: str = "") -> None:
        """Regular lines with a few others between them."""
        for _ in range(lines):
            share = self.random.random()
            if share < 0.03:
                self.other()
            elif share < 0.35:
                self.add(self.access())
            elif share < 0.6:
                self.add(self.prefill(prefill_extra))
            else:
                self.add(self.decode(extra))

    def text(self, end: bytes = b"\n") -> bytes:
        return b"".join(line + end for line in self.lines)


def _plain(seed: int) -> bytes:
    log = LogText(seed)
    log.launch()
    log.serve(600)
    return log.text()


def _ranks(seed: int) -> bytes:
    log = LogText(seed, ranks=4)
    log.tags += [" DP1 TP3", " DP0 PP0 TP0 EP0", " PP10 ATTN_CP3 MOE_DP12 TP127 EP64"]
    log.launch()
    log.serve(600)
    return log.text()


def _milliseconds(seed: int) -> bytes:
    log = LogText(seed, ranks=2, milliseconds=True)
    log.launch()
    log.serve(500)
    return log.text()


def _numbered(seed: int) -> bytes:
    log = LogText(seed, style="number")
    log.launch()
    log.serve(500)
    return log.text()


def _old_style(seed: int) -> bytes:
    log = LogText(seed, ranks=2, style="period")
    log.launch()
    log.serve(500)
    return log.text()


def _time_only(seed: int) -> bytes:
    log = LogText(seed, ranks=2, style="period")
    log.launch()
    log.serve(400)
    return log.text().replace(b"[2026-02-03 ", b"[").replace(b"[2026-02-04 ", b"[")


def _speculative(seed: int) -> bytes:
    log = LogText(seed)
    log.launch()
    for extra in ("accept len: 2.75, accept rate: 0.58, ", "accept len: 3, block accept len: 1.25, ", ""):
        log.serve(200, extra)
    return log.text()


def _disaggregated(seed: int) -> bytes:
    log = LogText(seed, style="number")
    log.launch()
    log.serve(
        300,
        "pre-allocated usage: 0.25, #retracted-req: 0, #prealloc-req: 3, #transfer-req: 1, ",
        "#bootstrap-req: 2, #inflight-req: 7, #optimistic-req: 1, input throughput (token/s): 123456.78, ",
    )
    log.serve(300, "fwd occupancy: 41.50%, est. decode TFLOPS/s (per GPU): 12.25, ", "full token usage: 0.50, ")
    return log.text()


def _dirty(seed: int) -> bytes:
    log = LogText(seed)
    log.launch()
    for _ in range(12):
        log.serve(50)
        regular = log.decode().encode()
        log.lines += [
            b"\xff\xfe broken \xc0\xaf",
            regular.replace(b"#token", b"#t\xffken"),
            b"\x1b[32m" + regular + b"\x1b[0m",
            regular.replace(b"batch", b"ba\x00tch"),
            b"\r 10%|#  | 1/9 [00:01<00:02,  8.9it/s]\r" + regular,
            regular + regular,
            regular[: log.random.randrange(30, len(regular))],
            b"x" * log.random.randrange(20_000),
            "réponse n° 7 — 完了".encode(),
            b"",
            b"\r",
            regular.replace(b"2026-02", b"2026-13"),
            regular.replace(b"#running-req: ", b"#running-req: 123456789"),
            regular.replace(b"token usage: 0", b"token usage: nan"),
            regular.replace(b", #queue", b", #queue-req: 5, #queue"),
            log.access().replace(" 200", " 20x").encode(),
            log.access().replace("INFO:     ", "INFO: ").encode(),
            log.access().replace("INFO:     ", "ERROR:    ").encode(),
        ]
    return log.text()


def _quoted(seed: int) -> bytes:
    """Chat text that quotes decode lines must never become batch lines."""
    log = LogText(seed)
    log.launch()
    for _ in range(12):
        log.serve(40)
        regular = log.decode()
        log.add(
            f"user: {regular}",
            f"> {regular}",
            f"'text': '{regular}'",
            f"{log.head()}Receive: obj=GenerateReqInput(text='{regular}')",
            f"sglang-1  | {regular}",
            f"0: {regular}",
            f"  {regular}",
        )
    return log.text()


def _crlf(seed: int) -> bytes:
    log = LogText(seed)
    log.launch()
    log.serve(400)
    return log.text(b"\r\n")


def _launches(seed: int) -> bytes:
    parts = []
    for number in range(3):
        log = LogText(seed + number, ranks=1 + number, style=("comma", "number", "period")[number])
        log.launch()
        log.serve(200)
        parts.append(log.text())
    return b"".join(parts)


def _truncated(seed: int) -> bytes:
    text = _plain(seed)
    return text + LogText(seed).decode().encode()[: 60 + seed]


def _carried(before: Callable[[int, int], str]) -> Callable[[int], bytes]:
    def make(seed: int) -> bytes:
        log = LogText(seed, ranks=2)
        log.launch()
        log.serve(500)
        return b"".join(before(number, seed).encode() + line + b"\n" for number, line in enumerate(log.lines))

    return make


def _iso(number: int) -> str:
    clock = f"{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}"
    return f"2026-02-04T{clock}.{number * 7919 % 10**9:09d}Z"


def _two_servers(before: tuple[str, str]) -> Callable[[int], bytes]:
    def make(seed: int) -> bytes:
        logs = [LogText(seed), LogText(seed + 1, ranks=2)]
        for log in logs:
            log.launch()
            log.serve(250)
        choose = Random(seed)
        lines = [list(log.lines) for log in logs]
        text = b""
        while any(lines):
            which = choose.choice([place for place in (0, 1) if lines[place]])
            text += before[which].encode() + lines[which].pop(0) + b"\n"
        return text

    return make


_FAILING: tuple[tuple[str, ...], ...] = (
    ("words without a head 12",),
    ("other words, a=1", "and more of them", "and a third line"),
    ("",),
    ("", ""),
    *[("{head}words behind a head",)] * 2,
    ("{head}Warning: demo is deprecated",),
    ("/opt/demo/a.py:3: FutureWarning: old", "  import old"),
    ("Fatal Python error: Segmentation fault", "", "Thread 0x7f (most recent call first):", "not a frame"),
    ("terminate called after throwing an instance of 'std::runtime_error'", "  what():  no more"),
    ("{head}Receive: obj=GenerateReqInput(text=['a',", "words inside", "])"),
    ("RuntimeError: outside of any traceback",),
    ("torch and CUDA are named",),
    ("Process SpawnProcess-1:",),
    ("Traceback (most recent call last):", '  File "/opt/sglang/a.py", line 1, in f', "    f(x)", "KeyError: 'x'"),
    ("{head}Scheduler hit an exception: Traceback (most recent call last):", *_TRACEBACK[1:]),
    ("{head}Scheduler hit an exception: Traceback (most recent call last):", *_TRACEBACK[1:3]),
    (*_TRACEBACK[:2], "", "During handling of the above exception, another exception occurred:", ""),
    ("[rank1]: Traceback (most recent call last):", '[rank1]:   File "/a/b.py", line 4, in g', "[rank1]: OSError"),
    *[tuple(f"plain line {number}" for number in range(100))] * 2,
    ("  + Exception Group Traceback (most recent call last):", '  |   File "/a/b.py", line 4, in g', "  | E: x"),
    ("== SGLang ==",),
)


def _failing(seed: int, launches_first: bool = True) -> bytes:
    """Lines that hold nothing between errors of all kinds."""
    log = LogText(seed, ranks=2)
    if launches_first:
        log.launch()
    for turn in range(400):
        for line in log.random.choice(_FAILING):
            log.add(line.replace("{head}", log.head(log.random.choice(log.tags))))
        if turn % 100 == 90:
            log.launch()
            log.serve(30)
    return log.text()


def _failing_first(seed: int) -> bytes:
    return _failing(seed, False)


KINDS: dict[str, Callable[[int], bytes]] = {
    "plain": _plain,
    "ranks": _ranks,
    "milliseconds": _milliseconds,
    "numbered": _numbered,
    "old style": _old_style,
    "time only": _time_only,
    "speculative": _speculative,
    "disaggregated": _disaggregated,
    "dirty": _dirty,
    "quoted": _quoted,
    "crlf": _crlf,
    "launches": _launches,
    "truncated": _truncated,
    "failing": _failing,
    "failing before its launch": _failing_first,
    "docker": _carried(lambda number, seed: "sglang-1  | "),
    "slurm": _carried(lambda number, seed: "0: "),
    "ray": _carried(lambda number, seed: "(ServeReplica:llm pid=21833, ip=10.0.4.17) "),
    "k8s": _carried(lambda number, seed: _iso(number) + " "),
    "cri": _carried(lambda number, seed: _iso(number) + f" std{('out', 'err')[number % 2]} F "),
    "shipper": _carried(lambda number, seed: f"[{_iso(number)}] "),
    "journal": _carried(lambda number, seed: f"Jun 01 18:{number // 60:02d}:{number % 60:02d} unit[7{seed}]: "),
    "two dockers": _two_servers(("a-1  | ", "b-1  | ")),
    "two slurm tasks": _two_servers(("0: ", "1: ")),
    "two ray actors": _two_servers(("(Engine pid=7) ", "(Engine pid=8, ip=10.0.0.3) ")),
    "a server in a container and plain text": _two_servers(("", "b-1  | ")),
}
"""Name -> builder of a log from a seed."""
